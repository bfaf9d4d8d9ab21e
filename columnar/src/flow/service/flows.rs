//! The open flows of a service, by key.
//!
//! ```text
//! key ──▶ slot, locked while its flow is opened ──▶ WeakSpawned ──▶ FlowTask, which has the flow
//! ```
//!
//! A slot is removed when the flow has ended and nobody opens it again.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt, join_all};
use tokio::time::Instant;

use super::spawned::{FlowTask, Spawn, Spawned, WeakSpawned, before};
use crate::model::deadline;
use crate::run::Error;

/// The open flows of a service, by key. Clones share the flows.
///
/// [`open`](Self::open) opens a flow, or joins it if it is open. So all clients of one conversation have the same flow,
/// and no store is opened twice. A flow is closed when the last handle and [`Subscription`](super::Subscription) are
/// dropped and all that was pushed is computed. So a service may have any number of conversations, of which only the
/// ones in use are open.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::service::Flows;
/// use columnar::store::FileStore;
///
/// flow! {
///     pub struct Chat {
///         source user;
///         column answer(user, self) = prompt("You are a helpful assistant.");
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let folder = tempfile::tempdir().expect("a folder").keep();
/// let chats: Flows<String, Chat> = Flows::new(move |key| Chat::open(FileStore::new(folder.join(key))));
/// let (ada, same) = (chats.open("ada").await?, chats.open("ada").await?);
/// let step = ada.user.push("Which language?").await?;
/// same.completed(step).await?;
/// assert!(same.answer.get(0).is_some());
///
/// chats.shutdown().await;
/// assert!(matches!(chats.open("ada").await, Err(Error::Closed)));
/// # Ok(()) }
/// ```
pub struct Flows<K, F, E = Error>(Arc<OpenFlows<K, F, E>>);

struct OpenFlows<K, F, E> {
    open: FlowOpener<K, F, E>,
    slots: Mutex<Slots<K, F>>,
}

/// The function that opens the flow of a key.
type FlowOpener<K, F, E> = Box<dyn Fn(K) -> BoxFuture<'static, Result<F, E>> + Send + Sync>;

struct Slots<K, F> {
    by_key: HashMap<K, Arc<FlowSlot<F>>>,
    is_closed: bool,
}

/// The flow of a key; `None` before it is opened for the first time.
type FlowSlot<F> = tokio::sync::Mutex<Option<WeakSpawned<F>>>;

impl<K, F, E> Flows<K, F, E>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    F: Spawn,
    E: From<Error> + 'static,
{
    /// Flows that this function opens.
    pub fn new<R>(open: impl Fn(K) -> R + Send + Sync + 'static) -> Self
    where
        R: Future<Output = Result<F, E>> + Send + 'static,
    {
        let slots = Mutex::new(Slots { by_key: HashMap::new(), is_closed: false });
        Self(Arc::new(OpenFlows { open: Box::new(move |key| open(key).boxed()), slots }))
    }

    /// Opens and [spawns](Spawn::spawn) the flow of this key, or joins it if it is open.
    ///
    /// # Errors
    ///
    /// The error of the function that opens flows; the next call tries again. [`Error::Closed`] after a shutdown.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn open(&self, key: impl Into<K>) -> Result<Spawned<F>, E> {
        let key = key.into();
        let lease = Lease::new(&self.0, key).ok_or(Error::Closed)?;
        let mut slot = lease.slot.lock().await;
        if let Some(open) = &mut *slot {
            if let Some(spawned) = open.upgrade() {
                return Ok(spawned);
            }
            // The task is about to drop the flow, and with it the store.
            open.ended().await;
        }
        let (task, spawned) = FlowTask::new((self.0.open)(lease.key.clone()).await?);
        *slot = Some(task.downgrade());
        let flows = Arc::clone(&self.0);
        let key = lease.key.clone();
        tokio::spawn(async move {
            task.serve().await;
            flows.forget(&key, 0);
        });
        // A shutdown that began meanwhile waits for the slot, and then for this flow.
        if self.0.lock().is_closed { Err(Error::Closed.into()) } else { Ok(spawned) }
    }

    /// The number of flows that are open.
    pub fn len(&self) -> usize {
        self.0.lock().by_key.len()
    }

    /// Whether no flow is open.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Shuts all flows down, as [`Spawned::shutdown`] does, and opens no more.
    pub async fn shutdown(&self) {
        self.end(None).await;
    }

    /// Shuts all flows down, as [`Spawned::shutdown_timeout`] does, and opens no more. Returns whether all flows ended
    /// in time.
    pub async fn shutdown_timeout(&self, limit: Duration) -> bool {
        self.end(Some(deadline(Instant::now(), limit))).await
    }

    async fn end(&self, deadline: Option<Instant>) -> bool {
        let slots: Vec<_> = {
            let mut slots = self.0.lock();
            slots.is_closed = true;
            slots.by_key.values().cloned().collect()
        };
        let ended = slots.iter().map(|slot| async move {
            // A flow that is being opened is waited for.
            let Some(mut slot) = before(deadline, slot.lock()).await else { return false };
            let Some(open) = &mut *slot else { return true };
            let in_time = match open.upgrade() {
                Some(spawned) => spawned.end(deadline).await,
                None => true,
            };
            open.ended().await;
            in_time
        });
        let in_time = join_all(ended).await.into_iter().all(|in_time| in_time);
        // The tasks could not remove the slots that this function used.
        self.0.lock().by_key.retain(|_, slot| !is_unused(slot));
        in_time
    }
}

impl<K: Eq + Hash, F, E> OpenFlows<K, F, E> {
    /// Locks the slots. Each change is one insertion or removal, so a panic leaves nothing half changed.
    fn lock(&self) -> MutexGuard<'_, Slots<K, F>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes a slot whose flow has ended, unless someone other than the caller is about to use the slot. The caller
    /// has this number of references to the slot.
    fn forget(&self, key: &K, references: usize) {
        let mut slots = self.lock();
        let Some(slot) = slots.by_key.get(key) else { return };
        // References are made under this lock alone, so their number cannot grow meanwhile.
        if Arc::strong_count(slot) <= 1 + references && is_unused(slot) {
            slots.by_key.remove(key);
        }
    }
}

/// Whether a slot has no flow, and nobody is about to open it.
fn is_unused<F>(slot: &FlowSlot<F>) -> bool {
    slot.try_lock().is_ok_and(|slot| slot.as_ref().is_none_or(WeakSpawned::has_ended))
}

/// The use of a slot by a call of [`Flows::open`], which may be dropped at any time.
struct Lease<'f, K: Eq + Hash, F, E> {
    flows: &'f OpenFlows<K, F, E>,
    slot: Arc<FlowSlot<F>>,
    key: K,
}

impl<'f, K: Clone + Eq + Hash, F, E> Lease<'f, K, F, E> {
    /// `None` if no more flows are opened.
    fn new(flows: &'f OpenFlows<K, F, E>, key: K) -> Option<Self> {
        let mut slots = flows.lock();
        if slots.is_closed {
            return None;
        }
        let slot = Arc::clone(slots.by_key.entry(key.clone()).or_default());
        Some(Self { flows, slot, key })
    }
}

impl<K: Eq + Hash, F, E> Drop for Lease<'_, K, F, E> {
    fn drop(&mut self) {
        self.flows.forget(&self.key, 1);
    }
}

impl<K, F, E> Clone for Flows<K, F, E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K, F, E> fmt::Debug for Flows<K, F, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flows").finish_non_exhaustive()
    }
}
