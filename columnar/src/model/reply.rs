//! The reply of a model.

use std::sync::Arc;
use std::time::Duration;

use super::Refused;
use crate::model::usage::{CacheDiagnosis, Finish, Receipt, Usage};

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Chunk {
    /// More text.
    Text(String),
    /// More of the model's thoughts, which are no part of the text. A [`prompt`](crate::prompt) drops thoughts, unless
    /// it [keeps](crate::Prompt::keep_thoughts) them.
    Thought(String),
    /// The model is overloaded, and the call is repeated after a pause.
    Waiting {
        /// The time until the call is repeated, if no other call is in the way.
        pause: Duration,
        /// The message of the error.
        error: String,
    },
    /// The reply is complete.
    End(End),
}

impl Chunk {
    /// The ordinary end of a reply.
    pub fn stop() -> Self {
        Self::End(End::new(Finish::Stop))
    }
}

/// The end of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct End {
    /// The reason of the end.
    pub finish: Finish,
    /// The tokens of the call, if the model reports tokens.
    pub usage: Option<Usage>,
    /// The provider's id of the reply, if there is one, for questions to the provider.
    pub id: Option<String>,
    /// The model's thoughts, if kept. A [`prompt`](crate::prompt) sets this field.
    pub thoughts: Option<Arc<str>>,
    /// The provider's own reason for a miss of its cache, where it sends one.
    pub diagnosis: Option<CacheDiagnosis>,
    /// Whether the call was a request of a [batch](crate::guide::batches), which costs less.
    pub batch: bool,
}

impl End {
    /// An end without usage and id.
    ///
    /// ```
    /// use columnar::model::{End, Finish, Usage};
    ///
    /// let end = End::new(Finish::Stop).with_usage(Usage::new(120, 8));
    /// assert_eq!(end.usage.map(|usage| usage.output), Some(8));
    /// ```
    pub fn new(finish: Finish) -> Self {
        Self { finish, usage: None, id: None, thoughts: None, diagnosis: None, batch: false }
    }

    /// The same end with this usage.
    #[must_use]
    pub fn with_usage(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// The same end with the provider's id of the reply.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// The receipt of a call that ended so, for a program that calls a model itself: with the name of the model, and the time
    /// that the call took.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use columnar::model::{End, Finish, Usage};
    ///
    /// let end = End::new(Finish::Stop).with_usage(Usage::new(120, 8));
    /// let receipt = end.receipt("openai/gpt-5.4-mini", Duration::from_millis(640));
    /// assert_eq!((receipt.calls, receipt.unreported, receipt.usage.input), (1, 0, 120));
    /// ```
    pub fn receipt(&self, model: &str, time: Duration) -> Receipt {
        let Self { finish, usage, id, thoughts, diagnosis, batch } = self;
        Receipt {
            model: Some(model.into()),
            usage: usage.unwrap_or_default(),
            calls: 1,
            unreported: u32::from(usage.is_none()),
            attempts: 1,
            ms: time.as_millis().try_into().unwrap_or(u64::MAX),
            finish: Some(finish.clone()),
            id: id.as_deref().map(Arc::from),
            thoughts: thoughts.clone(),
            diagnosis: diagnosis.clone(),
            batch: *batch,
            ..Receipt::default()
        }
    }
}

/// The reason why a reply is discarded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplyError {
    #[error("the reply broke off before its end")]
    BrokeOff,
    #[error("the reply has no text: try again with `.retry`, or store empty replies with `allow_empty`")]
    Empty,
    /// The context has at least half more tokens than the window, by the count of the flow. That estimate may be too
    /// high, so a smaller excess is no error.
    #[error(
        "the context has about {tokens} tokens, and the window of `{model}` {window}: shorten it, for example with `budget`, or choose another model"
    )]
    NoRoom { model: String, tokens: usize, window: usize, source: Refused },
    /// The reply ended in another way; with the marker of a refusal, which is not repeated.
    #[error("the reply ended early ({finish})")]
    Ended { finish: Finish, source: Option<Refused> },
}

impl ReplyError {
    pub(crate) fn ended(finish: Finish) -> Self {
        let source = (finish == Finish::Refused).then_some(Refused);
        Self::Ended { finish, source }
    }
}
