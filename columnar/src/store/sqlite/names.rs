//! The names of an open file, of the log and of the index. SQLite does not notice that a name was removed or leads to
//! another file: SQLite writes to a file without a name, and another process writes beside it. SQLite continues a log
//! that was cut, too.

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::error::SqliteError;
use super::frames::{FRAME_HEADER, HEADER};
use super::log::{self, index_path, log_path};
use crate::declare::error::shown;
use crate::store::StoreError;
use crate::store::files::status::{FileIdentity, FileStatus};

/// The names, and the files to which they led at the opening.
pub(super) struct FileNames {
    file: FileName,
    log: FileName,
    index: FileName,
    /// The length of the log at the last look.
    log_length: Cell<u64>,
    /// The bytes of a frame of the log.
    frame: u64,
}

impl FileNames {
    /// The names of a file that has just been opened and read. `page` is the length of a page.
    pub(super) fn of(file: &Path, page: u32) -> Result<Self, SqliteError> {
        Ok(Self {
            file: FileName::of(file.to_owned())?,
            log: FileName::of(log_path(file))?,
            index: FileName::of(index_path(file))?,
            log_length: Cell::new(0),
            frame: FRAME_HEADER as u64 + u64::from(page),
        })
    }

    /// Fails if a name leads to another file by now.
    pub(super) fn check(&self) -> Result<(), SqliteError> {
        self.lengths().map(drop)
    }

    /// Checks as [`check`](Self::check) does, in a transaction that writes, while nobody else writes. Fails, too, if
    /// the log was cut.
    pub(super) fn check_for_write(&self) -> Result<(), SqliteError> {
        let length = self.lengths()?;
        // The index is read only if the length does not show that all is there: another process may have emptied the
        // log.
        let frames = length.saturating_sub(HEADER as u64);
        let is_doubtful = frames == 0 || !frames.is_multiple_of(self.frame) || length < self.log_length.get();
        if is_doubtful
            && log::is_cut(&self.file.path, length).map_err(|error| unreadable(&self.index.path, error))?
        {
            return Err(self.log.unwritable("it was cut"));
        }
        self.log_length.set(length);
        Ok(())
    }

    /// Looks at all names. Returns the length of the log.
    fn lengths(&self) -> Result<u64, SqliteError> {
        self.file.length()?;
        let length = self.log.length()?;
        self.index.length()?;
        Ok(length)
    }
}

/// A name, and the file to which it leads.
struct FileName {
    path: PathBuf,
    file: FileIdentity,
}

impl FileName {
    fn of(path: PathBuf) -> Result<Self, SqliteError> {
        match FileStatus::behind(&path) {
            Ok(status) => Ok(Self { path, file: status.id }),
            Err(error) => Err(unreadable(&path, error)),
        }
    }

    /// The length of the file, if the name leads to it.
    fn length(&self) -> Result<u64, SqliteError> {
        match FileStatus::behind(&self.path) {
            Ok(status) if status.id == self.file => Ok(status.len),
            Ok(_) => Err(self.unwritable("it was replaced by another file")),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(self.unwritable("it is missing")),
            Err(error) => Err(unreadable(&self.path, error)),
        }
    }

    fn unwritable(&self, reason: &str) -> SqliteError {
        let message = format!(
            "{} cannot be written to: {reason}; close the flows of this file in all programs, restore it, and open \
             them again",
            shown(&self.path)
        );
        StoreError::other(message).into()
    }
}

fn unreadable(path: &Path, error: io::Error) -> SqliteError {
    SqliteError::io(format!("looking at {}", shown(path)), error)
}
