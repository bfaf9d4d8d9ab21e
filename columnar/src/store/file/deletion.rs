//! Deletes the flow of a folder.
//!
//! ```text
//! `deleted` as the format ─▶ remove values ─▶ remove log and definition ─▶ remove the format ─▶ remove empty folders
//!          sync                   sync                   sync                    sync
//! ```
//!
//! The flow is deleted when the format says so. The next deletion, or the next flow of the folder, finishes a deletion
//! that is interrupted after that. Files that are not the store's stay.

use std::io;
use std::path::Path;

use super::disk::{Disk, FileKind};
use super::format::{DELETED, StoreFormat, clear, lock};
use super::layout::{FolderLocation, IoContext, StoreFolder, damaged, none_if_missing, replace, stage};
use super::listing::{digits, list};
use super::log::{self, Cells};
use crate::store::StoreError;

pub(super) fn delete<D: Disk>(location: &FolderLocation<D>) -> Result<(), StoreError> {
    let FolderLocation { disk, path } = location;
    let Some(root) = none_if_missing(disk.canonical(path)).context("looking for", path)? else {
        return Ok(());
    };
    let layout = StoreFolder::new(root);
    // The format is read first, since a store of a newer version must not be changed.
    if StoreFormat::read(disk, &layout)? == StoreFormat::Missing {
        return check_absent(disk, &layout);
    }
    let lock = lock(disk, &layout)?;
    // Read again, under the lock: another process may have deleted the flow meanwhile.
    match StoreFormat::read(disk, &layout)? {
        StoreFormat::Missing => return check_absent(disk, &layout),
        StoreFormat::Known(_) => {
            clear(disk, &layout)?;
            let staged = layout.staged(0);
            stage(disk, &staged, DELETED.as_bytes())?;
            replace(disk, &layout, &staged, &layout.format())?;
        }
        StoreFormat::Deleted => {}
    }
    finish(disk, &layout)?;
    remove_folders(disk, &layout, path);
    drop(lock);
    Ok(())
}

/// Fails if there were values, and only the format is missing.
fn check_absent<D: Disk>(disk: &D, layout: &StoreFolder) -> Result<(), StoreError> {
    let path = layout.cells();
    let empty = log::write(&Cells::new());
    match none_if_missing(disk.read(&path, empty.len() as u64 + 1)).context("reading", &path)? {
        Some(bytes) if bytes != empty.as_bytes() => Err(damaged(&layout.format(), "it is missing")),
        _ => Ok(()),
    }
}

/// Removes the files of a flow that is deleted. What is left is an empty store.
pub(super) fn finish<D: Disk>(disk: &D, layout: &StoreFolder) -> Result<(), StoreError> {
    // The process that began the deletion may have died before the format was durable.
    disk.sync_path(layout.own()).context("writing", layout.own())?;
    for (column, files) in list(disk, layout)? {
        let folder = layout.column(&column);
        // Values that were added by hand go as well: the next flow would adopt these.
        for (file, _) in
            files.iter().filter(|(file, kind)| *kind != FileKind::Folder && digits(file).is_some())
        {
            remove(disk, &folder.join(file))?;
        }
        // Synced before the format is removed: the next flow would adopt a value that a crash brings back.
        disk.sync_path(&folder).context("writing", &folder)?;
        match disk.remove_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            removed => removed.context("removing", &folder)?,
        }
    }
    for path in [layout.cells(), layout.definition(), layout.known()] {
        remove(disk, &path)?;
    }
    disk.sync_path(layout.own()).context("writing", layout.own())?;
    remove(disk, &layout.format())?;
    disk.sync_path(layout.own()).context("writing", layout.own())
}

fn remove<D: Disk>(disk: &D, path: &Path) -> Result<(), StoreError> {
    none_if_missing(disk.remove(path)).context("removing", path).map(drop)
}

/// Removes the empty folders. There is no store any more, so a failure does no harm.
fn remove_folders<D: Disk>(disk: &D, layout: &StoreFolder, path: &Path) {
    let _ = disk.remove_dir(&layout.staging());
    // Removed while locked. Another flow that locks a new file keeps the folder from being removed.
    let _ = disk.remove(&layout.lock());
    let _ = disk.remove_dir(layout.own());
    // The folder that a link leads to stays, so that the link can be used again.
    if disk.kind(path).is_ok_and(|kind| kind == FileKind::Folder) {
        let _ = disk.remove_dir(layout.root());
    }
}
