//! The request to a model.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::context::{Messages, Role};
use crate::history::MediaRules;
use crate::history::tokens::Counter;
use crate::model::cache::Pace;
use crate::model::registry::Effort;

/// A request to a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    /// The instruction.
    pub system: Arc<str>,
    /// The context of the column.
    pub messages: Messages,
    /// Messages after the context: an invalid reply and the error. Empty in the first request of a cell.
    pub follow_up: Vec<(Role, Arc<str>)>,
    /// The most tokens of the reply.
    pub max_tokens: u32,
    /// The settings of the reply.
    pub settings: ReplySettings,
    /// The JSON Schema of the reply, if it is not plain text.
    pub schema: Option<Arc<Schema>>,
    /// The expected time until the next request of the column. This time decides which prefixes are worth caching; see
    /// [`CachePlan::of`](crate::cache::CachePlan::of).
    pub pace: Pace,
    /// The media that the model takes. Other attachments are sent as words: the alternative text, or the type.
    pub media: &'static MediaRules,
    /// Whether an overloaded model may wait and repeat the call, as [`Adaptive`](crate::model::Adaptive) does. `false` if
    /// there is a backup, which is asked instead.
    pub may_wait: bool,
}

impl Request {
    /// The tokens of the request, by a counter.
    pub(crate) fn tokens_by(&self, counter: &dyn Counter) -> usize {
        let parts = self.messages.parts().map(|part| part.tokens_by(counter));
        let follow_up = self.follow_up.iter().map(|(_, text)| counter.count(text));
        counter.count(&self.system) + parts.sum::<usize>() + follow_up.sum::<usize>()
    }
}

/// The settings of replies: the settings of a prompt that are sent with each request.
///
/// ```
/// use columnar::model::{Effort, ReplySettings};
///
/// let settings = ReplySettings { effort: Some(Effort::Low), seed: Some(7), ..ReplySettings::default() };
/// assert_eq!(settings.temperature, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplySettings {
    /// The effort of thinking; `None` leaves the effort to the model.
    pub effort: Option<Effort>,
    /// The sampling temperature, from 0 for the likeliest reply; `None` leaves the temperature to the model.
    pub temperature: Option<f32>,
    /// The share of probability from which words are sampled, from 0 to 1; `None` leaves the share to the model.
    pub top_p: Option<f32>,
    /// The seed of the sampling; `None` for a random one.
    pub seed: Option<u64>,
    /// Stop sequences. The reply ends before the first sequence.
    pub stop: Arc<[String]>,
    /// The key that leads requests to one cache; `None` for a key that depends on the model and the instruction.
    pub cache_key: Option<Arc<str>>,
    /// Whether settings that a model does not take are left out, and attachments are words. Otherwise both are errors.
    pub lenient: bool,
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
    /// A schema with this name.
    pub fn new(name: impl Into<String>, json: Json) -> Self {
        Self { name: name.into(), json }
    }

    /// The text that asks a model for this JSON.
    #[cfg(any(feature = "typed", feature = "providers"))]
    pub(crate) fn instruction(&self) -> String {
        format!("Reply with JSON that matches this JSON Schema, and with nothing else:\n{}", self.json)
    }
}
