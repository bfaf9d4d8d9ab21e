//! The words of a tree: its mode, the authors of nodes, and their marks.

use std::fmt;

/// How the texts of a path are joined, which decides what an edit is. A tree has one mode for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// The messages of a conversation. An edited node is a sibling, and the conversation goes on from it.
    Dialogue,
    /// One continuous text. An edited node is a version: the nodes after the original follow it as well.
    Buffer,
}

impl Mode {
    /// The name of the mode: `dialogue` or `buffer`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dialogue => "dialogue",
            Self::Buffer => "buffer",
        }
    }

    /// The mode with a name.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Dialogue, Self::Buffer].into_iter().find(|mode| mode.as_str() == name)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Who wrote the text of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Author {
    /// A person.
    Human,
    /// A model.
    Model,
}

impl Author {
    /// The name of the author: `human` or `model`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Model => "model",
        }
    }

    /// The author with a name.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Human, Self::Model].into_iter().find(|author| author.as_str() == name)
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A mark of a node. Marks can be set and removed; the text of a node never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// The node is worth coming back to. Paths show it as before.
    Bookmarked,
    /// The node is out of use, usually with all nodes that follow it. Paths leave marked nodes out.
    Pruned,
    /// Paths leave this node out. The nodes that follow it stay.
    Excluded,
}

impl Mark {
    /// The name of the mark: `bookmarked`, `pruned` or `excluded`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bookmarked => "bookmarked",
            Self::Pruned => "pruned",
            Self::Excluded => "excluded",
        }
    }

    /// The mark with a name.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Bookmarked, Self::Pruned, Self::Excluded].into_iter().find(|mark| mark.as_str() == name)
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
