//! Batches of a provider, in workers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use columnar::Event;
use columnar::engine::{FlowClient, FlowWorker};
use columnar::service::Position;
use columnar::store::MemoryStore;
use columnar::testing::EngineHarness;
use columnar_tests::batches::BatchServer;
use columnar_tests::server::WIRES;
use futures::future::{FutureExt, join};
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::local::{Defect, LocalEngine, LocalHarness};
use crate::batches::{Reviews, check};

/// The stores of a worker and its clients.
#[derive(Clone, Default)]
struct Stores(Arc<Mutex<HashMap<String, MemoryStore>>>);

impl Stores {
    fn store(&self, key: &str) -> MemoryStore {
        let mut stores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stores.entry(key.to_owned()).or_default().clone()
    }
}

/// A run lets go of the flow long before its batch is over, and the engine wakes the flow to look.
#[tokio::test]
async fn n8_a_batch_is_paid_once_though_no_run_waits_for_it() {
    for wire in WIRES {
        let server = BatchServer::start(wire).await;
        let engine = LocalEngine::new(Defect::None);
        let stores = Stores::default();
        let [chats, inbox, messages] = [stores.clone(), stores.clone(), stores.clone()];
        let worker =
            FlowWorker::new(move |key: String| Reviews::open(chats.store(&key)), move |key| inbox.store(key))
                .batch(server.provider())
                .slice(Duration::from_millis(300))
                .pauses(Duration::from_millis(5), Duration::from_millis(20));
        let (over, ended) = oneshot::channel::<()>();
        let serving = LocalHarness(engine.clone()).serve(worker, ended.map(drop).boxed());
        let talk = async {
            let flow = FlowClient::new(engine.clone(), move |key| messages.store(key)).flow("ada");
            for number in 0..3 {
                flow.push("review", format!("review {number}.")).await.expect("it is stored");
            }
            let mut events = flow.events(&Position::START);
            loop {
                match events.next().await {
                    Ok(Event::Value { column, step: 2, .. }) if column == "story" => break,
                    Ok(_) => {}
                    // Nothing is stored yet.
                    Err(_) => sleep(Duration::from_millis(5)).await,
                }
            }
            drop(over);
        };
        join(serving, talk).await;
        check(&Reviews::open(stores.store("ada")).await.expect("it is stored"), 3);
        assert_eq!(server.billed(), [9, 0], "{wire:?}");
        assert_eq!(server.violations(), [""; 0], "{wire:?}");
    }
}
