//! Runs that fail or are interrupted: the rows of the table of faults that no other file has.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::{Compute, Reply, SchemaError};
use columnar_tests::live::push_all;
use columnar_tests::log::Log;
use columnar_tests::store::FaultyStore;
use futures::stream;
use tokio::time::sleep;

/// Two columns, one with self history, and a source with this number of steps.
async fn pair(log: &Log, steps: usize) -> Result<Flow> {
    let user = source("user");
    let topics = column("topics", user.latest(), log.upper("topics"));
    let summary = column("summary", (&user, &topics, this()), log.upper("summary"));
    let f = flow([summary])?;
    for step in 0..steps {
        f.push("user", step.to_string()).await?;
    }
    Ok(f)
}

#[tokio::test(start_paused = true)]
async fn r2_a_compute_step_that_never_ends_delays_no_other_and_is_cancelled_with_its_run() -> Result<()> {
    let log = Log::default();
    let user = source("user");
    let never = column("never", user.latest(), |_: Context| std::future::pending::<String>());
    let other = column("other", (&user, this()), log.upper("other"));
    let f = flow([&never, &other])?;
    push_all(&f, "user", ["a", "b", "c"]).await?;
    let mut run = f.run();
    for step in 0..3 {
        assert!(matches!(run.try_next().await?, Some(Event::Value { step: at, .. }) if at == step));
    }
    assert!(tokio::time::timeout(Duration::from_hours(1), run.next()).await.is_err(), "it waits");
    drop(run);
    assert_eq!((f.get("other", 2).is_some(), f.get("never", 0)), (true, None));
    assert_eq!(f.progress().waiting, 3);
    Ok(())
}

/// Compute steps are polled inside the run: one that blocks the thread delays the others and does no other harm.
#[tokio::test]
async fn r3_a_compute_step_that_blocks_the_thread_delays_the_others_and_corrupts_nothing() -> Result<()> {
    let log = Log::default();
    let user = source("user");
    let blocks = column("blocks", user.latest(), |cx: Context| async move {
        std::thread::sleep(Duration::from_millis(20));
        cx.step().to_string()
    });
    let both = column("both", (&blocks, &user, this()), log.upper("both"));
    let f = flow([both])?;
    push_all(&f, "user", ["a", "b", "c"]).await?;
    let events: Vec<_> = f.run().try_collect().await?;
    assert_eq!((events.len(), f.steps()), (6, 3));
    assert_eq!(f.get("blocks", 2).as_deref(), Some("2"));
    Ok(())
}

/// Compute steps that fail once in each of these cells.
#[derive(Clone)]
struct Once {
    log: Log,
    fails: Arc<[AtomicUsize; 6]>,
}

impl Once {
    fn new(cells: &[usize]) -> Self {
        let fails = std::array::from_fn(|cell| AtomicUsize::new(usize::from(cells.contains(&cell))));
        Self { log: Log::default(), fails: Arc::new(fails) }
    }

    /// The compute step of the column whose cells have these numbers, from step 0 on.
    fn column(&self, name: &'static str, cells: [usize; 3]) -> impl Compute + use<> {
        struct Column(Once, &'static str, [usize; 3]);

        impl Compute for Column {
            fn compute(&self, cx: Context) -> Reply<'static> {
                let fails = self.2.get(cx.step()).and_then(|&cell| self.0.fails.get(cell));
                if fails.is_some_and(|fails| fails.swap(0, Ordering::SeqCst) == 1) {
                    return Reply::whole(async { Err("this once".into()) });
                }
                self.0.log.upper(self.1).compute(cx)
            }
        }

        Column(self.clone(), name, cells)
    }
}

/// Each cell fails once, then each pair of cells: runs resume, an error is the last item, and no cell is computed
/// successfully twice.
#[tokio::test]
async fn r7_after_any_one_or_two_failures_only_missing_cells_are_computed() -> Result<()> {
    for (first, second) in (0..6).flat_map(|first| (first..6).map(move |second| (first, second))) {
        let once = Once::new(&[first, second]);
        let user = source("user");
        let topics = column("topics", user.latest(), once.column("topics", [0, 1, 2]));
        let summary = column("summary", (&topics, this()), once.column("summary", [3, 4, 5]));
        let f = flow([summary])?;
        push_all(&f, "user", ["a", "b", "c"]).await?;
        let mut failures = 0;
        loop {
            let items: Vec<_> = f.run().collect().await;
            let errors = items.iter().filter(|item| item.is_err()).count();
            assert_eq!(errors, usize::from(items.last().is_some_and(Result::is_err)), "it is the last item");
            failures += errors;
            if errors == 0 {
                break;
            }
        }
        assert!((1..=2).contains(&failures), "{first} {second}: {failures}");
        assert_eq!((f.steps(), once.log.calls()), (3, 6), "{first} {second}");
        for (column, step) in ["topics", "summary"].into_iter().flat_map(|c| [0, 1, 2].map(|step| (c, step)))
        {
            assert_eq!(once.log.calls_of(column, step), 1, "{first} {second}: {column} {step}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn r8_a_run_that_is_read_and_one_that_is_awaited_make_the_same_calls() -> Result<()> {
    let (read, awaited) = (Log::default(), Log::default());
    let (a, b) = (pair(&read, 4).await?, pair(&awaited, 4).await?);
    let events: Vec<_> = a.run().try_collect().await?;
    b.run().await?;
    assert_eq!((events.len(), read.calls(), awaited.calls()), (8, 8, 8));
    for (column, step) in ["topics", "summary"].into_iter().flat_map(|c| [0, 1, 2, 3].map(|step| (c, step))) {
        assert_eq!((read.calls_of(column, step), awaited.calls_of(column, step)), (1, 1));
        assert_eq!(read.saw(column, step), awaited.saw(column, step));
        assert_eq!(a.get(column, step), b.get(column, step));
    }
    Ok(())
}

/// A backfill is interrupted after each of its events: existing columns do not change, and each run resumes.
#[tokio::test]
async fn r13_an_interrupted_backfill_resumes() -> Result<()> {
    let log = Log::default();
    let user = source("user");
    let topics = column("topics", user.latest(), log.upper("topics"));
    let f = flow([&topics])?;
    for step in 0..6 {
        f.push("user", step.to_string()).await?;
    }
    f.run().await?;
    let before: Vec<_> = (0..6).map(|step| f.get("topics", step)).collect();
    f.add_column(column("late", (&topics, this().latest()), log.upper("late"))).await?;
    for stored in 0..6 {
        assert_eq!((f.forecast().cells, f.forecast().rounds), (6 - stored, 6 - stored));
        let mut run = f.run();
        assert!(matches!(run.try_next().await?, Some(Event::Value { step, .. }) if step == stored));
        drop(run);
    }
    assert_eq!(f.run().try_collect::<Vec<_>>().await?, []);
    assert_eq!((0..6).map(|step| f.get("topics", step)).collect::<Vec<_>>(), before);
    assert!((0..6).all(|step| log.calls_of("late", step) == 1 && log.calls_of("topics", step) == 1));
    Ok(())
}

/// A reader that polls once an hour: concurrency stays within its limit, and no event is lost.
#[tokio::test(start_paused = true)]
async fn r14_a_slow_reader_delays_the_compute_steps_and_misses_nothing() -> Result<()> {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, seen) = (Arc::clone(&now), Arc::clone(&most));
    let user = source("user");
    let words = column("words", user.latest(), move |_: Context| {
        seen.fetch_max(counted.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let counted = Arc::clone(&counted);
        deltas(
            stream::iter(["a", "b", "c"])
                .then(|word| async move {
                    sleep(Duration::from_millis(1)).await;
                    word
                })
                .chain(stream::once(async move {
                    counted.fetch_sub(1, Ordering::SeqCst);
                    "d"
                })),
        )
    });
    let f = flow([words])?;
    f.set_concurrency(4);
    for step in 0..40 {
        f.push("user", step.to_string()).await?;
    }
    let (mut run, mut deltas, mut values) = (f.run(), 0, 0);
    while let Some(event) = run.try_next().await? {
        match event {
            Event::Delta { .. } => deltas += 1,
            Event::Value { value, .. } => values += usize::from(value == "abcd"),
            other => unreachable!("nothing fails: {other:?}"),
        }
        sleep(Duration::from_hours(1)).await;
    }
    assert_eq!((deltas, values, f.steps()), (160, 40, 40));
    assert!(most.load(Ordering::SeqCst) <= 4 && now.load(Ordering::SeqCst) == 0);
    Ok(())
}

#[test]
fn r16_a_cycle_is_an_error_with_its_path() -> Result<()> {
    let user = source("user");
    let echo = || |cx: Context| async move { cx.messages().last_text().into_owned() };
    let a = column("a", user.latest(), echo());
    let b = column("b", &a, echo());
    let c = column("c", (&b, &user), echo());
    let f = flow([&c])?;
    let error = f.replace_column(column("a", (&user, &c), echo())).expect_err("it waits for itself");
    assert_eq!(
        error.to_string(),
        "these columns wait for each other, so none of them can run first: \
         `b`, which `c` reads, which `a` reads, which `b` reads"
    );
    assert_eq!(f.order(), ["user", "a", "b", "c"]);
    let alone = flow([column("alone", this(), echo())]);
    let Err(Error::Schema(error)) = alone else { unreachable!("nothing new can reach it") };
    assert!(
        error.errors().iter().any(|mistake| matches!(mistake, SchemaError::NoInput { reads_self: true, .. }))
    );
    Ok(())
}

/// In any order of completion, a flow that is reopened computes nothing, emits nothing, and shows the same.
#[tokio::test(start_paused = true)]
async fn r17_a_flow_that_is_replayed_from_its_store_computes_nothing() -> Result<()> {
    for order in 0..60_u64 {
        let (log, store) = (Log::default(), MemoryStore::new());
        let declared = |log: &Log| {
            let user = source("user");
            let topics = column("topics", user.latest(), late(order, log.upper("topics")));
            let summary = column("summary", (&user, this().latest()), late(order * 7, log.upper("summary")));
            let both = column("both", (topics.window(2), &summary), late(order * 3, log.upper("both")));
            [both]
        };
        let first = Flow::open(store.clone(), declared(&log)).await?;
        for step in 0..4 {
            first.push("user", step.to_string()).await?;
        }
        first.run().await?;
        let order = first.order();
        let cells = ["topics", "summary", "both"].into_iter().flat_map(|c| (0..4).map(move |s| (c, s)));
        let values: Vec<_> = cells.clone().map(|(column, step)| first.get(column, step)).collect();
        drop(first);
        let again = Log::default();
        let second = Flow::open(store, declared(&again)).await?;
        assert_eq!(second.run().try_collect::<Vec<_>>().await?, []);
        assert_eq!((again.calls(), second.steps(), second.order()), (0, 4, order));
        for ((column, step), value) in cells.zip(values) {
            assert_eq!(second.get(column, step), value);
            assert_eq!(second.messages(column, step)?.to_json(), log.saw(column, step));
        }
    }
    Ok(())
}

/// The compute step after a pause that depends on the step and on a number.
fn late(number: u64, compute: impl Compute + Clone) -> impl Compute {
    struct Late<C>(u64, C);

    impl<C: Compute + Clone> Compute for Late<C> {
        fn compute(&self, cx: Context) -> Reply<'static> {
            let step = u64::try_from(cx.step()).unwrap_or_default();
            let pause = Duration::from_millis(self.0.wrapping_mul(2_654_435_761) >> (step * 5) & 31);
            let compute = self.1.clone();
            Reply::whole(async move {
                sleep(pause).await;
                let text = cx.messages().last_text().to_uppercase();
                drop(compute.compute(cx));
                Ok(text.into())
            })
        }
    }

    Late(number, compute)
}

/// Later steps finish earlier: values are nevertheless emitted by step, and never before their inputs.
#[tokio::test(start_paused = true)]
async fn e2_the_values_of_a_column_are_emitted_by_step_and_after_their_inputs() -> Result<()> {
    let user = source("user");
    let backwards = column("backwards", user.latest(), |cx: Context| async move {
        sleep(Duration::from_millis(100 - 10 * u64::try_from(cx.step()).unwrap_or_default())).await;
        cx.step().to_string()
    });
    let reader = column("reader", backwards.latest(), |cx: Context| async move { cx.step().to_string() });
    let f = flow([reader])?;
    for step in 0..10 {
        f.push("user", step.to_string()).await?;
    }
    let mut emitted: Vec<(String, usize)> = Vec::new();
    let mut run = f.run();
    while let Some(event) = run.try_next().await? {
        let (column, step) = (event.column().to_string(), event.step());
        assert_eq!(emitted.iter().filter(|(other, _)| *other == column).count(), step, "{column} by step");
        assert!(column == "backwards" || emitted.contains(&("backwards".into(), step)), "{step} comes first");
        emitted.push((column, step));
    }
    assert_eq!(emitted.len(), 20);
    Ok(())
}

/// An early value is held back, and a value that never comes does not hold it back forever.
#[tokio::test(start_paused = true)]
async fn e2_held_back_events_are_emitted_when_an_earlier_step_fails() -> Result<()> {
    let user = source("user");
    let map = column("map", user.latest(), |cx: Context| async move {
        if cx.step() == 0 {
            sleep(Duration::from_secs(1)).await;
            return Err("no answer");
        }
        Ok(cx.step().to_string())
    });
    let f = flow([map])?;
    push_all(&f, "user", ["a", "b", "c"]).await?;
    let mut run = f.run();
    let first = tokio::time::timeout(Duration::from_millis(500), run.next()).await;
    assert!(first.is_err(), "steps 1 and 2 are stored, and step 0 comes first");
    assert_eq!((f.get("map", 1).is_some(), f.get("map", 2).is_some()), (true, true));
    let steps: Vec<_> =
        [run.try_next().await?, run.try_next().await?].into_iter().flatten().map(|e| e.step()).collect();
    assert_eq!(steps, [1, 2]);
    assert!(run.try_next().await.is_err());
    Ok(())
}

/// A run ends with `None`, or with one error and then `None`.
#[tokio::test]
async fn e3_a_run_ends_exactly_once() -> Result<()> {
    for failing in 0..5 {
        let user = source("user");
        let a = column("a", user.latest(), move |cx: Context| async move {
            if cx.step() == failing { Err("no answer") } else { Ok("a") }
        });
        let b = column("b", (&a, this()), |_: Context| async { "b" });
        let f = flow([b])?;
        push_all(&f, "user", ["x", "y", "z"]).await?;
        let mut run = f.run();
        let mut ends = Vec::new();
        for _ in 0..20 {
            match run.next().await {
                Some(Ok(_)) => assert_eq!(ends, Vec::<&str>::new(), "nothing comes after the end"),
                Some(Err(_)) => ends.push("error"),
                None => ends.push("none"),
            }
        }
        assert!(ends.iter().skip(1).all(|end| *end == "none"));
        assert_eq!(ends.first().copied(), Some(if failing < 3 { "error" } else { "none" }));
    }
    Ok(())
}

/// Puts that never complete: the run can be dropped, and its cells are computed again.
#[tokio::test(start_paused = true)]
async fn s12_a_store_that_hangs_delays_only_its_cell() -> Result<()> {
    let (log, store) = (Log::default(), FaultyStore::default());
    let user = source("user");
    let f = Flow::open(store.clone(), [column("map", user.latest(), log.upper("map"))]).await?;
    push_all(&f, "user", ["a", "b"]).await?;
    store.close();
    let mut run = f.run();
    assert!(tokio::time::timeout(Duration::from_mins(1), run.next()).await.is_err());
    assert_eq!((log.calls(), f.progress().running), (2, 2), "both are computed, and on their way");
    drop(run);
    store.let_through(100);
    f.run().await?;
    assert_eq!(f.steps(), 2);
    Ok(())
}
