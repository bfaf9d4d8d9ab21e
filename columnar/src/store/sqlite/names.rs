//! The names of an open file, of its log and of its index. SQLite does not notice that they were removed or lead to other
//! files: it writes to a file without a name, and another process writes beside it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::error::SqliteError;
use super::log::{index_path, log_path};
use crate::error::shown;
use crate::store::StoreError;
use crate::store::lock::FileId;

/// The names, and the files to which they led when the file was opened.
pub(super) struct Names([(PathBuf, FileId); 3]);

impl Names {
    /// The names of a file that has just been opened and read.
    pub(super) fn of(file: &Path) -> Result<Self, SqliteError> {
        let name = |path: PathBuf| match fs::metadata(&path) {
            Ok(metadata) => Ok((path, FileId::of(&metadata))),
            Err(error) => Err(unreadable(&path, error)),
        };
        Ok(Self([name(file.to_owned())?, name(log_path(file))?, name(index_path(file))?]))
    }

    /// Fails if one of them leads to another file by now.
    pub(super) fn check(&self) -> Result<(), SqliteError> {
        self.0.iter().try_for_each(|(path, file)| {
            let reason = match fs::metadata(path) {
                Ok(metadata) if FileId::of(&metadata) == *file => return Ok(()),
                Ok(_) => "it was replaced by another file",
                Err(error) if error.kind() == ErrorKind::NotFound => "it is missing",
                Err(error) => return Err(unreadable(path, error)),
            };
            let message = format!(
                "{} cannot be written to: {reason}; close the flows of this file in all programs, restore it, and open \
                 them again",
                shown(path)
            );
            Err(StoreError::other(message).into())
        })
    }
}

fn unreadable(path: &Path, error: io::Error) -> SqliteError {
    SqliteError::io(format!("looking at {}", shown(path)), error)
}
