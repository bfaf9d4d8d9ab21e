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

use super::attachments;
use super::disk::{Disk, FileKind};
use super::format::{DELETED, StoreFormat, clear, has_empty_log, lock};
use super::layout::{FolderLocation, IoContext, StoreFolder, none_if_missing};
use super::listing::{digits, list};
use crate::store::StoreError;

pub(super) fn delete<D: Disk>(location: &FolderLocation<D>) -> Result<(), StoreError> {
    let path = &location.path;
    let Some(folder) = none_if_missing(location.folder()).context("looking for", path)? else {
        return Ok(());
    };
    // The format is read first, since a store of a newer version must not be changed.
    if StoreFormat::read(&folder)? == StoreFormat::Missing {
        return has_empty_log(&folder).map(drop);
    }
    let lock = lock(&folder)?;
    // Read again, under the lock: another process may have deleted the flow meanwhile.
    match StoreFormat::read(&folder)? {
        StoreFormat::Missing => return has_empty_log(&folder).map(drop),
        StoreFormat::Known(_) => {
            clear(&folder)?;
            folder.replace(&folder.format, &folder.staged(0), DELETED.as_bytes())?;
        }
        StoreFormat::Deleted => {}
    }
    finish(&folder)?;
    remove_folders(&folder, path);
    drop(lock);
    Ok(())
}

/// Removes the files of a flow that is deleted. What is left is an empty store.
pub(super) fn finish<D: Disk>(folder: &StoreFolder<D>) -> Result<(), StoreError> {
    // The process that began the deletion may have died before the format was durable.
    folder.sync(&folder.own)?;
    for (column, files) in list(folder)? {
        let path = folder.column(&column);
        // Values that were added by hand go as well: the next flow would adopt these.
        for (file, _) in
            files.iter().filter(|(file, kind)| *kind != FileKind::Folder && digits(file).is_some())
        {
            folder.remove(&path.join(file))?;
        }
        // Synced before the format is removed: the next flow would adopt a value that a crash brings back.
        folder.sync(&path)?;
        match folder.disk.remove_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            removed => removed.context("removing", &path)?,
        }
    }
    attachments::remove(folder)?;
    for path in [&folder.cells, &folder.definition, &folder.known] {
        folder.remove(path)?;
    }
    folder.sync(&folder.own)?;
    folder.remove(&folder.format)?;
    folder.sync(&folder.own)
}

/// Removes the empty folders. There is no store any more, so a failure does no harm.
fn remove_folders<D: Disk>(folder: &StoreFolder<D>, path: &Path) {
    let disk = &folder.disk;
    let _ = disk.remove_dir(&folder.staging);
    // Removed while locked. Another flow that locks a new file keeps the folder from being removed.
    let _ = disk.remove(&folder.lock);
    let _ = disk.remove_dir(&folder.own);
    // The folder that a link leads to stays, so that the link can be used again.
    if disk.status(path).is_ok_and(|status| status.kind == FileKind::Folder) {
        let _ = disk.remove_dir(&folder.root);
    }
}
