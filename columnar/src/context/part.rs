//! The smallest piece of a message that has one origin.

use core::fmt;

use serde::{Serialize, Serializer};

use crate::name::Name;
use crate::value::Value;

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// What the column reads.
    User,
    /// What the column said before.
    Assistant,
}

impl Role {
    /// The role as the APIs of models spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl PartialEq<&str> for Role {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The cell that a part shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The column.
    pub column: Name,
    /// Its step.
    pub step: usize,
}

/// An immutable piece of a message, and where it came from.
///
/// The parts of a message, one after the other and with nothing between them, are its content: the
/// separator stands at the front of the later part, so what was sent once stays as it is when more
/// follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    role: Role,
    origin: Option<Origin>,
    text: Value,
}

impl Part {
    pub(crate) fn new(role: Role, origin: Option<Origin>, text: Value) -> Self {
        Self { role, origin, text }
    }

    /// Who speaks.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The cell shown, or `None` for the constant `<elided/>`.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// The text as it is sent, with its tag and separator.
    pub fn text(&self) -> &str {
        &self.text
    }
}
