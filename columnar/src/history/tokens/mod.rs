//! Counters of tokens.
//!
//! | counter | method | error |
//! |---|---|---|
//! | [`Estimate`] | a quarter of the bytes | depends on the kind of text, see its table |
//! | `Exact` | a real tokenizer, with the feature `tiktoken` | none for models of OpenAI |
//! | [`Calibrated`] | another counter times a ratio | depends on the ratio |
//!
//! No local tokenizer is right for every model. Claude's tokenizer is not public, and a count with OpenAI's is 15 to
//! 30 % too low for Claude. So add a safety margin that covers the difference, or measure it with a [`Calibration`].
//! The length of a text in bytes is an upper bound: no byte-level tokenizer makes more tokens than bytes.
//!
//! | model | counter | safety margin before calibration |
//! |---|---|---|
//! | of OpenAI | `Exact` | 105 %, for the tokens of each message |
//! | of OpenAI | [`Estimate`] | 125 % for chat, 200 % for code and JSON |
//! | Claude | `Exact` | 145 % |
//! | Claude, or unknown | [`Estimate`] | 180 % for chat, 290 % for code and JSON |

mod calibration;
#[cfg(feature = "tiktoken")]
mod exact;
mod ratio;
mod sum;

use std::fmt;
use std::ptr;
use std::sync::Arc;

pub use calibration::{Calibrated, Calibration};
#[cfg(feature = "tiktoken")]
pub use exact::Exact;
pub use ratio::Ratio;
pub(crate) use sum::Sum;

/// Counts the tokens of texts.
///
/// A flow counts each value once, when the value is stored, and keeps the number, so the size of a context is a sum.
/// The default counter is [`Estimate`].
///
/// ```
/// use columnar::tokens::Counter;
///
/// /// For a model with one token per letter.
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
    /// The tokens of a text. The same text always has the same number. The flow calls this method without any lock, so
    /// it may use the flow; a panic is an error of the cell with the text. A flow takes any greater number for 2^32 -
    /// 1, so that sums of many texts never overflow.
    fn count(&self, text: &str) -> usize;
}

/// One token for four bytes of UTF-8, rounded up: the estimate that providers give for English.
///
/// A letter of another script has two to four bytes and costs more tokens as well, so the counts of Chinese and of English
/// have about the same error. The table shows the error against `o200k_base`, the tokenizer of OpenAI's models since
/// GPT-4o, for texts of 200 to 400 bytes, as the bias and as the bound for 95 of 100 texts:
///
/// | text | error |
/// |---|---|
/// | English prose | +17 %, 32 % |
/// | chat, notes | −4 %, 22 % |
/// | Spanish, Polish, Turkish, Vietnamese | −1 %, 23 % |
/// | Chinese, Japanese, Korean | 0 %, 21 % |
/// | Russian, Arabic, Greek, Hebrew, Thai, Hindi | +33 to +57 %, 62 to 109 % |
/// | code | −15 %, 51 % |
/// | JSON | −44 %, 52 % |
/// | digits, UUIDs, hexadecimal, base64, random letters | −51 to −62 %, 54 to 65 % |
///
/// The benchmark `tokens` prints all figures. The errors of many values partly cancel out in a context. Where they do not,
/// such as in a flow about tables of numbers, [multiply](Calibrated) the count, or count with `Exact`.
///
/// ```
/// use columnar::tokens::{Counter, Estimate};
///
/// assert_eq!(Estimate.count(""), 0);
/// assert_eq!(Estimate.count("seven c"), 2);
/// assert_eq!(Estimate.count("你好，世界"), 4);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate;

impl Estimate {
    pub(crate) const BYTES_PER_TOKEN: usize = 4;
}

impl Counter for Estimate {
    fn count(&self, text: &str) -> usize {
        text.len().div_ceil(Self::BYTES_PER_TOKEN)
    }
}

/// The counter of a flow: at most 2^32 - 1 tokens for each text.
pub(crate) struct LimitedCounter<C>(pub(crate) C);

impl<C: Counter> Counter for LimitedCounter<C> {
    fn count(&self, text: &str) -> usize {
        self.0.count(text).min(u32::MAX as usize)
    }
}

impl<C: Counter + ?Sized> Counter for Arc<C> {
    fn count(&self, text: &str) -> usize {
        (**self).count(text)
    }
}

/// Whether both are the same counter, by identity.
pub(crate) fn is_same(a: &Arc<dyn Counter>, b: &Arc<dyn Counter>) -> bool {
    // Addresses alone are compared: one type may have several vtables.
    ptr::addr_eq(Arc::as_ptr(a), Arc::as_ptr(b))
}

impl fmt::Debug for dyn Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Users' counters need not implement `Debug`, but the structs that hold a counter do.
        f.write_str("Counter")
    }
}
