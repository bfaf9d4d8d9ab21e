//! Receipts of flows, the times of requests, and pushes that wait for a change of the columns.

use std::time::{Duration, SystemTime};

use futures::future::{FutureExt, join};
use tokio::time::advance;

use crate::declare::Name;
use crate::prelude::*;
use crate::run::reopen::OpenOptions;
use crate::store::{Entry, MemoryStore, Put, Store};
use crate::testing::ScriptedModel;
use crate::usage::UnixTime;

const PAID: &str = r#"{"model":"m","calls":2,"attempts":2,"input":7,"ms":5}"#;
const FAILED: &str = r#"{"calls":3,"attempts":3,"ms":9}"#;

fn name(name: &str) -> Name {
    Name::new(name).expect("a name")
}

fn answer() -> Column {
    column("answer", source("user").latest(), |_: Context| async { "" })
}

/// A store with three steps: two answers with these receipts, and a missing one.
async fn paid(receipts: [&str; 2]) -> Result<MemoryStore> {
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), [answer()]).await?;
    for text in ["a", "b", "c"] {
        f.push("user", text).await?;
    }
    drop(f);
    store.open().await.expect("no flow has it open");
    for (step, entry) in [Entry::from("x"), Entry::SKIPPED].into_iter().enumerate() {
        let put = store.put(name("answer"), step, entry.with_receipt(receipts[step])).await;
        assert_eq!(put.expect("the store is open"), Put::Stored);
    }
    Ok(store)
}

/// The receipts of the answers, by step.
fn receipts(f: &Flow) -> Vec<(usize, String)> {
    let receipts =
        f.bill().receipts().map(|(_, step, receipt)| (step, receipt.to_string())).collect::<Vec<_>>();
    for (step, receipt) in &receipts {
        assert_eq!(f.receipt("answer", *step).expect("a receipt").to_string(), *receipt);
    }
    receipts
}

#[tokio::test]
async fn forks_and_added_columns_keep_receipts() -> Result<()> {
    let answer = answer();
    let f = Flow::open(paid([PAID, FAILED]).await?, [&answer]).await?;
    let both = vec![(0, PAID.to_owned()), (1, FAILED.to_owned())];
    assert_eq!(receipts(&f), both);
    f.run().await?;
    assert_eq!(receipts(&f), both, "the new cell called no model");

    let fork = f.fork(1)?;
    assert_eq!(receipts(&fork), both[..1]);
    fork.remove_column("answer").await?;
    fork.add_column(&answer).await?;
    assert_eq!(receipts(&fork), both[..1], "the removed column is back");

    let store = MemoryStore::new();
    let fork = f.fork_into(2, store.clone()).await?;
    assert_eq!(receipts(&fork), both);
    drop(fork);
    assert_eq!(receipts(&Flow::open(store, [answer]).await?), both);
    Ok(())
}

#[tokio::test]
async fn receipts_are_loaded_with_their_values() -> Result<()> {
    let store = paid([PAID, FAILED]).await?;
    let f = Flow::open(OpenOptions::new(store).recent(0), [answer()]).await?;
    assert_eq!(receipts(&f), []);
    f.load(0).await?;
    assert_eq!(receipts(&f).len(), 2);
    Ok(())
}

/// The store keeps when a request began, and the process counts by its own clock, which tests may pause.
#[tokio::test(start_paused = true)]
async fn the_time_since_the_last_request_is_known_before_and_after_reopening() -> Result<()> {
    let user = source("user");
    let answer = column("answer", user.latest(), prompt("Answer.").model(ScriptedModel::new(|_| "x".into())));
    let count = column("count", user.latest(), |_: Context| async { "1" });
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), [&answer, &count]).await?;
    let since = |f: &Flow, column| {
        let state = f.shared.lock();
        state.since_last_request(state.plan.schema().find(column)?)
    };
    for pause in [75, 3_600] {
        f.push("user", "a").await?;
        f.run().await?;
        advance(Duration::from_secs(pause)).await;
        assert_eq!(since(&f, "answer"), Some(Duration::from_secs(pause)));
    }
    let fork = f.fork(1)?;
    assert_eq!([since(&fork, "answer"), since(&fork, "count")], [Some(Duration::from_hours(1)), None]);
    let at = f.receipt("answer", 1).and_then(|receipt| receipt.at).expect("a model was called");
    assert!(f.receipt("answer", 0).and_then(|receipt| receipt.at).is_some_and(|first| first <= at));
    assert!(SystemTime::from(at) <= SystemTime::now());
    drop((f, fork));

    let f = Flow::open(store, [&answer, &count]).await?;
    assert_eq!(f.receipt("answer", 1).and_then(|receipt| receipt.at), Some(at));
    // The wall clock does not pause.
    let between = UnixTime::now().since(at);
    assert!(since(&f, "answer").is_some_and(|since| between <= since && since < Duration::from_hours(1)));
    assert_eq!(since(&f, "count"), None);

    // A receipt of an earlier version has no time.
    let f = Flow::open(paid([PAID, FAILED]).await?, [&self::answer()]).await?;
    assert_eq!((receipts(&f).len(), since(&f, "answer")), (2, None));
    Ok(())
}

#[tokio::test]
async fn an_invalid_receipt_is_an_error_that_names_its_cell() -> Result<()> {
    let store = paid([PAID, "cheap"]).await?;
    let refused = Flow::open(store, [answer()]).await.expect_err("the receipt is invalid");
    let Error::Load { column, source } = refused else { panic!("{refused:?}") };
    assert_eq!((column, source.to_string()), (name("answer"), "the receipt of step 1 is invalid".into()));

    // A run that finds such an entry in the store reports it, too.
    let f = Flow::open(MemoryStore::new(), [answer()]).await?;
    f.push("user", "a").await?;
    let store = f.shared.store.clone().expect("the flow has a store");
    store.put(name("answer"), 0, Entry::SKIPPED.with_receipt("cheap")).await.expect("the store is open");
    let Err(Error::Store { column, source, .. }) = f.run().await else { panic!("the receipt is invalid") };
    assert_eq!((column, source.to_string()), (name("answer"), "the receipt of step 0 is invalid".into()));
    Ok(())
}

/// A push looked up its source before it waited for a removal, which changed the indices: the value went to another
/// column.
#[tokio::test]
async fn a_push_that_waits_for_a_removal_finds_its_source() -> Result<()> {
    let f = flow([source("first"), source("second"), source("third")])?;
    let writing = f.shared.writing().await;
    let mut removal = Box::pin(f.remove_column("first"));
    let mut push = Box::pin(f.push("second", "x"));
    assert!((&mut removal).now_or_never().is_none());
    assert!((&mut push).now_or_never().is_none());
    drop(writing);
    let (removed, pushed) = join(removal, push).await;
    removed?;
    assert_eq!(pushed?, 0);
    assert_eq!((f.get("second", 0).as_deref(), f.get("third", 0)), (Some("x"), None));
    Ok(())
}

/// The panic passed out of the drop of the run. Of two such cells, the second one ended the process.
#[tokio::test]
async fn r18_a_compute_step_whose_drop_panics_harms_no_run_that_is_dropped() -> Result<()> {
    struct PanicsAtDrop;

    impl Drop for PanicsAtDrop {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    let stuck = |_: Context| async {
        let _dropped = PanicsAtDrop;
        std::future::pending::<String>().await
    };
    let user = source("user");
    let f = flow([column("one", user.latest(), stuck), column("two", user.latest(), stuck)])?;
    f.push("user", "hello").await?;
    let mut run = f.run();
    assert!(run.next().now_or_never().is_none(), "both are stuck");
    drop(run);
    assert!(f.run().next().now_or_never().is_none(), "the flow goes on");
    Ok(())
}
