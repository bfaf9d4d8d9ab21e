//! The audited bill: what each request should have read from the provider's cache, what was billed, and the reason for the
//! difference.
//!
//! ```text
//! requests in order of time ──▶ Ledger      the prefixes that were written, and until when they are kept
//!         │ receipts               │ promise
//!         └───────────────────▶ AuditedCall ──▶ CacheAudit     a table, JSON, an assertion
//! ```
//!
//! A promise is counted by the counter of the flow, and scaled by the input tokens of the same call, which the provider has
//! counted. Where the provider has told how long the written prefix is, that number counts.

mod cause;
mod ledger;
mod prefix;
mod table;

use std::sync::Arc;

use crate::declare::Name;
use crate::model::registry::CachePolicy;
use crate::model::usage::{Dollars, Price, Receipt, Usage};

pub use self::cause::{CacheCause, CacheMiss};
pub(crate) use self::ledger::{AuditedRequest, Ledger};

/// The calls of a flow, each with what it should have read from the provider's cache and what was billed. Made by
/// [`LiveFlow::audit`](crate::flow::LiveFlow::audit).
///
/// An audit prints as a table, with one line for calls of a column that follow each other and have nothing to explain, and
/// serializes as JSON. Both have the names of columns and models, and no text of a conversation.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CacheAudit {
    /// The calls, column by column and step by step.
    pub calls: Vec<AuditedCall>,
    /// The number of calls whose context is not [in memory](crate::flow::LiveFlow::load), or cannot be made again. They are
    /// not in `calls`.
    pub not_audited: usize,
}

/// A cell that called a model, in an [audit](CacheAudit). The tokens are the provider's.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuditedCall {
    /// The column of the cell.
    pub column: Name,
    /// The step of the cell.
    pub step: usize,
    /// The receipt of the cell, with the model and the tokens that were billed.
    pub receipt: Arc<Receipt>,
    /// The tokens of the request, by the counter of the flow.
    pub counted: usize,
    /// The tokens of the longest prefix that an earlier request wrote and this one repeats, whether the provider still had
    /// the prefix or not.
    pub promised: u64,
    /// The reason why the request read less than promised, or why nothing was promised. `None` if the request read what was
    /// promised.
    pub cause: Option<CacheCause>,
}

/// The sum of some calls of an [audit](CacheAudit).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditTotal {
    /// The number of cells.
    pub calls: usize,
    /// The tokens of the requests.
    pub input: u64,
    /// The tokens of the requests by the counter of the flow, of the calls that reported tokens.
    pub counted: u64,
    /// The tokens that were promised.
    pub promised: u64,
    /// The tokens that were read from the cache, promised or not.
    pub read: u64,
    /// The tokens that were written to the cache.
    pub written: u64,
    /// The promised tokens that were not read.
    pub missed: u64,
    /// The cost of the missed tokens above the price of reading them, where the price is known.
    pub cost: Dollars,
}

impl CachePolicy {
    /// Whether a call may have read less than was promised: the provider has a cache, the request was long enough, and much of
    /// the request was not read.
    pub(crate) fn may_have_missed(calls: &Receipt) -> bool {
        let policy = calls.model.as_deref().map(Self::by_model).filter(|policy| policy.read < 1.0);
        // The requests of a batch are answered in any order, and promise nothing to each other.
        let Receipt { usage, unreported: 0, batch: false, .. } = calls else { return false };
        let is_long = policy.is_some_and(|policy| usage.input >= policy.minimum as u64);
        is_long && missed(usage.input, usage.cache_read) > 0
    }
}

/// The part of a promise that may be missing: the ends of prefixes are rounded, and another tokenizer counts otherwise.
const TOLERATED: u64 = 5;

/// The tokens that may be missing in any case.
const ROUNDING: u64 = 128;

/// The tokens of a promise that were not read; 0 within the tolerance.
fn missed(promised: u64, read: u64) -> u64 {
    let missed = promised.saturating_sub(read);
    if missed > ROUNDING.max(promised / TOLERATED) { missed } else { 0 }
}

impl AuditedCall {
    /// The promised tokens that were not read. 0 within a tolerance of a fifth of the promise or 128 tokens, because the
    /// counter of the flow is no tokenizer of the provider.
    pub fn missed(&self) -> u64 {
        if self.cause == Some(CacheCause::Unreported) { 0 } else { missed(self.promised, self.read()) }
    }

    /// The tokens that the call read from the cache.
    pub fn read(&self) -> u64 {
        self.receipt.usage.cache_read
    }

    /// The miss, if promised tokens were not read.
    pub fn miss(&self) -> Option<CacheMiss> {
        let cause = self.cause.clone().filter(|_| self.missed() > 0)?;
        Some(CacheMiss { promised: self.promised, read: self.read(), cause })
    }

    /// The cost of the missed tokens above the price of reading them; `None` without a known price.
    pub fn cost(&self) -> Option<Dollars> {
        let price = Price::by_model(self.receipt.model.as_deref()?)?;
        let usage = self.receipt.usage;
        // Missed tokens were written again first of all.
        let written = self.missed().min(usage.cache_write);
        let read = Usage {
            cache_read: usage.cache_read.saturating_add(self.missed()),
            cache_write: usage.cache_write - written,
            cache_write_long: usage.cache_write_long.min(usage.cache_write - written),
            ..usage
        };
        Some(price.cost(&usage).saturating_sub(price.cost(&read)))
    }
}

impl CacheAudit {
    /// The sum of all calls.
    pub fn total(&self) -> AuditTotal {
        self.calls.iter().collect()
    }

    /// The audit of one column. Of a column without calls, and of an unknown one, the audit is empty.
    #[must_use]
    pub fn of_column(&self, column: impl AsRef<str>) -> Self {
        let calls = self.calls.iter().filter(|call| call.column == column.as_ref());
        Self { calls: calls.cloned().collect(), not_audited: self.not_audited }
    }
}

impl AuditTotal {
    /// The share of the tokens of the requests that was read from the cache, from 0 to 1; 0 without tokens.
    #[expect(clippy::cast_precision_loss, reason = "a share needs few digits")]
    pub fn share(&self) -> f64 {
        if self.input == 0 { 0.0 } else { self.read as f64 / self.input as f64 }
    }
}

impl<'c> FromIterator<&'c AuditedCall> for AuditTotal {
    fn from_iter<I: IntoIterator<Item = &'c AuditedCall>>(calls: I) -> Self {
        let mut total = Self::default();
        for call in calls {
            let usage = call.receipt.usage;
            total.calls += 1;
            total.input = total.input.saturating_add(usage.input);
            if usage.input > 0 {
                total.counted = total.counted.saturating_add(call.counted as u64);
            }
            total.promised = total.promised.saturating_add(call.promised);
            total.read = total.read.saturating_add(usage.cache_read);
            total.written = total.written.saturating_add(usage.cache_write);
            total.missed = total.missed.saturating_add(call.missed());
            total.cost += call.cost().unwrap_or_default();
        }
        total
    }
}
