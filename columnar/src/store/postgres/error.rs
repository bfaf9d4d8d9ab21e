//! Errors of the connection and the server, without messages that may quote values, and without passwords.

use std::error::Error;
use std::{fmt, io};

use tokio_postgres::error::{DbError, Severity};

use super::super::StoreError;
use super::address::passwords;
use crate::declare::error::leaks::Leaks;

/// An error of an operation on the server.
pub(super) enum PostgresError {
    /// The connection is lost, and the server may or may not have done the operation, which can be repeated on another
    /// connection.
    Lost(io::Error),
    /// The server refuses, with this message.
    Refused(String),
    /// The handle was dropped before the server answered.
    Abandoned,
    /// An error of the store.
    Store(StoreError),
}

/// The longest message that is shown, in characters.
const LONGEST_MESSAGE: usize = 500;

/// The classes of errors whose messages are about the server and the tables, not about contents: connections, states
/// of transactions, authorisation, databases, schemas, names and privileges, resources, limits, states of objects,
/// operators, the system. Any other message may quote stored values, as the message of a trigger does.
const CLASSES_WITHOUT_VALUES: [&str; 11] = ["08", "25", "28", "3D", "3F", "42", "53", "54", "55", "57", "58"];

impl PostgresError {
    /// Converts into the store's error. `operation` is a verb such as `reading`, and `object` is its object. The
    /// password of the address is hidden.
    pub(super) fn into_store_error(
        self,
        operation: &str,
        object: &impl fmt::Display,
        address: &str,
    ) -> StoreError {
        match self {
            Self::Lost(source) => StoreError::Io {
                operation: format!("{operation} {object}"),
                source: io::Error::new(source.kind(), redacted(&source.to_string(), address)),
            },
            Self::Refused(message) => {
                StoreError::other(format!("{operation} {object}: {}", redacted(&message, address)))
            }
            Self::Abandoned => StoreError::other(format!(
                "{operation} {object}: the store was dropped before the server answered"
            )),
            Self::Store(error) => error,
        }
    }
}

/// A text that may have words of the server, without the password, control characters and marks of direction. Names of
/// tables and constraints stay.
fn redacted(text: &str, address: &str) -> String {
    let text: String = text.chars().take(LONGEST_MESSAGE).collect();
    let mut leaks = Leaks::new(&text);
    passwords(address).iter().for_each(|password| leaks.hide_secret(password));
    leaks.redacted()
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
                    Self::Lost(io::Error::other(message_without_values(refusal)))
                }
                _ => Self::Refused(message_without_values(refusal)),
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

/// The server's message if it cannot quote values, and never the details and hints, which quote rows. The password is
/// hidden when the address is known.
fn message_without_values(error: &DbError) -> String {
    let code = error.code().code();
    if CLASSES_WITHOUT_VALUES.iter().any(|class| code.starts_with(class)) {
        format!("the server says \"{}\" (SQLSTATE {code})", error.message())
    } else {
        format!("the server refuses (SQLSTATE {code})")
    }
}
