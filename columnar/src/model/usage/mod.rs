//! The cost of model calls: tokens, receipts, prices, and limits on spending.

mod attachment_ref;
mod bill;
mod cell_receipt;
mod diagnosis;
mod dollars;
mod fingerprint;
mod finish;
mod limit;
mod price;
mod receipt;
mod total;
mod unix_time;

use std::ops::{Add, AddAssign};

pub(crate) use attachment_ref::{AttachmentRef, is_digest};
pub use bill::Bill;
pub(crate) use cell_receipt::CellReceipt;
pub use diagnosis::CacheDiagnosis;
pub use dollars::{Dollars, ParseDollarsError};
pub(crate) use fingerprint::Fingerprint;
pub use finish::Finish;
pub(crate) use limit::Reservation;
pub use limit::{Spend, SpendLimit, SpendLimitError};
pub(crate) use receipt::object;
pub use receipt::{Answer, CallTime, ParseReceiptError, Receipt};
pub use total::Total;
pub(crate) use total::{Grouped, grouped};
pub use unix_time::UnixTime;

pub use crate::model::registry::Price;

/// The tokens of calls of a model.
///
/// ```
/// use columnar::usage::Usage;
///
/// let both = Usage::new(120, 8) + Usage::new(130, 9).cached(100, 0);
/// assert_eq!((both.input, both.output, both.cache_read), (250, 17, 100));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the request, including tokens that were read from or written to the cache.
    pub input: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// Tokens of the request that came from the provider's cache.
    pub cache_read: u64,
    /// Tokens of the request that the provider wrote to the cache.
    pub cache_write: u64,
    /// The tokens of [`cache_write`](Self::cache_write) that are kept for the longer of two lifetimes, which costs
    /// more.
    pub cache_write_long: u64,
}

impl Usage {
    /// Tokens of the request and of the reply, without a cache.
    pub const fn new(input: u64, output: u64) -> Self {
        Self { input, output, cache_read: 0, cache_write: 0, cache_write_long: 0 }
    }

    /// The same usage, with the tokens of the request that were read from the provider's cache and written to it.
    #[must_use]
    pub const fn cached(self, read: u64, write: u64) -> Self {
        Self { cache_read: read, cache_write: write, ..self }
    }

    /// The same usage, with the written tokens that are kept for the longer of two lifetimes.
    ///
    /// ```
    /// use columnar::usage::{Price, Usage};
    ///
    /// let price = Price::by_model("anthropic/claude-sonnet-5").expect("it has a price");
    /// let written = Usage::new(1000, 0).cached(0, 1000);
    /// assert_eq!(price.cost(&written).to_string(), "$0.0025");
    /// assert_eq!(price.cost(&written.kept_long(1000)).to_string(), "$0.004");
    /// ```
    #[must_use]
    pub const fn kept_long(self, tokens: u64) -> Self {
        Self { cache_write_long: tokens, ..self }
    }
}

impl Add for Usage {
    type Output = Self;

    /// Adds with saturation, because a provider may report anything.
    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            cache_write_long: self.cache_write_long.saturating_add(other.cache_write_long),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
