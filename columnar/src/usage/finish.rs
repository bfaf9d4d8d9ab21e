//! The reason why a reply ended, as a model reports it and a receipt keeps it.

use std::fmt;

/// The reason why a reply ended.
///
/// A [`prompt`](crate::prompt) stores a reply that stopped. One that was cut off is an error of its cell, unless the prompt
/// [allows](crate::Prompt::allow_truncated) it, and every other end is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finish {
    /// The model finished its reply, or reached a [stop sequence](crate::model::Request::stop).
    Stop,
    /// The reply was cut off at [`Request::max_tokens`](crate::model::Request::max_tokens).
    Length,
    /// The reply was cut off, because request and reply together fill the context window of the model.
    ContextWindow,
    /// The provider refused to answer.
    Refused,
    /// Another reason, in the provider's word.
    Other(String),
}

impl Finish {
    /// The finish that prints as this word.
    pub(crate) fn from_word(word: &str) -> Self {
        match word {
            "stop" => Self::Stop,
            "length" => Self::Length,
            "context_window" => Self::ContextWindow,
            "refused" => Self::Refused,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl fmt::Display for Finish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ContextWindow => "context_window",
            Self::Refused => "refused",
            Self::Other(reason) => reason,
        })
    }
}
