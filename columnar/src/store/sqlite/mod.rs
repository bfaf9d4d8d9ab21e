//! A store in a SQLite file.
//!
//! ```text
//! SqliteStore ── Handle ──┐
//! SqliteStore ── Handle ──┼── SharedFile ══ OpenFile ──┬── OpenFlow ── flow ── cells
//! SqliteStore ── Handle ──┘      its thread            └── OpenFlow ── flow ── cells
//! ```

mod attachments;
mod backup;
mod cells;
mod database;
mod deletion;
mod error;
mod flow;
mod frames;
mod lock;
mod log;
mod names;
mod open_file;
mod open_flow;
mod schema;
mod shared_file;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::{self, BoxFuture, FutureExt};

use self::database::FileLocation;
use self::open_file::OpenFile;
use self::shared_file::{FlowHandle, SharedFile};
use super::thread::{NewCell, run};
use super::{Entry, Put, StepEntries, Store, StoreError, StoreFuture, StoredSteps};
use crate::declare::Name;

/// A store in a SQLite file, which holds any number of flows. SQLite is compiled into the program.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::store::SqliteStore;
/// use columnar::testing::script;
///
/// flow! {
///     pub struct Chat {
///         source user;
///         column answer(user, self) = script(["Since when?", "The backup."]);
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let folder = tempfile::tempdir().expect("a folder");
/// let file = folder.path().join("chats.db");
/// let chat = Chat::open(SqliteStore::new(&file, "ada, monday")).await?;
/// chat.user.push("It is slow.").await?;
/// chat.run().await?;
/// drop(chat);
///
/// let chat = Chat::open(SqliteStore::new(&file, "ada, monday")).await?;
/// assert_eq!(chat.answer.get(0).as_deref(), Some("Since when?"));
///
/// let other = Chat::open(SqliteStore::new(&file, "ada, tuesday")).await?;   // at the same time
/// assert_eq!(other.steps(), 0);
/// # Ok(()) }
/// ```
///
/// A flow has one owner at a time, and other flows of the file may be open meanwhile, in this process and in others of
/// this machine. The owner locks a file beside the database, `chats.db-lock-1`, and the lock ends with the process.
/// Where there are no such locks, no flow is opened. A network file system does not work, since processes that have
/// the file open share memory.
///
/// All flows of a file that a process has open share a connection, a thread and a locked file, so a thousand flows
/// take five file descriptors. Values of several flows that arrive during a write share the next write. A failed write
/// halts the flows of that write, and the others go on.
///
/// A confirmed `put` survives the program and, if the disk keeps its promises, a loss of power. Cells that finish
/// together wait for the disk together. Each value has a checksum that includes the column and the step, so a value
/// that was changed, moved or removed is an error of that cell, and the others can be read. The checksum is no
/// signature: a program that can write to the file can forge it. Before a new flow is begun, the index of the keys is
/// compared with the flows, once for each connection, so a damaged index loses no flow. The schema and the length of the
/// file are compared with what the library writes, each time the file is opened.
///
/// Attachments are in the table `attachment`, each once for all flows of the file, and `flow_attachment` has the flows that
/// use each. A file without attachments has neither table.
///
/// Deleting a flow overwrites its texts, and the attachments that no other flow has, with zeros; after an interruption, the next deletion does the rest, for any
/// key. Until the log beside the file is empty, texts may still be there.
///
/// # The log
///
/// While the file is open, new values are in the log beside the file, `chats.db-wal`. After a second without a
/// request, and when the last flow of the process is closed, the values are written back to the file and the log is
/// emptied, unless another process is using it. So a file that is closed or idle is whole by itself. After a crash the
/// log belongs to the file: a file without the log is an earlier state of all flows, and nothing shows the loss.
/// [`backup`](Self::backup) copies a file that is in use. The first opening after a crash reads the whole file once, as
/// `pragma integrity_check` does, and refuses a file in which nothing leads to a page.
///
/// If the log is damaged, cut, overwritten or an earlier one, so that confirmed values are lost, the file is not
/// opened, and the error has the number of lost transactions or of their parts. SQLite itself would drop these
/// transactions. The index beside the log, `chats.db-shm`, tells which transaction was the last one. So copy the index
/// with the log. In a log that was copied without the index, damage is noticed only if whole transactions follow. A
/// log that was cut anywhere looks like one that a loss of power has interrupted, and a log of zeros like an empty
/// one. After a loss of power the index may show an earlier moment, and shows less.
///
/// If the file, its log, its index or the lock of a flow is removed, moved or replaced while the flow is open, the
/// next write is an error that names the path, and nothing more is written. The same happens if the log is cut. A cut
/// exactly between two frames of the last transaction is noticed when the file is opened again.
///
/// Files are readable by their owner alone. Ten thousand values of 800 bytes take 3 % more than the bytes of the
/// values, five hundred values 17 % more. A column has at most 2^32 steps. The cost of a step and of opening does not
/// depend on the number of earlier steps, since the length of a column's complete prefix is stored now and then. Other
/// tools can read the view `cells`, which has values and receipts:
///
/// ```sh
/// sqlite3 chats.db "select step, value from cells where flow = 'ada, monday' and column = 'answer'"
/// ```
pub struct SqliteStore {
    location: FileLocation,
    /// The handle; `None` before the store is opened.
    handle: Mutex<Option<FlowHandle>>,
}

impl SqliteStore {
    /// A store of the flow with this key, in a file. The first opening creates both; the folder must exist.
    pub fn new(file: impl Into<PathBuf>, flow: impl Into<String>) -> Self {
        let location = FileLocation { file: file.into(), flow: flow.into() };
        Self { location, handle: Mutex::new(None) }
    }

    /// The keys of the flows in a file, in order. A flow is listed once opened. A missing file has no flows, and stays
    /// missing.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::store::{SqliteStore, Store};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let topics = column("topics", source("user").latest(), prompt("List the topics."));
    /// let folder = tempfile::tempdir()?;
    /// let file = folder.path().join("chats.db");
    /// for day in ["tuesday", "monday"] {
    ///     Flow::open(SqliteStore::new(&file, day), [&topics]).await?;
    /// }
    /// assert_eq!(SqliteStore::flows(&file).await?, ["monday", "tuesday"]);
    ///
    /// SqliteStore::new(&file, "monday").delete().await?;
    /// assert_eq!(SqliteStore::flows(&file).await?, ["tuesday"]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or a newer version wrote it.
    pub fn flows(file: impl Into<PathBuf>) -> BoxFuture<'static, Result<Vec<String>, StoreError>> {
        let file = SharedFile::find_existing(&file.into());
        let keys = async {
            match file? {
                Some(file) => file.ask(OpenFile::keys).await,
                None => Ok(Vec::new()),
            }
        };
        keys.boxed()
    }

    /// Copies all flows of a file into a new one, while these may be open and written, here or in other processes. The
    /// copy has every value that was confirmed before the call, and shows one moment. No write waits for the copy.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::store::{SqliteStore, Store};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let topics = column("topics", source("user").latest(), prompt("List the topics."));
    /// let folder = tempfile::tempdir()?;
    /// let [file, copy] = ["chats.db", "friday.db"].map(|name| folder.path().join(name));
    /// let chat = Flow::open(SqliteStore::new(&file, "ada"), [&topics]).await?;
    /// chat.push("user", "It is slow.").await?;
    ///
    /// SqliteStore::backup(&file, &copy).await?;           // `chat` is open
    /// let copied = Flow::open(SqliteStore::new(&copy, "ada"), [&topics]).await?;
    /// assert_eq!(copied.get("user", 0).as_deref(), Some("It is slow."));
    /// # Ok(()) }
    /// ```
    ///
    /// The copy appears under its name when it is complete and on the disk. Until then it is `friday.db-part`, which
    /// is removed if copying fails. The copy is readable by its owner alone, and has no log and no deleted text.
    /// Dropping the future does not end the copying, during which the log of the file grows. A process that dies
    /// leaves `friday.db-part` and perhaps `friday.db-part-journal`, which can be removed, or a complete copy, which
    /// removes the first when it is opened.
    ///
    /// # Errors
    ///
    /// When the file is missing, empty or cannot be read, or the copy exists already or cannot be written, or when
    /// `friday.db-wal`, `-shm` or `-journal` of an earlier file is there, which would be read as a part of the copy.
    pub fn backup(
        file: impl Into<PathBuf>,
        to: impl Into<PathBuf>,
    ) -> BoxFuture<'static, Result<(), StoreError>> {
        let file = file.into();
        let to = to.into();
        // Copied on a separate thread, so the flows of the file need not wait.
        run(move || backup::backup(&file, &to))
    }

    /// Opens the flow in a file through the handle.
    fn open_in(
        &self,
        file: Result<Arc<SharedFile>, StoreError>,
        open: impl FnOnce(&FlowHandle, FileLocation) -> StoreFuture<Option<String>>,
    ) -> StoreFuture<Option<String>> {
        let file = match file {
            Ok(file) => file,
            Err(error) => return future::ready(Err(error)).boxed(),
        };
        let mut handle = self.lock();
        // The path may be a link that leads to another file now.
        if handle.as_ref().is_some_and(|handle| !handle.is_of(&file)) {
            *handle = None;
        }
        open(handle.get_or_insert_with(|| FlowHandle::new(file)), self.location.clone())
    }

    /// Makes a request through the handle.
    fn send<T: Send + 'static>(&self, request: impl FnOnce(&FlowHandle) -> StoreFuture<T>) -> StoreFuture<T> {
        match &*self.lock() {
            Some(handle) => request(handle),
            None => future::ready(Err(StoreError::Closed)).boxed(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<FlowHandle>> {
        // The handle is replaced as a whole, so a panic leaves nothing half changed.
        self.handle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for SqliteStore {
    fn open(&self) -> StoreFuture<Option<String>> {
        self.open_in(SharedFile::find(&self.location.file), FlowHandle::open)
    }

    fn open_to_read(&self) -> StoreFuture<Option<String>> {
        let file = SharedFile::find_existing(&self.location.file);
        let file = file.and_then(|file| file.ok_or_else(|| StoreError::absent(&self.location)));
        self.open_in(file, FlowHandle::open_to_read)
    }

    fn define(&self, definition: String) -> StoreFuture<()> {
        self.send(|handle| {
            handle.ask(move |file, id| file.write_alone(id, |flow, db| flow.define(db, definition)))
        })
    }

    fn stored_steps(&self, column: Name) -> StoreFuture<StoredSteps> {
        self.send(|handle| handle.ask(move |file, id| file.stored_steps(id, &column)))
    }

    fn load(&self, column: Name, steps: Range<usize>) -> StoreFuture<StepEntries> {
        self.send(|handle| handle.load(column, steps))
    }

    fn put(&self, column: Name, step: usize, entry: Entry) -> StoreFuture<Put> {
        self.send(|handle| handle.put(NewCell { column, step, entry }))
    }

    fn put_blob(&self, digest: String, bytes: Arc<[u8]>) -> StoreFuture<()> {
        self.send(|handle| {
            handle.ask(move |file, id| file.write_alone(id, |flow, db| flow.put_blob(db, &digest, &bytes)))
        })
    }

    fn load_blob(&self, digest: String) -> StoreFuture<Option<Arc<[u8]>>> {
        self.send(|handle| handle.ask(move |file, id| file.load_blob(id, &digest)))
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn delete(&self) -> StoreFuture<()> {
        let file = SharedFile::find_existing(&self.location.file);
        let location = Arc::new(self.location.clone());
        let delete = async move {
            let Some(file) = file? else { return Ok(()) };
            let deleted = Arc::clone(&location);
            let mut is_due = file.ask(move |file| file.delete(&deleted)).await?;
            while is_due {
                let location = Arc::clone(&location);
                is_due = file.ask(move |file| file.purge(&location)).await?;
            }
            Ok(())
        };
        delete.boxed()
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FileLocation { file, flow } = &self.location;
        f.debug_struct("SqliteStore").field("file", file).field("flow", flow).finish_non_exhaustive()
    }
}
