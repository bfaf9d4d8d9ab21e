//! Runs of long flows whose last steps alone are in memory: some thousand steps at a time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::store::{MemoryStore, ReadOnly};
use columnar::{CellState, Column, SkipReason};
use columnar_tests::live::push_all;
use futures::StreamExt;

/// More than two windows.
const STEPS: usize = 9_000;

/// A step whose value depends on all of the context, and which counts its calls.
fn digest(calls: &Arc<AtomicUsize>, fails: fn(usize) -> bool) -> Step<'static> {
    let calls = Arc::clone(calls);
    Step::new(move |cx: Context| {
        calls.fetch_add(1, Ordering::Relaxed);
        async move {
            let bytes = cx.messages().to_json().into_bytes().into_iter();
            let sum = bytes.fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
            if fails(cx.step()) { Err("no") } else { Ok(format!("{} {sum}", cx.step())) }
        }
    })
}

/// Windows, self history, lags, and columns that skip steps.
fn columns(calls: &Arc<AtomicUsize>, odd: Step<'static>) -> [Column; 4] {
    let user = source("user");
    let topics = column("topics", user.window(2), digest(calls, |_| false));
    let summary = column("summary", (topics.latest(), this().latest()), digest(calls, |_| false));
    let odd = column("odd", user.latest(), odd);
    let rare = column("rare", (odd.window(3), summary.prev()), digest(calls, |_| false).every(7));
    [topics, summary, odd, rare]
}

fn text(step: usize) -> String {
    format!("text {step}")
}

/// A store with the values of the source alone.
async fn pushed(columns: &[Column]) -> Result<MemoryStore> {
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), columns).await?;
    push_all(&f, "user", (0..STEPS).map(text)).await?;
    Ok(store)
}

/// All values and skipped cells of a flow, as its store has them.
async fn rows(f: &Flow) -> Result<Vec<BTreeMap<String, String>>> {
    let rows = f.rows(..).map(|row| {
        let row = row?;
        let values = row.values().map(|(name, value)| (name.to_string(), value.to_string()));
        let skipped = row.skipped().map(|name| (name.to_string(), format!("{:?}", row.skip_reason(name))));
        Ok(values.chain(skipped).collect())
    });
    rows.collect::<Vec<_>>().await.into_iter().collect()
}

#[tokio::test]
async fn a_run_in_windows_computes_what_a_run_in_memory_does() -> Result<()> {
    let calls = Arc::new(AtomicUsize::new(0));
    let odd = || digest(&calls, |step| step % 5 == 2).or_skip();
    let whole = flow(columns(&calls, odd()))?;
    push_all(&whole, "user", (0..STEPS).map(text)).await?;
    whole.run().await?;
    let in_memory = calls.swap(0, Ordering::Relaxed);

    let store = pushed(&columns(&calls, odd())).await?;
    for recent in [0, 5] {
        let store = if recent == 0 { store.clone() } else { pushed(&columns(&calls, odd())).await? };
        calls.store(0, Ordering::Relaxed);
        let f = Flow::open(OpenOptions::new(store).recent(recent), columns(&calls, odd())).await?;
        let mut events = 0;
        let mut run = f.run();
        while let Some(event) = run.next().await {
            events += usize::from(matches!(event?, Event::Value { .. } | Event::Skipped { .. }));
        }
        assert_eq!((events, calls.load(Ordering::Relaxed)), (4 * STEPS, in_memory));
        assert_eq!(f.cell("topics", 0)?, CellState::NotLoaded, "the first window is left to the store");
        assert_eq!(f.get("topics", STEPS - 1), whole.get("topics", STEPS - 1));
        assert_eq!((f.steps(), f.forecast().cells), (STEPS, 0));
        assert!(rows(&f).await? == rows(&whole).await?);
        f.load(0).await?;
        assert_eq!(f.messages("summary", 0)?, whole.messages("summary", 0)?);
    }
    Ok(())
}

#[tokio::test]
async fn a_run_goes_on_after_failures_and_where_it_stopped() -> Result<()> {
    let calls = Arc::new(AtomicUsize::new(0));
    let failing = || digest(&calls, |step| step == 3 || step == 5_000).or_wait();
    let store = pushed(&columns(&calls, failing())).await?;
    let open = || Flow::open(OpenOptions::new(store.clone()).recent(2), columns(&calls, failing()));
    let f = open().await?;
    let mut run = f.run();
    // Stopped in the second window.
    while !matches!(run.try_next().await?, Some(Event::Value { step: 6_000, .. })) {}
    drop(run);
    f.run().await?;
    assert!(calls.load(Ordering::Relaxed) < 4 * STEPS, "nothing that is stored is computed again");
    drop(f);

    // The two failures, and the columns that read them.
    let f = open().await?;
    let missing = f.progress().waiting;
    assert_eq!(f.rows(3..4).next().await.expect("a row")?.get("odd"), None);
    calls.store(0, Ordering::Relaxed);
    f.run().await?;
    assert_eq!((calls.load(Ordering::Relaxed), f.progress().failed), (2, 2), "{missing} wait");
    drop(f);
    let mended = || digest(&calls, |_| false);
    let f = Flow::open(OpenOptions::new(store.clone()).recent(2), columns(&calls, mended())).await?;
    f.run().await?;
    assert_eq!(f.steps(), STEPS);
    let whole = flow(columns(&calls, mended()))?;
    push_all(&whole, "user", (0..STEPS).map(text)).await?;
    whole.run().await?;
    assert!(rows(&f).await? == rows(&whole).await?);
    Ok(())
}

#[tokio::test]
async fn a_failure_that_stops_the_run_stops_it_in_any_window() -> Result<()> {
    let calls = Arc::new(AtomicUsize::new(0));
    let failing = || digest(&calls, |step| step == 7_000);
    let store = pushed(&columns(&calls, failing())).await?;
    let f = Flow::open(OpenOptions::new(store.clone()).recent(0), columns(&calls, failing())).await?;
    for _ in 0..2 {
        let error = f.run().await.expect_err("a cell fails");
        assert!(matches!(&error, Error::Compute { column, step: 7_000, .. } if *column == "odd"), "{error}");
    }
    assert!((6_000..7_001).contains(&f.steps()), "{} steps", f.steps());
    Ok(())
}

#[tokio::test]
async fn pushes_and_new_columns_join_a_flow_of_windows() -> Result<()> {
    let calls = Arc::new(AtomicUsize::new(0));
    let odd = || digest(&calls, |_| false);
    let store = pushed(&columns(&calls, odd())).await?;
    let f = Flow::open(OpenOptions::new(store.clone()).recent(1), columns(&calls, odd())).await?;
    let mut run = f.run();
    while !matches!(run.try_next().await?, Some(Event::Value { step: 100, .. })) {}
    push_all(&f, "user", (STEPS..STEPS + 10).map(text)).await?;
    while run.try_next().await?.is_some() {}
    assert_eq!(f.steps(), STEPS + 10);
    calls.store(0, Ordering::Relaxed);
    let late = column("late", ["topics.window(2)", "self.latest"], digest(&calls, |_| false));
    f.add_column(late).await?;
    f.run().await?;
    assert_eq!((f.steps(), calls.load(Ordering::Relaxed)), (STEPS + 10, STEPS + 10));
    // A fork has no store to leave values to.
    let fork = f.fork(STEPS + 5)?;
    push_all(&fork, "user", (0..5_000).map(text)).await?;
    fork.run().await?;
    assert_eq!((fork.steps(), fork.get("late", STEPS + 6).is_some()), (STEPS + 5_005, true));
    // And a reader leaves them to the store of the owner.
    let reader = Flow::open_stored(OpenOptions::new(ReadOnly::new(store)).recent(1)).await?;
    assert_eq!(reader.steps(), STEPS + 10);
    Ok(())
}

#[tokio::test]
async fn cells_that_wait_for_answers_are_all_in_memory() -> Result<()> {
    let reply = || [column("reply", source("user").latest(), external().or_skip())];
    let store = pushed(&reply()).await?;
    let f = Flow::open(OpenOptions::new(store).recent(0), reply()).await?;
    f.run().await?;
    assert_eq!(f.pending()?.len(), STEPS);
    f.answer("reply", STEPS - 1, "Yes.").await?;
    f.decline("reply", 0, "no").await?;
    assert_eq!(f.cell("reply", 0)?, CellState::Skipped(Some(SkipReason::Declined("no".into()))));
    Ok(())
}
