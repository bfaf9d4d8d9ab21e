//! The adapter of [Restate](https://restate.dev): a virtual object is a flow.
//!
//! The handlers of the object are the [names](super::EngineCall::name) of calls. Restate makes the calls of a key one after another, keeps
//! their journal, and makes a call again on another worker when one dies. The journal has names and numbers alone.
//!
#![cfg_attr(feature = "postgres", doc = "```no_run")]
#![cfg_attr(not(feature = "postgres"), doc = "```ignore")]
//! use columnar::engine::restate::{Restate, serve};
//! use columnar::engine::{FlowClient, FlowWorker};
//! use columnar::prelude::*;
//! use columnar::store::PostgresStore;
//! use std::sync::Arc;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column answer(user, self) = prompt("You are a helpful assistant.");
//!     }
//! }
//!
//! /// A worker: `restate deployments register http://this-host:9080` makes it known.
//! async fn work(chats: Arc<PostgresStore>) -> Result<(), columnar::BoxError> {
//!     let messages = chats.clone();
//!     let worker = FlowWorker::new(move |key| Chat::open(chats.flow(key)), move |key| messages.flow(key));
//!     let listener = tokio::net::TcpListener::bind("0.0.0.0:9080").await?;
//!     serve(worker, "chats", listener, async { _ = tokio::signal::ctrl_c().await }).await?;
//!     Ok(())
//! }
//!
//! /// The web server, which reaches the port of Restate for requests.
//! fn client(chats: Arc<PostgresStore>) -> Result<FlowClient, columnar::engine::EngineError> {
//!     Ok(FlowClient::new(Restate::new("http://restate:8080", "chats")?, move |key| chats.flow(key)))
//! }
//! ```
//!
//! The server of Restate is under the Business Source License 1.1, which becomes Apache 2.0 after four years: any use but a public
//! service of Restate itself is granted. This adapter and the SDK are under the MIT licence.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Client, StatusCode};
use restate_sdk::context::RequestTarget;
use restate_sdk::discovery;
use restate_sdk::endpoint::{ContextInternal, InputMetadata};
use restate_sdk::prelude::*;
use restate_sdk::service::Service;
use restate_sdk::service::macro_support::{ServiceBoxFuture, service_definition};
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::sleep;

use super::call::{CallError, Engine, EngineCall, EngineError, EngineReply, OwnedCall, Work};
use super::worker::FlowWorker;

/// The state of an object that has the id of its last run.
const RUN: &str = "run";

/// The signal that cancels a run.
const CANCEL: &str = "cancel";

/// The pauses before a request is repeated that did not reach the server.
const PAUSES: [Duration; 5] = [
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

/// Serves the calls of a Restate server with a worker, as the object `service`, until the future `shutdown` ends. Then the worker
/// [drains](FlowWorker::drain), and Restate makes all other calls elsewhere.
///
/// The server connects to the listener by HTTP/2 without encryption: keep the port inside your network. A server finds the worker
/// by the address that you register with it.
///
/// # Errors
///
/// [`EngineError::Refused`] if Restate takes no service of this name.
pub async fn serve(
    worker: FlowWorker,
    service: &str,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Result<(), EngineError> {
    let object = FlowObject { worker: worker.clone() };
    let endpoint = Endpoint::builder().bind(service_definition(object, discovery(service)?)).build();
    let drained = async {
        shutdown.await;
        worker.drain().await;
    };
    HttpServer::new(endpoint).serve_with_cancel(listener, drained).await;
    Ok(())
}

/// The description of the object for the server. The macro of the SDK writes the same for a name that is a literal.
fn discovery(service: &str) -> Result<discovery::Service, EngineError> {
    const MS: u64 = 1000;
    const DAY: u64 = 24 * 60 * 60 * MS;
    let service_of_flows = json!({
        "name": service,
        "ty": "VIRTUAL_OBJECT",
        "handlers": EngineCall::NAMES.map(discovered_handler),
        // A run awaits cells for longer than the server expects of a handler that says nothing.
        "inactivityTimeout": 7 * DAY,
        "abortTimeout": DAY,
        // A flow waits for its store and for an owner that is about to end. No number of attempts is a reason to give it up.
        "retryPolicyMaxInterval": 10 * MS,
        "retryPolicyMaxAttempts": u32::MAX,
    });
    serde_json::from_value(service_of_flows)
        .map_err(|error| EngineError::Refused(format!("`{service}` cannot be a service of Restate: {error}")))
}

fn discovered_handler(name: &str) -> serde_json::Value {
    let json = "application/json";
    let kind = if name == EngineCall::Cancel.name() { "SHARED" } else { "EXCLUSIVE" };
    let output = json!({ "contentType": json, "setContentTypeIfEmpty": false });
    json!({ "name": name, "ty": kind, "input": { "contentType": json, "required": true }, "output": output })
}

#[derive(Clone)]
struct FlowObject {
    worker: FlowWorker,
}

impl Service for FlowObject {
    type Future = ServiceBoxFuture;

    fn handle(&self, ctx: ContextInternal) -> Self::Future {
        let object = self.clone();
        async move {
            let (Json(call), input) = ctx.input::<Json<EngineCall>>().await;
            let reply = object.reply(&ctx, input, call).await;
            ctx.handle_handler_result(reply.map(Json));
            ctx.end();
            Ok(())
        }
        .boxed()
    }
}

impl FlowObject {
    async fn reply(
        &self,
        ctx: &ContextInternal,
        input: InputMetadata,
        call: EngineCall,
    ) -> HandlerResult<EngineReply> {
        if ctx.handler_name() != call.name() {
            // The handler `cancel` owns nothing.
            return Err(TerminalError::new_with_code(400, "the call belongs to another handler").into());
        }
        if call == EngineCall::Cancel {
            if let Some(run) = ctx.get::<String>(RUN).await? {
                ctx.resolve_signal(&run, CANCEL, ());
            }
            return Ok(EngineReply::Cancelled);
        }
        if let EngineCall::Run { .. } = call {
            ctx.set(RUN, input.invocation_id);
        }
        self.worker.serve(call, &RestateCall { ctx, key: input.key }).await.map_err(handler_error)
    }
}

struct RestateCall<'c> {
    ctx: &'c ContextInternal,
    key: String,
}

impl OwnedCall for RestateCall<'_> {
    fn key(&self) -> &str {
        &self.key
    }

    fn remember<'c>(
        &'c self,
        name: &'static str,
        work: Work<'c>,
    ) -> BoxFuture<'c, Result<String, CallError>> {
        let Work { future, cancel } = work;
        async move {
            let is_working = AtomicBool::new(false);
            let worked = self.ctx.run(|| async {
                is_working.store(true, Ordering::Relaxed);
                let result = future.await;
                is_working.store(false, Ordering::Relaxed);
                result.map_err(handler_error)
            });
            let mut worked = pin!(worked.name(name));
            let mut cancelled = pin!(self.ctx.signal::<()>(CANCEL).fuse());
            // The signal is awaited during the work alone: a later attempt, which has the result from the journal, awaits
            // nothing else, and the SDK lets no two futures read from the server.
            let result = poll_fn(|task| {
                let polled = worked.as_mut().poll(task);
                if is_working.load(Ordering::Relaxed) && cancelled.as_mut().poll(task).is_ready() {
                    cancel.notify_one();
                    task.waker().wake_by_ref();
                }
                polled
            });
            result.await.map_err(|error| CallError::Refused(error.message().into()))
        }
        .boxed()
    }

    fn wake(&self, after: Duration, call: EngineCall) {
        let target = RequestTarget::object(self.ctx.service_name(), &self.key, call.name());
        let request = self.ctx.request::<_, ()>(target, Json(call));
        drop(if after.is_zero() { request.send() } else { request.send_after(after) });
    }
}

/// An error that ends the call, or lets the server make the call again.
fn handler_error(error: CallError) -> HandlerError {
    match error {
        CallError::Refused(error) => TerminalError::new_with_code(422, error.to_string()).into(),
        error => error.into(),
    }
}

/// A Restate server, as clients call it.
#[derive(Clone, Debug)]
pub struct Restate {
    client: Client,
    address: String,
}

impl Restate {
    /// The object `service` of the server whose port for requests has this address, such as `http://localhost:8080`. Nothing is
    /// sent.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unreachable`] if there is no client for HTTP.
    pub fn new(address: &str, service: &str) -> Result<Self, EngineError> {
        let client = Client::builder().connect_timeout(Duration::from_secs(10)).build();
        let client = client.map_err(|error| EngineError::Unreachable(error.without_url().into()))?;
        Ok(Self { client, address: format!("{}/{service}", address.trim_end_matches('/')) })
    }

    async fn try_call(
        &self,
        path: &str,
        call: &EngineCall,
        request: &str,
    ) -> Result<EngineReply, EngineError> {
        let sending = self.client.post(path).header("idempotency-key", request).json(call).send();
        let reply = sending.await.map_err(unreachable)?;
        let status = reply.status();
        if status.is_success() {
            return reply.json().await.map_err(unreachable);
        }
        let message = match reply.json::<RestateError>().await {
            Ok(error) => error.message,
            Err(_) => status.to_string(),
        };
        let is_final = matches!(
            status,
            StatusCode::UNPROCESSABLE_ENTITY
                | StatusCode::CONFLICT
                | StatusCode::NOT_FOUND
                | StatusCode::BAD_REQUEST
        );
        Err(if is_final { EngineError::Refused(message) } else { EngineError::Unreachable(message.into()) })
    }
}

#[derive(Deserialize)]
struct RestateError {
    message: String,
}

fn unreachable(error: reqwest::Error) -> EngineError {
    EngineError::Unreachable(error.without_url().into())
}

impl Engine for Restate {
    fn call(
        &self,
        key: String,
        call: EngineCall,
        request: String,
    ) -> BoxFuture<'static, Result<EngineReply, EngineError>> {
        let engine = self.clone();
        async move {
            let key = utf8_percent_encode(&key, NON_ALPHANUMERIC);
            let path = format!("{}/{key}/{}", engine.address, call.name());
            // The server knows the request by its id, so a repetition is the same call.
            for pause in PAUSES {
                match engine.try_call(&path, &call, &request).await {
                    Err(EngineError::Unreachable(_)) => sleep(pause).await,
                    result => return result,
                }
            }
            engine.try_call(&path, &call, &request).await
        }
        .boxed()
    }
}
