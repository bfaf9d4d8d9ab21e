//! Waits for values that the owners of flows store, in other processes perhaps.
//!
//! ```text
//! handles ── wanted flows ──▶ thread ══ session ── locks of the wanted flows
//!    ▲                          │
//!    └──── heard of a flow ─────┘ notifications
//! ```
//!
//! A reader that waits holds a shared advisory lock. A write that cannot take the same lock alone, for its transaction,
//! notifies: a flow that nobody follows notifies nobody, since the commits of notifications wait for each other. A reader
//! that takes the lock waits for a write that has it, and looks at the store afterwards.

use std::cell::RefCell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use futures::future::select;
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_postgres::types::Type;

use super::error::PostgresError;
use super::session::{Session, SessionClient};
use crate::declare::default_limits::FOLLOW_INTERVAL;

/// The flows that handles wait for, by key, each with those who hear of it.
type Wanted = HashMap<Arc<str>, watch::Sender<()>>;

/// Those who hear of the flows whose locks the session holds, by the text of the notifications.
type Heard = RefCell<HashMap<String, watch::Sender<()>>>;

/// The listener of a pool: a thread with a connection, from the first handle that waits to the end of the pool.
#[derive(Default)]
pub(super) struct Listener(Mutex<Option<Listening>>);

struct Listening {
    wanted: Arc<Mutex<Wanted>>,
    /// Tells the thread that the wanted flows have changed. The thread ends with the sender.
    changed: watch::Sender<()>,
}

impl Listener {
    /// Begins to listen; `None` where no thread is left. The receiver hears of the beginning, of each change, and of each time
    /// when changes may have been missed.
    pub(super) fn listen(&self, address: &Arc<str>, flow: &Arc<str>) -> Option<watch::Receiver<()>> {
        let mut listening = lock(&self.0);
        if listening.is_none() {
            *listening = Listening::start(Arc::clone(address));
        }
        let listening = listening.as_ref()?;
        let heard = lock(&listening.wanted).entry(Arc::clone(flow)).or_default().subscribe();
        listening.changed.send_replace(());
        Some(heard)
    }

    /// A handle hears no more.
    pub(super) fn left(&self) {
        if let Some(listening) = &*lock(&self.0) {
            listening.changed.send_replace(());
        }
    }
}

impl Listening {
    fn start(address: Arc<str>) -> Option<Self> {
        let wanted = Arc::new(Mutex::new(Wanted::new()));
        let (changed, changes) = watch::channel(());
        let flows = Arc::clone(&wanted);
        let thread = thread::Builder::new().name("columnar-store".into()).spawn(move || {
            let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return };
            let mut pool = changes.clone();
            let pool_ends = async { while pool.changed().await.is_ok() {} };
            runtime.block_on(select(pin!(listen(&address, &flows, changes)), pin!(pool_ends)));
            runtime.shutdown_background();
        });
        thread.ok().map(|_| Self { wanted, changed })
    }
}

/// Each change is one insertion or removal, so a panic leaves nothing half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn listen(address: &str, wanted: &Mutex<Wanted>, mut changes: watch::Receiver<()>) {
    loop {
        if let Ok(mut session) = Session::connect(address).await {
            let heard = Heard::default();
            let heard = &heard;
            let listening = session.listen(
                async |client| hear(client, wanted, &mut changes, heard).await,
                |text| {
                    if let Some(flow) = heard.borrow().get(text) {
                        flow.send_replace(());
                    }
                },
            );
            let _ = listening.await;
        }
        // As if there were no notifications.
        sleep(FOLLOW_INTERVAL).await;
        for flow in lock(wanted).values() {
            flow.send_replace(());
        }
    }
}

/// Takes the locks of the wanted flows, and releases all others.
async fn hear(
    client: &SessionClient,
    wanted: &Mutex<Wanted>,
    changes: &mut watch::Receiver<()>,
    heard: &Heard,
) -> Result<Infallible, PostgresError> {
    client.batch_execute("listen columnar").await?;
    let mut locked: HashMap<Arc<str>, String> = HashMap::new();
    loop {
        changes.mark_unchanged();
        let flows = {
            let mut wanted = lock(wanted);
            wanted.retain(|_, flow| flow.receiver_count() > 0);
            wanted.clone()
        };
        for (_, text) in locked.extract_if(|key, _| !flows.contains_key(key)) {
            heard.borrow_mut().remove(&text);
            unlock(client, &text).await?;
        }
        let mut is_complete = true;
        for (key, flow) in flows {
            if locked.contains_key(&key) {
                continue;
            }
            match lock_flow(client, &key).await? {
                Some(text) => {
                    heard.borrow_mut().insert(text.clone(), flow.clone());
                    locked.insert(key, text);
                }
                None => is_complete = false,
            }
            flow.send_replace(());
        }
        let changed = async {
            // Without a pool, the thread is about to end.
            if changes.changed().await.is_err() {
                pending::<()>().await;
            }
        };
        if is_complete {
            changed.await;
        } else {
            // A flow that nobody has stored yet.
            let _ = timeout(FOLLOW_INTERVAL, changed).await;
        }
    }
}

/// Takes the lock of a flow, and returns the text of its notifications; `None` if there is no flow.
async fn lock_flow(client: &SessionClient, key: &str) -> Result<Option<String>, PostgresError> {
    // The database may have such tables in several schemas.
    const LOCK: &str = "select 'columnar_cells'::regclass::oid || ' ' || flow, pg_advisory_lock_shared(
        ('columnar_cells'::regclass::oid::bigint - 2147483648)::integer, flow) from columnar_flows where key = $1";
    let flow = client.query_typed_opt(LOCK, &[(&key, Type::TEXT)]).await?;
    Ok(flow.map(|flow| flow.try_get(0)).transpose()?)
}

async fn unlock(client: &SessionClient, text: &str) -> Result<(), PostgresError> {
    const UNLOCK: &str = "select pg_advisory_unlock_shared(
        ('columnar_cells'::regclass::oid::bigint - 2147483648)::integer, split_part($1, ' ', 2)::integer)";
    client.query_typed(UNLOCK, &[(&text, Type::TEXT)]).await?;
    Ok(())
}
