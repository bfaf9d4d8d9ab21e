//! A request as a provider's cache sees it: a chain of blocks, each known by all that stands before it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use columnar::tokens::{Chars, Counter};
use columnar::{Messages, Role};

/// Who speaks in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// The instruction.
    System,
    /// What is read.
    User,
    /// What was said before.
    Assistant,
}

/// A block at its place in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The same for two blocks exactly if they are the same and everything before them is.
    pub prefix: usize,
    /// The tokens of the request up to the end of this block.
    pub until: u32,
    /// Who speaks.
    pub speaker: Speaker,
    /// Whether the message ends here.
    pub ends: bool,
}

/// A block before it is put into a request.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Who speaks.
    pub speaker: Speaker,
    /// What tells its text from others.
    pub identity: u64,
    /// The tokens of the text.
    pub tokens: u32,
    /// Whether the message ends here.
    pub ends: bool,
}

/// What is sent at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// In order.
    pub blocks: Vec<Block>,
}

/// All prefixes that any request has, so that equal ones have equal numbers.
#[derive(Clone, Debug, Default)]
pub struct Prefixes(HashMap<(Option<usize>, u64, Speaker), usize>);

impl Piece {
    /// A block of text.
    ///
    /// # Panics
    ///
    /// With a text of 4 billion tokens.
    pub fn new(speaker: Speaker, text: &str, ends: bool) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let tokens = u32::try_from(Chars.count(text)).expect("texts are short");
        Self { speaker, identity: hasher.finish(), tokens, ends }
    }

    /// The blocks of what the library sends: the instruction, then each part of the messages.
    pub fn all_of(instruction: Option<&str>, messages: &Messages) -> Vec<Self> {
        let mut pieces: Vec<Self> =
            instruction.into_iter().map(|text| Self::new(Speaker::System, text, true)).collect();
        let mut parts = messages.parts().peekable();
        while let Some(part) = parts.next() {
            let speaker = match part.role() {
                Role::User => Speaker::User,
                Role::Assistant => Speaker::Assistant,
            };
            let ends = parts.peek().is_none_or(|next| next.role() != part.role());
            pieces.push(Self::new(speaker, &part.text(), ends));
        }
        pieces
    }
}

impl Prefixes {
    /// A request of these blocks.
    pub fn request(&mut self, pieces: impl IntoIterator<Item = Piece>) -> Request {
        let (mut before, mut until) = (None, 0);
        let blocks = pieces.into_iter().map(|Piece { speaker, identity, tokens, ends }| {
            let next = self.0.len();
            let prefix = *self.0.entry((before, identity, speaker)).or_insert(next);
            before = Some(prefix);
            until += tokens;
            Block { prefix, until, speaker, ends }
        });
        Request { blocks: blocks.collect() }
    }
}

impl Request {
    /// All its tokens.
    pub fn tokens(&self) -> u32 {
        self.blocks.last().map_or(0, |block| block.until)
    }

    /// The block at a place.
    pub fn block(&self, at: usize) -> Option<Block> {
        self.blocks.get(at).copied()
    }

    /// The tokens up to the end of a block.
    pub fn until(&self, at: usize) -> u32 {
        self.block(at).map_or(0, |block| block.until)
    }
}
