//! The lock of a store, and the format, which says whether there is a store.

use std::fs::TryLockError;

use super::disk::{Disk, FileKind};
use super::layout::{IoContext, StoreFolder, check_folder, damaged, none_if_missing, ok_if_exists};
use super::log;
use crate::declare::error::shown;
use crate::store::StoreError;
use crate::store::files::plain_file::WrongKind;
use crate::store::files::status::FileId;

/// The format that is written.
pub(super) const FORMAT: u32 = 2;

/// The content of the file when the flow is deleted and some files are left.
pub(super) const DELETED: &str = "deleted\n";

/// The format of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreFormat {
    /// There is no store.
    Missing,
    /// A deletion was interrupted, which the next owner finishes.
    Deleted,
    /// A format that this version reads.
    Known(u32),
}

impl StoreFormat {
    pub(super) fn read<D: Disk>(disk: &D, layout: &StoreFolder) -> Result<Self, StoreError> {
        let path = layout.format();
        let Some(bytes) = bytes(disk, layout)? else { return Ok(Self::Missing) };
        if bytes == DELETED.as_bytes() {
            return Ok(Self::Deleted);
        }
        let number = str::from_utf8(&bytes).ok().and_then(|text| log::number(text.trim_end()));
        match number {
            Some(known @ 1..=FORMAT) => Ok(Self::Known(known)),
            Some(found) if found > FORMAT => Err(StoreError::Unsupported {
                location: shown(layout.root()).to_string(),
                found,
                known: FORMAT,
            }),
            _ => Err(damaged(&path, "it is not the number of a format")),
        }
    }
}

/// Whether a folder is a store, of any format.
pub(super) fn is_store<D: Disk>(disk: &D, layout: &StoreFolder) -> Result<bool, StoreError> {
    Ok(bytes(disk, layout)?.is_some_and(|bytes| bytes != DELETED.as_bytes()))
}

/// The content of the format, which is read before any other file of the folder `.columnar`.
fn bytes<D: Disk>(disk: &D, layout: &StoreFolder) -> Result<Option<Vec<u8>>, StoreError> {
    check_folder(disk, layout.own())?;
    let path = layout.format();
    // A format is short, and a damaged file of any size must not fill the memory.
    none_if_missing(disk.read(&path, 64)).context("reading", &path)
}

/// Takes the lock of a store.
pub(super) fn lock<D: Disk>(disk: &D, layout: &StoreFolder) -> Result<D::Lock, StoreError> {
    let path = layout.lock();
    loop {
        match disk.lock(&path) {
            Ok(lock) => {
                // Otherwise a deletion removed the file after the opening above.
                if none_if_missing(disk.is_locked_by(&path, &lock)).context("looking at", &path)?
                    == Some(true)
                {
                    return Ok(lock);
                }
            }
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked { location: shown(layout.root()).to_string() });
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).context("locking, which keeps other flows out,", &path);
            }
        }
    }
}

/// Removes staged files of earlier owners. Returns the identity of the folder.
pub(super) fn clear<D: Disk>(disk: &D, layout: &StoreFolder) -> Result<FileId, StoreError> {
    let staging = layout.staging();
    ok_if_exists(disk.create_dir(&staging)).context("making", &staging)?;
    // Through a link, files of another folder would be removed.
    let status = disk.status(&staging).context("looking at", &staging)?;
    if status.kind != FileKind::Folder {
        return Err(damaged(&staging, WrongKind::NotAFolder.to_string()));
    }
    for (name, kind) in disk.list(&staging).context("listing", &staging)? {
        // Only names that `stage` uses: other files are not the library's, and stay.
        if kind == FileKind::File && log::number::<usize>(&name).is_some() {
            let path = staging.join(name);
            disk.remove(&path).context("removing", &path)?;
        }
    }
    Ok(status.id)
}
