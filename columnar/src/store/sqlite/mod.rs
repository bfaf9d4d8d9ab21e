//! A store in a SQLite file.
//!
//! ```text
//! SqliteStore ── Worker ── SqliteBackend ─┬─ database   the file, its format, and the lock of a flow
//!                                         └─ flow ── cells
//! ```

mod backend;
mod cells;
mod database;
mod error;
mod flow;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;

use self::backend::SqliteBackend;
use self::database::Location;
use super::Store;
use super::worker::{Worker, store_on_worker};

/// A store in a SQLite file, which holds any number of flows. SQLite is compiled into the program.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::store::SqliteStore;
/// # use columnar::testing::script;
///
/// flow! {
///     pub struct Chat {
///         source user;
///         column answer(user, self) = script(["Since when?", "The backup."]);
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// # let folder = tempfile::tempdir().expect("a folder");
/// # let file = folder.path().join("chats.db");
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
/// A flow has one owner at a time, and other flows of the file may be open meanwhile, in this process and in others
/// of this machine. The owner holds a lock on a file beside it, `chats.db-lock-1`, which ends with the process. Where
/// there are no such locks, no flow is opened. A network file system does not work, since processes that have the file
/// open share memory.
///
/// A confirmed `put` survives the program and, if the disk keeps its promises, a loss of power. Cells that finish
/// together wait for the disk together. Each value has a checksum that includes its column and step, so a value that
/// was changed, moved or removed is an error of that cell, and the others can be read. The checksum is no signature:
/// a program that can write to the file can forge it. A flow is found by its key; a damaged key loses the flow.
///
/// Files are readable by their owner alone. Ten thousand values of 800 bytes take 3 % more than their bytes, five
/// hundred 17 %. A column has at most 2^32 steps. The cost of a step and of opening does not depend on the number of
/// earlier steps, since the length of a column's complete prefix is stored now and then. Other tools can read the
/// view `cells`, which has values and receipts:
///
/// ```sh
/// sqlite3 chats.db "select step, value from cells where flow = 'ada, monday' and column = 'answer'"
/// ```
pub struct SqliteStore {
    worker: Worker<SqliteBackend>,
}

impl SqliteStore {
    /// A store of the flow with this key, in a file. Both are created when they are opened first; the folder must exist.
    pub fn new(file: impl Into<PathBuf>, flow: impl Into<String>) -> Self {
        Self { worker: Worker::new(Location { file: file.into(), flow: flow.into() }) }
    }
}

impl Store for SqliteStore {
    store_on_worker!();
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Location { file, flow } = self.worker.location();
        f.debug_struct("SqliteStore").field("file", file).field("flow", flow).finish_non_exhaustive()
    }
}
