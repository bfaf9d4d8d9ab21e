//! Where values are kept.
//!
//! A [`Store`] is the contract with who implements one; [`conformance`](crate::testing::conformance) holds it
//! to that.

#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod checksum;
mod copy;
mod entry;
mod error;
mod file;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
mod worker;

use std::ops::Range;

use futures::future::BoxFuture;

use crate::declare::Name;

pub use crate::history::StoredSteps;
pub(crate) use copy::{CHUNK, chunks, copy, put_all};
pub use entry::Entry;
pub use error::{Defect, StoreError};
pub use file::FileStore;
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;

/// The contract between a flow and whatever keeps its values.
///
/// A store holds one entry per cell, addressed by column and step, which is its value, or none, and its receipt,
/// if it has one; and one text about all of them, the definition. A value of the type is a handle; many may name the same place.
///
/// 1. **One owner.** [`open`](Self::open) makes this handle the only one that may write, and fails with
///    [`StoreError::Locked`] while there is another. Ownership ends when the handle is dropped or its process
///    dies; what was being written then is written or not, and nothing comes later.
/// 2. **Whole.** [`put`](Self::put) stores an entry whole or not at all, whatever happens meanwhile.
/// 3. **Durable.** When `put` says `Ok`, the entry is as safe as the store can make it, and is found by
///    whoever opens the place from then on.
/// 4. **First writer wins.** The first entry of a cell stays, its receipt as well. A later writer is told it, in
///    [`Put::Exists`].
/// 5. **Exact.** [`load`](Self::load) gives back the entry that was put, byte for byte, the receipt of this cell and
///    no other. Skipped is not empty, and neither is a receipt that there is not.
/// 6. **Unknown.** An `Err` from `put` means that nobody knows. The handle refuses every further `put` with
///    [`StoreError::Halted`], unless it is sure of what is stored, until `open` is called again.
/// 7. **Loud.** What cannot be read is an error that names the column and the step; it is never passed over,
///    changed or removed.
/// 8. **Addressed.** Steps of a column may be put in any order, many at a time, and with gaps;
///    [`stored_steps`](Self::stored_steps) says which there are.
/// 9. **The definition** is kept whole, as it was given by the last [`define`](Self::define) that said `Ok`.
///
/// The futures own what they need, so that a run can hold many of them at once, and a `put` whose future is
/// dropped is done or not done as a whole.
pub trait Store: Send + Sync + 'static {
    /// Becomes the owner, and returns the definition, if there is one. Of a handle that is open already, begins
    /// anew.
    fn open(&self) -> BoxFuture<'static, Result<Option<String>, StoreError>>;

    /// Keeps a definition in place of the one that there is.
    fn define(&self, definition: String) -> BoxFuture<'static, Result<(), StoreError>>;

    /// Which steps of a column are stored.
    fn stored_steps(&self, column: Name) -> BoxFuture<'static, Result<StoredSteps, StoreError>>;

    /// What is stored of a column in these steps, as `(step, entry)` in any order.
    fn load(
        &self,
        column: Name,
        steps: Range<usize>,
    ) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, StoreError>>;

    /// Stores an entry unless the cell has one.
    fn put(&self, column: Name, step: usize, entry: Entry) -> BoxFuture<'static, Result<Put, StoreError>>;
}

/// What became of a [`Store::put`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// The entry is stored.
    Stored,
    /// The cell had this entry already, which stays.
    Exists(Entry),
}
