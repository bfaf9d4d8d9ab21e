//! Code of users that panics, or uses the flow that calls it: filters, counters of tokens, stores, wakers, models, errors.
//!
//! A deadlock is on a thread of its own, so that its test fails and does not hang.

use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak, mpsc};
use std::task::{Context as TaskContext, Wake, Waker};
use std::time::Duration;

use columnar::BoxError;
use columnar::budget::Budget;
use columnar::model::{Chunk, Model, Offline, Request};
use columnar::store::{Entry, MemoryStore};
use columnar::tokens::Counter;
use columnar_tests::log::Log;
use columnar_tests::panics::expect_panic;
use columnar_tests::store::on_put;
use futures::FutureExt;
use futures::stream::BoxStream;
use tokio::runtime::Builder;

use columnar::prelude::*;

/// Runs a test on a thread of its own, in both kinds of runtime. A deadlock fails it.
fn on_both_runtimes<T: Future<Output = Result<()>>>(test: impl Fn() -> T + Send + Sync + 'static) {
    let test = Arc::new(test);
    for workers in [0, 2] {
        let test = Arc::clone(&test);
        let (done, ended) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut builder =
                if workers == 0 { Builder::new_current_thread() } else { Builder::new_multi_thread() };
            let runtime = builder.worker_threads(workers.max(1)).enable_all().build().expect("a runtime");
            let result = runtime.block_on(test());
            // The receiver is gone if the test took too long.
            let _ = done.send(result);
        });
        match ended.recv_timeout(Duration::from_mins(1)) {
            Ok(result) => result.expect("no error"),
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("a deadlock, with {workers} workers"),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let panic = thread.join().expect_err("the thread panicked");
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// Panics while it is armed.
#[derive(Clone, Debug, Default)]
struct Bomb(Arc<AtomicBool>);

impl Bomb {
    fn armed() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    fn disarm(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    fn tick(&self) {
        assert!(!self.0.load(Ordering::SeqCst), "a secret");
    }
}

/// Whether a run ended with a panic of a cell in column `bad`.
fn is_panic(error: &Error) -> bool {
    assert!(!format!("{error} {error:?}").contains("a secret"));
    matches!(error, Error::Panicked { column, step: 0 } if column == "bad")
}

/// Of a step, the column `bad` fails and `good` is computed once, in each run until the bomb is disarmed.
async fn fails_alone(f: &Flow, log: &Log, bomb: &Bomb) -> Result<()> {
    f.push("user", "x").await?;
    for _ in 0..2 {
        assert!(is_panic(&f.run().await.expect_err("it panics")));
        assert_eq!((f.get("good", 0).is_some(), f.get("bad", 0), log.calls()), (true, None, 1));
    }
    bomb.disarm();
    f.run().await?;
    assert!(f.get("bad", 0).is_some());
    Ok(())
}

/// The panic of a filter went through the run to its reader. All later runs left the cell, which was counted as running.
#[test]
fn r18_a_filter_that_panics_fails_its_cell_alone() {
    expect_panic("a secret");
    on_both_runtimes(|| async {
        let (log, bomb, user) = (Log::default(), Bomb::armed(), source("user"));
        let seen = user.all().filter({
            let bomb = bomb.clone();
            move |_| {
                bomb.tick();
                true
            }
        });
        let bad = column("bad", seen, log.upper("bad"));
        let good = column("good", user.latest(), log.upper("good"));
        let f = flow([&bad, &good])?;
        fails_alone(&f, &log, &bomb).await?;
        assert_eq!(log.calls(), 2);
        Ok(())
    });
}

/// A filter that panics has the policy of its column, as its compute step has.
#[test]
fn r18_a_filter_that_panics_follows_the_policy_of_its_column() {
    expect_panic("a secret");
    on_both_runtimes(|| async {
        let (log, bomb, user) = (Log::default(), Bomb::armed(), source("user"));
        let armed = bomb.clone();
        let bad = column(
            "bad",
            user.all().sample(move |step| {
                if step == 0 {
                    armed.tick();
                }
                true
            }),
            log.upper("bad").or_wait(),
        );
        let f = flow([&bad, &column("good", user.latest(), log.upper("good"))])?;
        f.push("user", "x").await?;
        f.push("user", "y").await?;
        let events: Vec<_> = f.run().try_collect().await?;
        let failed = events.iter().filter(|event| matches!(event, Event::Failed { .. })).count();
        assert_eq!((failed, f.len("good")?, f.len("bad")?), (2, 2, 0));
        bomb.disarm();
        f.run().await?;
        assert_eq!(f.steps(), 2);
        Ok(())
    });
}

/// A counter that panics for the text of one column, or for its instruction.
struct Picky(Bomb);

impl Counter for Picky {
    fn count(&self, text: &str) -> usize {
        if text.contains("bad") {
            self.0.tick();
        }
        text.len()
    }
}

/// The panic of a counter, of a value or of an instruction, went through the run to its reader.
#[test]
fn r18_a_counter_that_panics_fails_its_cell_alone() {
    expect_panic("a secret");
    on_both_runtimes(|| async {
        let user = source("user");
        let by_value = column("bad", user.latest(), async |_: Context| "bad");
        let by_instruction = column("bad", user.latest(), prompt("bad").model(Offline::new()).budget(9_000));
        for bad in [by_value, by_instruction] {
            let (log, bomb) = (Log::default(), Bomb::armed());
            let f = flow([&bad, &column("good", user.latest(), log.upper("good"))])?;
            f.set_counter(Picky(bomb.clone()));
            fails_alone(&f, &log, &bomb).await?;
        }
        Ok(())
    });
}

/// A push whose counter panics stores nothing: the value was in the store, and not in the flow.
#[tokio::test]
async fn r18_a_push_whose_counter_panics_stores_nothing() -> Result<()> {
    expect_panic("a secret");
    let (store, bomb) = (MemoryStore::new(), Bomb::armed());
    let answer = column("answer", source("user").latest(), async |_: Context| "yes");
    let f = Flow::open(store.clone(), [&answer]).await?;
    f.set_counter(Picky(bomb.clone()));
    let pushed = std::panic::AssertUnwindSafe(f.push("user", "bad")).catch_unwind().await;
    assert!(pushed.is_err(), "the panic is that of the caller");
    bomb.disarm();
    assert_eq!(f.push("user", "good").await?, 0);
    f.run().await?;
    drop(f);
    assert_eq!(Flow::open(store, [&answer]).await?.get("user", 0).as_deref(), Some("good"));
    Ok(())
}

/// How a store panics.
#[derive(Clone, Copy, Debug)]
enum Panics {
    AtTheCall,
    AtThePoll,
    AfterAwhile,
    InDrop,
}

impl Panics {
    fn put(self, bomb: Bomb) -> impl Future<Output = ()> + Send {
        struct OnDrop(Option<Bomb>);
        impl Drop for OnDrop {
            fn drop(&mut self) {
                if let Some(bomb) = self.0.take().filter(|_| !std::thread::panicking()) {
                    bomb.tick();
                }
            }
        }
        let dropped = OnDrop(matches!(self, Self::InDrop).then(|| bomb.clone()));
        async move {
            let _dropped = dropped;
            match self {
                Self::AtThePoll => bomb.tick(),
                Self::AfterAwhile => {
                    tokio::task::yield_now().await;
                    bomb.tick();
                }
                Self::AtTheCall | Self::InDrop => {}
            }
        }
    }
}

/// The panic of a store went through the run to its reader, and the cell was counted as running for ever.
#[test]
fn r18_a_store_that_panics_is_an_error_of_its_cell() {
    expect_panic("a secret");
    on_both_runtimes(|| async {
        for panics in [Panics::AtTheCall, Panics::AtThePoll, Panics::AfterAwhile, Panics::InDrop] {
            let (log, bomb, user) = (Log::default(), Bomb::armed(), source("user"));
            let armed = bomb.clone();
            let store = on_put(MemoryStore::new(), move |inner, name, step, entry: Entry| {
                let bomb = if name == "bad" { armed.clone() } else { Bomb::default() };
                if matches!(panics, Panics::AtTheCall) {
                    bomb.tick();
                }
                let first = panics.put(bomb);
                async move {
                    first.await;
                    inner.put(name, step, entry).await
                }
            });
            // In this order: no cell starts after a failed write.
            let columns = [
                column("good", user.latest(), log.upper("good")),
                column("bad", user.latest(), log.upper("bad")),
            ];
            let f = Flow::open(store, &columns).await?;
            f.push("user", "x").await?;
            let error = f.run().await.expect_err("it panics");
            let is_of_cell = matches!(&error, Error::Store { column, step: 0, .. } if column == "bad");
            assert!(
                is_of_cell && !format!("{error} {error:?}").contains("a secret"),
                "{panics:?}: {error:?}"
            );
            assert!(f.get("good", 0).is_some(), "{panics:?}: the other one is stored");
            bomb.disarm();
            f.run().await?;
            assert_eq!((f.get("bad", 0).is_some(), f.steps()), (true, 1), "{panics:?}");
        }
        Ok(())
    });
}

/// A push to a store that panics is an error of the push, as the next one is of a store that has failed.
#[tokio::test]
async fn r18_a_push_to_a_store_that_panics_is_an_error() -> Result<()> {
    expect_panic("a secret");
    let bomb = Bomb::armed();
    let armed = bomb.clone();
    let store = on_put(MemoryStore::new(), move |inner, name, step, entry| {
        let bomb = armed.clone();
        async move {
            bomb.tick();
            inner.put(name, step, entry).await
        }
    });
    let f = Flow::open(store, [column("answer", source("user").latest(), async |_: Context| "yes")]).await?;
    let error = f.push("user", "x").await.expect_err("it panics");
    assert!(matches!(&error, Error::Store { step: 0, .. }), "{error}");
    assert_eq!(f.get("user", 0), None);
    bomb.disarm();
    assert_eq!(f.push("user", "y").await?, 0);
    Ok(())
}

/// A flow that its own filters, counters and wakers can reach.
#[derive(Clone, Default)]
struct Own {
    flow: Arc<OnceLock<Weak<Flow>>>,
    /// It uses the flow once at a time: a push calls the counter.
    is_in_use: Arc<AtomicBool>,
    uses: Arc<AtomicUsize>,
}

impl Own {
    fn set(&self, flow: Flow) -> Arc<Flow> {
        let flow = Arc::new(flow);
        assert!(self.flow.set(Arc::downgrade(&flow)).is_ok());
        flow
    }

    /// Reads, and pushes to the source `notes`.
    fn use_it(&self) {
        let Some(flow) = self.flow.get().and_then(Weak::upgrade) else { return };
        if self.is_in_use.swap(true, Ordering::SeqCst) {
            return;
        }
        let known = (flow.steps(), flow.len("user"), flow.get("user", 0), flow.progress(), flow.missing());
        drop((known, flow.cell("user", 0), flow.outline(), flow.bill(), flow.messages("plain", 0)));
        flow.set_concurrency(8);
        if self.uses.load(Ordering::SeqCst) < 5 {
            futures::executor::block_on(flow.push("notes", "a note")).expect("it is stored");
        }
        self.uses.fetch_add(1, Ordering::SeqCst);
        self.is_in_use.store(false, Ordering::SeqCst);
    }
}

impl Counter for Own {
    fn count(&self, text: &str) -> usize {
        self.use_it();
        text.len()
    }
}

impl Wake for Own {
    fn wake(self: Arc<Self>) {
        self.use_it();
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.use_it();
    }
}

/// A model that uses the flow when it is dropped.
struct OwnModel(Own);

impl Model for OwnModel {
    fn name(&self) -> &'static str {
        self.0.use_it();
        "own"
    }

    fn ready(&self) -> Result<(), BoxError> {
        self.0.use_it();
        Ok(())
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        self.0.use_it();
        Offline::new().reply(request)
    }
}

/// The columns of a flow that uses itself: `noted` has a filter, a budget and a count of hidden values.
fn own_columns(own: &Own) -> [Column; 3] {
    let (user, notes) = (source("user"), source("notes"));
    let own = own.clone();
    let filtered = user.window(2).elided().filter(move |_| {
        own.use_it();
        true
    });
    let noted = column("noted", (filtered, notes.latest()), async |_: Context| "n".repeat(40));
    let budget = Budget::of(1_200).low_water(0.5);
    let plain = column("plain", (&user, this()), prompt("Answer.").budget(budget));
    [noted, plain, column("last", notes.latest(), async |_: Context| "l")]
}

/// Filters and counters were called under the lock of the flow, so one that read the flow waited for itself.
#[test]
fn r18_filters_counters_and_models_may_use_their_own_flow() {
    on_both_runtimes(|| async {
        let own = Own::default();
        let f = own.set(flow(own_columns(&own))?);
        f.set_counter(own.clone());
        f.set_model(OwnModel(own.clone()));
        for _ in 0..6 {
            f.push("user", "x".repeat(400)).await?;
            f.push("notes", "y").await?;
            f.run().await?;
        }
        assert!(f.messages("noted", 3)?.tokens() > 0);
        assert!(f.forecast().cells < 10);
        f.set_budget(2_000);
        assert!(f.messages("plain", 3)?.tokens() > 0);
        f.set_counter(own.clone());
        f.set_model(Offline::new());
        f.set_counter(columnar::tokens::Estimate);
        assert!(own.uses.load(Ordering::SeqCst) > 20);
        f.run().await
    });
}

/// The same in a flow with a store, whose values are mostly not in memory.
#[test]
fn r18_filters_and_counters_may_use_a_flow_that_loads_its_values() {
    on_both_runtimes(|| async {
        let (store, own) = (MemoryStore::new(), Own::default());
        let f = Flow::open(store.clone(), own_columns(&own)).await?;
        for text in ["a", "b", "c", "d", "e", "f"] {
            f.push("user", text).await?;
            f.push("notes", text).await?;
        }
        f.run().await?;
        f.push("user", "g").await?;
        f.push("notes", "g").await?;
        drop(f);
        let options = columnar::reopen::OpenOptions::new(store).recent(1);
        let f = own.set(Flow::open(options, own_columns(&own)).await?);
        f.set_counter(own.clone());
        f.run().await?;
        f.load(0).await?;
        let fork = f.fork(2)?;
        drop(fork.messages("noted", 1)?);
        assert!(own.uses.load(Ordering::SeqCst) > 3);
        Ok(())
    });
}

/// A waker was woken and dropped under the lock of the flow, by a push, a setting, the next poll and the end of the run.
#[test]
fn r18_a_waker_may_use_the_flow_that_wakes_it() {
    on_both_runtimes(|| async {
        let own = Own::default();
        let (user, notes) = (source("user"), source("notes"));
        let waits = column("waits", user.latest(), |_: Context| std::future::pending::<String>());
        let plain = column("plain", notes.latest(), async |_: Context| "p");
        let f = own.set(flow([waits, plain])?);
        f.push("user", "x").await?;
        f.push("notes", "x").await?;
        let mut run = f.run();
        for change in 0..3 {
            // A new waker each time: the run drops the one before.
            let waker = Waker::from(Arc::new(own.clone()));
            let mut task = TaskContext::from_waker(&waker);
            while run.poll_next_unpin(&mut task).is_ready() {}
            drop(waker);
            match change {
                0 => drop(f.push("notes", "y").await?),
                1 => f.set_concurrency(4),
                _ => f.add_column(column("more", notes.latest(), async |_: Context| "m")).await?,
            }
        }
        let uses = own.uses.load(Ordering::SeqCst);
        drop(run);
        assert!(uses >= 3 && own.uses.load(Ordering::SeqCst) > uses, "{uses}");
        Ok(())
    });
}

/// An error that shows the state of the flow's task.
struct Curious(Arc<OnceLock<columnar::service::Spawned<Flow>>>);

impl fmt::Debug for Curious {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Curious {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(flow) = self.0.get() else { return f.write_str("no flow") };
        let event = flow.subscribe().next().now_or_never().is_some();
        write!(f, "a failure at step {}, {event}", flow.steps())
    }
}

impl std::error::Error for Curious {}

impl Drop for Curious {
    fn drop(&mut self) {
        drop(self.0.get().map(|flow| (flow.error(), flow.is_settled_now())));
    }
}

trait Settled {
    fn is_settled_now(&self) -> bool;
}

impl Settled for columnar::service::Spawned<Flow> {
    fn is_settled_now(&self) -> bool {
        pin!(self.settled()).now_or_never().is_some()
    }
}

/// The message of an error was made under the lock of the texts in progress, and the error was dropped under that of the
/// requests.
#[test]
fn r18_an_error_may_use_the_flow_that_reports_it() {
    on_both_runtimes(|| async {
        let own = Arc::<OnceLock<_>>::default();
        let fails = {
            let own = Arc::clone(&own);
            move |_: Context| std::future::ready(Err::<String, _>(Curious(Arc::clone(&own))))
        };
        let f = flow([column("bad", source("user").latest(), fails)])?.spawn();
        assert!(own.set(f.clone()).is_ok());
        for _ in 0..3 {
            f.push("user", "x").await?;
            assert!(f.settled().await.is_err());
        }
        f.shutdown().await;
        Ok(())
    });
}

/// The run drops the errors of cells that fail alone, and their panic left it.
#[test]
fn r18_an_error_whose_drop_panics_fails_its_cell_alone() {
    #[derive(Debug)]
    struct Fragile(Bomb);

    impl fmt::Display for Fragile {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a failure")
        }
    }

    impl std::error::Error for Fragile {}

    impl Drop for Fragile {
        fn drop(&mut self) {
            self.0.tick();
        }
    }

    on_both_runtimes(|| async {
        expect_panic("a secret");
        let fails = |_: Context| std::future::ready(Err::<String, _>(Fragile(Bomb::armed())));
        let user = source("user");
        let good = column("good", user.latest(), async |_: Context| "good");
        let f = flow([column("bad", user.latest(), fails.or_wait()), good])?;
        for text in ["x", "y"] {
            f.push("user", text).await?;
        }
        f.run().await?;
        assert_eq!((f.len("good")?, f.len("bad")?), (2, 0));
        Ok(())
    });
}

/// A value that is pushed while its flow is counted again has the count of the new counter.
#[test]
fn r18_values_that_are_stored_during_a_recount_are_counted() {
    on_both_runtimes(|| async {
        let own = Own::default();
        let (user, notes) = (source("user"), source("notes"));
        let f = own.set(flow([column("answer", (&user, &notes), async |_: Context| "yes")])?);
        f.push("user", "12345").await?;
        for _ in 0..3 {
            f.push("notes", "1").await?;
        }
        // It pushes five notes of six letters while it counts.
        f.set_counter(own.clone());
        assert_eq!((f.len("notes")?, own.uses.load(Ordering::SeqCst) >= 5), (8, true));
        for _ in 1..8 {
            f.push("user", "1").await?;
        }
        f.run().await?;
        let copy = flow([column("answer", (&user, &notes), async |_: Context| "yes")])?;
        copy.set_counter(own.clone());
        for step in 0..8 {
            copy.push("user", f.get("user", step).expect("a value")).await?;
            copy.push("notes", f.get("notes", step).expect("a value")).await?;
        }
        assert_eq!(f.messages("answer", 7)?.tokens(), copy.messages("answer", 7)?.tokens());
        Ok(())
    });
}

/// Text that a writer gets from `Debug` of a flow, which it reads meanwhile.
#[test]
fn r18_a_writer_may_read_the_flow_that_it_prints() {
    struct Writer<'f>(&'f Flow);
    impl fmt::Write for Writer<'_> {
        fn write_str(&mut self, _: &str) -> fmt::Result {
            let _ = self.0.steps();
            Ok(())
        }
    }
    on_both_runtimes(|| async {
        let f = flow([source("user")])?;
        fmt::write(&mut Writer(&f), format_args!("{f:?}")).expect("it takes everything");
        Ok(())
    });
}
