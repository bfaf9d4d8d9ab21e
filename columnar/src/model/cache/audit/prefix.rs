//! The positions at which a prefix of a request may end, with a number for the text up to there.

use std::hash::Hasher as _;

use twox_hash::XxHash64;

use super::super::mark::Position;
use crate::context::{Messages, Role};

/// The end of a block of a request.
pub(super) struct BlockEnd {
    /// Equal for equal texts up to here. Different texts have different numbers, but for one in 10^19.
    pub(super) text: u64,
    /// The tokens up to here, by the counter of the flow.
    pub(super) tokens: usize,
    /// The number of blocks up to here.
    pub(super) blocks: usize,
}

/// The ends of a request: of the system text, then of each part.
pub(super) fn block_ends(messages: &Messages, system: &str) -> Vec<BlockEnd> {
    // A fixed seed, because the numbers of all requests are compared.
    let mut hash = XxHash64::with_seed(0);
    let mut tokens = messages.system_tokens();
    let mut blocks = 1;
    hash.write(system.as_bytes());
    let mut ends = vec![BlockEnd { text: hash.finish(), tokens, blocks }];
    for part in messages.parts() {
        let text = part.text();
        hash.write_u8(u8::from(part.role() == Role::User));
        hash.write_usize(text.len());
        hash.write(text.as_bytes());
        part.attachments().iter().for_each(|attachment| hash.write(attachment.digest().as_bytes()));
        tokens += part.tokens();
        blocks += 1 + part.attachments().len();
        ends.push(BlockEnd { text: hash.finish(), tokens, blocks });
    }
    ends
}

/// The index of a position among the ends.
pub(super) fn index(position: Position) -> usize {
    match position {
        Position::System => 0,
        Position::Part(at) => at + 1,
    }
}
