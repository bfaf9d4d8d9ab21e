//! How many tokens a text has.

mod chars;
mod sum;

use alloc::sync::Arc;
use core::fmt;

pub use chars::Chars;
pub(crate) use sum::Sum;

/// Counts the tokens of texts.
///
/// A flow counts each value once, when it is stored, and keeps the number: what a context costs is a sum
/// of numbers that are there already. Unless told otherwise it counts with [`Chars`].
///
/// ```
/// use columnar::tokens::Counter;
///
/// /// For a model that reads letter by letter.
/// struct Letters;
///
/// impl Counter for Letters {
///     fn count(&self, text: &str) -> usize {
///         text.chars().count()
///     }
/// }
///
/// assert_eq!(Letters.count("héllo"), 5);
/// ```
pub trait Counter: Send + Sync {
    /// The tokens of a text. The same text always has the same number.
    fn count(&self, text: &str) -> usize;
}

impl<C: Counter + ?Sized> Counter for Arc<C> {
    fn count(&self, text: &str) -> usize {
        (**self).count(text)
    }
}

impl fmt::Debug for dyn Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counter")
    }
}
