//! Delimiters: the role of a value, and the tags and separators around it.
//!
//! The tags of groups belong to values, because parts must stay whole: a value knows how many groups begin and end with it,
//! and nothing is joined.

use serde::{Serialize, Serializer};
use std::fmt;

use crate::declare::Name;
use crate::history::tokens::Counter;

/// Separates neighbours of equal role in messages, and the texts of a system text.
pub(super) const SEPARATOR: &str = "\n\n";

/// The role of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The inputs of the column.
    User,
    /// The earlier values of the column itself.
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

/// The tags around the values of an input: the groups, the outermost first, and inside of them the tag of the input.
#[derive(Clone, Debug)]
pub(super) struct InputTags {
    opening: String,
    closing: String,
    /// By the number of groups that begin with a value: where its tags begin in `opening`.
    starts: Vec<usize>,
    /// By the number of groups that end with a value: where its tags end in `closing`.
    ends: Vec<usize>,
}

impl InputTags {
    /// No tag and no groups.
    pub(super) fn none() -> Self {
        Self { opening: String::new(), closing: String::new(), starts: vec![0], ends: vec![0] }
    }

    /// The tags of an input in groups with these tags, the outermost first.
    pub(super) fn new(tag: &Name, groups: &[Name]) -> Self {
        let mut tags = Self::none();
        for group in groups {
            tags.opening.extend(["<", group, ">\n"]);
            tags.starts.insert(0, tags.opening.len());
        }
        tags.opening.extend(["<", tag, ">\n"]);
        tags.ends.clear();
        for tag in [tag].into_iter().chain(groups.iter().rev()) {
            tags.closing.extend(["\n</", tag, ">"]);
            tags.ends.push(tags.closing.len());
        }
        tags
    }

    /// The number of groups that begin with a value, if this many are open before.
    pub(super) fn opened(&self, before: usize) -> usize {
        self.starts.len() - 1 - before
    }

    /// The text before a value with which this number of groups begins.
    pub(super) fn opening(&self, opened: usize) -> &str {
        let start = self.starts.get(opened).copied().unwrap_or(0);
        self.opening.get(start..).unwrap_or_default()
    }

    /// The text before the marker of a value, without the tag of the input.
    pub(super) fn opening_of_marker(&self, opened: usize) -> &str {
        let opening = self.opening(opened);
        opening.get(..opening.len() - self.opening(0).len()).unwrap_or_default()
    }

    /// The text after a value, if this many groups stay open.
    pub(super) fn closing(&self, after: usize) -> &str {
        let end = self.ends.get(self.opened(after)).copied().unwrap_or(0);
        self.closing.get(..end).unwrap_or_default()
    }

    /// The tokens of the tag alone, and of a separator.
    pub(super) fn tokens(&self, counter: &dyn Counter) -> usize {
        let depth = self.starts.len() - 1;
        tokens_around(self.opening(0), self.closing(depth), counter)
    }
}

/// The tokens of the text around a value. The tokens of the value are counted separately.
pub(super) fn tokens_around(opening: &str, closing: &str, counter: &dyn Counter) -> usize {
    // The separator is after the value here: with the end of a tag it is one token of `o200k_base`.
    counter.count(&[opening, closing, SEPARATOR].concat())
}
