//! The calls of a worker, whose attempts end at any moment.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use columnar::engine::{
    CallError, Engine, EngineCall, EngineError, EngineReply, FlowClient, FlowWorker, OwnedCall, Work,
};
use columnar::model::Overloaded;
use columnar::prelude::*;
use columnar::store::{Entry, MemoryStore, Put, Store, StoreError};
use columnar::testing::{LayeredStore, StoreLayer};
use columnar::{BoxError, Name, Value};
use futures::future::{BoxFuture, FutureExt};

const TEXT: &str = "a word of a conversation";

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A store in memory whose operations wait before and after they are carried out.
type SlowStore = LayeredStore<Slow>;

#[derive(Default)]
struct Slow;

type StoreFuture<T> = BoxFuture<'static, Result<T, StoreError>>;

fn slow<T: Send + 'static>(operation: StoreFuture<T>) -> StoreFuture<T> {
    async {
        tokio::task::yield_now().await;
        let result = operation.await;
        tokio::task::yield_now().await;
        result
    }
    .boxed()
}

impl StoreLayer for Slow {
    fn open(self: &Arc<Self>, inner: &Arc<dyn Store>) -> StoreFuture<Option<String>> {
        slow(inner.open())
    }

    fn put(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        column: Name,
        step: usize,
        entry: Entry,
    ) -> StoreFuture<Put> {
        slow(inner.put(column, step, entry))
    }

    fn delete(self: &Arc<Self>, inner: &Arc<dyn Store>) -> StoreFuture<()> {
        slow(inner.delete())
    }
}

/// The stores of a worker, the calls of its clients, and the computations of its flow.
#[derive(Clone, Default)]
struct Desk {
    stores: Arc<Mutex<HashMap<String, MemoryStore>>>,
    calls: Arc<Mutex<Vec<EngineCall>>>,
    computed: Arc<AtomicUsize>,
    fails: Arc<AtomicUsize>,
}

impl Desk {
    fn store(&self, key: &str) -> SlowStore {
        let memory = lock(&self.stores).entry(key.to_owned()).or_default().clone();
        SlowStore::new(memory, Slow)
    }

    fn worker(&self) -> FlowWorker {
        let (desk, stores) = (self.clone(), self.clone());
        let open = move |key: String| {
            let desk = desk.clone();
            async move { Flow::open(desk.store(&key), desk.columns()).await }
        };
        FlowWorker::new(open, move |key| stores.store(key))
    }

    fn columns(&self) -> [Column; 2] {
        let desk = self.clone();
        let answer = column("answer", source("user").latest(), move |_: Context| {
            let desk = desk.clone();
            async move {
                desk.computed.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                let fails = desk
                    .fails
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |fails| fails.checked_sub(1));
                if fails.is_ok() { Err(Overloaded::default().into()) } else { Ok::<_, BoxError>(TEXT) }
            }
        });
        let reply = column("reply", answer.latest(), external());
        [answer, reply]
    }

    /// The call that a client makes, whose message is in the store.
    async fn call(
        &self,
        make: impl AsyncFnOnce(columnar::engine::RemoteFlow) -> Result<(), EngineError>,
    ) -> EngineCall {
        let stores = self.clone();
        let client = FlowClient::new(self.clone(), move |key| stores.store(key));
        assert!(make(client.flow("ada")).await.is_err(), "this engine makes no call");
        lock(&self.calls).pop().expect("the call")
    }

    async fn push(&self) -> EngineCall {
        self.call(async |flow| flow.push("user", TEXT).await.map(drop)).await
    }

    async fn values(&self, name: &str) -> Vec<Value> {
        let flow = Flow::open(self.store("ada"), self.columns()).await.expect("it is free");
        flow.iter(name).expect("it is there").map(|(_, value)| value).collect()
    }
}

/// An engine that is away.
impl Engine for Desk {
    fn call(
        &self,
        _: String,
        call: EngineCall,
        _: String,
    ) -> BoxFuture<'static, Result<EngineReply, EngineError>> {
        lock(&self.calls).push(call);
        async { Err(EngineError::Unreachable("this engine is away".into())) }.boxed()
    }
}

/// What an engine remembers of a call, over all its attempts.
#[derive(Default)]
struct TestCall {
    told: Mutex<HashMap<&'static str, String>>,
    woken: Mutex<Vec<(Duration, EngineCall)>>,
}

impl OwnedCall for TestCall {
    #[expect(clippy::unnecessary_literal_bound, reason = "the trait says so")]
    fn key(&self) -> &str {
        "ada"
    }

    fn remember<'c>(
        &'c self,
        name: &'static str,
        work: Work<'c>,
    ) -> BoxFuture<'c, Result<String, CallError>> {
        async move {
            let told = lock(&self.told).get(name).cloned();
            let result = match told {
                Some(told) => told,
                None => work.future.await?,
            };
            lock(&self.told).insert(name, result.clone());
            // As an engine that answers later.
            tokio::task::yield_now().await;
            Ok(result)
        }
        .boxed()
    }

    fn wake(&self, after: Duration, call: EngineCall) {
        lock(&self.woken).push((after, call));
    }
}

/// Makes a call whose first attempt ends after this number of polls. Returns the reply, and whether there was a second attempt.
async fn interrupted(desk: &Desk, call: &EngineCall, owned: &TestCall, polls: usize) -> (EngineReply, bool) {
    let first = {
        let worker = desk.worker();
        let mut attempt = pin!(worker.serve(call.clone(), owned));
        let mut polled = 0;
        poll_fn(|task| {
            polled += 1;
            let reply = attempt.as_mut().poll(task);
            if polled > polls && reply.is_pending() { Poll::Ready(None) } else { reply.map(Some) }
        })
        .await
    };
    if let Some(reply) = first {
        return (reply.expect("it is made"), false);
    }
    loop {
        match desk.worker().serve(call.clone(), owned).await {
            Ok(reply) => return (reply, true),
            // The first attempt has not closed the flow so far.
            Err(CallError::Again(_)) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn n1_a_push_whose_attempt_ends_anywhere_is_stored_once() {
    for polls in 0.. {
        let (desk, owned) = (Desk::default(), TestCall::default());
        let call = desk.push().await;
        let (reply, is_second) = interrupted(&desk, &call, &owned, polls).await;
        assert_eq!(reply, EngineReply::Pushed { step: 0 }, "after {polls} polls");
        assert_eq!(desk.values("user").await, [TEXT], "after {polls} polls");
        assert!(lock(&owned.woken).contains(&(Duration::ZERO, EngineCall::Run { attempt: 0 })));
        let left = lock(&desk.stores).keys().filter(|key| key.contains("messages")).count();
        assert!(left <= 1, "one message was written");
        if !is_second {
            assert!(polls > 8, "{polls} polls are a push");
            return;
        }
    }
}

#[tokio::test]
async fn n1_an_answer_whose_attempt_ends_anywhere_is_stored_once() {
    for polls in 0.. {
        let desk = Desk::default();
        let call = desk.push().await;
        desk.worker().serve(call, &TestCall::default()).await.expect("it is stored");
        desk.worker().serve(EngineCall::Run { attempt: 0 }, &TestCall::default()).await.expect("it runs");
        let call = desk.call(async |flow| flow.answer("reply", 0, TEXT).await).await;
        let (reply, is_second) = interrupted(&desk, &call, &TestCall::default(), polls).await;
        assert_eq!(reply, EngineReply::Decided, "after {polls} polls");
        assert_eq!(desk.values("reply").await, [TEXT], "after {polls} polls");
        if !is_second {
            assert!(polls > 8, "{polls} polls are an answer");
            return;
        }
    }
}

#[tokio::test]
async fn n2_a_run_whose_attempt_ends_anywhere_is_completed_by_the_next() {
    for polls in 0.. {
        let desk = Desk::default();
        for _ in 0..2 {
            let call = desk.push().await;
            desk.worker().serve(call, &TestCall::default()).await.expect("it is stored");
        }
        let owned = TestCall::default();
        let (reply, is_second) = interrupted(&desk, &EngineCall::Run { attempt: 0 }, &owned, polls).await;
        assert_eq!(reply, EngineReply::Complete { pending: 2 }, "after {polls} polls");
        assert_eq!(desk.values("answer").await.len(), 2);
        assert_eq!(desk.computed.load(Ordering::Relaxed), 2, "a task has finished the cells in flight");
        if !is_second {
            assert!(polls > 1, "{polls} polls are a run");
            return;
        }
    }
}

#[tokio::test]
async fn n3_a_worker_that_drains_makes_no_further_call() {
    let desk = Desk::default();
    let call = desk.push().await;
    let worker = desk.worker();
    worker.drain().await;
    assert!(matches!(worker.serve(call.clone(), &TestCall::default()).await, Err(CallError::Again(_))));
    desk.worker().serve(call, &TestCall::default()).await.expect("another worker makes it");
}

#[tokio::test]
async fn n4_a_call_that_cannot_be_made_is_refused() {
    let desk = Desk::default();
    let made = async |call: EngineCall| match desk.worker().serve(call, &TestCall::default()).await {
        Err(CallError::Refused(error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let wrong = desk.call(async |flow| flow.push("usr", TEXT).await.map(drop)).await;
    assert!(made(wrong).await.contains("did you mean `user`"));
    let gone = EngineCall::Push { column: "user".to_owned(), message: "9f2c".to_owned() };
    assert!(made(gone).await.contains("the message 9f2c is not in the store"));
    assert!(made(EngineCall::Accept { column: "answer".to_owned(), step: 0 }).await.contains("answer"));
    let call = desk.push().await;
    desk.worker().serve(call, &TestCall::default()).await.expect("the flow is not blocked");
}

#[tokio::test]
async fn n5_a_failure_that_passes_lets_the_engine_wake_the_flow() {
    let desk = Desk::default();
    desk.fails.store(4, Ordering::Relaxed);
    let call = desk.push().await;
    desk.worker().serve(call, &TestCall::default()).await.expect("it is stored");
    let worker = desk.worker().pauses(Duration::from_secs(10), Duration::from_secs(40));
    let mut pauses = Vec::new();
    let mut attempt = 0;
    loop {
        let owned = TestCall::default();
        match worker.serve(EngineCall::Run { attempt }, &owned).await.expect("it is made") {
            EngineReply::Continues { after_ms, attempt: next } => {
                let woken = (Duration::from_millis(after_ms), EngineCall::Run { attempt: next });
                assert_eq!(*lock(&owned.woken), [woken]);
                pauses.push(after_ms);
                attempt = next;
            }
            reply => break assert_eq!(reply, EngineReply::Complete { pending: 1 }),
        }
    }
    assert_eq!(pauses, [10_000, 20_000, 40_000, 40_000]);
}

/// The message of a repeated request stayed in the store, since the engine gave its reply without a worker.
#[tokio::test]
async fn n1_a_request_that_is_known_leaves_no_message() {
    struct Known;

    impl Engine for Known {
        fn call(
            &self,
            _: String,
            _: EngineCall,
            _: String,
        ) -> BoxFuture<'static, Result<EngineReply, EngineError>> {
            async { Ok(EngineReply::Pushed { step: 7 }) }.boxed()
        }
    }

    let desk = Desk::default();
    let stores = desk.clone();
    let client = FlowClient::new(Known, move |key| stores.store(key));
    let step = client.flow("ada").request("first").push("user", TEXT).await.expect("it is known");
    assert_eq!(step, 7);
    let keys: Vec<_> = lock(&desk.stores).keys().cloned().collect();
    let [message] = &*keys else { panic!("{keys:?}") };
    assert_eq!(desk.store(message).open().await.expect("it is free"), None);
}

/// The error of a provider may quote what it was sent.
#[tokio::test]
async fn n6_the_message_of_an_error_stays_in_the_worker() {
    let store = MemoryStore::new();
    let open = move |_: String| {
        let failing = column("answer", source("user").latest(), async |_: Context| Err::<String, _>(TEXT));
        Flow::open(store.clone(), [failing])
    };
    let flow = open(String::new()).await.expect("it is free");
    flow.push("user", TEXT).await.expect("it is stored");
    drop(flow);
    let logged = Arc::new(Mutex::new(String::new()));
    let log = Arc::clone(&logged);
    let worker = FlowWorker::new(open, |_| MemoryStore::new())
        .on_failure(move |key, error| *lock(&log) = format!("{key}: {error}"));
    let refused = worker.serve(EngineCall::Run { attempt: 0 }, &TestCall::default()).await;
    let message = refused.expect_err("it fails").to_string();
    assert_eq!(
        message,
        "computing `answer` at step 0 failed, of the kind `_OTHER`; `on_failure` of the worker has the message"
    );
    assert!(lock(&logged).starts_with("ada: ") && lock(&logged).contains(TEXT), "{}", lock(&logged));
}

#[tokio::test]
async fn n6_an_engine_gets_names_and_numbers() {
    let (desk, owned) = (Desk::default(), TestCall::default());
    let call = desk.push().await;
    let mut seen = serde_json::to_string(&call).expect("JSON");
    for call in [call, EngineCall::Run { attempt: 0 }] {
        let reply = desk.worker().serve(call, &owned).await.expect("it is made");
        seen += &serde_json::to_string(&reply).expect("JSON");
    }
    seen.push_str(&[format!("{:?}", lock(&owned.told)), format!("{:?}", lock(&owned.woken))].concat());
    assert!(seen.contains(r#""call":"push","column":"user""#) && seen.contains("outcome"), "{seen}");
    assert!(!seen.contains(TEXT), "{seen}");
}
