//! The request to a model.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::cache::Pace;
use crate::context::{Messages, Role};

/// A request to a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    /// The instruction.
    pub system: Arc<str>,
    /// The context of the column.
    pub messages: Messages,
    /// Messages after the context: an invalid reply and its error. Empty in the first request of a cell.
    pub follow_up: Vec<(Role, Arc<str>)>,
    /// The most tokens of the reply.
    pub max_tokens: u32,
    /// The sampling temperature, from 0 for the likeliest reply; `None` leaves it to the model.
    pub temperature: Option<f32>,
    /// Stop sequences. The reply ends before the first of them.
    pub stop: Arc<[String]>,
    /// The JSON Schema of the reply, if it is not plain text.
    pub schema: Option<Arc<Schema>>,
    /// The expected time until the next request of the column. It decides which prefixes are worth caching; see
    /// [`CachePlan::of`](crate::cache::CachePlan::of).
    pub pace: Pace,
}

/// The beginning of the message after an invalid reply.
#[cfg(any(feature = "typed", feature = "providers"))]
pub(crate) const INVALID_REPLY: &str = "The reply is invalid";

/// The JSON Schema of a reply, with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schema {
    /// The name: letters, digits and `_`.
    pub name: String,
    /// The JSON Schema.
    pub json: Json,
}

impl Schema {
    /// A schema with its name.
    pub fn new(name: impl Into<String>, json: Json) -> Self {
        Self { name: name.into(), json }
    }

    /// The text that asks a model for this JSON.
    #[cfg(any(feature = "typed", feature = "providers"))]
    pub(crate) fn instruction(&self) -> String {
        format!("Reply with JSON that matches this JSON Schema, and with nothing else:\n{}", self.json)
    }
}
