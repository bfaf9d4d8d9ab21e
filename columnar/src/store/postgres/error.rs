//! What goes wrong between here and the server, without what errors of the server say of values.

use std::error::Error;
use std::{fmt, io};

use tokio_postgres::error::{DbError, Severity};

use super::super::StoreError;

/// Why something has not been done.
pub(super) enum PostgresError {
    /// The connection is gone, and the server may or may not have done it. It can be tried on another one.
    Lost(io::Error),
    /// It will not be done, and this is what is said of it.
    Refused(String),
    /// What is there speaks against it.
    Store(StoreError),
}

/// The classes of errors whose messages speak of the server and its tables, not of what is in them: connections,
/// states of transactions, authorisation, databases, schemas, names and privileges, resources, limits, states of
/// objects, operators, the system. Any other message may quote what is stored, as that of a trigger does.
const CLASSES_WITHOUT_VALUES: [&str; 11] = ["08", "25", "28", "3D", "3F", "42", "53", "54", "55", "57", "58"];

impl PostgresError {
    /// As the owner of the store hears of it.
    pub(super) fn into_store_error(self, operation: &str, location: &impl fmt::Display) -> StoreError {
        match self {
            Self::Lost(source) => StoreError::Io { operation: format!("{operation} {location}"), source },
            Self::Refused(message) => StoreError::other(format!("{operation} {location}: {message}")),
            Self::Store(error) => error,
        }
    }
}

impl From<StoreError> for PostgresError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<tokio_postgres::Error> for PostgresError {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(refusal) = error.as_db_error() {
            return match refusal.parsed_severity() {
                // The last that is heard of a connection.
                Some(Severity::Fatal | Severity::Panic) => {
                    Self::Lost(io::Error::other(redacted_message(refusal)))
                }
                _ => Self::Refused(redacted_message(refusal)),
            };
        }
        match error.source() {
            Some(source) => match source.downcast_ref::<io::Error>() {
                Some(source) => Self::Lost(io::Error::new(source.kind(), source.to_string())),
                None => Self::Refused(format!("{error}: {source}")),
            },
            None if error.is_closed() => {
                Self::Lost(io::Error::new(io::ErrorKind::ConnectionReset, error.to_string()))
            }
            None => Self::Refused(error.to_string()),
        }
    }
}

/// What the server says, without the details and hints, which quote rows.
fn redacted_message(error: &DbError) -> String {
    let code = error.code().code();
    if CLASSES_WITHOUT_VALUES.iter().any(|class| code.starts_with(class)) {
        format!("the server says \"{}\" (SQLSTATE {code})", error.message())
    } else {
        format!("the server refuses (SQLSTATE {code})")
    }
}
