//! The names of the special members, and the errors of all formats.

use std::io;

use crate::declare::{Name, NameError};
use crate::run::Error;
use crate::store::StoreError;

/// The member that holds the step; no column can have this name.
pub(super) const STEP: &str = "_step";

/// The member that holds the names of skipped columns.
pub(super) const SKIPPED: &str = "_skipped";

/// The member that holds the reasons for skipped columns, in the order of these.
pub(super) const REASONS: &str = "_skip_reasons";

/// The member that holds the attachments by column, in JSON Lines: digests, types, lengths and alternative texts.
pub(super) const ATTACHMENTS: &str = "_attachments";

/// The member that holds the names of columns with an empty text, in CSV.
pub(super) const EMPTY: &str = "_empty";

/// The member that holds the texts of typed values, in Parquet.
pub(super) const EXACT: &str = "_json";

/// An error of writing or reading rows, which names rows and columns, never values.
///
/// ```
/// use std::io::Cursor;
///
/// use columnar::rows::{InvalidRow, RowsError, read_json_lines};
/// use columnar::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let rows = "{\"user\":\"hello\"}\n{\"user\":\"and again\",\"Mood\":\"bright\"}";
/// let error = read_json_lines(&MemoryStore::new(), Cursor::new(rows)).await.expect_err("no such name");
/// assert!(matches!(error, RowsError::Row { row: 2, source: InvalidRow::Name(_) }));
/// assert!(error.to_string().starts_with("row 2: `Mood` cannot be a name"));
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowsError {
    /// The flow could not be read.
    #[error(transparent)]
    Flow(#[from] Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The reader or writer failed.
    #[error("rows cannot be written or read: {0}")]
    Io(#[from] io::Error),
    /// A row is invalid. Nothing is stored: all rows are checked before.
    #[error("row {row}: {source}")]
    Row {
        /// The number of the row, counted from 1.
        row: usize,
        /// The reason why the row is invalid.
        source: InvalidRow,
    },
}

/// The reason why a row is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRow {
    /// A member cannot be the name of a column.
    #[error("{0}; `RowOptions` can `rename` the column, or `leave_out` it")]
    Name(#[from] NameError),
    /// A line is not a JSON object.
    #[error("it is not a JSON object, from byte {byte} on")]
    NotAnObject {
        /// The position of the error in the line, counted from 1.
        byte: usize,
    },
    /// A value is not a text.
    #[error("`{column}` must be a text; convert it to one")]
    NotText {
        /// The column.
        column: Name,
    },
    /// The member `_skipped` is not a list of texts.
    #[error("`{SKIPPED}` must be a list of column names")]
    Skipped,
    /// The member `_skip_reasons` is not a list.
    #[error("`{REASONS}` must be a list with a reason for each column in `{SKIPPED}`")]
    Reasons,
    /// The member `_step` is not a whole number, 0 or more.
    #[error("`{STEP}` must be a whole number, 0 or more")]
    Step,
    /// A source has no value: a null, an empty field of CSV, or no such member.
    #[error("`{column}` has no value, and a source needs one in each row")]
    NoValue {
        /// The column.
        column: Name,
    },
    /// A row of CSV has more or fewer fields than the header.
    #[error("the header has {expected} fields, and the row {found}")]
    Fields {
        /// The number of fields of the header.
        expected: u64,
        /// The number of fields of the row.
        found: u64,
    },
    /// A row of CSV is not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// The member `_json` of a row of Parquet is not an object.
    #[error("`{EXACT}` must be a JSON object of texts")]
    Exact,
    /// A text is longer than a gigabyte, which Parquet cannot hold.
    #[error("`{column}` is longer than a gigabyte; write JSON Lines")]
    TooLong {
        /// The column.
        column: Name,
    },
}
