//! What goes wrong below the store, until it is told where.

use std::io;

use rusqlite::ErrorCode;

use super::Place;
use crate::store::StoreError;

/// An error of SQLite, one of what it keeps, or one that is told as it is.
pub(super) enum Fault {
    Sql(rusqlite::Error),
    /// What stands beside the values is not what was stored.
    Damage(&'static str),
    Store(StoreError),
}

impl Fault {
    pub(super) fn io(doing: String, source: io::Error) -> Self {
        Self::Store(StoreError::Io { doing, source })
    }

    /// Whether the file is not what SQLite left there.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Sql(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => true,
                // No statement is wrong by itself, so a table or a column of one is not there.
                Some(ErrorCode::Unknown) => true,
                Some(_) => false,
                // Of another type, or none where there is always one.
                None => true,
            },
            Self::Damage(_) => true,
            Self::Store(_) => false,
        }
    }

    /// The error to tell. `doing` is what the place is the object of: `reading`.
    pub(super) fn at(self, place: &Place, doing: &str) -> StoreError {
        let damage = self.is_damage();
        match self {
            Self::Store(error) => error,
            Self::Damage(what) => StoreError::Damaged { place: place.to_string(), what: what.to_owned() },
            Self::Sql(error) if damage => {
                StoreError::Damaged { place: place.to_string(), what: error.to_string() }
            }
            Self::Sql(error) => match error.sqlite_error_code().and_then(kind) {
                Some(kind) => StoreError::Io {
                    doing: format!("{doing} {place}"),
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

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
