//! Errors of reading and writing rows.

use std::io;

use crate::run::Error;
use crate::store::StoreError;

/// An error of writing or reading rows. It names rows and columns, never values.
///
/// ```
/// use columnar::rows::{RowsError, read_json_lines};
/// use columnar::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let rows = "{\"user\":\"hello\"}\n{\"user\":\"and again\",\"Mood\":\"bright\"}";
/// let error = read_json_lines(&MemoryStore::new(), rows.as_bytes()).await.expect_err("no such name");
/// assert!(matches!(error, RowsError::Row { row: 2, .. }));
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
    /// A row is invalid. The rows before it are stored; reading them again is harmless.
    #[error("row {row}: {reason}")]
    Row {
        /// The number of the row, counted from 1.
        row: usize,
        /// Why it is invalid.
        reason: String,
    },
}
