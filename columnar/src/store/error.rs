//! Errors of stores, and defects of stored entries.

use std::{fmt, io};

use crate::declare::Name;
use crate::declare::error::BoxError;

/// An error of a store, which names locations, columns and steps, never stored values.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::store::{MemoryStore, StoreError};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let store = MemoryStore::new();
/// let topics = column("topics", source("user").latest(), prompt("List the topics."));
/// let f = Flow::open(store.clone(), [&topics]).await?;
///
/// let refused = Flow::open(store.clone(), [&topics]).await.expect_err("`f` owns the store");
/// assert!(matches!(refused, Error::Open { source: StoreError::Locked { .. } }));
///
/// drop(f);
/// Flow::open(store, [&topics]).await?;
/// # Ok(()) }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another flow has the store open, in this process or another one.
    #[error("{location} is in use: another flow has it open; close that one first")]
    Locked {
        /// The store.
        location: String,
    },
    /// An entry was changed, or is missing.
    #[error("`{column}` at step {step} is damaged: {reason}")]
    Corrupt {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
        /// The defect, and where the entry is.
        reason: String,
    },
    /// Data about the values, such as the log or the definition, cannot be read.
    #[error("{location} is damaged: {reason}")]
    Damaged {
        /// The store, or a part of it.
        location: String,
        /// The defect.
        reason: String,
    },
    /// A newer version of the library wrote the store.
    #[error(
        "{location} has format {found}, and this version reads formats up to {known}: use a newer version"
    )]
    Unsupported {
        /// The store.
        location: String,
        /// The format of the store.
        found: u32,
        /// The newest format that this version reads.
        known: u32,
    },
    /// An earlier write failed, and nobody knows whether the entries are stored.
    #[error("an earlier write failed, so nothing more is written: open it again to learn what is stored")]
    Halted,
    /// A value has attachments, and the store keeps none. Nothing is stored.
    #[error(
        "the store keeps no attachments: implement `put_blob` and `load_blob` for it, use another store, or leave the attachments out"
    )]
    NoAttachments,
    /// The store was opened with [`open_to_read`](super::Store::open_to_read).
    #[error("it was opened to be read, beside its owner: open the store itself to write")]
    ReadOnly,
    /// The store has not been opened.
    #[error("it has not been opened")]
    Closed,
    /// The operating system reported an error.
    #[error("{operation}: {source}")]
    Io {
        /// The operation and the object.
        operation: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Any other error.
    #[error(transparent)]
    Other(#[from] BoxError),
}

impl StoreError {
    /// Wraps any error or text, for a store of your own.
    pub fn other(error: impl Into<BoxError>) -> Self {
        Self::Other(error.into())
    }

    /// An entry was changed, or is missing.
    pub(crate) fn corrupt(column: &Name, step: usize, reason: impl Into<String>) -> Self {
        Self::Corrupt { column: column.clone(), step, reason: reason.into() }
    }

    /// Data about the values cannot be read.
    pub(crate) fn damaged(location: &(impl fmt::Display + ?Sized), reason: impl Into<String>) -> Self {
        Self::Damaged { location: location.to_string(), reason: reason.into() }
    }

    /// Another flow has the store open.
    pub(super) fn locked(location: &(impl fmt::Display + ?Sized)) -> Self {
        Self::Locked { location: location.to_string() }
    }

    /// A location that is to be read has no flow.
    pub(super) fn absent(location: &(impl fmt::Display + ?Sized)) -> Self {
        Self::other(format!("there is nothing to read in {location}: is it the right one?"))
    }

    /// The system has no thread left.
    pub(super) fn no_thread() -> Self {
        Self::other("the system cannot start a thread for the store; end others first")
    }
}

/// A defect of a stored entry.
///
/// ```
/// use columnar::Name;
/// use columnar::store::Defect;
///
/// let defect = Defect { column: Name::new("topics")?, step: 3, reason: "its checksum is wrong".into() };
/// assert_eq!(defect.to_string(), "`topics` at step 3: its checksum is wrong");
/// # Ok::<(), columnar::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The name under which the column is stored.
    pub column: Name,
    /// The step.
    pub step: usize,
    /// The defect.
    pub reason: String,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at step {}: {}", self.column, self.step, self.reason)
    }
}
