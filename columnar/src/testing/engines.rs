//! The conformance suite of adapters of engines.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt, LocalBoxFuture, join, join_all, select};
use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use crate::compute::{Context, external};
use crate::engine::{Engine, EngineError, FlowClient, FlowWorker, RemoteFlow};
use crate::flow::service::Position;
use crate::flow::{Column, Flow, column, source};
use crate::model::Overloaded;
use crate::run::Event;
use crate::store::MemoryStore;
use crate::{BoxError, Result};

/// An engine that [`engine_conformance`] checks.
pub trait EngineHarness: Send + Sync + 'static {
    /// The side of the adapter towards clients.
    type Engine: Engine;

    /// A client of the engine.
    fn engine(&self) -> Self::Engine;

    /// Serves calls with a worker, beside the other workers, until the second future ends; then the worker drains. Dropping the
    /// future is the death of the worker.
    fn serve(&self, worker: FlowWorker, shutdown: BoxFuture<'static, ()>) -> LocalBoxFuture<'static, ()>;

    /// Everything that the engine remembers of calls, in any form that shows texts as they are.
    fn remembered(&self) -> BoxFuture<'_, String>;
}

/// Checks that an engine gives each flow one owner at a time, replaces an owner that dies, wakes flows, carries out a request
/// once, and remembers no text. For the tests of authors who write an adapter.
///
/// The engine keeps what earlier checks have left: each check takes new keys.
///
/// # Panics
///
/// If the engine or the adapter violates a clause of [`OwnedCall`](crate::engine::OwnedCall) or [`Engine`]. Outside of a tokio
/// runtime.
pub async fn engine_conformance<H: EngineHarness>(harness: H) {
    let check = Check::new(harness);
    let workers = [check.start(), check.start()];
    check.stores_a_repeated_push_once().await;
    check.makes_the_calls_of_a_flow_one_after_another().await;
    check.refuses_a_wrong_call_and_goes_on().await;
    check.wakes_a_flow_whose_failure_passes().await;
    check.goes_on_with_a_long_run().await;
    check.stores_answers().await;
    check.cancels_the_cells_in_progress().await;
    for worker in workers {
        worker.drain().await;
    }
    check.replaces_a_worker_that_dies().await;
    check.finishes_cells_before_it_ends().await;
    let remembered = check.harness.remembered().await;
    assert!(remembered.contains(r#""call":"push""#), "the harness shows nothing that the engine remembers");
    assert!(!remembered.contains(TEXT), "the engine remembers the text of a push");
}

/// In every value, so that it would be found in what the engine remembers.
const TEXT: &str = "a word of a conversation";

/// The time after which a value is missing.
const PATIENCE: Duration = Duration::from_mins(2);

struct Check<H> {
    harness: Arc<H>,
    trial: Arc<Trial>,
    client: FlowClient,
    /// Differs between two runs of the suite on the same engine.
    name: String,
}

/// The stores and the state of compute steps, which the workers of a check share.
#[derive(Default)]
struct Trial {
    stores: Mutex<HashMap<String, MemoryStore>>,
    /// The number of computations by the text that they read.
    computed: watch::Sender<HashMap<String, usize>>,
    /// The texts whose cells may go on.
    opened: watch::Sender<HashSet<String>>,
}

impl Trial {
    fn store(&self, key: &str) -> MemoryStore {
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        stores.entry(key.to_owned()).or_default().clone()
    }

    fn computed(&self, text: &str) -> usize {
        self.computed.borrow().get(text).copied().unwrap_or_default()
    }

    async fn begun(&self, text: &str) {
        let mut computed = self.computed.subscribe();
        let begun = computed.wait_for(|computed| computed.contains_key(text));
        assert!(timeout(PATIENCE, begun).await.is_ok(), "no worker computes the value of a push");
    }

    /// Lets the cells that wait with this text go on.
    fn open(&self, text: &str) {
        self.opened.send_modify(|opened| _ = opened.insert(text.to_owned()));
    }

    /// Computes a value, as the text says.
    async fn compute(&self, text: String) -> Result<String, BoxError> {
        let mut attempt = 0;
        self.computed.send_modify(|computed| {
            let count = computed.entry(text.clone()).or_default();
            *count += 1;
            attempt = *count;
        });
        if text.contains("wait") {
            // The check has the sender.
            let _ = self.opened.subscribe().wait_for(|opened| opened.contains(&text)).await;
        } else if text.contains("slow") {
            sleep(Duration::from_millis(50)).await;
        } else if text.contains("later") && attempt == 1 {
            return Err(Overloaded::default().into());
        }
        Ok(format!("{text}!"))
    }
}

/// A worker on a thread, which dies with the tasks on it.
struct TestWorker {
    kill: oneshot::Sender<()>,
    drain: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl TestWorker {
    async fn kill(self) {
        drop(self.kill);
        joined(self.thread).await;
    }

    async fn drain(self) {
        drop(self.drain);
        joined(self.thread).await;
    }
}

async fn joined(thread: JoinHandle<()>) {
    let joined = spawn_blocking(|| thread.join()).await;
    assert!(matches!(joined, Ok(Ok(()))), "the worker panics");
}

/// Whether a call is refused for this reason.
fn is_refused<T>(result: &Result<T, EngineError>, reason: &str) -> bool {
    matches!(result, Err(EngineError::Refused(message)) if message.contains(reason))
}

/// A column that computes what another one says.
fn computed(trial: &Arc<Trial>, name: &str, reads: &Column) -> Column {
    let trial = Arc::clone(trial);
    let input = reads.name().to_owned();
    column(name, reads.latest(), move |cx: Context| {
        let trial = Arc::clone(&trial);
        let text = cx.input(&input).map(|value| value.as_str().to_owned()).unwrap_or_default();
        async move { trial.compute(text).await }
    })
}

/// The last column of a flow, as its key says.
fn last_column(trial: &Arc<Trial>, key: &str) -> Column {
    let user = source("user");
    if key.contains("long") {
        let names = ["first", "second", "third", "fourth", "fifth"];
        return names.iter().fold(user, |reads, name| computed(trial, name, &reads));
    }
    if key.contains("desk") {
        return computed(trial, "answer", &column("reply", user.latest(), external()));
    }
    computed(trial, "answer", &user)
}

impl<H: EngineHarness> Check<H> {
    fn new(harness: H) -> Self {
        let trial = Arc::new(Trial::default());
        let stores = Arc::clone(&trial);
        let client = FlowClient::new(harness.engine(), move |key| stores.store(key));
        Self { harness: Arc::new(harness), trial, client, name: format!("{:016x}", fastrand::u64(..)) }
    }

    fn flow(&self, key: &str) -> RemoteFlow {
        self.client.flow(format!("{key} {}", self.name))
    }

    fn start(&self) -> TestWorker {
        let trial = Arc::clone(&self.trial);
        let stores = Arc::clone(&self.trial);
        let worker = FlowWorker::new(
            move |key: String| {
                let trial = Arc::clone(&trial);
                async move { Flow::open(trial.store(&key), [last_column(&trial, &key)]).await }
            },
            move |key| stores.store(key),
        );
        let worker = worker
            .slice(Duration::from_millis(100))
            .pauses(Duration::from_millis(50), Duration::from_millis(200));
        let harness = Arc::clone(&self.harness);
        let (kill, killed) = oneshot::channel::<()>();
        let (drain, drained) = oneshot::channel::<()>();
        let thread = thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(select(harness.serve(worker, drained.map(drop).boxed()), killed));
        });
        TestWorker { kill, drain, thread }
    }

    /// Waits for the value of a column at a step.
    async fn value(&self, flow: &RemoteFlow, name: &str, at: usize) -> String {
        let mut events = flow.events(&Position::START);
        let value = async {
            loop {
                match events.next().await {
                    Ok(Event::Value { column, step, value }) if column == name && step == at => {
                        return value.as_str().to_owned();
                    }
                    Ok(_) => {}
                    // Nothing is stored yet.
                    Err(_) => sleep(Duration::from_millis(50)).await,
                }
            }
        };
        let value = timeout(PATIENCE, value).await;
        assert!(value.is_ok(), "`{name}` has no value at step {at}");
        value.unwrap_or_default()
    }

    async fn stores_a_repeated_push_once(&self) {
        let flow = self.flow("repeated");
        let first = flow.clone().request("first");
        let text = format!("{TEXT}, repeated");
        assert_eq!(first.push("user", &*text).await.expect("it is stored"), 0);
        assert_eq!(
            first.push("user", &*text).await.expect("it is stored"),
            0,
            "a request is carried out twice"
        );
        assert_eq!(
            flow.push("user", &*text).await.expect("it is stored"),
            1,
            "another request has its own value"
        );
        self.value(&flow, "answer", 1).await;
        assert_eq!(flow.read().await.and_then(|flow| flow.len("user")).expect("it is read"), 2);
    }

    async fn makes_the_calls_of_a_flow_one_after_another(&self) {
        let flow = self.flow("many");
        let texts: Vec<String> = (0..12).map(|number| format!("{TEXT}, many {number}")).collect();
        let pushes = join_all(texts.iter().map(|text| flow.push("user", text.as_str()))).await;
        let mut steps: Vec<_> = pushes.into_iter().map(|step| step.expect("it is stored")).collect();
        steps.sort_unstable();
        assert!(steps.iter().copied().eq(0..12), "the steps of 12 pushes are {steps:?}");
        for step in steps {
            self.value(&flow, "answer", step).await;
        }
        for text in texts {
            assert_eq!(self.trial.computed(&text), 1, "a cell is computed twice, so the flow had two owners");
        }
    }

    async fn refuses_a_wrong_call_and_goes_on(&self) {
        let flow = self.flow("wrong");
        let refused = flow.push("usr", TEXT).await;
        assert!(is_refused(&refused, "usr"), "a push to an unknown column returns {refused:?}");
        flow.push("user", format!("{TEXT}, right")).await.expect("the flow is not blocked");
        self.value(&flow, "answer", 0).await;
    }

    async fn wakes_a_flow_whose_failure_passes(&self) {
        let flow = self.flow("asleep");
        let text = format!("{TEXT}, later");
        flow.push("user", &*text).await.expect("it is stored");
        self.value(&flow, "answer", 0).await;
        assert_eq!(self.trial.computed(&text), 2);
    }

    async fn goes_on_with_a_long_run(&self) {
        let flow = self.flow("long");
        let text = format!("{TEXT}, slow");
        flow.push("user", &*text).await.expect("it is stored");
        self.value(&flow, "fifth", 0).await;
        assert_eq!(self.trial.computed(&text), 1, "a cell is computed twice after the end of a slice");
    }

    async fn stores_answers(&self) {
        let flow = self.flow("desk");
        flow.push("user", TEXT).await.expect("it is stored");
        let first = flow.clone().request("decision");
        for _ in 0..2 {
            first.answer("reply", 0, format!("{TEXT}, a reply")).await.expect("it is the same decision");
        }
        self.value(&flow, "answer", 0).await;
        let refused = flow.answer("reply", 0, TEXT).await;
        assert!(is_refused(&refused, "answered"), "a second answer returns {refused:?}");
    }

    async fn cancels_the_cells_in_progress(&self) {
        let flow = self.flow("cancelled");
        let text = format!("{TEXT}, wait and cancel");
        flow.push("user", &*text).await.expect("it is stored");
        self.trial.begun(&text).await;
        flow.cancel().await.expect("it is cancelled");
        // Behind the cancelled run in the queue of the flow.
        flow.push("user", TEXT).await.expect("the flow is free again");
        self.trial.open(&text);
        self.value(&flow, "answer", 0).await;
        assert!(self.trial.computed(&text) > 1, "the cell in progress was not dropped");
    }

    async fn replaces_a_worker_that_dies(&self) {
        let flow = self.flow("killed");
        let text = format!("{TEXT}, wait for another worker");
        let worker = self.start();
        flow.push("user", &*text).await.expect("it is stored");
        self.trial.begun(&text).await;
        worker.kill().await;
        let worker = self.start();
        self.trial.open(&text);
        self.value(&flow, "answer", 0).await;
        assert_eq!(self.trial.computed(&text), 2, "the cell in progress is computed again");
        worker.drain().await;
    }

    async fn finishes_cells_before_it_ends(&self) {
        let flow = self.flow("drained");
        let text = format!("{TEXT}, wait for the end");
        let worker = self.start();
        flow.push("user", &*text).await.expect("it is stored");
        self.trial.begun(&text).await;
        let drained = worker.drain();
        let opened = async {
            sleep(Duration::from_millis(200)).await;
            self.trial.open(&text);
        };
        join(drained, opened).await;
        let successor = self.start();
        self.value(&flow, "answer", 0).await;
        assert_eq!(self.trial.computed(&text), 1, "the cell in progress is dropped");
        successor.drain().await;
    }
}
