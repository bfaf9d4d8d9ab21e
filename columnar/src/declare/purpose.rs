//! The purpose of a text in a request.

use std::fmt;

/// The purpose of an input in a request: of a view of a column, or of a source of an edge in a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// It ends the system text. It is sent as it is, so never use it for text that you do not trust.
    Instruction,
    /// It is reference material: it comes before the primary inputs of its message.
    Context,
    /// It is a part of the conversation.
    #[default]
    Primary,
}

impl Purpose {
    /// The name of the purpose: `instruction`, `context` or `primary`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Context => "context",
            Self::Primary => "primary",
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
