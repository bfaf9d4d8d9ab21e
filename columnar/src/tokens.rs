//! How many tokens a text has.

/// How many characters a token has, by the estimate that providers give.
const CHARS_PER_TOKEN: usize = 4;

/// The tokens of a text of so many characters, estimated.
pub(crate) fn estimate(chars: usize) -> usize {
    chars.div_ceil(CHARS_PER_TOKEN)
}
