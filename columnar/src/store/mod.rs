//! Where values are kept.

mod memory;

use futures::future::BoxFuture;

use crate::error::BoxError;
use crate::name::Name;
use crate::value::Value;

pub use memory::MemoryStore;

/// The contract between a flow and whatever keeps its values.
///
/// A store holds one entry per cell, addressed by column and step:
///
/// 1. `put` is atomic: the entry is stored whole or not at all.
/// 2. When `put` says `Ok`, the entry is as durable as the store can make it.
/// 3. The first writer of a cell wins. A later one is told the entry that is there, in
///    [`Put::Exists`], and goes on with that.
/// 4. `load` gives back the bytes that were put, exactly.
/// 5. An `Err` from `put` means that nobody knows; `load` tells.
///
/// The futures own what they need, so that a run can hold many of them at once.
pub trait Store: Send + Sync + 'static {
    /// Stores an entry unless the cell has one.
    fn put(&self, column: Name, step: usize, entry: Entry) -> BoxFuture<'static, Result<Put, BoxError>>;

    /// Everything that is stored of a column, as `(step, entry)` in any order.
    fn load(&self, column: Name) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, BoxError>>;
}

/// What is stored of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Its value.
    Value(Value),
    /// It is empty for good: the column could not be computed and [may be
    /// skipped](crate::compute::Policy::or_skip), or all it reads is empty.
    Skipped,
}

impl Entry {
    /// The value, if there is one.
    pub fn value(self) -> Option<Value> {
        match self {
            Self::Value(value) => Some(value),
            Self::Skipped => None,
        }
    }
}

impl From<Value> for Entry {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

/// What became of a [`Store::put`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// The entry is stored.
    Stored,
    /// The cell had this entry already, which stays.
    Exists(Entry),
}
