//! Errors of SQLite, and their conversion into [`StoreError`].

use std::{fmt, io};

use rusqlite::ErrorCode;

use crate::declare::error::Printable;
use crate::store::StoreError;

/// An error of SQLite, damaged data, or an error of the store.
pub(super) enum SqliteError {
    Sql(rusqlite::Error),
    /// Data about the values was changed.
    Damaged(&'static str),
    Store(StoreError),
}

impl SqliteError {
    pub(super) fn io(operation: String, source: io::Error) -> Self {
        Self::Store(StoreError::Io { operation, source })
    }

    /// Whether the file is damaged.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Sql(error) => match error.sqlite_error_code() {
                // No statement is wrong by itself: if a statement is `Unknown`, a table or a column is missing.
                Some(code) => {
                    matches!(code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown)
                }
                // A value has another type, or a row that always exists is missing.
                None => true,
            },
            Self::Damaged(_) => true,
            Self::Store(_) => false,
        }
    }

    /// Whether other flows of the file can be written nevertheless.
    pub(super) fn is_of_one_flow(&self) -> bool {
        self.is_damage() || matches!(self, Self::Store(_))
    }

    /// Converts into the store's error. `operation` is a verb such as `reading`, and its object is the location.
    pub(super) fn into_store_error(self, location: &dyn fmt::Display, operation: &str) -> StoreError {
        match self {
            Self::Store(error) => error,
            error => error.to_store_error(location, operation),
        }
    }

    /// The error of one of several flows.
    pub(super) fn to_store_error(&self, location: &dyn fmt::Display, operation: &str) -> StoreError {
        match self {
            Self::Store(error) => StoreError::other(error.to_string()),
            Self::Damaged(reason) => StoreError::damaged(location, *reason),
            Self::Sql(error) if self.is_damage() => {
                StoreError::damaged(location, Printable(error).to_string())
            }
            Self::Sql(error) => match error.sqlite_error_code().and_then(kind) {
                Some(kind) => StoreError::Io {
                    operation: format!("{operation} {location}"),
                    source: io::Error::new(kind, Printable(error).to_string()),
                },
                None => StoreError::other(Printable(error).to_string()),
            },
        }
    }
}

/// The corresponding kind of `io::Error`.
fn kind(code: ErrorCode) -> Option<io::ErrorKind> {
    Some(match code {
        ErrorCode::DiskFull => io::ErrorKind::StorageFull,
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => io::ErrorKind::ResourceBusy,
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => io::ErrorKind::PermissionDenied,
        ErrorCode::TooBig => io::ErrorKind::FileTooLarge,
        ErrorCode::OutOfMemory => io::ErrorKind::OutOfMemory,
        ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::FileLockingProtocolFailed => {
            io::ErrorKind::Other
        }
        _ => return None,
    })
}

impl From<rusqlite::Error> for SqliteError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for SqliteError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
