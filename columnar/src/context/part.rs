//! The smallest piece of a message that has one origin.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};

use super::frame::{Frame, OWN, Place};
use crate::declare::{Name, Window};
use crate::tokens::Counter;

/// Leads an array that would otherwise begin with the assistant. Constant, so that a cached prefix
/// stays valid.
const LEAD: &str = "<elided/>";

/// Stands between neighbours of equal role.
pub(super) const SEPARATOR: &str = "\n\n";

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'m> {
    /// The column.
    pub column: &'m Name,
    /// Its step.
    pub step: usize,
}

/// What stands in the place of values that a view [hides](crate::View::elided).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hidden<'m> {
    /// The column.
    pub column: &'m Name,
    /// How many of its values came before the first one that is shown.
    pub values: usize,
}

/// A piece of a message, and where it came from.
///
/// The parts of a message, one after the other and with nothing between them, are its content: the
/// separator stands at the front of the later part, so what was sent once stays as it is when more
/// follows.
#[derive(Clone, Debug)]
pub struct Part<'m> {
    pub(super) role: Role,
    /// `None` for what shows no cell.
    pub(super) origin: Option<Origin<'m>>,
    pub(super) hidden: Option<Hidden<'m>>,
    pub(super) place: Place,
    pub(super) frame: &'m Frame,
    /// The value as it is shown inside.
    pub(super) value: Cow<'m, str>,
    pub(super) tokens: usize,
    pub(super) fate: Fate,
}

/// What becomes of a part in the context of the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is shown as well.
    Stays,
    /// It leaves the window through which it is shown.
    Leaves { window: Window, delayed: bool, own: bool },
    /// Most likely it is left out, or changes with what is left out.
    MayBeCut,
    /// The same for certain.
    Cut,
}

impl<'m> Part<'m> {
    /// What stands before an array that would begin with the assistant.
    pub(super) fn lead(fate: Fate) -> Self {
        let (role, value) = (Role::User, Cow::Borrowed(LEAD));
        Self { role, origin: None, hidden: None, place: Place::First, frame: &OWN, value, tokens: 0, fate }
    }

    /// Who speaks.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The cell shown, or `None` for the constant `<elided/>`, for what stands in the place of turns that a
    /// [budget](crate::budget) leaves out, and for what says how much is [hidden](Self::hidden).
    pub fn origin(&self) -> Option<Origin<'m>> {
        self.origin
    }

    /// What a view hides, if the part [says](crate::View::elided) that it does.
    pub fn hidden(&self) -> Option<Hidden<'m>> {
        self.hidden
    }

    /// The text as it is sent, with its tag and separator.
    pub fn text(&self) -> Cow<'m, str> {
        match self.chunks() {
            ["", _, ""] => self.value.clone(),
            chunks => Cow::Owned(chunks.concat()),
        }
    }

    /// The text in pieces, none of which is copied.
    pub(super) fn chunks(&self) -> [&str; 3] {
        [self.frame.opening(self.place), &self.value, self.frame.closing()]
    }

    /// Whether it follows another part of the same message.
    pub(crate) fn joins(&self) -> bool {
        self.place == Place::Joins
    }

    /// How many tokens it counts: those of the value, as they were counted when it was stored, and those
    /// of its tag and separator. The constant `<elided/>` counts nothing.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// The same by another counter.
    pub(crate) fn tokens_by(&self, counter: &dyn Counter) -> usize {
        counter.count(&self.value) + self.frame.tokens(counter)
    }

    pub(crate) fn fate(&self) -> Fate {
        self.fate
    }

    /// How many bytes the text has.
    pub(crate) fn len(&self) -> usize {
        self.chunks().map(str::len).iter().sum()
    }
}

impl PartialEq for Part<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.role, self.joins(), self.origin) == (other.role, other.joins(), other.origin)
            && self.chunks() == other.chunks()
    }
}

impl Eq for Part<'_> {}
