//! A flow that is reopened is the flow that was closed: its values, its forks, its replaced and removed columns.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use columnar::budget::Budget;
use columnar::cache::{CachePolicy, Pace};
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::store::{Entry, MemoryStore, Store};
use columnar::{Column, Name};
use columnar_tests::live::push_all;
use columnar_tests::log::Log;
use columnar_tests::store::{on_load, on_put};
use futures::FutureExt;

/// The steps of the flows: more than a chunk, and not a multiple of one.
const STEPS: usize = 1300;

fn name(name: &str) -> Name {
    Name::new(name).expect("a name")
}

fn text(step: usize) -> String {
    format!("text {step}")
}

/// The columns of the flows: `topics` has a short window, `summary` its previous value, and `odd` skips some steps.
fn columns(log: &Log) -> [Column; 4] {
    let user = source("user");
    let topics = column("topics", user.window(2), log.upper("topics"));
    let summary = column("summary", (topics.latest(), this().latest()), log.upper("summary"));
    let odd = column("odd", user.latest(), log.upper("odd").when(|cx| cx.step() % 5 != 2));
    [user, topics, summary, odd]
}

/// A store with a complete flow of this number of steps, and its log.
async fn filled(steps: usize) -> Result<(MemoryStore, Log)> {
    let (store, log) = (MemoryStore::new(), Log::default());
    let f = Flow::open(store.clone(), columns(&log)).await?;
    push_all(&f, "user", (0..steps).map(text)).await?;
    f.run().await?;
    Ok((store, log))
}

/// All values of a flow, by column.
fn values(f: &Flow, steps: usize) -> BTreeMap<Name, Vec<Option<String>>> {
    let column = |column: Name| {
        let values = (0..steps).map(|step| f.get(&column, step).map(String::from)).collect();
        (column, values)
    };
    f.order().into_iter().map(column).collect()
}

/// Opening loaded the last thousand steps alone, and `get(0)` was `None` for a stored value.
#[tokio::test]
async fn a_reopened_flow_has_all_its_values() -> Result<()> {
    let (store, log) = filled(STEPS).await?;
    let never_closed = flow(columns(&log))?;
    push_all(&never_closed, "user", (0..STEPS).map(text)).await?;
    never_closed.run().await?;

    let f = Flow::open(store, columns(&log)).await?;
    assert_eq!(values(&f, STEPS), values(&never_closed, STEPS));
    assert_eq!((f.steps(), f.progress()), (STEPS, never_closed.progress()));
    let fork = f.fork(700)?;
    assert_eq!(values(&fork, STEPS), values(&never_closed.fork(700)?, STEPS));
    Ok(())
}

/// A fork of a flow that was opened with `recent` had no way to its early values: its first run failed with `NotLoaded`,
/// and so did everything after `load`, which did nothing.
#[tokio::test]
async fn a_run_of_a_fork_loads_the_values_that_its_cells_read() -> Result<()> {
    let (store, log) = filled(STEPS).await?;
    let f = Flow::open(OpenOptions::new(store).recent(0), columns(&log)).await?;
    let before = log.calls();
    let fork = f.fork(10)?;
    assert!(matches!(fork.messages("summary", 9), Err(Error::NotLoaded { .. })));
    fork.push("user", "another text").await?;
    fork.run().await?;
    assert_eq!((fork.steps(), log.calls() - before), (11, 3), "only the cells of step 10");
    assert!(log.saw("topics", 10).contains("text 9") && log.saw("summary", 10).contains("TEXT 9"));
    assert_eq!(fork.get("user", 5), None, "no cell reads it");
    fork.load(0).await?;
    assert_eq!(values(&fork.fork(10)?, 10), {
        f.load(0).await?;
        values(&f, 10)
    });
    Ok(())
}

/// The values that the run of a fork reads can be damaged, or the store may fail.
#[tokio::test]
async fn a_run_that_cannot_load_ends_with_the_error_and_may_be_repeated() -> Result<()> {
    let (store, log) = filled(20).await?;
    let fails = Arc::new(Mutex::new(false));
    let store = on_load(store, {
        let fails = Arc::clone(&fails);
        move |inner, column, steps| {
            let fails = *fails.lock().expect("no test panics");
            async move {
                let error = columnar::store::StoreError::other("the disk is gone");
                if fails { Err(error) } else { inner.load(column, steps).await }
            }
        }
    });
    let f = Flow::open(OpenOptions::new(store).recent(0), columns(&log)).await?;
    let fork = f.fork(10)?;
    fork.push("user", "another text").await?;
    *fails.lock().expect("no test panics") = true;
    let mut run = fork.run();
    let error = run.try_next().await.expect_err("the store fails");
    assert!(matches!(error, Error::Load { .. }), "{error}");
    assert!(run.next().await.is_none() && fork.progress().running == 0);
    *fails.lock().expect("no test panics") = false;
    fork.run().await?;
    assert_eq!(fork.steps(), 11);
    Ok(())
}

/// A second run could begin while the first one was loading.
#[tokio::test]
async fn a_run_that_loads_is_a_run() -> Result<()> {
    let (store, log) = filled(20).await?;
    let store = on_load(store, |inner, column, steps| async move {
        tokio::task::yield_now().await;
        inner.load(column, steps).await
    });
    let f = Flow::open(OpenOptions::new(store).recent(0), columns(&log)).await?;
    let fork = f.fork(10)?;
    fork.push("user", "another text").await?;
    let mut run = fork.run();
    assert!(run.next().now_or_never().is_none(), "it is loading");
    assert!(matches!(fork.run().await, Err(Error::Running)));
    drop(run);
    fork.run().await?;
    assert_eq!(fork.steps(), 11);
    Ok(())
}

/// `replace_column` lost the way to the values that were not in memory, as `fork` did.
#[tokio::test]
async fn a_flow_with_a_replaced_column_loads_its_values() -> Result<()> {
    let (store, log) = filled(STEPS).await?;
    let columns = columns(&log);
    let f = Flow::open(OpenOptions::new(store).recent(0), &columns).await?;
    let other = f.replace_column(column("odd", columns[0].latest(), log.upper("other")))?;
    other.run().await?;
    assert_eq!((other.steps(), log.calls_of("other", 0), log.calls_of("topics", 0)), (STEPS, 1, 1));
    assert_eq!(other.get("topics", 0), None);
    other.load(0).await?;
    assert_eq!(values(&other, STEPS)["summary"], values(&f, STEPS)["summary"]);
    assert!(f.get("topics", 0).is_some());
    Ok(())
}

/// A fork with a store of its own expected steps there that it did not have, and reported a damaged store.
#[tokio::test]
async fn a_durable_fork_of_a_partly_loaded_flow_has_its_past() -> Result<()> {
    let (store, log) = filled(STEPS).await?;
    let f = Flow::open(OpenOptions::new(store).recent(10), columns(&log)).await?;
    for step in [10, 700, STEPS] {
        let copy = MemoryStore::new();
        let fork = f.fork(step)?.fork_into(step, copy.clone()).await?;
        fork.load(0).await?;
        let expected = values(&fork, STEPS);
        assert_eq!(expected["summary"].iter().flatten().count(), step);
        drop(fork);
        let fork = Flow::open(copy, columns(&log)).await?;
        assert_eq!((values(&fork, STEPS), fork.steps()), (expected, step));
    }
    Ok(())
}

/// The copy of a fork was interrupted, and its store got an earlier fork. A text that was pushed there was taken for one
/// that was stored already: the fork had the text of the first flow in its place.
#[tokio::test]
async fn a_fork_is_not_copied_into_a_store_with_later_values() -> Result<()> {
    let (store, log) = filled(20).await?;
    let f = Flow::open(store, columns(&log)).await?;
    let copy = MemoryStore::new();
    let breaks = on_put(copy.clone(), |inner, column, step, entry| async move {
        let error = columnar::store::StoreError::other("the disk is gone");
        if column == "topics" { Err(error) } else { inner.put(column, step, entry).await }
    });
    f.fork_into(15, breaks).await.expect_err("it is interrupted");
    let error = f.fork_into(10, copy.clone()).await.expect_err("it is not empty");
    assert!(matches!(error, Error::Open { .. }), "{error}");
    let fork = f.fork_into(15, copy).await?;
    fork.push("user", "another text").await?;
    assert_eq!(fork.get("user", 15).as_deref(), Some("another text"));
    Ok(())
}

/// The steps that each load reads, by column.
type Loads = Arc<Mutex<Vec<(Name, Vec<usize>)>>>;

/// The same store, with the steps that are read from it.
fn recorded(store: MemoryStore) -> (impl Store, Loads) {
    let loads = Loads::default();
    let record = Arc::clone(&loads);
    let store = on_load(store, move |inner, column, steps| {
        let record = Arc::clone(&record);
        async move {
            let entries = inner.load(column.clone(), steps).await?;
            let steps = entries.iter().map(|(step, _)| *step).collect();
            record.lock().expect("no test panics").push((column, steps));
            Ok(entries)
        }
    });
    (store, loads)
}

/// The number of steps that were read. Each was read once. The first read is not counted: it checks the number of steps of
/// the source.
fn read_once(loads: &Loads) -> usize {
    let loads = loads.lock().expect("no test panics");
    let loaded = loads.iter().skip(1);
    let mut cells: Vec<_> =
        loaded.flat_map(|(column, steps)| steps.iter().map(move |step| (column, step))).collect();
    let count = cells.len();
    cells.sort_unstable();
    cells.dedup();
    assert_eq!(cells.len(), count, "a value was read twice");
    count
}

#[tokio::test]
async fn flows_that_share_their_past_load_it_once() -> Result<()> {
    let (store, log) = filled(STEPS).await?;
    let (store, loads) = recorded(store);
    let columns = columns(&log);
    let f = Flow::open(OpenOptions::new(store).recent(1), &columns).await?;
    let (early, late) = (f.fork(100)?, f.fork(1299)?);
    let other = f.replace_column(column("odd", columns[0].latest(), log.upper("other")))?;
    assert!([&f, &early, &late, &other].iter().all(|flow| flow.get("user", 50).is_none()));

    late.load(90).await?;
    assert_eq!((f.get("user", 89), f.get("user", 90).as_deref()), (None, Some("text 90")));
    assert_eq!((early.get("user", 99).as_deref(), early.get("user", 100)), (Some("text 99"), None));
    assert_eq!(other.get("topics", 90), f.get("topics", 90));
    early.load(0).await?;
    f.load(0).await?;
    assert_eq!(values(&late, 1299), values(&f.fork(1299)?, 1299));
    assert_eq!(read_once(&loads), 4 * STEPS);
    let shared = |flow: &Flow| flow.get("user", 700).map(|value| value.as_ptr());
    assert_eq!(shared(&f), shared(&late), "the text is in memory once");
    Ok(())
}

/// Two flows with one past load it at the same time.
#[tokio::test]
async fn loads_at_the_same_time_read_each_value_once() -> Result<()> {
    let (store, log) = filled(STEPS).await?;
    let (store, loads) = recorded(store);
    let store = on_load(store, |inner, column, steps| async move {
        tokio::task::yield_now().await;
        inner.load(column, steps).await
    });
    let f = Flow::open(OpenOptions::new(store).recent(0), columns(&log)).await?;
    let fork = f.fork(900)?;
    let (one, other, dropped) = (f.load(0), fork.load(300), fork.load(0));
    let mut dropped = Box::pin(dropped);
    assert!((&mut dropped).now_or_never().is_none());
    let both = futures::future::join(one, other);
    drop(dropped);
    let (one, other) = both.await;
    one.and(other)?;
    assert_eq!(values(&fork, 900), values(&f.fork(900)?, 900));
    read_once(&loads);
    Ok(())
}

/// A program reads the events of a run, and in between serves a command that needs the history. The run is not polled
/// then; it kept everyone else from the values that it had begun to load, for ever.
#[tokio::test]
async fn a_run_that_is_not_polled_keeps_nobody_from_the_values_that_it_loads() -> Result<()> {
    let (store, log) = filled(STEPS).await?;
    let (store, loads) = recorded(store);
    let store = on_load(store, |inner, column, steps| async move {
        tokio::task::yield_now().await;
        inner.load(column, steps).await
    });
    let columns = columns(&log);
    let f = Flow::open(OpenOptions::new(store).recent(1), &columns).await?;
    let fork = f.fork(900)?;
    fork.push("user", "another text").await?;
    let mut run = fork.run();
    assert!(run.next().now_or_never().is_none(), "it is loading");
    let mut waiting = Box::pin(f.load(800));
    assert!((&mut waiting).now_or_never().is_none(), "it is not polled either");
    let limit = std::time::Duration::from_secs(20);
    tokio::time::timeout(limit, fork.load(0)).await.expect("nothing has to be waited for")?;
    tokio::time::timeout(limit, f.load(0)).await.expect("nothing has to be waited for")?;
    assert_eq!(read_once(&loads), 4 * STEPS);
    run.await?;
    waiting.await?;
    assert_eq!(fork.steps(), 901);
    Ok(())
}

/// A cell that was not stored at the fork has its own value in each flow.
#[tokio::test]
async fn a_fork_never_loads_a_value_that_the_first_flow_stored_later() -> Result<()> {
    let (store, log) = filled(20).await?;
    let (columns, later) = (columns(&log), "later");
    let of_first = |_: Context| async { "of the first flow" };
    let added = column(later, columns[0].latest(), of_first);
    let first = Flow::open(OpenOptions::new(store).recent(0), columns.iter().chain([&added])).await?;
    let fork = first.fork(10)?;
    first.run().await?;
    fork.load(0).await?;
    first.load(0).await?;
    assert_eq!((fork.get(later, 3), first.get(later, 3).as_deref()), (None, Some("of the first flow")));
    assert_eq!(fork.forecast().cells, 10);
    fork.run().await?;
    assert_eq!(fork.steps(), 10);
    Ok(())
}

#[tokio::test]
async fn a_store_is_open_as_long_as_a_flow_may_read_it() -> Result<()> {
    let (store, log) = filled(20).await?;
    let f = Flow::open(OpenOptions::new(store.clone()).recent(0), columns(&log)).await?;
    let fork = f.fork(10)?;
    drop(f);
    assert!(matches!(Flow::open(store.clone(), columns(&log)).await, Err(Error::Open { .. })));
    fork.load(0).await?;
    assert!(fork.get("user", 0).is_some());
    let f = Flow::open(store.clone(), columns(&log)).await?;
    let _fork = f.fork(10)?;
    drop(f);
    Flow::open(store, columns(&log)).await?;
    Ok(())
}

/// A removed column kept the values in memory alone, and the others were computed again when it returned.
#[tokio::test]
async fn a_removed_column_of_a_fork_returns_with_its_past() -> Result<()> {
    let (store, log) = filled(20).await?;
    let columns = columns(&log);
    let f = Flow::open(OpenOptions::new(store).recent(2), &columns).await?;
    let [.., summary, odd] = columns;
    let fork = f.fork(20)?;
    let before = log.calls();
    fork.remove_column("odd").await?;
    fork.remove_column("summary").await?;
    fork.set_counter(columnar::tokens::Estimate);
    fork.add_column(odd).await?;
    fork.add_column(summary).await?;
    fork.run().await?;
    assert_eq!((fork.steps(), log.calls() - before), (20, 0));
    fork.load(0).await?;
    f.load(0).await?;
    assert_eq!(values(&fork, 20), values(&f, 20));
    Ok(())
}

#[tokio::test]
async fn a_column_that_returns_to_a_reopened_flow_has_its_values() -> Result<()> {
    let (store, log) = filled(STEPS).await?;
    let [_, topics, summary, odd] = columns(&log);
    let f = Flow::open(store.clone(), [&topics, &summary]).await?;
    f.add_column(&odd).await?;
    assert_eq!((f.forecast().cells, f.get("odd", 0).is_some()), (0, true));
    drop(f);
    let f = Flow::open(OpenOptions::new(store).recent(10), [&topics, &summary]).await?;
    f.add_column(odd).await?;
    assert_eq!((f.get("odd", 1289), f.get("odd", 1290).is_some()), (None, true));
    assert_eq!(f.progress().total(), 3 * STEPS);
    assert!(f.progress().not_loaded > 3 * STEPS - 50);
    f.load(0).await?;
    assert_eq!((f.progress().not_loaded, f.progress().skipped), (0, STEPS / 5));
    Ok(())
}

/// The plan had changed when the invalid receipt was found.
#[tokio::test]
async fn a_column_with_an_invalid_receipt_is_not_added() -> Result<()> {
    let (store, log) = filled(3).await?;
    let columns = columns(&log);
    store.open().await.expect("the store is free");
    store.put(name("mood"), 0, Entry::from("fine").with_receipt("cheap")).await.expect("stored");
    let store = {
        let again = store.clone();
        drop(store);
        again
    };
    let f = Flow::open(store, &columns).await?;
    let error = f.add_column(column("mood", columns[0].latest(), log.upper("mood"))).await;
    let error = error.expect_err("the receipt is invalid").to_string();
    assert_eq!(error, "reading `mood` from the store failed: the receipt of step 0 is invalid");
    assert_eq!((f.order().len(), f.progress().total()), (4, 9));
    f.push("user", "text").await?;
    f.run().await?;
    assert_eq!(f.steps(), 4);
    Ok(())
}

/// The search for the current column did not end.
#[tokio::test]
async fn a_column_can_be_replaced_by_itself_and_by_an_earlier_one() -> Result<()> {
    let log = Log::default();
    let user = source("user");
    let (a, b) = (column("map", user.latest(), log.upper("a")), column("map", user.latest(), log.upper("b")));
    let reader = column("reader", a.latest(), log.upper("reader"));
    let f = flow([&reader])?;
    f.push("user", "x").await?;
    f.run().await?;
    let itself = f.replace_column(&a)?;
    assert_eq!(itself.forecast().cells, 2, "it is computed again, with its dependents");
    itself.run().await?;
    let there = f.replace_column(&b)?;
    there.run().await?;
    let back = there.replace_column(&a)?.replace_column(&b)?.replace_column(&a)?;
    back.add_column(column("more", &a, log.upper("more"))).await?;
    back.run().await?;
    assert_eq!((log.calls_of("a", 0), log.calls_of("b", 0), log.calls_of("reader", 0)), (3, 1, 4));
    assert_eq!(back.order(), ["user", "map", "reader", "more"]);
    Ok(())
}

/// Opens a flow with one column again before each step, and returns its messages and cache plans.
async fn requests(
    column: &Column,
    reopen: impl Fn(MemoryStore) -> Option<OpenOptions>,
) -> Result<Vec<String>> {
    let store = MemoryStore::new();
    let mut f = Flow::open(store.clone(), [column]).await?;
    let mut policy = CachePolicy::by_model("anthropic/claude-sonnet-4-5").clone();
    (policy.minimum, policy.most_marks, policy.look_back) = (0, 9, 0);
    let mut requests = Vec::new();
    for step in 0..40 {
        if let Some(options) = reopen(store.clone()) {
            drop(f);
            f = Flow::open(options, [column]).await?;
        }
        f.push("user", format!("{step} {}", "word ".repeat(step * 7 % 11))).await?;
        f.run().await?;
        // A step may be skipped.
        let messages = f.messages("answer", step).map(|messages| messages.to_json());
        let plan = f.cache_plan("answer", step, &policy, Pace::batch());
        requests.push(format!("{messages:?} {plan:?}"));
    }
    Ok(requests)
}

/// A truncation that persists depends on all steps before it, and a shared prefix on the request before. After opening,
/// the flow did not have them.
#[tokio::test]
async fn a_reopened_flow_sends_the_same_requests() -> Result<()> {
    let user = source("user");
    let answer = |cx: Context| async move { format!("answer {}", cx.messages().len()) };
    let low_water = Budget::of(90).token_buffer(0).minimum_recent(1).low_water(0.5);
    let odd = |text: &str| text.len() % 2 == 1;
    let rare = |text: &str| text.len() % 9 == 1;
    let cut = column("answer", (user.window(5), this().window(5)), answer.budget(low_water.clone()));
    let cut_filtered = column(
        "answer",
        (user.latest(), user.window(5).filter(odd).named("odd"), this().window(5)),
        answer.budget(low_water),
    );
    let filtered = column("answer", (user.latest(), user.window(4).filter(odd).named("odd")), answer);
    let rarely = column("answer", user.window(3).filter(rare), answer);
    for column in [cut, cut_filtered, filtered, rarely] {
        let expected = requests(&column, |_| None).await?;
        assert_eq!(requests(&column, |store| Some(OpenOptions::new(store))).await?, expected);
        assert_eq!(requests(&column, |store| Some(OpenOptions::new(store).recent(0))).await?, expected);
    }
    Ok(())
}
