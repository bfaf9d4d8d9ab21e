//! Failures, and the state of the flow after them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use columnar::model::Chunk;
use columnar::prelude::*;
use columnar::testing::{ScriptedModel, script};
use columnar::{Compute, Reply};
use columnar_tests::live::push_all;
use columnar_tests::log::Log;
use columnar_tests::models::ChunkModel;
use columnar_tests::store::{Fail, FaultyStore};
use futures::FutureExt;
use futures::stream;

/// A compute step that fails at one step until it is mended.
#[derive(Clone, Default)]
struct Broken(Arc<AtomicBool>);

impl Broken {
    fn at(
        &self,
        step: usize,
    ) -> impl Fn(Context) -> std::future::Ready<Result<String, &'static str>> + use<> {
        let mended = Arc::clone(&self.0);
        move |cx| {
            let fails = cx.step() == step && !mended.load(Ordering::SeqCst);
            std::future::ready(if fails { Err("no answer") } else { Ok(cx.step().to_string()) })
        }
    }

    fn mend(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn r9_siblings_of_a_failed_column_are_stored_and_the_next_run_computes_what_is_missing() -> Result<()> {
    let (log, broken) = (Log::default(), Broken::default());
    let chat = flow! {
        source user;
        column good(user.latest)              = log.upper("good");
        column bad(user.latest)               = broken.at(1);
        column after(bad.latest, good.latest) = log.upper("after");
    };
    for text in ["a", "b", "c"] {
        chat.user.push(text).await?;
    }
    let mut run = chat.run();
    let mut items = Vec::new();
    while let Some(item) = run.next().await {
        items.push(item);
    }
    assert!(run.next().await.is_none(), "it has ended");
    let error = items.pop().expect("it failed").expect_err("the error is the last item");
    assert!(items.iter().all(Result::is_ok));
    assert_eq!(
        error.to_string(),
        "computing `bad` at step 1 failed: no answer; stored values are kept, and the next run continues"
    );
    assert!(matches!(&error, Error::Compute { column, step: 1, .. } if column == "bad"));
    assert_eq!(chat.good.len(), 3, "its siblings are stored");
    assert_eq!(chat.bad.get(1), None);
    let progress = chat.progress();
    assert_eq!((progress.done, progress.failed, progress.running, progress.total()), (6, 1, 0, 9));
    let paid = log.calls();

    broken.mend();
    chat.run().await?;
    assert_eq!(chat.steps(), 3);
    assert!(log.calls() > paid);
    for (column, step) in
        ["good", "after"].into_iter().flat_map(|column| [(column, 0), (column, 1), (column, 2)])
    {
        assert_eq!(log.calls_of(column, step), 1, "{column} {step}");
    }
    Ok(())
}

#[tokio::test]
async fn r9_nothing_new_starts_after_a_failure() -> Result<()> {
    let log = Log::default();
    let chat = flow! {
        source user;
        column bad(user.latest) = |_: Context| async { Err::<String, _>("no") };
        column slow(user.latest) = |_: Context| async {
            tokio::task::yield_now().await;
            "slow"
        };
        column after(slow.latest) = log.upper("after");
    };
    chat.user.push("x").await?;
    assert!(chat.run().await.is_err());
    assert_eq!(chat.slow.get(0).as_deref(), Some("slow"));
    assert_eq!(log.calls(), 0);
    Ok(())
}

#[tokio::test]
async fn r4_a_stream_that_fails_in_the_middle_stores_nothing_and_the_next_attempt_starts_empty() -> Result<()>
{
    for fails_after in 0..4 {
        let attempts = Arc::new(AtomicUsize::new(0));
        let chat = flow! {
            source user;
            column words(user.latest) = |_: Context| {
                let first = attempts.fetch_add(1, Ordering::SeqCst) == 0;
                let count = if first { fails_after } else { 3 };
                let words = ["a", "b", "c"].into_iter().take(count).map(|word| Ok(word.to_owned()));
                let end = first.then_some(Err("interrupted"));
                deltas(stream::iter(words.chain(end).collect::<Vec<_>>()))
            };
        };
        chat.user.push("x").await?;
        assert!(chat.run().await.is_err());
        assert_eq!(chat.words.get(0), None);
        chat.run().await?;
        assert_eq!(chat.words.get(0).as_deref(), Some("abc"));
    }
    Ok(())
}

/// Drops a run at its n-th poll, for every n: stored values stay, no emitted value is computed twice, no compute step
/// outlives the run, and nothing is written later.
#[tokio::test]
async fn r5_a_run_may_be_dropped_at_any_poll() -> Result<()> {
    let alive = Arc::new(AtomicUsize::new(0));
    let mut ended = false;
    for drop_at in 0..1000 {
        let log = Log::default();
        let store = FaultyStore::default();
        let user = source("user");
        let slow = column("slow", user.latest(), held(&alive));
        let topics = column("topics", (&slow, this().latest()), log.upper("topics"));
        let f = Flow::open(store.clone(), [&topics]).await?;
        push_all(&f, "user", ["a", "b", "c"]).await?;
        let mut run = f.run();
        let mut shown = Vec::new();
        for _ in 0..drop_at {
            match run.next().now_or_never() {
                Some(Some(Ok(Event::Value { column, step, value }))) => shown.push((column, step, value)),
                Some(Some(Err(error))) => return Err(error),
                Some(None) => ended = true,
                // Nothing is ready, so other tasks continue.
                None => tokio::task::yield_now().await,
                _ => {}
            }
        }
        drop(run);
        assert_eq!(alive.load(Ordering::SeqCst), 0, "no compute outlives its run");
        let puts = store.puts();
        tokio::task::yield_now().await;
        assert_eq!(store.puts(), puts, "nothing is written later");
        for (column, step, value) in &shown {
            assert_eq!(f.get(column, *step).as_ref(), Some(value));
        }
        f.run().await?;
        assert_eq!(f.steps(), 3);
        for (column, step, value) in shown {
            assert_eq!(f.get(&column, step), Some(value));
            assert!(column != "topics" || log.calls_of("topics", step) == 1);
        }
        if ended {
            assert!(drop_at > 10, "it took {drop_at} polls");
            return Ok(());
        }
    }
    unreachable!("the run does not end")
}

/// A compute step that replies in pieces after a pause, and counts its calls in progress.
fn held(alive: &Arc<AtomicUsize>) -> impl Compute {
    struct Held(Arc<AtomicUsize>);
    struct Count(Arc<AtomicUsize>);

    impl Drop for Count {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    impl Compute for Held {
        fn compute(&self, _: Context) -> Reply<'static> {
            self.0.fetch_add(1, Ordering::SeqCst);
            let count = Count(Arc::clone(&self.0));
            Reply::deltas(stream::unfold((0, count), |(at, count)| async move {
                tokio::task::yield_now().await;
                (at < 3).then(|| (Ok(at.to_string()), (at + 1, count)))
            }))
        }
    }

    Held(Arc::clone(alive))
}

#[tokio::test]
async fn e1_a_value_is_emitted_and_read_only_after_it_is_stored() -> Result<()> {
    let log = Log::default();
    let store = FaultyStore::default();
    let user = source("user");
    let first = column("first", user.latest(), script(["1"]));
    let second = column("second", first.latest(), log.upper("second"));
    let f = Flow::open(store.clone(), [second]).await?;
    f.push("user", "x").await?;

    store.close();
    let mut run = f.run();
    for _ in 0..5 {
        assert!(run.next().now_or_never().is_none(), "`first` is computed but not stored");
        assert_eq!((f.get("first", 0), log.calls()), (None, 0));
    }
    store.let_through(1);
    assert!(matches!(run.try_next().await?, Some(Event::Value { column, .. }) if column == "first"));
    assert_eq!(f.get("first", 0).as_deref(), Some("1"));
    assert!(run.next().now_or_never().is_none());
    assert_eq!((log.calls(), f.get("second", 0)), (1, None));
    store.let_through(1);
    while run.try_next().await?.is_some() {}
    assert_eq!(f.steps(), 1);
    Ok(())
}

#[tokio::test]
async fn a_push_that_the_store_rejects_leaves_no_gap() -> Result<()> {
    let store = FaultyStore::default();
    let user = source("user");
    let f = Flow::open(store.clone(), [column("map", user.latest(), script(["a", "b"]))]).await?;
    store.fail_next(Fail::Before);
    let error = f.push("user", "lost").await.expect_err("the disk is full");
    assert!(error.to_string().starts_with("storing `user` at step 0 failed: the disk is full"), "{error}");
    assert_eq!(f.push("user", "kept").await?, 0);
    assert_eq!(f.get("user", 0).as_deref(), Some("kept"));
    Ok(())
}

/// The store returned an error and stored the value nevertheless. The step keeps it, and the next push gets the next
/// step.
#[tokio::test]
async fn a_push_whose_outcome_was_unknown_is_not_overwritten() -> Result<()> {
    let store = FaultyStore::default();
    let user = source("user");
    let f = Flow::open(store.clone(), [column("map", user.latest(), script(["a", "b"]))]).await?;
    store.fail_next(Fail::After);
    assert!(f.push("user", "first").await.is_err());
    assert_eq!(f.push("user", "second").await?, 1);
    assert_eq!(f.get("user", 0).as_deref(), Some("first"));
    assert_eq!(f.get("user", 1).as_deref(), Some("second"));
    Ok(())
}

#[tokio::test]
async fn a_value_whose_write_had_an_unknown_outcome_is_adopted_by_the_next_run() -> Result<()> {
    let store = FaultyStore::default();
    let attempts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&attempts);
    let user = source("user");
    let map = column("map", user.latest(), move |_: Context| {
        let attempt = counted.fetch_add(1, Ordering::SeqCst);
        async move { format!("attempt {attempt}") }
    });
    let f = Flow::open(store.clone(), [map]).await?;
    f.push("user", "x").await?;
    store.fail_next(Fail::After);
    let error = f.run().await.expect_err("the connection was lost");
    assert!(error.to_string().contains("open the flow again to learn what is stored"), "{error}");
    assert_eq!(f.get("map", 0), None);
    f.run().await?;
    assert_eq!(f.get("map", 0).as_deref(), Some("attempt 0"), "the first writer wins");
    Ok(())
}

#[tokio::test]
async fn a_store_with_a_gap_is_an_error() {
    use columnar::store::Store;
    let store = FaultyStore::default();
    let name = columnar::Name::new("user").expect("a name");
    store.open().await.expect("the store is free");
    store.put(name.clone(), 0, Value::from("a").into()).await.expect("stored");
    store.put(name, 2, Value::from("c").into()).await.expect("stored");
    let user = source("user");
    let opened = Flow::open(store, [column("map", user.latest(), script(["a"]))]).await;
    let error = opened.expect_err("step 1 is missing");
    assert_eq!(
        error.to_string(),
        "reading `user` from the store failed: step 1 is missing, but step 2 is stored; restore it, or remove the later ones"
    );
}

#[tokio::test]
async fn r4_a_reply_without_an_end_is_an_error() -> Result<()> {
    let model = ChunkModel::new("breaks off", |_, _| vec![Ok(Chunk::Text("some".into()))]);
    let chat = flow! {
        source user;
        column assistant(user, self) = prompt("Answer.").model(model.clone());
    };
    chat.user.push("x").await?;
    let error = chat.run().await.expect_err("it broke off");
    assert!(error.to_string().contains("the reply broke off before its end"), "{error}");
    assert_eq!(chat.assistant.get(0), None);
    Ok(())
}

#[tokio::test]
async fn errors_do_not_quote_the_conversation() -> Result<()> {
    let canary = "the moon is made of cheese";
    let store = FaultyStore::default();
    let user = source("user");
    let model = ScriptedModel::new(move |_| canary.to_owned());
    let f = Flow::open(store.clone(), [column("map", user.latest(), prompt("Answer.").model(model))]).await?;
    store.fail_next(Fail::Before);
    let mut errors = vec![f.push("user", canary).await.expect_err("refused")];
    f.push("user", canary).await?;
    store.fail_next(Fail::Before);
    errors.push(f.run().await.expect_err("refused"));
    errors.push(f.messages("map", 9).expect_err("no such step"));
    for error in errors {
        let text = format!("{error} {error:?}");
        assert!(!text.contains(canary), "{text}");
    }
    Ok(())
}
