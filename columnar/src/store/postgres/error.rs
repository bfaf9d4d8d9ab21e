//! Errors of the connection and the server, without messages that may quote values.

use std::error::Error;
use std::{fmt, io};

use tokio_postgres::error::{DbError, Severity};

use super::super::StoreError;

/// An error of an operation on the server.
pub(super) enum PostgresError {
    /// The connection is lost, and the server may or may not have done the operation. It can be repeated on
    /// another connection.
    Lost(io::Error),
    /// The server refuses, with this message.
    Refused(String),
    /// An error of the store.
    Store(StoreError),
}

/// The classes of errors whose messages are about the server and its tables, not about their contents: connections,
/// states of transactions, authorisation, databases, schemas, names and privileges, resources, limits, states of
/// objects, operators, the system. Any other message may quote stored values, as that of a trigger does.
const CLASSES_WITHOUT_VALUES: [&str; 11] = ["08", "25", "28", "3D", "3F", "42", "53", "54", "55", "57", "58"];

impl PostgresError {
    /// Converts into the store's error. `operation` is a verb such as `reading`, whose object is the location.
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
                // The server closes the connection after such an error.
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

/// The server's message if it cannot quote values, and never its details and hints, which quote rows.
fn redacted_message(error: &DbError) -> String {
    let code = error.code().code();
    if CLASSES_WITHOUT_VALUES.iter().any(|class| code.starts_with(class)) {
        format!("the server says \"{}\" (SQLSTATE {code})", error.message())
    } else {
        format!("the server refuses (SQLSTATE {code})")
    }
}
