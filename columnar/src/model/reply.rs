//! What a model answers.

use std::fmt;

use crate::usage::Usage;

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Chunk {
    /// More text.
    Text(String),
    /// The reply is complete.
    End(End),
}

impl Chunk {
    /// The ordinary end of a reply.
    pub fn stop() -> Self {
        Self::End(End::new(Finish::Stop))
    }
}

/// How a reply ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct End {
    /// Why it ended.
    pub finish: Finish,
    /// What it cost, if the model tells.
    pub usage: Option<Usage>,
    /// What the provider calls the reply, if it tells: the word to ask it by.
    pub id: Option<String>,
}

impl End {
    /// An end of which nothing else is known.
    ///
    /// ```
    /// use columnar::model::{End, Finish, Usage};
    ///
    /// let end = End::new(Finish::Stop).usage(Usage::new(120, 8));
    /// assert_eq!(end.usage.map(|usage| usage.output), Some(8));
    /// ```
    pub fn new(finish: Finish) -> Self {
        Self { finish, usage: None, id: None }
    }

    /// With what the reply cost.
    #[must_use]
    pub fn usage(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// With what the provider calls the reply.
    #[must_use]
    pub fn id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }
}

/// Why a reply ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finish {
    /// The model had said all it wanted to.
    Stop,
    /// It ran into [`Request::max_tokens`](super::Request::max_tokens).
    Length,
    /// The provider refused to answer.
    Refused,
    /// Something else, in the provider's word.
    Other(String),
}

impl fmt::Display for Finish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::Refused => "refused",
            Self::Other(reason) => reason,
        })
    }
}

/// Why a reply counts for nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplyError {
    #[error("the reply broke off before its end")]
    BrokeOff,
    #[error("the reply ended early ({0})")]
    Ended(Finish),
}
