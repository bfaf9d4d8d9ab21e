//! The adapter of [Temporal](https://temporal.io): a workflow is the queue of a flow, and its activities are the calls.
//!
//! The id of the workflow is `service/key`, and its task queue is the service. The server makes the activities of a workflow one
//! after another, keeps its history, and gives an activity to another worker when one dies. The history has names and numbers
//! alone.
//!
#![cfg_attr(feature = "postgres", doc = "```no_run")]
#![cfg_attr(not(feature = "postgres"), doc = "```ignore")]
//! use std::sync::Arc;
//!
//! use columnar::engine::temporal::temporalio_client::{Client, ClientOptions, ConnectionOptions, Url};
//! use columnar::engine::temporal::{Temporal, serve};
//! use columnar::engine::{FlowClient, FlowWorker};
//! use columnar::prelude::*;
//! use columnar::store::PostgresStore;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column answer(user, self) = prompt("You are a helpful assistant.");
//!     }
//! }
//!
//! /// Settings of the connection, such as keys and certificates, are settings of the SDK.
//! async fn connect() -> Result<Client, columnar::BoxError> {
//!     let server = ConnectionOptions::new(Url::parse("http://temporal:7233")?).build();
//!     Ok(Client::connect(server, ClientOptions::new("default").build()).await?)
//! }
//!
//! /// A worker, as many as you like.
//! async fn work(chats: Arc<PostgresStore>) -> Result<(), columnar::BoxError> {
//!     let messages = chats.clone();
//!     let worker = FlowWorker::new(move |key| Chat::open(chats.flow(key)), move |key| messages.flow(key));
//!     serve(worker, connect().await?, "chats", async { _ = tokio::signal::ctrl_c().await }).await?;
//!     Ok(())
//! }
//!
//! /// The web server.
//! async fn client(chats: Arc<PostgresStore>) -> Result<FlowClient, columnar::BoxError> {
//!     Ok(FlowClient::new(Temporal::new(connect().await?, "chats"), move |key| chats.flow(key)))
//! }
//! ```
//!
//! - A worker that dies is replaced after 20 seconds without a heartbeat; a cancellation arrives within 4 seconds.
//! - The server lets ten requests of one flow wait at a time. A client repeats the others until there is room.
//! - A flow knows its last 500 requests, and forgets them a day after the last one, when its workflow ends.
//!
//! The server, its SDK and this adapter are under the MIT licence.

mod activity;
mod payloads;
mod queue;

use std::pin::pin;
use std::time::Duration;

use futures::future::{BoxFuture, Either, FutureExt, select};
/// The client of the SDK, which makes connections to a server.
pub use temporalio_client;
use temporalio_client::errors::{WorkflowUpdateError, WorkflowUpdateWithStartError};
use temporalio_client::tonic::Code;
use temporalio_client::{Client, WorkflowIdConflictPolicy, WorkflowUpdateWithStartOptions};
use temporalio_sdk::runtime::RuntimeOptions;
use temporalio_sdk::runtime::worker_tuner::{FixedSizeSlotSupplier, TunerHolder};
use temporalio_sdk::{Runtime, Worker, WorkerOptions};
use tokio::time::sleep;

use self::activity::FlowActivities;
use self::payloads::{ClientRequest, Outcome};
use self::queue::{ENDING, FlowOwner, FlowQueue};
use super::call::{Engine, EngineCall, EngineError, EngineReply};
use super::worker::FlowWorker;
use crate::declare::error::BoxError;

/// The pause before a request is repeated for which a flow had no room.
const NO_ROOM: Duration = Duration::from_secs(1);

/// The calls that a worker carries out at once. Most of them wait for models.
const CALLS: usize = 1000;

/// The other tasks of a worker at once, as the SDK has them.
const TASKS: usize = 100;

/// Serves the calls of a Temporal server with a worker, as the task queue `service`, until the future `shutdown` ends. Then the
/// worker [drains](FlowWorker::drain), and Temporal makes all other calls elsewhere.
///
/// The future stays on its thread: await it in `main`, or on a `LocalSet` of tokio. Cells are computed on all
/// threads of the runtime.
///
/// # Errors
///
/// [`EngineError::Refused`] if the SDK takes no such worker; [`EngineError::Unreachable`] if the namespace cannot be reached, or
/// the SDK gives up.
pub async fn serve(
    worker: FlowWorker,
    client: Client,
    service: &str,
    shutdown: impl Future<Output = ()>,
) -> Result<(), EngineError> {
    let runtime = Runtime::from_current_tokio(RuntimeOptions::default()).map_err(refused)?;
    let [tasks, calls] = [TASKS, CALLS].map(FixedSizeSlotSupplier::new);
    let slots = TunerHolder::builder()
        .workflow_task_slot_supplier(tasks)
        .activity_task_slot_supplier(calls)
        .local_activity_task_slot_supplier(tasks)
        .nexus_task_slot_supplier(tasks)
        .build();
    let options = WorkerOptions::new(service)
        .register_workflow::<FlowOwner>()
        .map_err(refused)?
        .register_activities(FlowActivities(worker.clone()))
        .tuner(slots)
        .build();
    let mut poller = Worker::new(&runtime, client, options).map_err(refused)?;
    let stop = poller.shutdown_handle();
    let drained = async {
        shutdown.await;
        stop();
        worker.drain().await;
    };
    let served = match select(pin!(poller.run()), pin!(drained)).await {
        Either::Left((served, _)) => served,
        Either::Right(((), polling)) => polling.await,
    };
    served.map_err(|error| EngineError::Unreachable(error.into()))
}

fn refused(error: impl Into<BoxError>) -> EngineError {
    EngineError::Refused(error.into().to_string())
}

/// A Temporal server, as clients call it.
#[derive(Clone, Debug)]
pub struct Temporal {
    client: Client,
    service: String,
}

impl Temporal {
    /// The task queue `service` in the namespace of a client. Nothing is sent.
    pub fn new(client: Client, service: impl Into<String>) -> Self {
        Self { client, service: service.into() }
    }

    /// Makes a call. The workflow begins with the first one.
    async fn try_call(
        &self,
        key: &str,
        request: ClientRequest,
        attempt: usize,
    ) -> Result<Outcome, WorkflowUpdateWithStartError> {
        let id = format!("{}/{key}", self.service);
        let options =
            WorkflowUpdateWithStartOptions::new(&self.service, id, WorkflowIdConflictPolicy::UseExisting)
                // A workflow that has ended goes on to reply to this id, and its queue to none.
                .update_id(format!("{} {attempt}", request.id))
                .build();
        let queue = FlowQueue::new(key.to_owned());
        let made = self.client.execute_update_with_start_workflow(
            FlowOwner::run,
            queue,
            FlowOwner::request,
            request,
            options,
        );
        made.await
    }
}

/// Whether the flow has no room for the request now.
fn has_no_room(error: &WorkflowUpdateWithStartError) -> bool {
    match error {
        WorkflowUpdateWithStartError::Update(WorkflowUpdateError::Failed(failure)) => {
            failure.message == ENDING
        }
        WorkflowUpdateWithStartError::Rpc(status)
        | WorkflowUpdateWithStartError::Update(WorkflowUpdateError::Rpc(status)) => {
            status.code() == Code::ResourceExhausted
        }
        _ => false,
    }
}

impl Engine for Temporal {
    fn call(
        &self,
        key: String,
        call: EngineCall,
        request: String,
    ) -> BoxFuture<'static, Result<EngineReply, EngineError>> {
        let engine = self.clone();
        async move {
            let mut attempt = 0;
            loop {
                let request = ClientRequest { id: request.clone(), call: call.clone() };
                match engine.try_call(&key, request, attempt).await {
                    Ok(Err(reason)) if reason == ENDING => {}
                    Err(error) if has_no_room(&error) => {}
                    Ok(outcome) => return outcome.map_err(EngineError::Refused),
                    Err(error) => return Err(EngineError::Unreachable(error.into())),
                }
                attempt += 1;
                sleep(NO_ROOM).await;
            }
        }
        .boxed()
    }
}
