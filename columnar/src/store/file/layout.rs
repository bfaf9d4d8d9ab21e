//! The paths in the folder of a store.

use std::io;
use std::path::{Path, PathBuf};

use crate::declare::Name;
use crate::store::StoreError;

/// The folder of a store, by a path without links.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    root: PathBuf,
    /// The folder `.columnar`; no column can have this name.
    own: PathBuf,
}

impl Layout {
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

    /// The folder of files that are being written.
    pub(super) fn staging(&self) -> PathBuf {
        self.own.join("staged")
    }

    pub(super) fn column(&self, column: &Name) -> PathBuf {
        self.root.join(column.as_str())
    }

    pub(super) fn value(&self, column: &Name, step: usize) -> PathBuf {
        self.column(column).join(format!("{step}.txt"))
    }
}

/// Adds the operation and its path to an error.
pub(super) trait IoContext<T> {
    fn context(self, reason: &str, path: &Path) -> Result<T, StoreError>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn context(self, reason: &str, path: &Path) -> Result<T, StoreError> {
        self.map_err(|source| StoreError::Io { operation: format!("{reason} {}", path.display()), source })
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
