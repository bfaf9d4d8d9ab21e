//! The paths in the folder of a store, and reading and writing there.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::disk::{Disk, FileKind, FileStatus};
use super::log::{Checksum, LoggedEntry};
use crate::declare::Name;
use crate::declare::error::shown;
use crate::history::Value;
use crate::store::files::WrongKind;
use crate::store::{Entry, StoreError};

/// The address of a file store.
#[derive(Clone, Debug)]
pub(crate) struct FolderLocation<D> {
    pub(super) disk: D,
    pub(super) path: PathBuf,
}

impl<D: Disk> FolderLocation<D> {
    /// The folder at this address. Links are resolved once, so a later change of a link does not move an open store.
    pub(super) fn folder(&self) -> io::Result<StoreFolder<D>> {
        Ok(StoreFolder::new(self.disk.clone(), self.disk.canonical(&self.path)?))
    }
}

/// The folder of a store, by a path without links.
#[derive(Clone, Debug)]
pub(super) struct StoreFolder<D> {
    pub(super) disk: D,
    pub(super) root: PathBuf,
    /// The folder `.columnar` of all files but values; no column can have this name.
    pub(super) own: PathBuf,
    pub(super) format: PathBuf,
    pub(super) lock: PathBuf,
    pub(super) definition: PathBuf,
    pub(super) cells: PathBuf,
    pub(super) known: PathBuf,
    /// The folder of files that are being written.
    pub(super) staging: PathBuf,
    /// The folder of attachments; no column can have this name.
    pub(super) attachments: PathBuf,
}

impl<D: Disk> StoreFolder<D> {
    pub(super) fn new(disk: D, root: PathBuf) -> Self {
        let own = root.join(".columnar");
        let [format, lock, definition, cells, known, staging] =
            ["format", "lock", "definition", "cells", "known", "staged"].map(|name| own.join(name));
        let attachments = root.join("_attachments");
        Self { disk, root, own, format, lock, definition, cells, known, staging, attachments }
    }

    /// The path of a staged file.
    pub(super) fn staged(&self, number: usize) -> PathBuf {
        self.staging.join(number.to_string())
    }

    pub(super) fn column(&self, column: &Name) -> PathBuf {
        self.root.join(column.as_str())
    }

    pub(super) fn value(&self, column: &Name, step: usize) -> PathBuf {
        self.column(column).join(format!("{step}.txt"))
    }

    /// The status of the file at a path, if there is one.
    pub(super) fn status(&self, path: &Path) -> Result<Option<FileStatus>, StoreError> {
        none_if_missing(self.disk.status(path)).context("looking at", path)
    }

    pub(super) fn list(&self, path: &Path) -> Result<Vec<(String, FileKind)>, StoreError> {
        self.disk.list(path).context("listing", path)
    }

    /// The first bytes of a file, if there is one.
    pub(super) fn read(&self, path: &Path, at_most: u64) -> Result<Option<Vec<u8>>, StoreError> {
        none_if_missing(self.disk.read(path, at_most)).context("reading", path)
    }

    /// Makes durable a file that another process wrote, or the names in a folder.
    pub(super) fn sync(&self, path: &Path) -> Result<(), StoreError> {
        self.disk.sync_path(path).context("writing", path)
    }

    /// Removes a file, if there is one.
    pub(super) fn remove(&self, path: &Path) -> Result<(), StoreError> {
        none_if_missing(self.disk.remove(path)).context("removing", path).map(drop)
    }

    /// Writes a staged file, and makes the bytes durable.
    pub(super) fn stage(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let mut file = self.disk.create(path).context("making", path)?;
        file.write_all(bytes).context("writing", path)?;
        // The bytes are durable before a name leads to them, so no crash leaves a name of half a value.
        self.disk.sync(&file).context("writing", path)
    }

    /// Atomically replaces a file of `.columnar`, by way of a staged one.
    pub(super) fn replace(&self, path: &Path, staged: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        self.stage(staged, bytes)?;
        self.disk.rename(staged, path).context("replacing", path)?;
        // fsync(2): syncing a file does not make the name durable; the folder must be synced for that.
        self.sync(&self.own)
    }

    /// Fails if something else than a folder is at a path, such as a link to a folder. The path may be free.
    pub(super) fn check_folder(&self, path: &Path) -> Result<(), StoreError> {
        match self.status(path)?.map(|status| status.kind) {
            None | Some(FileKind::Folder) => Ok(()),
            Some(_) => Err(damaged(path, WrongKind::NotAFolder.to_string())),
        }
    }

    /// Fails if the values of a column would be read through a link. The error is about the first cell that is read.
    pub(super) fn check_column(&self, column: &Name, step: usize) -> Result<(), StoreError> {
        let folder = self.column(column);
        match self.check_folder(&folder) {
            Err(StoreError::Damaged { .. }) => {
                Err(corrupt(column, step, &folder, "is not a folder, or is a link to one; restore it"))
            }
            checked => checked,
        }
    }

    /// Reads the entry of a cell, and checks the value against the log.
    pub(super) fn entry(
        &self,
        column: &Name,
        step: usize,
        logged: &LoggedEntry,
    ) -> Result<Entry, StoreError> {
        let receipt = logged.receipt.clone();
        let Some(checksum) = logged.value else { return Ok(Entry { value: None, receipt }) };
        let path = self.value(column, step);
        let corrupt = |reason: &str| corrupt(column, step, &path, reason);
        // One byte more than expected is enough to notice a change. The length comes from the log and may be
        // `u64::MAX`, and the file may have grown to any size.
        let bytes = match self.read(&path, checksum.len.saturating_add(1)) {
            Err(StoreError::Damaged { .. }) => {
                return Err(corrupt("is a link, a folder, a pipe or a device, and no file; restore it"));
            }
            bytes => bytes?.ok_or_else(|| corrupt("is missing; restore it"))?,
        };
        if Checksum::of(&bytes) != checksum {
            return Err(corrupt("was edited or damaged after it was stored; restore its content"));
        }
        // Values are UTF-8 when logged, so only a forged line gets here.
        let value = text(bytes).ok_or_else(|| corrupt("is not UTF-8"))?;
        Ok(Entry { value: Some(value), receipt })
    }
}

/// Adds the operation and the path to an error.
pub(super) trait IoContext<T> {
    fn context(self, reason: &str, path: &Path) -> Result<T, StoreError>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn context(self, reason: &str, path: &Path) -> Result<T, StoreError> {
        self.map_err(|source| match WrongKind::of(&source) {
            Some(kind) => damaged(path, kind.to_string()),
            None => StoreError::Io { operation: format!("{reason} {}", shown(path)), source },
        })
    }
}

/// `None` for a file that does not exist.
pub(super) fn none_if_missing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// Creates a folder, unless there is something at the path.
pub(super) fn create_dir<D: Disk>(disk: &D, path: &Path) -> Result<(), StoreError> {
    match disk.create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.context("making", path),
    }
}

/// The value of these bytes, if they are UTF-8.
pub(super) fn text(bytes: Vec<u8>) -> Option<Value> {
    String::from_utf8(bytes).ok().map(Value::from)
}

pub(super) fn corrupt(column: &Name, step: usize, path: &Path, reason: &str) -> StoreError {
    StoreError::corrupt(column, step, format!("{} {reason}", shown(path)))
}

pub(super) fn damaged(path: &Path, reason: impl Into<String>) -> StoreError {
    StoreError::damaged(&shown(path), reason)
}
