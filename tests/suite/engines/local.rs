//! An engine in the memory of the process, which shows how little an adapter needs, and what the suite finds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use columnar::engine::{
    CallError, Engine, EngineCall, EngineError, EngineReply, FlowWorker, OwnedCall, Work,
};
use columnar::testing::{EngineHarness, engine_conformance};
use futures::future::{BoxFuture, FutureExt, LocalBoxFuture};
use tokio::runtime::Handle;
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::sleep;

/// What is wrong with the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Defect {
    None,
    /// A request that is repeated is carried out again.
    Repeats,
}

#[derive(Clone)]
pub(super) struct LocalEngine(Arc<EngineState>);

struct EngineState {
    defect: Defect,
    runtime: Handle,
    workers: Mutex<Vec<(u64, FlowWorker, Handle)>>,
    owners: Mutex<HashMap<String, Arc<Owner>>>,
    replies: Mutex<HashMap<(String, String), Result<EngineReply, String>>>,
    journal: Mutex<Vec<String>>,
}

/// The call that owns a flow.
#[derive(Default)]
struct Owner {
    turn: AsyncMutex<()>,
    cancelled: Notify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LocalEngine {
    pub(super) fn new(defect: Defect) -> Self {
        Self(Arc::new(EngineState {
            defect,
            runtime: Handle::current(),
            workers: Mutex::default(),
            owners: Mutex::default(),
            replies: Mutex::default(),
            journal: Mutex::default(),
        }))
    }

    fn owner(&self, key: &str) -> Arc<Owner> {
        Arc::clone(lock(&self.0.owners).entry(key.to_owned()).or_default())
    }

    async fn made(self, key: String, call: EngineCall) -> Result<EngineReply, String> {
        let owner = self.owner(&key);
        if call == EngineCall::Cancel {
            owner.cancelled.notify_waiters();
            return Ok(EngineReply::Cancelled);
        }
        let _turn = owner.turn.lock().await;
        let told = Arc::default();
        for attempt in 0.. {
            let worker = {
                let workers = lock(&self.0.workers);
                workers.get(attempt % workers.len().max(1)).cloned()
            };
            if let Some((_, worker, runtime)) = worker {
                let owned = LocalCall {
                    engine: self.clone(),
                    key: key.clone(),
                    owner: owner.clone(),
                    told: Arc::clone(&told),
                };
                let call = call.clone();
                match runtime.spawn(async move { worker.serve(call, &owned).await }).await {
                    Ok(Ok(reply)) => return Ok(reply),
                    Ok(Err(error @ CallError::Refused(_))) => return Err(error.to_string()),
                    // Another attempt; so too after the death of a worker.
                    Ok(Err(_)) | Err(_) => {}
                }
            }
            sleep(Duration::from_millis(20)).await;
        }
        unreachable!("attempts do not end")
    }
}

impl Engine for LocalEngine {
    fn call(
        &self,
        key: String,
        call: EngineCall,
        request: String,
    ) -> BoxFuture<'static, Result<EngineReply, EngineError>> {
        let engine = self.clone();
        lock(&self.0.journal)
            .push(format!("{key} {request} {}", serde_json::to_string(&call).expect("JSON")));
        async move {
            let id = (key.clone(), request);
            if let Some(reply) =
                lock(&engine.0.replies).get(&id).filter(|_| engine.0.defect != Defect::Repeats)
            {
                return reply.clone().map_err(EngineError::Refused);
            }
            // Whether the client waits or not.
            let making = engine.0.runtime.spawn(engine.clone().made(key, call));
            let reply = making.await.map_err(|error| EngineError::Unreachable(error.into()))?;
            lock(&engine.0.journal).push(format!("{reply:?}"));
            lock(&engine.0.replies).insert(id, reply.clone());
            reply.map_err(EngineError::Refused)
        }
        .boxed()
    }
}

struct LocalCall {
    engine: LocalEngine,
    key: String,
    owner: Arc<Owner>,
    told: Arc<Mutex<HashMap<&'static str, String>>>,
}

impl OwnedCall for LocalCall {
    fn key(&self) -> &str {
        &self.key
    }

    fn remember<'c>(
        &'c self,
        name: &'static str,
        work: Work<'c>,
    ) -> BoxFuture<'c, Result<String, CallError>> {
        async move {
            if let Some(told) = lock(&self.told).get(name) {
                return Ok(told.clone());
            }
            let Work { mut future, cancel } = work;
            let result = tokio::select! {
                result = &mut future => result,
                () = self.owner.cancelled.notified() => {
                    cancel.notify_one();
                    future.await
                }
            }?;
            lock(&self.engine.0.journal).push(format!("{name} {result}"));
            lock(&self.told).insert(name, result.clone());
            Ok(result)
        }
        .boxed()
    }

    fn wake(&self, after: Duration, call: EngineCall) {
        let waking = self.engine.clone().made(self.key.clone(), call);
        self.engine.0.runtime.spawn(async move {
            sleep(after).await;
            drop(waking.await);
        });
    }
}

pub(super) struct LocalHarness(pub(super) LocalEngine);

/// Removes a worker that ends or dies.
struct Registered(LocalEngine, u64);

impl Drop for Registered {
    fn drop(&mut self) {
        lock(&self.0.0.workers).retain(|(id, ..)| *id != self.1);
    }
}

impl EngineHarness for LocalHarness {
    type Engine = LocalEngine;

    fn engine(&self) -> LocalEngine {
        self.0.clone()
    }

    fn serve(&self, worker: FlowWorker, shutdown: BoxFuture<'static, ()>) -> LocalBoxFuture<'static, ()> {
        let engine = self.0.clone();
        async move {
            let id = fastrand::u64(..);
            lock(&engine.0.workers).push((id, worker.clone(), Handle::current()));
            let _registered = Registered(engine, id);
            shutdown.await;
            worker.drain().await;
        }
        .boxed_local()
    }

    fn remembered(&self) -> BoxFuture<'_, String> {
        async { lock(&self.0.0.journal).join("\n") }.boxed()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_in_memory_gives_flows_to_workers() {
    engine_conformance(LocalHarness(LocalEngine::new(Defect::None))).await;
}

#[tokio::test(flavor = "multi_thread")]
#[should_panic(expected = "a request is carried out twice")]
async fn the_suite_finds_an_engine_that_repeats_requests() {
    engine_conformance(LocalHarness(LocalEngine::new(Defect::Repeats))).await;
}
