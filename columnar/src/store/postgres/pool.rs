//! The connections that handles share, each with a thread, and a handle to a flow.

use std::iter::repeat_with;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::{BoxFuture, FutureExt};
use tokio::sync::watch;

use super::connection::PooledConnection;
use super::listener::Listener;
use super::session::{GRACE, SessionLocation};
use crate::store::thread::{HandleId, LazyThread, NewCell};
use crate::store::{Put, StoreError, StoreFuture};

/// The connections of a pool.
type Connections = Arc<[Arc<ConnectionThread>]>;

/// The thread of a connection, which ends with the last handle.
type ConnectionThread = LazyThread<PooledConnection>;

/// A handle to a flow on a connection of a pool. The drop closes the flow.
pub(super) struct PooledHandle {
    id: HandleId,
    pub(super) location: SessionLocation,
    connections: Connections,
    connection: Arc<ConnectionThread>,
    listener: Arc<Listener>,
    /// Whether the handle may have a flow open.
    is_opened: AtomicBool,
    /// What is heard of the flow; `None` as long as nobody waits.
    heard: Mutex<Option<watch::Receiver<()>>>,
}

impl PooledHandle {
    /// A handle to a flow on new connections.
    pub(super) fn new(address: &Arc<str>, flow: &str, connections: usize) -> Self {
        let connections = repeat_with(Arc::default).take(connections.max(1)).collect();
        Self::of(address, flow, &connections, Arc::default())
    }

    /// A handle to another flow on these connections.
    pub(super) fn flow(&self, flow: &str) -> Self {
        Self::of(&self.location.address, flow, &self.connections, Arc::clone(&self.listener))
    }

    fn of(address: &Arc<str>, flow: &str, connections: &Connections, listener: Arc<Listener>) -> Self {
        // The connection with the fewest handles. A count that has changed meanwhile does no harm.
        let connection = connections.iter().min_by_key(|connection| Arc::strong_count(connection));
        Self {
            id: HandleId::new(),
            location: SessionLocation::new(address, flow),
            connections: Arc::clone(connections),
            connection: connection.map(Arc::clone).unwrap_or_default(),
            listener,
            is_opened: AtomicBool::new(false),
            heard: Mutex::new(None),
        }
    }

    /// Runs on the thread of the connection.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut PooledConnection, HandleId) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<T> {
        let id = self.id;
        self.connection.send(|thread| thread.ask(id, move |connection| task(connection, id)))
    }

    pub(super) fn put(&self, cell: NewCell) -> StoreFuture<Put> {
        self.connection.send(|thread| thread.put(self.id, cell))
    }

    pub(super) fn open(
        &self,
        open: fn(&mut PooledConnection, HandleId, &SessionLocation) -> Result<Option<String>, StoreError>,
    ) -> StoreFuture<Option<String>> {
        self.is_opened.store(true, Ordering::Relaxed);
        if let Some(heard) = &mut *self.heard() {
            heard.mark_unchanged();
        }
        self.inspect(open)
    }

    /// Waits until something is heard of the flow since it was opened. The first call ends when the handle listens.
    pub(super) fn changed(&self) -> Option<BoxFuture<'static, ()>> {
        let mut heard = self.heard();
        if heard.is_none() {
            *heard = self.listener.listen(&self.location.address, &self.location.flow);
        }
        let mut heard = heard.clone().filter(|heard| heard.has_changed().is_ok())?;
        Some(async move { drop(heard.changed().await) }.boxed())
    }

    fn heard(&self) -> MutexGuard<'_, Option<watch::Receiver<()>>> {
        // Each change is one assignment, so a panic leaves nothing half changed.
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs with the location, whether or not the flow is open.
    pub(super) fn inspect<T: Send + 'static>(
        &self,
        inspect: fn(&mut PooledConnection, HandleId, &SessionLocation) -> Result<T, StoreError>,
    ) -> StoreFuture<T> {
        let location = self.location.clone();
        self.ask(move |connection, id| inspect(connection, id, &location))
    }
}

impl Drop for PooledHandle {
    fn drop(&mut self) {
        self.location.handle_dropped();
        if self.heard().take().is_some() {
            self.listener.left();
        }
        if *self.is_opened.get_mut() {
            let id = self.id;
            let thread = self.connection.lock();
            let closing =
                thread.as_ref().map(|thread| thread.run(id, move |connection| connection.close(id)));
            drop(thread);
            // The call blocks, so that the next `open` finds the flow free. A request of another flow may last for as
            // long as the server is silent.
            if let Some(closing) = closing {
                let _ = closing.recv_timeout(2 * GRACE);
            }
        }
    }
}
