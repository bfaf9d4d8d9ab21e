//! [`Effort`]: how long a model thinks before it replies.

use std::fmt;
use std::str::FromStr;

/// The effort of thinking before a reply, in the words of OpenAI. Other providers get the effort in their own form: a
/// level, or a number of tokens.
///
/// ```
/// use columnar::model::Effort;
///
/// assert_eq!("xhigh".parse(), Ok(Effort::XHigh));
/// assert_eq!(Effort::None.to_string(), "none");
/// assert!(Effort::Low < Effort::High);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    /// No thoughts.
    None,
    /// As few thoughts as possible.
    Minimal,
    /// Few thoughts.
    Low,
    /// The usual effort of most models.
    Medium,
    /// Many thoughts.
    High,
    /// More than [`High`](Self::High).
    XHigh,
    /// As many thoughts as the model can have.
    Max,
}

impl Effort {
    /// All efforts, from the lowest.
    pub const ALL: &[Self] =
        &[Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::XHigh, Self::Max];

    /// The word for the effort, such as `high`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error of a text that is not the word of an [`Effort`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an effort is one of `none`, `minimal`, `low`, `medium`, `high`, `xhigh` and `max`")]
pub struct ParseEffortError;

impl FromStr for Effort {
    type Err = ParseEffortError;

    fn from_str(text: &str) -> Result<Self, ParseEffortError> {
        Self::ALL.iter().find(|effort| effort.as_str() == text).copied().ok_or(ParseEffortError)
    }
}
