//! The values in a leaf, and what is known of each.

use std::sync::Arc;

use crate::history::Value;

/// A value as a text of its own, and what is known of it.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) text: Arc<str>,
    /// No text has more.
    tokens: u32,
    is_plain: bool,
}

impl Held {
    pub(super) fn new(value: Value, tokens: usize) -> Self {
        let text: Arc<str> = value.into();
        Self {
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            is_plain: memchr::memchr2(b'<', b'&', text.as_bytes()).is_none(),
            text,
        }
    }

    pub(super) fn tokens(&self) -> usize {
        usize::try_from(self.tokens).unwrap_or(usize::MAX)
    }

    pub(super) fn known(&self) -> Text<'_> {
        Text { value: &self.text, tokens: self.tokens(), is_plain: self.is_plain }
    }
}

/// A stored value, and what is known of it without looking at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text<'h> {
    pub(crate) value: &'h str,
    pub(crate) tokens: usize,
    /// It has neither `<` nor `&`, so no tag has to be escaped in it.
    pub(crate) is_plain: bool,
}

/// Where a value ends in the text of a sealed leaf, how many tokens it has, and what else is known of it:
/// 17, 13 and 1 bits, of which the last is the highest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark(u32);

impl Mark {
    const PLAIN: u32 = 1 << 31;
    const END_BITS: u32 = 17;
    const END: u32 = (1 << Self::END_BITS) - 1;
    const TOKENS: u32 = (1 << 13) - 1;

    /// `None` for what has no room.
    pub(super) fn new(end: usize, held: &Held) -> Option<Self> {
        let end = u32::try_from(end).ok().filter(|end| *end <= Self::END)?;
        let tokens = Some(held.tokens).filter(|tokens| *tokens <= Self::TOKENS)?;
        let plain = if held.is_plain { Self::PLAIN } else { 0 };
        Some(Self(end | tokens << Self::END_BITS | plain))
    }

    pub(super) fn end(self) -> usize {
        usize::try_from(self.0 & Self::END).unwrap_or_default()
    }

    pub(super) fn tokens(self) -> usize {
        usize::try_from(self.0 >> Self::END_BITS & Self::TOKENS).unwrap_or_default()
    }

    /// Its value, with what is known of it.
    pub(super) fn known(self, value: &str) -> Text<'_> {
        Text { value, tokens: self.tokens(), is_plain: self.0 & Self::PLAIN != 0 }
    }
}

/// Where a value begins in the text of a sealed leaf.
pub(super) fn start(marks: &[Mark], at: usize) -> usize {
    at.checked_sub(1).and_then(|before| marks.get(before)).map_or(0, |mark| mark.end())
}
