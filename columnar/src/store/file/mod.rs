//! Values as files in a folder.

mod backend;
mod disk;
mod layout;
mod listing;
mod log;
mod opening;
#[cfg(test)]
mod tests;
mod verify;

use std::path::{Path, PathBuf};

use futures::future::BoxFuture;

use self::backend::{FileBackend, Location};
use self::disk::Local;
use super::worker::{OnWorker, Worker};
use super::{Defect, StoreError};

/// A store in a folder: one file per value, named after its column and its step, that holds the text and
/// nothing else.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::store::FileStore;
///
/// flow! {
///     struct Echo {
///         source user;
///         column echo(user.latest) = |cx: Context| async move { cx.messages().last_text().into_owned() };
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// # let folder = tempfile::tempdir().expect("a folder");
/// # let folder = folder.path().join("chats/today");
/// let echo = Echo::open(FileStore::new(&folder)).await?;
/// echo.user.push("hello").await?;
/// echo.run().await?;
/// drop(echo);
///
/// assert_eq!(std::fs::read_to_string(folder.join("user/0.txt")).ok().as_deref(), Some("hello"));
/// let again = Echo::open(FileStore::new(&folder)).await?;
/// assert_eq!(again.user.get(0).as_deref(), Some("hello"));
/// # Ok(()) }
/// ```
///
/// # What lies where
///
/// ```text
/// user/0.txt           the value of `user` at step 0, byte for byte
/// echo/0.txt
/// .columnar/cells      which cells are stored, with the lengths and checksums of their values, and what they cost
/// .columnar/definition what the flow was like
/// .columnar/format     2
/// .columnar/lock       locked while a flow has it open
/// .columnar/staged/    what is being written
/// ```
///
/// The folder is made when it is opened for the first time. Search it, put it under version control, copy it while
/// no flow has it open; the folder `.columnar` belongs to it.
///
/// A text that somebody puts there as the next step of a column, `user/1.txt`, is taken over when the store is
/// opened the next time, as if it had been pushed. A file with another number is an error that says so. What is
/// not named after a number is left alone. So a folder whose `.columnar` is damaged can be opened without it: its
/// texts are taken over as they are, and nothing is known of what was skipped.
///
/// # What it promises
///
/// A value has its name once it is whole, and keeps it: a file is never written to again and never replaced. When
/// a value is confirmed, it and its name have been made durable (`fsync`), so it survives a loss of power wherever
/// the disk does what it says. A value that was edited, damaged or removed is an error when it is loaded; what is
/// recognised is change, not forgery. After a write that failed nothing is written until the store is opened
/// again, which finds out what has arrived.
///
/// What a cell cost stands in the log, under the checksum of its line, and takes no wait of its own.
///
/// One flow has it open at a time, on one machine: a lock keeps others out until their owner is gone, however it
/// ends. A file system that has no locks or no hard links is refused. New files are readable by their owner
/// alone, on Unix.
///
/// # What it costs
///
/// A value that is stored alone costs three waits for the disk, one for its text, one for the log and one for the
/// folder of its column. Cells that finish at the same time share the latter two.
///
/// Opening reads the log and lists the folders, and no value but what was put there by hand; loading reads a file
/// for each value. This is for conversations: up to some 10,000 steps of a column are comfortable, 100,000 are
/// possible. For more, use a database.
#[derive(Debug)]
pub struct FileStore {
    worker: Worker<FileBackend<Local>>,
}

impl FileStore {
    /// A store in this folder, which is made when the store is opened, if need be. Nothing is touched before.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { worker: Worker::new(Location { disk: Local, path: folder.into() }) }
    }

    /// The folder, as it was given.
    pub fn folder(&self) -> &Path {
        &self.worker.location().path
    }

    /// Reads everything that is stored, and returns what is wrong with it: values that are not what was stored,
    /// and files that are where no value belongs. Other than [`verify`](crate::reopen::verify) it need not open the store,
    /// so it changes nothing at all, and a flow may have it open.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::store::FileStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// # let topics = column("topics", source("user").latest(), prompt("List the topics."));
    /// let f = Flow::open(FileStore::new(folder), [topics]).await?;
    /// f.push("user", "hello").await?;
    /// let store = FileStore::new(folder);
    /// assert!(store.verify().await?.is_empty());
    ///
    /// std::fs::write(folder.join("user/0.txt"), "Hello")?;
    /// let defects = store.verify().await?;
    /// assert_eq!((defects[0].column.as_str(), defects[0].step), ("user", 0));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// When the store cannot be read, what stands beside its values is damaged, or a later version wrote it.
    pub fn verify(&self) -> BoxFuture<'static, Result<Vec<Defect>, StoreError>> {
        self.worker.inspect(verify::verify)
    }
}

impl OnWorker for FileStore {
    type Backend = FileBackend<Local>;

    fn worker(&self) -> &Worker<Self::Backend> {
        &self.worker
    }
}
