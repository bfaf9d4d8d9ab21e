//! The values in a leaf, and what is known of each.

use std::slice;
use std::sync::Arc;

use super::History;
use super::node::digit;
use crate::history::Value;

/// A value as a text of its own, and what is known of it.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) text: Arc<str>,
    /// No text has more.
    tokens: u32,
    is_untagged: bool,
    is_plain_json: bool,
}

impl Held {
    pub(super) fn new(value: Value, tokens: usize) -> Self {
        let text: Arc<str> = value.into();
        Self {
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            is_untagged: memchr::memchr2(b'<', b'&', text.as_bytes()).is_none(),
            is_plain_json: json_escape_from(text.as_bytes(), 0).is_none(),
            text,
        }
    }

    pub(super) fn tokens(&self) -> usize {
        usize::try_from(self.tokens).unwrap_or(usize::MAX)
    }

    #[inline]
    pub(super) fn known(&self) -> Text<'_> {
        let (is_untagged, is_plain_json) = (self.is_untagged, self.is_plain_json);
        Text { value: &self.text, tokens: self.tokens(), is_untagged, is_plain_json }
    }
}

/// A stored value, and what is known of it without looking at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text<'h> {
    pub(crate) value: &'h str,
    pub(crate) tokens: usize,
    /// It has neither `<` nor `&`, so no tag has to be escaped in it.
    pub(crate) is_untagged: bool,
    /// It is the same in a JSON string.
    pub(crate) is_plain_json: bool,
}

/// Where a value ends in the text of a sealed leaf, how many tokens it has, and what else is known of it:
/// 17, 13 and 2 bits, from the lowest on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark(u32);

impl Mark {
    const UNTAGGED: u32 = 1 << 31;
    const PLAIN_JSON: u32 = 1 << 30;
    const END_BITS: u32 = 17;
    const END: u32 = (1 << Self::END_BITS) - 1;
    const TOKENS: u32 = (Self::PLAIN_JSON - 1) >> Self::END_BITS;

    /// `None` for what has no room.
    pub(super) fn new(end: usize, held: &Held) -> Option<Self> {
        let end = u32::try_from(end).ok().filter(|end| *end <= Self::END)?;
        let tokens = Some(held.tokens).filter(|tokens| *tokens <= Self::TOKENS)?;
        let untagged = if held.is_untagged { Self::UNTAGGED } else { 0 };
        let plain = if held.is_plain_json { Self::PLAIN_JSON } else { 0 };
        Some(Self(end | tokens << Self::END_BITS | untagged | plain))
    }

    #[inline]
    pub(super) fn end(self) -> usize {
        usize::try_from(self.0 & Self::END).unwrap_or_default()
    }

    #[inline]
    pub(super) fn tokens(self) -> usize {
        usize::try_from(self.0 >> Self::END_BITS & Self::TOKENS).unwrap_or_default()
    }

    /// Its value, with what is known of it.
    #[inline]
    pub(super) fn known(self, value: &str) -> Text<'_> {
        let is = |known| self.0 & known != 0;
        let tokens = self.tokens();
        Text { value, tokens, is_untagged: is(Self::UNTAGGED), is_plain_json: is(Self::PLAIN_JSON) }
    }
}

/// Where a value begins in the text of a sealed leaf.
pub(super) fn start(marks: &[Mark], at: usize) -> usize {
    at.checked_sub(1).and_then(|before| marks.get(before)).map_or(0, |mark| mark.end())
}

/// The values of neighbouring steps, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Texts<'h> {
    history: &'h History,
    step: usize,
    leaf: Rest<'h>,
}

impl<'h> Texts<'h> {
    pub(super) fn new(history: &'h History, step: usize) -> Self {
        Self { history, step, leaf: history.rest(step) }
    }

    /// The value of the next step, which may be without one.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Text<'h>> {
        if digit(self.step, 0) == 0 {
            self.leaf = self.history.rest(self.step);
        }
        // A step may be as large as numbers go.
        self.step = self.step.wrapping_add(1);
        self.leaf.next()
    }
}

/// What is left of a leaf.
#[derive(Clone, Debug)]
pub(super) enum Rest<'h> {
    Open(slice::Iter<'h, Option<Held>>),
    Sealed { text: &'h str, marks: slice::Iter<'h, Mark>, start: usize },
}

impl Default for Rest<'_> {
    fn default() -> Self {
        Self::Open([].iter())
    }
}

impl<'h> Rest<'h> {
    #[inline]
    pub(super) fn next(&mut self) -> Option<Text<'h>> {
        match self {
            Self::Open(texts) => texts.next()?.as_ref().map(Held::known),
            Self::Sealed { text, marks, start } => {
                let mark = marks.next()?;
                let end = mark.end();
                let (value, rest) = text.split_at_checked(end - *start)?;
                (*text, *start) = (rest, end);
                Some(mark.known(value))
            }
        }
    }
}

/// So many bytes are looked at together; a compiler makes one comparison of it.
const BLOCK: usize = 32;

/// Where the next byte is, from a place on, that cannot stand in a JSON string as it is. All of those are
/// ASCII.
pub(crate) fn json_escape_from(bytes: &[u8], from: usize) -> Option<usize> {
    let needs_escape = |byte: u8| matches!(byte, 0..b' ' | b'"' | b'\\');
    let mut at = from;
    for block in bytes.get(from..)?.chunks(BLOCK) {
        if block.iter().fold(false, |found, &byte| found | needs_escape(byte)) {
            return block.iter().position(|&byte| needs_escape(byte)).map(|inside| at + inside);
        }
        at += block.len();
    }
    None
}
