//! The nodes of the tree of a column's values, and the entries of the leaves.

use std::borrow::Cow;
use std::sync::Arc;

use super::attachment::{Attachment, in_words};
use super::value::Value;
use crate::history::tokens::Sum;

/// The number of children of a node, as a power of two.
pub(super) const BITS: u32 = 5;
pub(super) const WIDTH: usize = 1 << BITS;

/// The maximum length in bytes of the text of a sealed leaf.
pub(super) const LARGE: usize = 1 << 16;

#[derive(Clone, Debug)]
pub(super) enum HistoryNode {
    Inner(Vec<Child>),
    /// A leaf with a text for each value.
    Open(Vec<Option<LeafEntry>>),
    /// A full leaf with all values in one text.
    Sealed {
        text: Arc<str>,
        entries: Arc<[PackedEntry]>,
    },
}

/// A node and the sum over the values.
#[derive(Clone, Debug, Default)]
pub(super) struct Child {
    pub(super) node: Arc<HistoryNode>,
    pub(super) sum: Sum,
}

/// An empty node of any level.
impl Default for HistoryNode {
    fn default() -> Self {
        Self::Open(Vec::new())
    }
}

impl HistoryNode {
    /// The child at an index of an inner node, created if missing.
    pub(super) fn child_mut(&mut self, at: usize) -> Option<&mut Child> {
        // A default node is an empty leaf. Above the leaves, such a node becomes an inner node here.
        if let Self::Open(_) = self {
            *self = Self::Inner(Vec::new());
        }
        let Self::Inner(children) = self else { return None };
        if children.len() <= at {
            children.resize_with(at + 1, Child::default);
        }
        children.get_mut(at)
    }

    pub(super) fn sum(&self) -> Sum {
        self.sum_before(WIDTH)
    }

    /// The sum over the children or values before an index.
    pub(super) fn sum_before(&self, at: usize) -> Sum {
        match self {
            Self::Inner(children) => children.iter().take(at).map(|child| child.sum).sum(),
            Self::Open(texts) => texts.iter().take(at).flatten().map(|entry| Sum::one(entry.tokens())).sum(),
            Self::Sealed { entries, .. } => {
                entries.iter().take(at).map(|entry| Sum::one(entry.tokens())).sum()
            }
        }
    }

    /// The value at an index of a leaf.
    pub(super) fn text(&self, at: usize) -> Option<StoredText<'_>> {
        match self {
            Self::Open(texts) => texts.get(at)?.as_ref().map(LeafEntry::text),
            Self::Sealed { text, entries } => {
                let entry = entries.get(at)?;
                text.get(start(entries, at)..entry.end()).map(|value| entry.text(value))
            }
            Self::Inner(_) => None,
        }
    }

    pub(super) fn has(&self, at: usize) -> bool {
        match self {
            Self::Open(texts) => texts.get(at).is_some_and(Option::is_some),
            Self::Sealed { entries, .. } => at < entries.len(),
            Self::Inner(_) => false,
        }
    }

    pub(super) fn value(&self, at: usize) -> Option<Value> {
        match self {
            Self::Open(texts) => Some(Value::from(Arc::clone(&texts.get(at)?.as_ref()?.text))),
            Self::Sealed { text, entries } => {
                let end = entries.get(at)?.end();
                Some(Value::part(Arc::clone(text), start(entries, at)..end))
            }
            Self::Inner(_) => None,
        }
    }

    /// Writes a value into a leaf.
    pub(super) fn insert(&mut self, at: usize, entry: LeafEntry) {
        // A sealed leaf is full, and a value is never replaced.
        let Self::Open(texts) = self else { return };
        if texts.len() <= at {
            texts.resize(at + 1, None);
        }
        if let Some(slot) = texts.get_mut(at) {
            *slot = Some(entry);
        }
    }

    /// Joins the texts of a full leaf into one, which saves a third of the memory of short values. Skipped if a text
    /// that is also held elsewhere would be copied. Returns whether the leaf is full.
    pub(super) fn seal(&mut self) -> bool {
        let Self::Open(texts) = self else { return true };
        if texts.len() < WIDTH || texts.iter().any(Option::is_none) {
            return false;
        }
        let length: usize = texts.iter().flatten().map(|entry| entry.text.len()).sum();
        if length > LARGE || texts.iter().flatten().any(|entry| Arc::strong_count(&entry.text) > 1) {
            return true;
        }
        let mut end = 0;
        let entries = texts.iter().flatten().map(|entry| {
            end += entry.text.len();
            PackedEntry::new(end, entry)
        });
        // If a value has too many tokens for a packed entry, the leaf stays open.
        if let Some(entries) = entries.collect() {
            let mut text = String::with_capacity(length);
            texts.iter().flatten().for_each(|entry| text.push_str(&entry.text));
            *self = Self::Sealed { text: text.into(), entries };
        }
        true
    }

    /// Removes the value at an index of a leaf.
    pub(super) fn remove(&mut self, at: usize) {
        self.open(WIDTH);
        if let Self::Open(texts) = self
            && let Some(slot) = texts.get_mut(at)
        {
            *slot = None;
        }
    }

    /// Makes a sealed leaf an open leaf with the first `count` values.
    fn open(&mut self, count: usize) {
        if let Self::Sealed { .. } = self {
            let entries =
                (0..count).map(|at| Some(LeafEntry::new(self.value(at)?.into(), self.text(at)?.tokens)));
            *self = Self::Open(entries.collect());
        }
    }

    /// Removes the values from a step on, in a node of this height.
    pub(super) fn truncate(&mut self, step: usize, height: u32) {
        let at = digit(step, height);
        // A sealed leaf is always full, so the rest becomes an open leaf.
        self.open(at);
        match self {
            Self::Open(texts) => texts.truncate(at),
            Self::Inner(children) => {
                children.truncate(at + 1);
                if let Some(child) = children.get_mut(at) {
                    Arc::make_mut(&mut child.node).truncate(step, height.saturating_sub(1));
                    child.sum = child.node.sum();
                }
            }
            Self::Sealed { .. } => {}
        }
    }
}

/// The index of the child that contains a step, in a node at this level.
pub(super) fn digit(step: usize, level: u32) -> usize {
    rest(step, level) & (WIDTH - 1)
}

/// The bits of a step above a level.
pub(super) fn rest(step: usize, level: u32) -> usize {
    // The level above a tree with the step `usize::MAX` is shifted by more bits than there are.
    step.checked_shr(level * BITS).unwrap_or(0)
}

/// A value in an open leaf, with the number of tokens.
#[derive(Clone, Debug)]
pub(super) struct LeafEntry {
    pub(super) text: Arc<str>,
    /// The number of tokens, saturated: no text counts for more.
    tokens: u32,
    is_plain: bool,
}

impl LeafEntry {
    pub(super) fn new(text: Arc<str>, tokens: usize) -> Self {
        Self {
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            // The text is searched once here, because many contexts show the value. Only these two characters are
            // escaped.
            is_plain: memchr::memchr2(b'<', b'&', text.as_bytes()).is_none(),
            text,
        }
    }

    pub(super) fn tokens(&self) -> usize {
        usize::try_from(self.tokens).unwrap_or(usize::MAX)
    }

    fn text(&self) -> StoredText<'_> {
        StoredText { value: &self.text, tokens: self.tokens(), is_plain: self.is_plain, attachments: &[] }
    }
}

/// A stored value, with facts that were computed when the value was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredText<'h> {
    pub(crate) value: &'h str,
    pub(crate) tokens: usize,
    /// Whether the value has neither `<` nor `&`, so that no tag in it needs escaping.
    pub(crate) is_plain: bool,
    /// Not in the leaves, because few values have some.
    pub(crate) attachments: &'h [Attachment],
}

impl<'h> StoredText<'h> {
    /// The text, with words for the attachments.
    pub(crate) fn in_words(&self) -> Cow<'h, str> {
        match self.attachments {
            [] => Cow::Borrowed(self.value),
            attachments => (self.value.to_owned() + &in_words(attachments)).into(),
        }
    }
}

/// A value in a sealed leaf: the end in the text, the tokens, and whether the value is plain, in 17, 13 and 1 bits,
/// from the lowest.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedEntry(u32);

impl PackedEntry {
    // An end per value suffices, because a value starts where the value before ends. A leaf has 2^16 bytes at most,
    // and that number needs the seventeenth bit.
    const PLAIN: u32 = 1 << 31;
    const END_BITS: u32 = 17;
    const END: u32 = (1 << Self::END_BITS) - 1;
    const TOKENS: u32 = (1 << 13) - 1;

    /// Packs an entry; `None` if a number does not fit into the bits.
    pub(super) fn new(end: usize, entry: &LeafEntry) -> Option<Self> {
        let end = u32::try_from(end).ok().filter(|end| *end <= Self::END)?;
        let tokens = Some(entry.tokens).filter(|tokens| *tokens <= Self::TOKENS)?;
        let plain = if entry.is_plain { Self::PLAIN } else { 0 };
        Some(Self(end | tokens << Self::END_BITS | plain))
    }

    pub(super) fn end(self) -> usize {
        usize::try_from(self.0 & Self::END).unwrap_or_default()
    }

    pub(super) fn tokens(self) -> usize {
        usize::try_from(self.0 >> Self::END_BITS & Self::TOKENS).unwrap_or_default()
    }

    /// The text of this entry, made from the value.
    fn text(self, value: &str) -> StoredText<'_> {
        let is_plain = self.0 & Self::PLAIN != 0;
        StoredText { value, tokens: self.tokens(), is_plain, attachments: &[] }
    }
}

/// The start of a value in the text of a sealed leaf.
pub(super) fn start(entries: &[PackedEntry], at: usize) -> usize {
    at.checked_sub(1).and_then(|before| entries.get(before)).map_or(0, |entry| entry.end())
}
