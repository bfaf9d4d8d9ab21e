//! Where values are kept.

mod memory;

use futures::future::BoxFuture;

use crate::error::BoxError;
use crate::name::Name;
use crate::value::Value;

pub use memory::MemoryStore;

/// The contract between a flow and whatever keeps its values.
///
/// A store holds one value per cell, addressed by column and step:
///
/// 1. `put` is atomic: the value is stored whole or not at all.
/// 2. When `put` says `Ok`, the value is as durable as the store can make it.
/// 3. The first writer of a cell wins. A later one is told the value that is there, in
///    [`Put::Exists`], and goes on with that.
/// 4. `load` gives back the bytes that were put, exactly.
/// 5. An `Err` from `put` means that nobody knows; `load` tells.
///
/// The futures own what they need, so that a run can hold many of them at once.
pub trait Store: Send + Sync + 'static {
    /// Stores a value unless the cell has one.
    fn put(&self, column: Name, step: usize, value: Value) -> BoxFuture<'static, Result<Put, BoxError>>;

    /// Everything that is stored of a column, as `(step, value)` in any order.
    fn load(&self, column: Name) -> BoxFuture<'static, Result<Vec<(usize, Value)>, BoxError>>;
}

/// What became of a [`Store::put`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// The value is stored.
    Stored,
    /// The cell had this value already, which stays.
    Exists(Value),
}
