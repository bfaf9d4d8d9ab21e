//! The contract of stores: the trait, and the entries that a store holds.

use std::ops::Range;
use std::sync::Arc;

use futures::future::{self, BoxFuture, FutureExt};

use super::error::StoreError;
use crate::declare::Name;
use crate::history::{StoredSteps, Value};

/// The answer of a store.
pub(crate) type StoreFuture<T> = BoxFuture<'static, Result<T, StoreError>>;

/// Entries of a column with their steps.
pub(crate) type StepEntries = Vec<(usize, Entry)>;

/// A store of a flow's values: the contract between a flow and a storage.
///
/// The library has [`MemoryStore`](super::MemoryStore) and [`FileStore`](super::FileStore), and with features
/// `SqliteStore` and `PostgresStore`. A `Box<dyn Store>` or an `Arc<dyn Store>` is a store, too, for programs that select
/// one when they run.
///
/// A store holds one [`Entry`] per cell, addressed by column and step, and one text about all of them, the
/// definition. A value of a store's type is a handle; many handles may name the same location.
///
/// 1. **One owner.** [`open`](Self::open) makes this handle the only one that may write, and fails with
///    [`StoreError::Locked`] while there is another. Ownership ends when the handle is dropped or the process dies. A
///    write that was under way then is done or not done, and no write comes later.
/// 2. **Whole.** [`put`](Self::put) stores an entry whole or not at all, also if `put` fails.
/// 3. **Durable.** When `put` returns `Ok`, the entry is as safe as the store can make it, and every later `open` of
///    the location finds it.
/// 4. **First writer wins.** The first entry of a cell stays, and so does the receipt. A later writer gets the first
///    entry in [`Put::Exists`].
/// 5. **Exact.** [`load`](Self::load) returns the entry that was put, byte for byte, with the receipt of this cell. A
///    skipped cell is not an empty text, and neither is a missing receipt.
/// 6. **Unknown.** An `Err` from `put` means that the entry may or may not be stored. Unless the store is certain
///    which, the handle refuses every further `put` with [`StoreError::Halted`] until `open` is called again.
/// 7. **Loud.** An entry that cannot be read is an error that names the column and the step. Such an entry is never
///    skipped, changed or removed.
/// 8. **Addressed.** Steps of a column may be put in any order, many at a time, and with gaps;
///    [`stored_steps`](Self::stored_steps) returns the stored ones.
/// 9. **The definition** is kept whole, as the last successful [`define`](Self::define) wrote it.
/// 10. **Deletion.** [`delete`](Self::delete) removes the definition and all entries, whole or not at all, also if
///     `delete` fails or the process dies. While any handle has the location open, `delete` fails with
///     [`StoreError::Locked`]. Afterwards the location is as if it had never been opened.
/// 11. **Copies.** Where a definition is found, so are all entries that were confirmed before. So the definition of a
///     copied flow, which is written last, in place of a mark, tells that the copy is whole.
/// 12. **Order.** If [`keeps_order`](Self::keeps_order) returns `true`, of puts that are called one after another, for
///     ascending steps of one column, a later one is stored only if all earlier ones are.
/// 13. **Attachments.** When [`put_blob`](Self::put_blob) returns `Ok`, the bytes are durable, and every later `open`
///     finds the bytes under this digest; bytes that are put again are stored once. A flow puts the attachments of a value
///     before the entry that names the attachments in its receipt, so no entry names bytes that never were. `delete`
///     removes the bytes that no flow of the store has put. A store without these methods refuses attachments, before the
///     entry is put.
///
/// 14. **Readers.** [`open_to_read`](Self::open_to_read) takes no ownership and changes no value. The handle reads every entry
///     that was confirmed before, while there is an owner, and refuses every write with [`StoreError::ReadOnly`]. A store without
///     this method takes the ownership.
///
/// The futures own the data, so a run can hold many futures at once. A `put` whose future is dropped is done or not
/// done as a whole.
///
/// A store may read the flow that uses it, and must not wait for a push or for a change of columns, because both wait
/// for the store.
pub trait Store: Send + Sync + 'static {
    /// Takes ownership and returns the definition, if there is one. A handle that is open already is opened
    /// again.
    fn open(&self) -> BoxFuture<'static, Result<Option<String>, StoreError>>;

    /// Opens the flow to be read beside its owner, and returns the definition, if there is one; see
    /// [`ReadOnly`](super::ReadOnly). The handle sees at least what was confirmed before the call, and gives up what it owned.
    ///
    /// Without an implementation, this is [`open`](Self::open), which fails while there is an owner.
    ///
    /// # Errors
    ///
    /// When there is no flow, or the flow cannot be read.
    fn open_to_read(&self) -> BoxFuture<'static, Result<Option<String>, StoreError>> {
        self.open()
    }

    /// Stores a definition in place of the earlier definition.
    fn define(&self, definition: String) -> BoxFuture<'static, Result<(), StoreError>>;

    /// Returns the stored steps of a column, each once. The steps beyond the prefix are ascending, and all greater
    /// than it.
    ///
    /// A flow trusts no list. A list that is out of order, or has steps that [`load`](Self::load) does not return, is
    /// an error of that column and step. To check the prefix of a source with more than 512 steps, opening a flow
    /// loads its last step.
    fn stored_steps(&self, column: Name) -> BoxFuture<'static, Result<StoredSteps, StoreError>>;

    /// Loads the stored entries of a column within these steps, as `(step, entry)` in any order. Entries of other
    /// steps are ignored, and two entries of one step are an error.
    fn load(
        &self,
        column: Name,
        steps: Range<usize>,
    ) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, StoreError>>;

    /// Stores an entry unless the cell has one.
    fn put(&self, column: Name, step: usize, entry: Entry) -> BoxFuture<'static, Result<Put, StoreError>>;

    /// Stores the bytes of an attachment under their SHA-256 in hexadecimal digits, unless this flow has them.
    ///
    /// # Errors
    ///
    /// Without an implementation [`StoreError::NoAttachments`].
    fn put_blob(&self, digest: String, bytes: Arc<[u8]>) -> BoxFuture<'static, Result<(), StoreError>> {
        drop((digest, bytes));
        future::ready(Err(StoreError::NoAttachments)).boxed()
    }

    /// The bytes that this flow has put under a digest, if there are any. The flow checks the bytes.
    ///
    /// # Errors
    ///
    /// Without an implementation [`StoreError::NoAttachments`].
    fn load_blob(&self, digest: String) -> BoxFuture<'static, Result<Option<Arc<[u8]>>, StoreError>> {
        drop(digest);
        future::ready(Err(StoreError::NoAttachments)).boxed()
    }

    /// Whether the store keeps the order of puts: of puts that are called one after another, for steps of one column in
    /// ascending order, a later one is stored only if all earlier ones are, also after a failure, a drop or a crash.
    ///
    /// Then [`push_all`](crate::Flow::push_all) calls many puts at once, which the store can make durable together.
    /// Otherwise each put waits for the one before.
    fn keeps_order(&self) -> bool {
        false
    }

    /// Waits until the flow may have changed since this handle was opened to be read. Dropping the future loses no change.
    ///
    /// A [`Follower`](crate::service::Follower) looks at the store then. Without an implementation, there is nothing to wait
    /// for, and followers look each second.
    fn changed(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// Deletes the flow, which is not open. A location without a flow stays as it is.
    fn delete(&self) -> BoxFuture<'static, Result<(), StoreError>>;
}

/// The outcome of a [`Store::put`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// The entry is stored.
    Stored,
    /// The cell had this entry before, which stays.
    Exists(Entry),
}

/// The stored entry of a cell: the value, and the receipt of the computation.
///
/// ```
/// use columnar::store::Entry;
///
/// let answer = Entry::from("Since when?").with_receipt(r#"{"calls":1,"attempts":1,"ms":640}"#);
/// assert_eq!(answer.value.as_deref(), Some("Since when?"));
///
/// let empty = Entry::SKIPPED.with_receipt(r#"{"calls":3,"attempts":3,"ms":9000}"#);
/// assert!(empty.is_skipped() && empty.receipt.is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The value; `None` for a cell that is skipped for good: the column [leaves out](crate::guide::skipping) the
    /// step, the computation failed and [may be skipped](crate::compute::Policy::or_skip), or everything that the cell
    /// reads is skipped. The attachments of a value are no part of the entry: a store keeps the text.
    pub value: Option<Value>,
    /// A [`Receipt`](crate::usage::Receipt) as text, which stores do not parse. A skipped cell has a receipt as well, with
    /// the [reason](crate::SkipReason) as `skipped`, since failed attempts cost something, too. A computed value has
    /// hashes of the declaration as `made`; see [`stale`](crate::flow::LiveFlow::stale). A value with attachments has their
    /// digests, types, lengths and alternative texts as `attachments`. Other values of sources have no receipt.
    pub receipt: Option<Value>,
}

impl Entry {
    /// The entry of a skipped cell without a receipt.
    pub const SKIPPED: Self = Self { value: None, receipt: None };

    /// The same entry with this receipt.
    #[must_use]
    pub fn with_receipt(self, receipt: impl Into<Value>) -> Self {
        Self { receipt: Some(receipt.into()), ..self }
    }

    /// Whether the cell is skipped.
    pub const fn is_skipped(&self) -> bool {
        self.value.is_none()
    }

    /// The bytes of value and receipt together.
    pub(crate) fn len(&self) -> usize {
        [&self.value, &self.receipt].into_iter().flatten().map(|text| text.len()).sum()
    }

    /// Whether the other entry is equal. If the other entry has no receipt, receipts are not compared.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        self.value == other.value && (other.receipt.is_none() || self.receipt == other.receipt)
    }
}

/// An entry of a value without a receipt.
impl<T: Into<Value>> From<T> for Entry {
    fn from(value: T) -> Self {
        Self { value: Some(value.into()), receipt: None }
    }
}
