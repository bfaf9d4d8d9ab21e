//! The paths in the folder of a store, and reading and writing there.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::disk::{Disk, FileKind};
use super::log::{Checksum, LoggedEntry};
use crate::declare::Name;
use crate::declare::error::shown;
use crate::history::Value;
use crate::store::files::plain_file::WrongKind;
use crate::store::{Entry, StoreError};

/// The address of a file store.
#[derive(Clone, Debug)]
pub(crate) struct FolderLocation<D> {
    pub(super) disk: D,
    pub(super) path: PathBuf,
}

/// The folder of a store, by a path without links.
#[derive(Clone, Debug)]
pub(super) struct StoreFolder {
    root: PathBuf,
    /// The folder `.columnar`; no column can have this name.
    own: PathBuf,
}

impl StoreFolder {
    pub(super) fn new(root: PathBuf) -> Self {
        let own = root.join(".columnar");
        Self { root, own }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of all files but values.
    pub(super) fn own(&self) -> &Path {
        &self.own
    }

    pub(super) fn format(&self) -> PathBuf {
        self.own.join("format")
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.own.join("lock")
    }

    pub(super) fn definition(&self) -> PathBuf {
        self.own.join("definition")
    }

    pub(super) fn cells(&self) -> PathBuf {
        self.own.join("cells")
    }

    pub(super) fn known(&self) -> PathBuf {
        self.own.join("known")
    }

    /// The folder of files that are being written.
    pub(super) fn staging(&self) -> PathBuf {
        self.own.join("staged")
    }

    /// The path of a staged file.
    pub(super) fn staged(&self, number: usize) -> PathBuf {
        self.staging().join(number.to_string())
    }

    pub(super) fn column(&self, column: &Name) -> PathBuf {
        self.root.join(column.as_str())
    }

    pub(super) fn value(&self, column: &Name, step: usize) -> PathBuf {
        self.column(column).join(format!("{step}.txt"))
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

/// Success for a file that exists already.
pub(super) fn ok_if_exists(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Fails if something else than a folder is at a path, such as a link to a folder. The path may be free.
pub(super) fn check_folder<D: Disk>(disk: &D, path: &Path) -> Result<(), StoreError> {
    match none_if_missing(disk.kind(path)).context("looking at", path)? {
        None | Some(FileKind::Folder) => Ok(()),
        Some(_) => Err(damaged(path, WrongKind::NotAFolder.to_string())),
    }
}

/// Fails if the values of a column would be read through a link. The error is about the first cell that is read.
pub(super) fn check_column<D: Disk>(
    disk: &D,
    layout: &StoreFolder,
    column: &Name,
    step: usize,
) -> Result<(), StoreError> {
    let folder = layout.column(column);
    check_folder(disk, &folder).map_err(|error| match error {
        StoreError::Damaged { .. } => {
            corrupt(column, step, &folder, "is not a folder, or is a link to one; restore it")
        }
        error => error,
    })
}

/// Writes a staged file, and makes the bytes durable.
pub(super) fn stage<D: Disk>(disk: &D, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut file = disk.create(path).context("making", path)?;
    file.write_all(bytes).context("writing", path)?;
    // The bytes are durable before a name leads to them, so no crash leaves a name of half a value.
    disk.sync(&file).context("writing", path)
}

/// Atomically replaces a file of `.columnar` with a staged one.
pub(super) fn replace<D: Disk>(
    disk: &D,
    layout: &StoreFolder,
    staged: &Path,
    path: &Path,
) -> Result<(), StoreError> {
    disk.rename(staged, path).context("replacing", path)?;
    // fsync(2): syncing a file does not make the name durable; the folder must be synced for that.
    disk.sync_path(layout.own()).context("writing", layout.own())
}

/// Reads the entry of a cell, and checks the value against the log.
pub(super) fn entry<D: Disk>(
    disk: &D,
    layout: &StoreFolder,
    column: &Name,
    step: usize,
    logged: &LoggedEntry,
) -> Result<Entry, StoreError> {
    let receipt = logged.receipt.clone();
    let Some(checksum) = logged.value else { return Ok(Entry { value: None, receipt }) };
    let path = layout.value(column, step);
    // One byte more than expected is enough to notice a change. The length comes from the log and may be `u64::MAX`,
    // and the file may have grown to any size.
    let bytes = none_if_missing(disk.read(&path, checksum.len.saturating_add(1)));
    let corrupt = |reason: &str| corrupt(column, step, &path, reason);
    if bytes.as_ref().err().and_then(WrongKind::of).is_some() {
        return Err(corrupt("is a link, a folder, a pipe or a device, and no file; restore it"));
    }
    let bytes = bytes.context("reading", &path)?.ok_or_else(|| corrupt("is missing; restore it"))?;
    if Checksum::of(&bytes) != checksum {
        return Err(corrupt("was edited or damaged after it was stored; restore its content"));
    }
    // Values are UTF-8 when logged, so only a forged line gets here.
    let value = text(bytes).ok_or_else(|| corrupt("is not UTF-8"))?;
    Ok(Entry { value: Some(value), receipt })
}

/// The value of these bytes, if they are UTF-8.
pub(super) fn text(bytes: Vec<u8>) -> Option<Value> {
    String::from_utf8(bytes).ok().map(Value::from)
}

pub(super) fn corrupt(column: &Name, step: usize, path: &Path, reason: &str) -> StoreError {
    StoreError::Corrupt { column: column.clone(), step, reason: format!("{} {reason}", shown(path)) }
}

pub(super) fn damaged(path: &Path, reason: impl Into<String>) -> StoreError {
    StoreError::Damaged { location: shown(path).to_string(), reason: reason.into() }
}
