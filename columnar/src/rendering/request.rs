//! What a model is asked.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::cache::Pace;
use crate::context::{Messages, Role};

/// What a model is asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    /// The instruction.
    pub system: Arc<str>,
    /// The context of the column.
    pub messages: Messages,
    /// What is said behind the messages, in turn: a reply that was not what it has to be, and what is wrong with
    /// it. Empty in the first request of a cell.
    pub follow_up: Vec<(Role, Arc<str>)>,
    /// The most tokens the reply may have.
    pub max_tokens: u32,
    /// How freely the model chooses its words, from 0 for not at all; `None` leaves it to the model.
    pub temperature: Option<f32>,
    /// Texts at which the reply ends, without them. Empty for none.
    pub stop: Arc<[String]>,
    /// What the reply has to be, if it is no plain text.
    pub schema: Option<Arc<Schema>>,
    /// When the next request of the column is to be expected. It decides what is worth being kept in the
    /// provider's cache; see [`CachePlan::of`](crate::cache::CachePlan::of).
    pub pace: Pace,
}

/// The shape of a reply that is JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schema {
    /// What it is called: letters, digits and `_`.
    pub name: String,
    /// The JSON Schema.
    pub json: Json,
}

impl Schema {
    /// A shape and what it is called.
    pub fn new(name: impl Into<String>, json: Json) -> Self {
        Self { name: name.into(), json }
    }
}
