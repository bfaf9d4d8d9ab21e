//! The files that this process has open. All handles to the flows of a file share a connection, on one thread.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures::future::FutureExt;

use super::cells::RowChunk;
use super::database::{self, FileLocation};
use super::log;
use super::open_file::OpenFile;
use crate::declare::Name;
use crate::declare::error::shown;
use crate::store::thread::{HandleId, NewCell, Thread};
use crate::store::{Put, StepEntries, StoreError, StoreFuture};

/// The open files, by paths without links.
static FILES: Mutex<BTreeMap<PathBuf, Weak<SharedFile>>> = Mutex::new(BTreeMap::new());

/// A file and a thread, which ends with the last handle.
pub(super) struct SharedFile {
    path: PathBuf,
    thread: Thread<OpenFile>,
}

/// A handle to a flow of a file. The drop closes the flow.
pub(super) struct FlowHandle {
    id: HandleId,
    file: Arc<SharedFile>,
}

impl SharedFile {
    /// The file, unless it is missing or empty. An empty file stays empty.
    pub(super) fn find_existing(file: &Path) -> Result<Option<Arc<Self>>, StoreError> {
        // Opening reports what cannot be looked at.
        if !log::is_empty(file).unwrap_or(false) {
            return Self::find(file).map(Some);
        }
        // The flows of the file may be in a log that was left.
        let path = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        log::check(&path).map_err(|error| error.into_store_error(&shown(file), "reading"))?;
        Ok(None)
    }

    /// The file that other handles have open, or a new one. Nothing is opened yet.
    pub(super) fn find(file: &Path) -> Result<Arc<Self>, StoreError> {
        let path = database::resolve(file)
            .map_err(|source| StoreError::Io { operation: format!("opening {}", shown(file)), source })?;
        let mut files = lock();
        if let Some(shared) = files.get(&path).and_then(Weak::upgrade) {
            return Ok(shared);
        }
        let thread = Thread::start(OpenFile::new(path.clone())).ok_or_else(StoreError::no_thread)?;
        let shared = Arc::new(Self { path: path.clone(), thread });
        // A weak reference, so that the last handle ends the thread.
        files.insert(path, Arc::downgrade(&shared));
        Ok(shared)
    }

    /// Runs on the thread, for no open flow.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut OpenFile) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<T> {
        // A new id, so that the task waits for no request of a handle.
        self.thread.ask(HandleId::new(), task)
    }
}

impl FlowHandle {
    pub(super) fn new(file: Arc<SharedFile>) -> Self {
        Self { id: HandleId::new(), file }
    }

    pub(super) fn is_of(&self, file: &Arc<SharedFile>) -> bool {
        Arc::ptr_eq(&self.file, file)
    }

    pub(super) fn open(&self, location: FileLocation) -> StoreFuture<Option<String>> {
        self.ask(move |file, id| file.open(id, &location))
    }

    pub(super) fn open_to_read(&self, location: FileLocation) -> StoreFuture<Option<String>> {
        self.ask(move |file, id| file.open_to_read(id, &location))
    }

    pub(super) fn put(&self, cell: NewCell) -> StoreFuture<Put> {
        self.file.thread.put(self.id, cell)
    }

    /// Loads entries with several requests. The thread serves other flows between these requests.
    pub(super) fn load(&self, column: Name, steps: Range<usize>) -> StoreFuture<StepEntries> {
        let id = self.id;
        let file = Arc::downgrade(&self.file);
        let load = move |file: &SharedFile, steps| {
            let column = column.clone();
            file.thread.ask(id, move |file| file.load(id, &column, steps))
        };
        // Sent at once, so that this request precedes all later requests.
        let first = load(&self.file, steps);
        let all = async move {
            let RowChunk { mut entries, mut rest } = first.await?;
            while !rest.is_empty() {
                // The future does not keep the file open.
                let next = file.upgrade().map(|file| load(&file, rest)).ok_or(StoreError::Closed)?;
                let chunk = next.await?;
                entries.extend(chunk.entries);
                rest = chunk.rest;
            }
            Ok(entries)
        };
        all.boxed()
    }

    /// Runs on the thread of the file.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut OpenFile, HandleId) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<T> {
        let id = self.id;
        self.file.thread.ask(id, move |file| task(file, id))
    }
}

impl Drop for FlowHandle {
    fn drop(&mut self) {
        let id = self.id;
        // The call blocks, so that the next `open` finds the flow free.
        let _ = self.file.thread.run(id, move |file| file.close(id)).recv();
    }
}

impl Drop for SharedFile {
    fn drop(&mut self) {
        let mut files = lock();
        // A handle that was opened a moment ago may have replaced the entry.
        if files.get(&self.path).is_some_and(|shared| shared.strong_count() == 0) {
            files.remove(&self.path);
        }
    }
}

fn lock() -> MutexGuard<'static, BTreeMap<PathBuf, Weak<SharedFile>>> {
    // Each change is one insertion or removal, so a panic leaves nothing half changed.
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}
