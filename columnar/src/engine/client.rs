//! Clients of flows that workers own.

use std::fmt;
use std::sync::Arc;

use super::call::{Engine, EngineCall, EngineError, EngineReply};
use super::messages::MessageStores;
use crate::declare::error::BoxError;
use crate::flow::Flow;
use crate::flow::service::{Follower, Position};
use crate::history::IntoValue;
use crate::store::Store;

/// A client of the flows that an engine gives to workers. Clones share the engine.
///
/// ```
/// use columnar::engine::{Engine, EngineError, FlowClient};
/// use columnar::store::MemoryStore;
///
/// async fn post(engine: impl Engine, store: MemoryStore) -> Result<usize, EngineError> {
///     let chats = FlowClient::new(engine, move |_key| store.clone());
///     chats.flow("ada").request("tab 3, message 17").push("user", "Which language?").await
/// }
/// ```
#[derive(Clone)]
pub struct FlowClient {
    engine: Arc<dyn Engine>,
    messages: MessageStores,
}

impl FlowClient {
    /// A client of an engine. The function makes the stores of keys, as in the workers.
    pub fn new<S: Store>(engine: impl Engine, stores: impl Fn(&str) -> S + Send + Sync + 'static) -> Self {
        Self { engine: Arc::new(engine), messages: MessageStores::new(stores) }
    }

    /// The flow with this key. Nothing happens before a method of it is called.
    pub fn flow(&self, key: impl Into<String>) -> RemoteFlow {
        RemoteFlow { client: self.clone(), key: key.into(), request: None }
    }
}

impl fmt::Debug for FlowClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowClient").finish_non_exhaustive()
    }
}

/// A flow that a worker owns, as a client sees it. Made by [`FlowClient::flow`].
///
/// A call goes to the engine, and its text to the store. Events and values come from the store, without the engine.
#[derive(Clone, Debug)]
pub struct RemoteFlow {
    client: FlowClient,
    key: String,
    request: Option<String>,
}

impl RemoteFlow {
    /// The same flow with the id of a request. A call that is made twice with the same id is carried out once, and has one
    /// reply, for as long as the engine remembers the id. By default each call has a random id.
    #[must_use]
    pub fn request(self, id: impl Into<String>) -> Self {
        Self { request: Some(id.into()), ..self }
    }

    /// Stores the next value of a source, and returns the step. The owner computes what that lets compute, whether the client
    /// stays or leaves.
    ///
    /// # Errors
    ///
    /// [`EngineError`]; the value is lost in no case, and a repetition with the same [`request`](Self::request) id stores it
    /// once.
    pub async fn push(&self, column: impl Into<String>, value: impl IntoValue) -> Result<usize, EngineError> {
        let column = column.into();
        match self.send(value, |message| EngineCall::Push { column, message }).await? {
            EngineReply::Pushed { step } => Ok(step),
            other => Err(unexpected(&other)),
        }
    }

    /// Stores the answer of a pending cell; see [`answer`](crate::flow::LiveFlow::answer) of a flow.
    ///
    /// # Errors
    ///
    /// [`EngineError`].
    pub async fn answer(
        &self,
        column: impl Into<String>,
        step: usize,
        value: impl IntoValue,
    ) -> Result<(), EngineError> {
        let column = column.into();
        decided(&self.send(value, |message| EngineCall::Answer { column, step, message }).await?)
    }

    /// Stores what the column proposes as the answer of a pending cell; see [`accept`](crate::flow::LiveFlow::accept) of a flow.
    ///
    /// # Errors
    ///
    /// [`EngineError`].
    pub async fn accept(&self, column: impl Into<String>, step: usize) -> Result<(), EngineError> {
        decided(&self.call(EngineCall::Accept { column: column.into(), step }, self.request_id()).await?)
    }

    /// Gives no answer for a pending cell; see [`decline`](crate::flow::LiveFlow::decline) of a flow.
    ///
    /// # Errors
    ///
    /// [`EngineError`].
    pub async fn decline(
        &self,
        column: impl Into<String>,
        step: usize,
        reason: impl Into<String>,
    ) -> Result<(), EngineError> {
        let column = column.into();
        decided(&self.send(reason.into(), |message| EngineCall::Decline { column, step, message }).await?)
    }

    /// Computes what is missing, as each push does, and waits until the owner has nothing to do or lets the engine wake it
    /// later. For flows that nobody has pushed to since a failure, or since their declaration changed.
    ///
    /// # Errors
    ///
    /// [`EngineError`]; [`EngineError::Refused`] with the error of a cell that failed.
    pub async fn run(&self) -> Result<EngineReply, EngineError> {
        self.call(EngineCall::Run { attempt: 0 }, self.request_id()).await
    }

    /// Drops the cells in progress. The next push or [`run`](Self::run) computes them again.
    ///
    /// # Errors
    ///
    /// [`EngineError`].
    pub async fn cancel(&self) -> Result<(), EngineError> {
        self.call(EngineCall::Cancel, self.request_id()).await.map(|_| ())
    }

    /// The events of the flow from a position on, read from the store.
    pub fn events(&self, position: &Position) -> Follower {
        Follower::new(self.client.messages.flow(&self.key), position)
    }

    /// The flow as it is stored, to be read.
    ///
    /// # Errors
    ///
    /// The errors of [`open_stored`](Flow::open_stored).
    pub async fn read(&self) -> crate::Result<Flow> {
        Flow::open_stored(self.client.messages.flow(&self.key)).await
    }

    /// Makes a call with the name of a message, which is written before.
    async fn send(
        &self,
        value: impl IntoValue,
        call: impl FnOnce(String) -> EngineCall,
    ) -> Result<EngineReply, EngineError> {
        let messages = &self.client.messages;
        let request = self.request_id();
        let message = messages.write(&self.key, &request, value.into_value()).await?;
        let reply = self.call(call(message.clone()), request).await;
        // An engine that knows the request replies without a worker, which would have taken the message.
        if self.request.is_some() && !matches!(reply, Err(EngineError::Unreachable(_))) {
            let deleted = messages.delete(&self.key, &message).await;
            deleted.map_err(|error| EngineError::Unreachable(error.into()))?;
        }
        reply
    }

    async fn call(&self, call: EngineCall, request: String) -> Result<EngineReply, EngineError> {
        self.client.engine.call(self.key.clone(), call, request).await
    }

    fn request_id(&self) -> String {
        self.request.clone().unwrap_or_else(|| format!("{:032x}", fastrand::u128(..)))
    }
}

fn decided(reply: &EngineReply) -> Result<(), EngineError> {
    if *reply == EngineReply::Decided { Ok(()) } else { Err(unexpected(reply)) }
}

fn unexpected(reply: &EngineReply) -> EngineError {
    EngineError::Unreachable(BoxError::from(format!("the reply `{reply:?}` belongs to another call")))
}
