//! The calls of flows, and the two sides of an engine that transports them.

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::declare::error::BoxError;
use crate::run::Error;

/// A call of a flow as an engine transports and remembers it: names and numbers. Texts are messages in the store.
///
/// ```
/// use columnar::engine::EngineCall;
///
/// let call = EngineCall::Push { column: "user".to_owned(), message: "9f2c".to_owned() };
/// assert_eq!(serde_json::to_string(&call).unwrap(), r#"{"call":"push","column":"user","message":"9f2c"}"#);
/// assert_eq!(call.name(), "push");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case")]
pub enum EngineCall {
    /// Stores a message as the next value of a source, and computes what that lets compute.
    Push {
        /// The source.
        column: String,
        /// The name of the message.
        message: String,
    },
    /// Stores a message as the answer of a pending cell.
    Answer {
        /// The column.
        column: String,
        /// The step.
        step: usize,
        /// The name of the message.
        message: String,
    },
    /// Accepts what the column proposes for a pending cell.
    Accept {
        /// The column.
        column: String,
        /// The step.
        step: usize,
    },
    /// Gives no answer for a pending cell, with a message as the reason.
    Decline {
        /// The column.
        column: String,
        /// The step.
        step: usize,
        /// The name of the message.
        message: String,
    },
    /// Computes what is missing.
    Run {
        /// The number of runs before this one that had to be repeated later, in a row.
        #[serde(default)]
        attempt: u32,
    },
    /// Drops the cells in progress. An engine carries out this call beside the call that owns the flow.
    Cancel,
}

impl EngineCall {
    /// The names of all calls.
    pub const NAMES: [&str; 6] = ["push", "answer", "accept", "decline", "run", "cancel"];

    /// The name of the call: `push`, `answer`, `accept`, `decline`, `run` or `cancel`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Push { .. } => "push",
            Self::Answer { .. } => "answer",
            Self::Accept { .. } => "accept",
            Self::Decline { .. } => "decline",
            Self::Run { .. } => "run",
            Self::Cancel => "cancel",
        }
    }
}

/// The reply to an [`EngineCall`], which an engine remembers as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EngineReply {
    /// The value of a push is stored.
    Pushed {
        /// The step.
        step: usize,
    },
    /// The decision about a pending cell is stored.
    Decided,
    /// Nothing is missing, except for what waits for answers.
    Complete {
        /// The cells that wait for answers.
        pending: usize,
    },
    /// The run goes on in a call that the engine makes later.
    Continues {
        /// The pause in milliseconds.
        after_ms: u64,
        /// The number of runs in a row that had to be repeated later.
        attempt: u32,
    },
    /// The cells in progress were dropped. The next call computes them again.
    Cancelled,
}

/// The error of a call in a worker.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The engine makes the call again, in this worker or another one: the store cannot be reached, another owner has the flow,
    /// or the worker is about to end.
    #[error("the call is made again later: {0}")]
    Again(#[source] BoxError),
    /// The call is over: it would fail again.
    #[error("{0}")]
    Refused(#[source] BoxError),
    /// The engine has cancelled the call.
    #[error("the call was cancelled")]
    Cancelled,
}

impl From<Error> for CallError {
    fn from(error: Error) -> Self {
        match error {
            Error::Open { .. } | Error::Load { .. } | Error::Store { .. } | Error::Closed => Self::Again(error.into()),
            error => Self::Refused(error.into()),
        }
    }
}

/// A call that an engine has given to a worker, which owns the flow until the call ends: the side of an adapter towards the
/// worker.
///
/// 1. **One owner.** The engine makes the calls of a key one after another, except for [`EngineCall::Cancel`].
/// 2. **Until it ends.** A call whose worker dies, or that ends with [`CallError::Again`], is made again, on any worker, until it
///    returns something else.
/// 3. **Once.** A call with the same key and request id as an earlier one gets the reply of that one.
///
/// [`engine_conformance`](crate::testing::engine_conformance) checks an adapter.
pub trait OwnedCall: Send + Sync {
    /// The key of the flow.
    fn key(&self) -> &str;

    /// Returns this value, or the value that an earlier attempt of the same call has told under this name. When the future
    /// ends, the value is as durable as the engine.
    ///
    /// # Errors
    ///
    /// [`CallError::Cancelled`], or [`CallError::Again`] if the engine cannot be reached.
    fn remember<'c>(&'c self, name: &'static str, value: String) -> BoxFuture<'c, Result<String, CallError>>;

    /// Waits until the call is cancelled.
    fn cancelled(&self) -> BoxFuture<'_, ()>;

    /// Lets the engine make another call of the flow after a time, at the end of the queue of its calls.
    fn wake(&self, after: Duration, call: EngineCall);
}

/// An engine, as clients call it: the side of an adapter towards a [`FlowClient`](super::FlowClient).
pub trait Engine: Send + Sync + 'static {
    /// Makes a call of the flow with this key, and waits for the reply. A call with a request id that the engine knows gets the
    /// reply of the first one.
    fn call(
        &self,
        key: String,
        call: EngineCall,
        request: String,
    ) -> BoxFuture<'static, Result<EngineReply, EngineError>>;
}

/// The error of a call at a client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The engine cannot be reached, or its answer cannot be read. The call may have been made: repeat it with the same
    /// [`request`](super::RemoteFlow::request) id.
    #[error("the engine cannot be reached, repeat the request with the same id: {0}")]
    Unreachable(#[source] BoxError),
    /// A worker has refused the call.
    #[error("{0}")]
    Refused(String),
    /// The message of the call could not be written to the store, or the flow could not be read.
    #[error(transparent)]
    Flow(#[from] Error),
}
