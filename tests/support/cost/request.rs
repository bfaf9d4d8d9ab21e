//! A request as a provider's cache sees requests: a sequence of blocks, each identified by the whole prefix.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use columnar::tokens::{Counter, Estimate};
use columnar::{Messages, Role};

/// The speaker of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// The system text.
    System,
    /// The inputs.
    User,
    /// Earlier replies.
    Assistant,
}

/// A block of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The number of the prefix. Two blocks have the same number if and only if the blocks and the prefixes before are
    /// equal.
    pub prefix: usize,
    /// The tokens of the request up to the end of this block.
    pub until: u32,
    /// The speaker.
    pub speaker: Speaker,
    /// Whether the message ends here.
    pub ends: bool,
}

/// A block before it is a part of a request.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The speaker.
    pub speaker: Speaker,
    /// A hash of the text.
    pub identity: u64,
    /// The tokens of the text.
    pub tokens: u32,
    /// Whether the message ends here.
    pub ends: bool,
}

/// A request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The blocks of the request in order.
    pub blocks: Vec<Block>,
}

/// The numbers of all prefixes; equal prefixes have equal numbers.
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
        let tokens = u32::try_from(Estimate.count(text)).expect("texts are short");
        Self { speaker, identity: hasher.finish(), tokens, ends }
    }

    /// The blocks of a request of the library: the system text, then each part of the messages.
    pub fn all_of(instruction: &str, messages: &Messages) -> Vec<Self> {
        let mut pieces = vec![Self::new(Speaker::System, &messages.system(instruction), true)];
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
        self.number(pieces, false)
    }

    /// A request of blocks whose numbers do not depend on the prefixes before.
    pub fn request_apart(&mut self, pieces: impl IntoIterator<Item = Piece>) -> Request {
        self.number(pieces, true)
    }

    fn number(&mut self, pieces: impl IntoIterator<Item = Piece>, are_apart: bool) -> Request {
        let (mut before, mut until) = (None, 0);
        let blocks = pieces.into_iter().map(|Piece { speaker, identity, tokens, ends }| {
            // The key has the number of the prefix before, so equal blocks after different prefixes differ.
            let next = self.0.len();
            let prefix = *self.0.entry((before, identity, speaker)).or_insert(next);
            before = (!are_apart).then_some(prefix);
            until += tokens;
            Block { prefix, until, speaker, ends }
        });
        Request { blocks: blocks.collect() }
    }
}

impl Request {
    /// The number of tokens.
    pub fn tokens(&self) -> u32 {
        self.blocks.last().map_or(0, |block| block.until)
    }

    /// The block at this index.
    pub fn block(&self, at: usize) -> Option<Block> {
        self.blocks.get(at).copied()
    }

    /// The number of tokens up to the end of a block.
    pub fn until(&self, at: usize) -> u32 {
        self.block(at).map_or(0, |block| block.until)
    }
}
