//! Stores, which keep the values of a flow: in memory, in files, in SQLite, in `PostgreSQL`.
//!
//! [`Store`] is the contract that a store of your own implements, and [`conformance`](crate::testing::conformance)
//! tests it. A store knows texts and their addresses, not flows.

mod attached;
mod checked;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod checksum;
mod contract;
mod copy;
mod error;
mod file;
pub(crate) mod files;
mod lock;
mod memory;
mod pointer;
#[cfg(feature = "postgres")]
mod postgres;
mod read_only;
#[cfg(feature = "sqlite")]
mod sqlite;
mod thread;
mod worker;

pub use crate::history::StoredSteps;
pub(crate) use attached::{LoadedAttachments, attachment_refs, put_blobs};
pub(crate) use checked::{NOT_RETURNED, listed_steps, load, stored_steps};
pub use contract::{Entry, Put, Store};
pub(crate) use contract::{StepEntries, StoreFuture};
pub(crate) use copy::{BYTES, CHUNK, check_beyond, copy, occupied, put_all, put_cells};
pub use error::{Defect, StoreError};
pub use file::FileStore;
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
pub use read_only::ReadOnly;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
