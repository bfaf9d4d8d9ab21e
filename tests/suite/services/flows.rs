//! The flows of a service by key: opened once, joined, closed when nobody uses them.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::time::Duration;

use columnar::BoxError;
use columnar::prelude::*;
use columnar::service::{Flows, Position};
use columnar::store::MemoryStore;
use columnar_tests::events::{lines, pause};
use columnar_tests::gate::Gate;
use futures::FutureExt;
use futures::future::join_all;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;

flow! {
    pub(crate) struct Chat(gate: Gate) {
        source user;
        column answer(user.latest) = gate.clone();
    }
}

/// The stores of conversations, by key.
#[derive(Clone, Default)]
struct Stores(Arc<Mutex<BTreeMap<String, MemoryStore>>>);

impl Stores {
    fn get(&self, key: &str) -> MemoryStore {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key.to_owned()).or_default().clone()
    }
}

/// The conversations in these stores, whose answers wait at the gate.
fn chats(stores: &Stores, gate: &Gate) -> Flows<String, Chat> {
    let (stores, gate) = (stores.clone(), gate.clone());
    Flows::new(move |key: String| Chat::open(stores.get(&key), gate.clone()))
}

#[tokio::test(start_paused = true)]
async fn v9_the_same_key_is_the_same_flow() -> Result<()> {
    let chats = chats(&Stores::default(), &Gate::open());
    let (ada, same, bob) = (chats.open("ada").await?, chats.open("ada").await?, chats.open("bob").await?);
    ada.user.push("one").await?;
    assert_eq!(same.user.push("two").await?, 1);
    assert_eq!(bob.user.push("three").await?, 0);
    same.completed(1).await?;
    assert_eq!(ada.answer.get(1).as_deref(), Some("TWO"));
    assert_eq!(chats.len(), 2);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn v1_a_flow_that_nobody_uses_is_closed_and_can_be_opened_again() -> Result<()> {
    let chats = chats(&Stores::default(), &Gate::open());
    let ada = chats.open("ada").await?;
    let events = ada.subscribe();
    ada.user.push("one").await?;
    drop(ada);
    pause().await;
    assert_eq!(chats.len(), 1, "the subscription uses it");
    drop(events);
    pause().await;
    assert!(chats.is_empty());
    let ada = chats.open("ada").await?;
    assert_eq!(lines(&mut ada.subscribe_from(&Position::START)), ["answer 0 = ONE"]);
    Ok(())
}

/// Whoever opens a flow whose task still computes would otherwise be told that its store is in use.
#[tokio::test(start_paused = true)]
async fn v9_a_flow_that_is_about_to_close_is_joined() -> Result<()> {
    let gate = Gate::new(1);
    let chats = chats(&Stores::default(), &gate);
    let ada = chats.open("ada").await?;
    ada.user.push("to be").await?;
    drop(ada);
    pause().await;
    let ada = chats.open("ada").await?;
    assert_eq!(lines(&mut ada.subscribe()), ["answer 0 + TO "]);
    gate.let_through(1);
    ada.completed(0).await?;
    assert_eq!(gate.total_calls(), 1);
    Ok(())
}

/// Opens the flows of a service when it gets a permit, and fails where the key is `nonesuch`.
fn slow_chats(permits: &Arc<Semaphore>, opened: &Arc<AtomicUsize>) -> Flows<String, Chat, BoxError> {
    let (stores, permits, opened) = (Stores::default(), Arc::clone(permits), Arc::clone(opened));
    Flows::new(move |key: String| {
        let (store, permits, opened) = (stores.get(&key), Arc::clone(&permits), Arc::clone(&opened));
        async move {
            permits.acquire().await?.forget();
            opened.fetch_add(1, Ordering::SeqCst);
            if key == "nonesuch" {
                return Err("there is no such conversation".into());
            }
            Ok(Chat::open(store, Gate::open()).await?)
        }
    })
}

#[tokio::test(start_paused = true)]
async fn v9_concurrent_opens_open_once() {
    let (permits, opened) = (Arc::new(Semaphore::new(0)), Arc::default());
    let chats = slow_chats(&permits, &opened);
    let mut opens: Vec<_> = (0..10).map(|_| Box::pin(chats.open("ada"))).collect();
    for open in &mut opens {
        assert!(open.now_or_never().is_none());
    }
    assert_eq!(chats.len(), 1);
    // The client that opens the flow leaves, and the next one goes on.
    drop(opens.remove(0));
    permits.add_permits(1);
    let all = join_all(opens).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(opened.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn an_error_of_opening_is_not_kept() {
    let (permits, opened) = (Arc::new(Semaphore::new(9)), Arc::default());
    let chats = slow_chats(&permits, &opened);
    for _ in 0..2 {
        let error = chats.open("nonesuch").await.expect_err("there is none");
        assert_eq!(error.to_string(), "there is no such conversation");
    }
    assert_eq!(opened.load(Ordering::SeqCst), 2);
    assert!(chats.is_empty(), "nothing is kept of it");

    // The same for a client that leaves before the flow is open.
    permits.forget_permits(9);
    assert!(chats.open("ada").now_or_never().is_none());
    assert!(chats.is_empty());
}

#[tokio::test(start_paused = true)]
async fn v6_a_shutdown_ends_all_flows_and_opens_no_more() -> Result<()> {
    let (stores, gate) = (Stores::default(), Gate::new(3));
    let chats = chats(&stores, &gate);
    let mut all = Vec::new();
    for key in ["ada", "bob", "eve"] {
        let chat = chats.open(key).await?;
        chat.user.push("to be").await?;
        all.push((chat.subscribe(), key));
    }
    pause().await;
    let mut shutdown = Box::pin(chats.shutdown());
    assert!((&mut shutdown).now_or_never().is_none());
    assert!(matches!(chats.open("ada").await, Err(Error::Closed)));
    gate.let_through(3);
    shutdown.await;
    for (mut events, key) in all {
        assert_eq!(lines(&mut events), ["answer 0 = TO BE"], "{key}");
        assert!(events.next().await.is_none());
        assert_eq!(Chat::open(stores.get(key), gate.clone()).await?.steps(), 1);
    }
    assert!(chats.is_empty());
    assert_eq!(gate.total_calls(), 3);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_for_a_flow_that_is_being_opened() {
    let (permits, opened) = (Arc::new(Semaphore::new(0)), Arc::default());
    let chats = slow_chats(&permits, &opened);
    let mut open = Box::pin(chats.open("ada"));
    assert!((&mut open).now_or_never().is_none());
    assert!(!chats.shutdown_timeout(Duration::from_secs(5)).await, "it is still being opened");
    permits.add_permits(1);
    let refused = open.await.expect_err("the flows are shut down");
    assert!(matches!(refused.downcast_ref(), Some(Error::Closed)));
    chats.shutdown().await;
    assert!(chats.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_with_a_limit_drops_what_is_late() -> Result<()> {
    let gate = Gate::new(1);
    let chats = chats(&Stores::default(), &gate);
    let (ada, bob) = (chats.open("ada").await?, chats.open("bob").await?);
    ada.user.push("to be").await?;
    bob.settled().await?;
    assert!(!chats.shutdown_timeout(Duration::from_secs(5)).await);
    assert!(matches!(ada.completed(0).await, Err(Error::Missing { .. })));
    Ok(())
}

/// A chat that still has its store while its drop waits at two barriers.
struct SlowToDrop {
    _blocker: Blocker,
    chat: Chat,
}

/// `None` drops at once.
struct Blocker(Option<Arc<[Barrier; 2]>>);

impl Drop for Blocker {
    fn drop(&mut self) {
        for barrier in self.0.iter().flat_map(|barriers| barriers.iter()) {
            barrier.wait();
        }
    }
}

impl Deref for SlowToDrop {
    type Target = <Chat as Deref>::Target;

    fn deref(&self) -> &Self::Target {
        &self.chat
    }
}

/// A flow that was opened again while its task dropped it found its store in use.
#[test]
fn opening_waits_until_the_earlier_task_has_released_the_store() {
    let runtime = Builder::new_multi_thread().worker_threads(2).build().expect("threads");
    let barriers = Arc::new([Barrier::new(2), Barrier::new(2)]);
    let (store, first) = (MemoryStore::new(), Mutex::new(Some(Arc::clone(&barriers))));
    let chats: Flows<String, SlowToDrop> = Flows::new(move |_| {
        let blocker = first.lock().map(|mut first| Blocker(first.take())).expect("nobody panics");
        let chat = Chat::open(store.clone(), Gate::open());
        async move { Ok(SlowToDrop { _blocker: blocker, chat: chat.await? }) }
    });
    runtime.block_on(async {
        drop(chats.open("ada").await.expect("it is free"));
        barriers[0].wait();
        let mut open = Box::pin(chats.open("ada"));
        assert!((&mut open).now_or_never().is_none());
        barriers[1].wait();
        open.await.expect("it is free again");
    });
}

/// On several threads, handles are dropped at any moment of the end of a task. A store that was still held when the flow
/// was opened again was an error.
#[test]
fn v9_a_flow_can_be_opened_again_at_any_moment() {
    let runtime = Builder::new_multi_thread().worker_threads(4).build().expect("threads");
    let chats = chats(&Stores::default(), &Gate::open());
    runtime.block_on(async {
        let clients = (0..8).map(|client| {
            let chats = chats.clone();
            tokio::spawn(async move {
                for round in 0..200 {
                    let chat =
                        chats.open(["ada", "bob"][(client + round) % 2]).await.expect("it can be opened");
                    if round % 5 == 0 {
                        let events = chat.subscribe();
                        let step = chat.user.push("hello").await.expect("it is stored");
                        drop(chat);
                        drop(events);
                        assert!(step < 8 * 40);
                    }
                }
            })
        });
        for client in join_all(clients.collect::<Vec<_>>()).await {
            client.expect("no client panics");
        }
        for key in ["ada", "bob"] {
            let chat = chats.open(key).await.expect("it can be opened");
            chat.settled().await.expect("nothing fails");
            assert_eq!(chat.steps(), chat.user.len());
        }
        chats.shutdown().await;
    });
    assert!(chats.is_empty());
}
