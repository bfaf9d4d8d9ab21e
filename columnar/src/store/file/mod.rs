//! A store in files of a folder.

mod attachments;
mod backend;
mod deletion;
mod disk;
mod format;
mod known;
mod layout;
mod listing;
mod log;
mod own_files;
mod recovery;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use futures::future::{BoxFuture, FutureExt};

use self::backend::FileBackend;
use self::disk::Local;
use self::layout::FolderLocation;
use super::pointer::delegate_store;
use super::worker::Worker;
use super::{Defect, Store, StoreError};

/// A store in a folder, with one file per value. The file is named after column and step, and holds the text
/// alone.
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
/// let folder = tempfile::tempdir().expect("a folder");
/// let folder = folder.path().join("chats/today");
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
/// # Layout
///
/// ```text
/// user/0.txt           the value of `user` at step 0, byte for byte
/// echo/0.txt
/// _attachments/6b….png an attachment, named after its SHA-256 and its type
/// .columnar/cells      the log: the stored cells, with lengths and checksums of their values, and their receipts
/// .columnar/definition the definition of the flow
/// .columnar/format     2, or 3 with attachments
/// .columnar/known      the number of cells in the log, as of the last opening or closing
/// .columnar/lock       locked while a flow has it open
/// .columnar/staged/    values that are being written
/// ```
///
/// The first opening creates the folder. Search the folder, put it under version control, or copy it while no flow has
/// it open; the folder `.columnar` belongs to it.
///
/// A file that you add as the next step of a column, such as `user/1.txt`, is adopted when the store is opened, as if
/// the text had been pushed. The file may have at most 64 MiB. The flow logs the file with the next value that is
/// stored; until then you may correct the file, or take it away. A file with another number is an error that names the
/// next step. Files that are not named after a number are ignored.
///
/// If `.columnar` is damaged, move that folder away. Then all texts are adopted as they are, without receipts and
/// attachments, whose files stay, and skipped cells are computed again. A source must have all steps.
///
/// # Guarantees
///
/// A file gets its name when complete, and is never written to again and never replaced. When a value is confirmed,
/// the value and its name are durable (`fsync`), so it survives a loss of power if the disk keeps its promises.
/// Loading a value that was edited, damaged or removed is an error. Checksums detect change, not forgery. After a
/// failed write nothing is written until the store is opened again. Opening finds out which values were stored.
///
/// An attachment is durable before the value that names it, and stored once for all values of the flow. Loading a value
/// whose attachment was changed or removed is an error that names the attachment; the text stays in its file.
///
/// The receipt of a cell is in the log, under the checksum of the line, and takes no extra wait.
///
/// Deleting a flow removes the values, the attachments, the folders that are empty then, and `.columnar`. Other files stay. The next
/// opening or deletion of the store finishes an interrupted deletion.
///
/// One flow has the folder open at a time, on one machine: a lock excludes others until the owner is gone, even if the
/// process is killed. A file system that has no locks or no hard links is refused. On Unix, new files are readable by
/// the owner alone.
///
/// A folder from elsewhere is not trusted. Where the store has a file or a folder, there may be no link, pipe, device
/// or socket, and the log may have no second name. Otherwise an error names the path, and nothing is read, written or
/// removed elsewhere. The folder itself may be a link, which is followed once, when the store is opened. A log of any
/// length takes memory for valid lines alone.
///
/// Before each write, and once more before the values get names, an open store looks at the folder `.columnar`, the
/// lock, the log and the folder of staged files. If one was moved, removed, replaced or linked, or another program
/// changed the log, an error names the path, and nothing more is confirmed until the store is opened again.
///
/// A log that lost complete lines looks like an earlier log. So a file apart from the log has the number of cells, and
/// whether there was a definition. If the log lists fewer cells, or the definition is missing, the store is not
/// opened. The number covers the lines that were there when the store was last opened or closed, which are all lines
/// unless the process was killed. After a kill, the loss of lines since the opening is not noticed: the values are
/// adopted like files that were added by hand, without receipts, and the skipped cells are computed again. A loss of
/// power may forget the last number, and a folder that an earlier version made has no number until opened.
///
/// # Costs
///
/// A value that is stored alone costs three waits for the disk: for the text, for the log and for the folder of the
/// column. Cells that finish at the same time share the latter two waits, and the six calls of `stat` that look at the
/// files of the store.
///
/// An open flow takes two file descriptors and a thread.
///
/// Opening reads the log and lists the folders; the only values that are read are files that were added by hand.
/// Loading reads one file per value. This is for conversations: up to some 10,000 steps of a column are comfortable,
/// 100,000 are possible. For more, use a database.
#[derive(Debug)]
pub struct FileStore {
    worker: Worker<FileBackend<Local>>,
}

impl FileStore {
    /// A store in this folder. Nothing is touched before the store is opened. Opening creates the folder if necessary.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { worker: Worker::new(FolderLocation { disk: Local, path: folder.into() }) }
    }

    /// The folder, as passed to [`new`](Self::new).
    pub fn folder(&self) -> &Path {
        &self.worker.location.path
    }

    /// The stores in the folders of a folder, in order of names. A folder is a store once opened. Other folders,
    /// links, folders deeper down, and folders that this user may not enter are left out. A missing folder has no
    /// stores.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::store::{FileStore, Store};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let topics = column("topics", source("user").latest(), prompt("List the topics."));
    /// let folder = tempfile::tempdir()?;
    /// let chats = folder.path();
    /// for day in ["monday", "tuesday"] {
    ///     Flow::open(FileStore::new(chats.join(day)), [&topics]).await?;
    /// }
    /// assert_eq!(FileStore::flows(chats).await?, [chats.join("monday"), chats.join("tuesday")]);
    ///
    /// FileStore::new(chats.join("monday")).delete().await?;
    /// assert_eq!(FileStore::flows(chats).await?, [chats.join("tuesday")]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// When the folder cannot be read.
    pub fn flows(folder: impl Into<PathBuf>) -> BoxFuture<'static, Result<Vec<PathBuf>, StoreError>> {
        let worker = Worker::<FileBackend<Local>>::new(FolderLocation { disk: Local, path: folder.into() });
        async move { worker.inspect(listing::flows).await }.boxed()
    }

    /// Reads everything that is stored, and returns the defects: values that have changed, and files where no value
    /// belongs. Unlike [`reopen::verify`](crate::reopen::verify), this method does not open the store. So nothing at
    /// all changes, and a flow may have the store open.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::store::FileStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let folder = tempfile::tempdir()?;
    /// let folder = folder.path();
    /// let topics = column("topics", source("user").latest(), prompt("List the topics."));
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
    /// When the store cannot be read, the log or the format is damaged, the definition is missing, or a newer version
    /// wrote it.
    pub fn verify(&self) -> BoxFuture<'static, Result<Vec<Defect>, StoreError>> {
        self.worker.inspect(recovery::verify)
    }
}

impl Store for FileStore {
    delegate_store!(store => store.worker);
}
