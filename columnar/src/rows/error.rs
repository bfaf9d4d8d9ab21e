//! What can go wrong with rows.

use std::io;

use crate::error::Error;
use crate::store::StoreError;

/// Why rows could not be written or read. Names rows and columns, never what they hold.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowsError {
    /// The flow could not be read.
    #[error(transparent)]
    Flow(#[from] Error),
    /// The store did not take them.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What they are written to or read from failed.
    #[error("rows cannot be written or read: {0}")]
    Io(#[from] io::Error),
    /// A row is not what it should be. Those before it may be stored; reading all of them again is harmless.
    #[error("row {row}: {what}")]
    Row {
        /// Which one, counted from 1.
        row: usize,
        /// What is wrong with it.
        what: String,
    },
}
