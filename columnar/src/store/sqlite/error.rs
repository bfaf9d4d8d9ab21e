//! What goes wrong below the store, until it is told where.

use std::io;

use rusqlite::ErrorCode;

use super::Location;
use crate::store::StoreError;

/// An error of SQLite, one of what it keeps, or one that is told as it is.
pub(super) enum SqliteError {
    Sql(rusqlite::Error),
    /// What stands beside the values is not what was stored.
    Damaged(&'static str),
    Store(StoreError),
}

impl SqliteError {
    pub(super) fn io(operation: String, source: io::Error) -> Self {
        Self::Store(StoreError::Io { operation, source })
    }

    /// Whether the file is not what SQLite left there.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Sql(error) => match error.sqlite_error_code() {
                // No statement is wrong by itself: if one is `Unknown`, a table or a column of one is not there.
                Some(code) => {
                    matches!(code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown)
                }
                // It is of another type, or not there where there is always one.
                None => true,
            },
            Self::Damaged(_) => true,
            Self::Store(_) => false,
        }
    }

    /// The error to tell. `doing` is what the place is the object of: `reading`.
    pub(super) fn into_store_error(self, location: &Location, operation: &str) -> StoreError {
        let damage = self.is_damage();
        match self {
            Self::Store(error) => error,
            Self::Damaged(reason) => {
                StoreError::Damaged { location: location.to_string(), reason: reason.to_owned() }
            }
            Self::Sql(error) if damage => {
                StoreError::Damaged { location: location.to_string(), reason: error.to_string() }
            }
            Self::Sql(error) => match error.sqlite_error_code().and_then(kind) {
                Some(kind) => StoreError::Io {
                    operation: format!("{operation} {location}"),
                    source: io::Error::new(kind, error.to_string()),
                },
                None => StoreError::other(error),
            },
        }
    }
}

/// What the operating system would call it.
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
