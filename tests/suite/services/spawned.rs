//! Spawned flows: pushes, failures, cancellation and shutdown.

use std::time::Duration;

use columnar::prelude::*;
use columnar::service::Spawned;
use columnar::store::{MemoryStore, StoreError};
use columnar_tests::events::{lines, pause};
use columnar_tests::gate::Gate;
use columnar_tests::panics;
use columnar_tests::store::{Fail, FaultyStore};
use futures::FutureExt;
use futures::future::join;
use tokio::runtime::Builder;

flow! {
    pub(crate) struct Chat(gate: Gate) {
        source user;
        column topics(user.latest) = gate.clone();
        column assistant(user.latest, topics.latest, self.latest) = gate.clone();
    }
}

/// A spawned chat in memory, and its gate, which lets this number of words through.
fn chat(words: usize) -> (Spawned<Chat>, Gate) {
    let gate = Gate::new(words);
    (Chat::new(gate.clone()).spawn(), gate)
}

async fn open(store: &MemoryStore, gate: &Gate) -> Result<Spawned<Chat>> {
    Ok(Chat::open(store.clone(), gate.clone()).await?.spawn())
}

#[tokio::test(start_paused = true)]
async fn a_push_is_computed_without_a_run() -> Result<()> {
    let (chat, gate) = chat(2);
    let mut events = chat.subscribe();
    let step = chat.user.push("to be or").await?;
    pause().await;
    assert_eq!(lines(&mut events), ["topics 0 + TO BE "]);
    gate.let_through(4);
    chat.completed(step).await?;
    assert_eq!(lines(&mut events), ["topics 0 + OR", "topics 0 = TO BE OR", "assistant 0 = TO BE OR"]);
    assert_eq!(gate.total_calls(), 2);
    Ok(())
}

/// A push of a message while an earlier one is answered was refused, if a client had begun a run.
#[tokio::test(start_paused = true)]
async fn v4_pushes_are_never_refused_and_a_second_run_is() -> Result<()> {
    let (chat, gate) = chat(0);
    chat.user.push("one").await?;
    pause().await;
    assert!(matches!(chat.run().await, Err(Error::Running)));
    let other = chat.clone();
    assert_eq!(tokio::spawn(async move { other.user.push("two").await }).await.expect("no panic")?, 1);
    gate.let_through(4);
    chat.completed(1).await?;
    Ok(())
}

/// A run that someone else has begun is no failure: the task computes the rest when it is over.
#[tokio::test(start_paused = true)]
async fn a_run_of_someone_else_delays_the_task() -> Result<()> {
    let gate = Gate::new(0);
    let chat = Chat::new(gate.clone());
    chat.user.push("one").await?;
    let mut run = chat.run();
    assert!(run.next().now_or_never().is_none());
    let chat = chat.spawn();
    let mut events = chat.subscribe();
    pause().await;
    assert!(chat.settled().now_or_never().is_none());
    drop(run);
    gate.let_through(2);
    chat.completed(0).await?;
    assert_eq!(lines(&mut events), ["topics 0 = ONE", "assistant 0 = ONE"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn v5_an_error_is_seen_by_all_and_the_next_push_runs_again() -> Result<()> {
    let (chat, gate) = chat(9);
    let (mut events, other) = (chat.subscribe(), chat.clone());
    chat.user.push("oh fail").await?;
    let (completed, settled) = join(chat.completed(0), other.settled()).await;
    for waited in [completed, settled] {
        let Err(Error::Shared(error)) = waited else { panic!("{waited:?}") };
        assert!(matches!(*error, Error::Compute { step: 0, .. }), "{error}");
    }
    assert_eq!(lines(&mut events), ["topics 0 failed: HTTP 503"]);
    assert_eq!(
        lines(&mut chat.subscribe()),
        ["topics 0 failed: HTTP 503"],
        "who comes later learns it as well"
    );
    pause().await;
    assert_eq!(gate.total_calls(), 1, "the task does not spin");

    gate.set_failing(false);
    chat.user.push("two").await?;
    chat.settled().await?;
    assert!(chat.error().is_none());
    assert_eq!(
        lines(&mut events),
        ["topics 0 = OH FAIL", "assistant 0 = OH FAIL", "topics 1 = TWO", "assistant 1 = TWO",]
    );
    assert_eq!(gate.total_calls(), 5);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_retry_computes_the_cells_that_failed() -> Result<()> {
    let (chat, gate) = chat(3);
    let mut events = chat.subscribe();
    chat.user.push("oh fail").await?;
    assert!(chat.completed(0).await.is_err());
    assert_eq!(lines(&mut events), ["topics 0 failed: HTTP 503"]);
    gate.set_failing(false);
    chat.retry();
    pause().await;
    assert!(chat.settled().now_or_never().is_none(), "it waits at the gate");
    gate.let_through(9);
    chat.completed(0).await?;
    assert_eq!(lines(&mut events), ["topics 0 = OH FAIL", "assistant 0 = OH FAIL"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_model_that_cannot_be_used_is_an_error_of_the_first_missing_cell() -> Result<()> {
    let name = "nonesuch/model";
    let chat = flow! {
        source user;
        column answer(user, self) = prompt("Answer.").model(name);
    };
    let chat = chat.spawn();
    let mut events = chat.subscribe();
    chat.user.push("one").await?;
    assert!(chat.completed(0).await.is_err());
    let lines = lines(&mut events);
    assert!(lines.len() == 1 && lines[0].starts_with("answer 0 failed: the model of `answer`"), "{lines:?}");
    assert!(matches!(chat.error().as_deref(), Some(Error::Model { .. })));
    Ok(())
}

/// No subscription got an event: the error was taken for one without a column.
#[tokio::test(start_paused = true)]
async fn a_budget_that_is_too_small_is_an_error_of_the_first_missing_cell() -> Result<()> {
    let chat = flow! {
        source user;
        column answer(user, self) = prompt("Answer.").budget(10);
    };
    let chat = chat.spawn();
    let mut events = chat.subscribe();
    chat.user.push("one").await?;
    assert!(chat.completed(0).await.is_err());
    let lines = lines(&mut events);
    assert!(lines.len() == 1 && lines[0].starts_with("answer 0 failed: the budget holds no"), "{lines:?}");
    assert!(matches!(chat.error().as_deref(), Some(Error::BudgetTooSmall { .. })));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_cell_is_computed_after_the_next_push() -> Result<()> {
    let (chat, gate) = chat(1);
    let mut events = chat.subscribe();
    chat.user.push("to be").await?;
    pause().await;
    assert_eq!(lines(&mut events), ["topics 0 + TO "]);
    chat.cancel();
    chat.settled().await?;
    assert!(matches!(chat.completed(0).await, Err(Error::Missing { step: 0, .. })));
    assert_eq!(lines(&mut events), ["topics 0 retried after 1: the run was cancelled"]);
    gate.let_through(9);
    pause().await;
    assert_eq!(gate.total_calls(), 1, "nothing is computed before the next push");

    chat.user.push("or").await?;
    chat.completed(1).await?;
    assert_eq!(chat.topics.get(0).as_deref(), Some("TO BE"));
    Ok(())
}

/// The task reads both requests at once. The push is the later one, so it is answered.
#[tokio::test(start_paused = true)]
async fn v4_a_push_after_a_cancellation_is_computed() -> Result<()> {
    let (chat, gate) = chat(1);
    chat.user.push("to be").await?;
    pause().await;
    chat.cancel();
    chat.user.push("or").await?;
    gate.let_through(9);
    chat.completed(1).await?;

    chat.user.push("not").await?;
    chat.cancel();
    chat.settled().await?;
    assert_eq!(chat.steps(), 2, "the push came before the cancellation");
    chat.retry();
    chat.completed(2).await
}

/// A client that pushed and left would otherwise never get its answer.
#[tokio::test(start_paused = true)]
async fn v1_without_handles_the_task_computes_all_that_was_pushed_and_ends() -> Result<()> {
    let (store, gate) = (MemoryStore::new(), Gate::new(0));
    let chat = open(&store, &gate).await?;
    chat.user.push("one").await?;
    chat.user.push("two").await?;
    drop(chat);
    pause().await;
    let locked = open(&store, &gate).await.expect_err("the task has the flow open");
    assert!(matches!(locked, Error::Open { source: StoreError::Locked { .. } }));
    gate.let_through(4);
    pause().await;
    let chat = open(&store, &gate).await?;
    assert_eq!((chat.steps(), gate.total_calls()), (2, 4));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn v1_a_subscription_keeps_the_flow_open_and_its_end_cancels_nothing() -> Result<()> {
    let (store, gate) = (MemoryStore::new(), Gate::new(1));
    let chat = open(&store, &gate).await?;
    let (mut first, second) = (chat.subscribe(), chat.subscribe());
    chat.user.push("to be").await?;
    drop(chat);
    pause().await;
    assert_eq!(lines(&mut first), ["topics 0 + TO "]);
    drop((first, second));
    gate.let_through(9);
    pause().await;
    assert_eq!(open(&store, &gate).await?.steps(), 1);
    assert_eq!(gate.total_calls(), 2);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn v6_a_shutdown_stores_the_cells_in_progress_and_starts_none() -> Result<()> {
    let (store, gate) = (MemoryStore::new(), Gate::new(1));
    let chat = open(&store, &gate).await?;
    let mut events = chat.subscribe();
    chat.user.push("to be").await?;
    pause().await;
    assert_eq!(lines(&mut events), ["topics 0 + TO "]);
    let mut shutdown = Box::pin(chat.shutdown());
    assert!((&mut shutdown).now_or_never().is_none());
    pause().await;
    gate.let_through(9);
    shutdown.await;
    assert_eq!(lines(&mut events), ["topics 0 + BE", "topics 0 = TO BE"]);
    assert!(events.next().await.is_none());
    assert!(matches!(chat.completed(0).await, Err(Error::Missing { step: 0, .. })));
    drop((chat, events));

    let chat = open(&store, &gate).await?;
    chat.completed(0).await?;
    assert_eq!(gate.total_calls(), 2, "nothing is computed twice");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn v6_a_shutdown_with_a_limit_drops_the_cells_that_are_late() -> Result<()> {
    let (store, gate) = (MemoryStore::new(), Gate::new(1));
    let chat = open(&store, &gate).await?;
    let mut events = chat.subscribe();
    chat.user.push("to be").await?;
    pause().await;
    assert!(!chat.shutdown_timeout(Duration::from_secs(5)).await);
    assert_eq!(lines(&mut events), [] as [&str; 0]);
    assert!(events.next().await.is_none());
    // The column of a flow that is shut down stores what is pushed, and the next process computes it.
    assert_eq!(chat.user.push("or not").await?, 1);
    drop(chat);
    gate.let_through(9);
    let chat = open(&store, &gate).await?;
    chat.completed(1).await?;
    assert!(chat.shutdown_timeout(Duration::from_secs(5)).await);
    Ok(())
}

/// Nobody knows whether a failed write has stored its value, so the store must be opened again.
#[tokio::test(start_paused = true)]
async fn v7_a_failed_write_closes_the_flow() -> Result<()> {
    for failing in ["cell", "push"] {
        let (store, gate) = (FaultyStore::default(), Gate::open());
        let chat = Chat::open(store.clone(), gate.clone()).await?.spawn();
        let mut events = chat.subscribe();
        chat.settled().await?;
        if failing == "push" {
            store.fail_next(Fail::Before);
            assert!(chat.user.push("one").await.is_err());
        } else {
            store.close();
            let (pushed, ()) = join(chat.user.push("one"), async { store.let_through(1) }).await;
            pushed?;
            pause().await;
            store.fail_next(Fail::Before);
            store.let_through(9);
            let error = chat.completed(0).await.expect_err("the disk is full");
            assert!(matches!(error, Error::Shared(error) if matches!(*error, Error::Store { .. })));
            let lines = lines(&mut events);
            assert!(
                lines.last().is_some_and(|line| line.starts_with("topics 0 failed: storing")),
                "{lines:?}"
            );
        }
        pause().await;
        assert!(events.next().await.is_none(), "{failing}");
        drop((events, chat));

        let chat = Chat::open(store, gate.clone()).await?.spawn();
        if failing == "push" {
            chat.user.push("one").await?;
        }
        chat.completed(0).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn cells_that_an_earlier_process_left_are_computed_at_once() -> Result<()> {
    let (store, gate) = (MemoryStore::new(), Gate::open());
    let chat = Chat::open(store.clone(), gate.clone()).await?;
    chat.user.push("one").await?;
    drop(chat);
    let chat = open(&store, &gate).await?;
    let mut events = chat.subscribe();
    chat.settled().await?;
    assert_eq!(lines(&mut events), ["topics 0 = ONE", "assistant 0 = ONE"]);
    Ok(())
}

/// A compute step that never ends, and panics when it is dropped.
fn panics_in_drop(_: Context) -> impl Future<Output = String> {
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "a step that panics when it is dropped");
        }
    }

    let bomb = Bomb;
    async move {
        let _bomb = bomb;
        std::future::pending().await
    }
}

/// A panic in the drop of a step ended the task, and everybody waited forever.
#[tokio::test(start_paused = true)]
async fn v8_a_step_that_panics_when_it_is_dropped_ends_no_task() -> Result<()> {
    panics::expect_panic("a step that panics when it is dropped");
    let f = flow([column("answer", source("user").latest(), panics_in_drop)])?.spawn();
    let mut events = f.subscribe();
    for round in 0..3 {
        f.push("user", "one").await?;
        while f.progress().running == 0 {
            tokio::task::yield_now().await;
        }
        f.cancel();
        f.settled().await?;
        assert_eq!(f.progress().running, 0, "in round {round}");
    }
    f.shutdown_timeout(secs(1)).await;
    assert!(matches!(f.completed(0).await, Err(Error::Missing { .. })));
    while events.next().await.is_some() {}
    Ok(())
}

#[test]
fn v8_whoever_waits_for_a_task_whose_runtime_ends_is_woken() {
    let runtime = || Builder::new_current_thread().build().expect("a runtime of one thread needs nothing");
    let first = runtime();
    let chat = first.block_on(async {
        let (chat, _) = chat(0);
        chat.user.push("one").await?;
        Ok::<_, Error>(chat)
    });
    let chat = chat.expect("it is in memory");
    drop(first);
    assert!(matches!(runtime().block_on(chat.completed(0)), Err(Error::Missing { .. })));
}

/// On several threads, the task still held the store of a flow that was shut down and dropped: one in ten could not be
/// opened again.
#[test]
fn a_flow_that_is_shut_down_and_dropped_can_be_opened_again() {
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_time().build().expect("threads");
    let (store, gate) = (MemoryStore::new(), Gate::open());
    runtime.block_on(async {
        for round in 0..1000 {
            let chat = open(&store, &gate).await.expect("it is free");
            match round % 2 {
                0 => chat.shutdown().await,
                _ => assert!(chat.shutdown_timeout(secs(60)).await),
            }
        }
    });
}
