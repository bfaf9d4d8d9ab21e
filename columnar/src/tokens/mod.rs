//! How many tokens a text has.
//!
//! | counter | is | off by at most, in 95 of 100 texts |
//! |---|---|---|
//! | [`Chars`] | a quarter of the characters | 32 % for prose, 50 to 70 % for code, digits, Chinese, base64 |
//! | [`Classes`] | an estimate by what the text consists of | 12 % for prose and code, 30 % at the worst |
//! | `Exact` | a real tokenizer, with the feature `tiktoken` | nothing, for models of OpenAI |
//! | [`Calibrated`] | another counter times a ratio | what the ratio leaves |
//!
//! No tokenizer on this machine is right for every model. Claude's is not public: a count with OpenAI's is 15
//! to 30 % too low for it. So either take a safety that covers it, or let [`Calibration`] learn from the
//! usage that the provider reports. What always holds for a text is its length in bytes: no byte-level
//! tokenizer makes more tokens than that.
//!
//! | model | counter | safety until it is calibrated |
//! |---|---|---|
//! | of OpenAI | `Exact` | 105 %, for the tokens of each message |
//! | of OpenAI | [`Classes`] | 125 % |
//! | Claude | `Exact` | 145 % |
//! | Claude, or unknown | [`Classes`] | 180 % |

mod calibrated;
mod calibration;
mod chars;
mod classes;
#[cfg(feature = "tiktoken")]
mod exact;
mod observed;
mod ratio;
mod sum;

use std::fmt;
use std::sync::Arc;

pub use calibrated::Calibrated;
pub use calibration::Calibration;
pub use chars::Chars;
pub use classes::Classes;
#[cfg(feature = "tiktoken")]
pub use exact::Exact;
pub use ratio::Ratio;
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
