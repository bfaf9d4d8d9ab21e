//! The lock of a store, and the format, which says whether there is a store.

use std::fs::TryLockError;

use super::disk::{Disk, FileKind};
use super::layout::{IoContext, StoreFolder, create_dir, damaged, none_if_missing};
use super::log::{self, Cells};
use crate::declare::error::shown;
use crate::store::StoreError;
use crate::store::files::WrongKind;
use crate::store::files::status::FileIdentity;

/// The format that is written.
pub(super) const FORMAT: u32 = 2;

/// The format of a store with attachments, which earlier versions do not see. Nothing else differs.
pub(super) const WITH_ATTACHMENTS: u32 = 3;

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
    pub(super) fn read<D: Disk>(folder: &StoreFolder<D>) -> Result<Self, StoreError> {
        let Some(bytes) = bytes(folder)? else { return Ok(Self::Missing) };
        if bytes == DELETED.as_bytes() {
            return Ok(Self::Deleted);
        }
        let number = str::from_utf8(&bytes).ok().and_then(|text| log::number(text.trim_end()));
        match number {
            Some(known @ 1..=WITH_ATTACHMENTS) => Ok(Self::Known(known)),
            Some(found) if found > WITH_ATTACHMENTS => Err(StoreError::Unsupported {
                location: shown(&folder.root).to_string(),
                found,
                known: WITH_ATTACHMENTS,
            }),
            _ => Err(damaged(&folder.format, "it is not the number of a format")),
        }
    }
}

/// Whether a folder is a store, of any format.
pub(super) fn is_store<D: Disk>(folder: &StoreFolder<D>) -> Result<bool, StoreError> {
    Ok(bytes(folder)?.is_some_and(|bytes| bytes != DELETED.as_bytes()))
}

/// The content of the format, which is read before any other file of the folder `.columnar`.
fn bytes<D: Disk>(folder: &StoreFolder<D>) -> Result<Option<Vec<u8>>, StoreError> {
    folder.check_folder(&folder.own)?;
    // A format is short, and a damaged file of any size must not fill the memory.
    folder.read(&folder.format, 64)
}

/// Whether a folder without a format has an empty log, which a process left that died before writing the format.
///
/// # Errors
///
/// If the log has cells: there was a format, and a new store in this place would hide the cells.
pub(super) fn has_empty_log<D: Disk>(folder: &StoreFolder<D>) -> Result<bool, StoreError> {
    let empty = log::write(&Cells::new());
    match folder.read(&folder.cells, empty.len() as u64 + 1)? {
        None => Ok(false),
        Some(bytes) if bytes == empty.as_bytes() => Ok(true),
        Some(_) => Err(damaged(&folder.format, "it is missing")),
    }
}

/// Takes the lock of a store.
pub(super) fn lock<D: Disk>(folder: &StoreFolder<D>) -> Result<D::Lock, StoreError> {
    let path = &folder.lock;
    loop {
        match folder.disk.lock(path) {
            Ok(lock) => {
                // Otherwise a deletion removed the file after the opening above.
                if none_if_missing(folder.disk.is_locked_by(path, &lock)).context("looking at", path)?
                    == Some(true)
                {
                    return Ok(lock);
                }
            }
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::locked(&shown(&folder.root)));
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).context("locking, which keeps other flows out,", path);
            }
        }
    }
}

/// Removes staged files of earlier owners. Returns the identity of the folder.
pub(super) fn clear<D: Disk>(folder: &StoreFolder<D>) -> Result<FileIdentity, StoreError> {
    let staging = &folder.staging;
    create_dir(&folder.disk, staging)?;
    // Through a link, files of another folder would be removed.
    let status = folder.disk.status(staging).context("looking at", staging)?;
    if status.kind != FileKind::Folder {
        return Err(damaged(staging, WrongKind::NotAFolder.to_string()));
    }
    for (name, kind) in folder.list(staging)? {
        // Only names that `stage` uses: other files are not the library's, and stay.
        if kind == FileKind::File && log::number::<usize>(&name).is_some() {
            folder.remove(&staging.join(name))?;
        }
    }
    Ok(status.id)
}
