//! The default estimate, by the number of characters.

use super::Counter;

/// One token per four characters, rounded up: the estimate that providers give for English.
///
/// The estimate is fast, but only half of the real count for digits, random letters, and most scripts other than
/// Latin.
///
/// ```
/// use columnar::tokens::{Chars, Counter};
///
/// assert_eq!(Chars.count(""), 0);
/// assert_eq!(Chars.count("seven c"), 2);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chars;

impl Chars {
    pub(crate) const PER_TOKEN: usize = 4;

    /// The tokens of a text with this many characters.
    pub(crate) const fn estimate(chars: usize) -> usize {
        chars.div_ceil(Self::PER_TOKEN)
    }
}

impl Counter for Chars {
    fn count(&self, text: &str) -> usize {
        Self::estimate(text.chars().count())
    }
}
