//! What can go wrong in a store.

use std::{fmt, io};

use crate::declare::Name;
use crate::error::BoxError;

/// Why a store could not do what it was asked. Names places, columns and steps, never what is kept there.
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
    /// Another flow has it open, in this process or another one.
    #[error("{location} is in use: another flow has it open; close that one first")]
    Locked {
        /// Which store.
        location: String,
    },
    /// What is there is not what was stored.
    #[error("`{column}` at step {step} is damaged: {reason}")]
    Corrupt {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
        /// What is wrong with it, and where it lies.
        reason: String,
    },
    /// What stands beside the values, and says what they are, cannot be read.
    #[error("{location} is damaged: {reason}")]
    Damaged {
        /// Which store, or which part of it.
        location: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Another version of the library wrote it.
    #[error(
        "{location} has format {found}, and this version reads formats up to {known}: use a newer version"
    )]
    Unsupported {
        /// Which store.
        location: String,
        /// Its format.
        found: u32,
        /// The newest format that is known here.
        known: u32,
    },
    /// An earlier write failed, so what has arrived is not known.
    #[error("an earlier write failed, so nothing more is written: open it again to learn what is stored")]
    Halted,
    /// Something was asked of a store that has not been opened.
    #[error("it has not been opened")]
    Closed,
    /// The operating system refused.
    #[error("{operation}: {source}")]
    Io {
        /// What was being done, and where.
        operation: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// Anything else.
    #[error(transparent)]
    Other(#[from] BoxError),
}

impl StoreError {
    /// An error of a store of your own: any error, or a text.
    pub fn other(error: impl Into<BoxError>) -> Self {
        Self::Other(error.into())
    }
}

/// Something that is wrong with what a store holds.
///
/// ```
/// use columnar::Name;
/// use columnar::store::Defect;
///
/// let defect = Defect { column: Name::new("topics")?, step: 3, what: "its checksum is another one".into() };
/// assert_eq!(defect.to_string(), "`topics` at step 3: its checksum is another one");
/// # Ok::<(), columnar::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The column, by the name that it is stored under.
    pub column: Name,
    /// The step.
    pub step: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at step {}: {}", self.column, self.step, self.reason)
    }
}
