//! The reason why a reply ended, which a model reports and a receipt keeps.

use std::fmt;

/// The reason why a reply ended.
///
/// A [`prompt`](crate::prompt) stores a reply that stopped, and one with text whose end has an unknown word. A reply
/// that was cut off is an error of the cell, unless the prompt [allows](crate::Prompt::allow_truncated) such replies,
/// and so is every other end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finish {
    /// The model finished its reply, or reached a [stop sequence](crate::model::ReplySettings::stop).
    Stop,
    /// The reply was cut off at [`Request::max_tokens`](crate::model::Request::max_tokens).
    Length,
    /// The reply was cut off, because request and reply together fill the context window of the model.
    ContextWindow,
    /// The server left out a part of the request, so the reply is to another context.
    ContextCut,
    /// The provider refused to answer.
    Refused,
    /// Another reason, in the provider's word.
    Other(String),
}

/// Words of providers for a reply without an ordinary end: the reply failed, or goes on with a call of a tool.
const UNFINISHED: &str = "ERROR FAILED MALFORMED_FUNCTION_CALL MALFORMED_RESPONSE MISSING_THOUGHT_SIGNATURE TIMEOUT \
    TOOL_CALL TOO_MANY_TOOL_CALLS UNEXPECTED_TOOL_CALL USER_CANCEL abort cancelled error failed function_call \
    in_progress insufficient_system_resource load network_error pause_turn queued tool_calls tool_use unload";

impl Finish {
    /// Whether this is a word for a reply that is not complete.
    pub(crate) fn is_unfinished(&self) -> bool {
        matches!(self, Self::Other(word) if UNFINISHED.split(' ').any(|known| known == word))
    }

    /// The [`Finish`] that prints as this word.
    pub(crate) fn from_word(word: &str) -> Self {
        match word {
            "stop" => Self::Stop,
            "length" => Self::Length,
            "context_window" => Self::ContextWindow,
            "context_cut" => Self::ContextCut,
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
            Self::ContextCut => "context_cut",
            Self::Refused => "refused",
            Self::Other(reason) => reason,
        })
    }
}
