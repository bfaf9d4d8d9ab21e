//! A row of the table of models: the price, the cache rules, the lengths of replies and contexts, and the end.

use std::time::Duration;

use super::context_window::ContextWindow;
use super::end_date::EndDate;
use super::max_tokens::MaxTokens;

/// The models that share a price, cache rules, the most tokens of a reply, a context window, or an end.
#[derive(Debug)]
pub(crate) struct Family {
    /// The names of the models as in `COLUMNAR_MODEL`, without versions, between spaces. A name that ends in `/` is for
    /// all models of a provider.
    pub(crate) names: &'static str,
    /// Prefixes of the names of other models that have the same cache rules, replies and windows, between spaces. A price
    /// or an end is never guessed from a prefix.
    pub(crate) prefixes: &'static str,
    /// The price of the models with these names, without the rates of writes, which come from the cache rules.
    pub(crate) price: Price,
    /// The cache rules, without models and price. The factor of cached tokens counts where no price is known.
    pub(crate) cache: Option<CachePolicy>,
    pub(crate) reply: Option<MaxTokens>,
    pub(crate) window: Option<ContextWindow>,
    pub(crate) end: Option<EndDate>,
}

/// The price of a model's tokens: a row of the registry, with source and date, or the user's own price.
///
/// The price is for a plain request: not for a [batch](Self::batch) or a priority request, without items that are
/// billed separately, such as images and searches, and without tax. If the price depends on the hour, the highest
/// price counts, and a temporary discount is ignored. So the price may be too high, and should not be too low.
///
/// ```
/// use columnar::usage::{Dollars, Price, Usage};
///
/// let sonnet = Price::by_model("anthropic/claude-sonnet-5-5").expect("it has a price");
/// assert_eq!((sonnet.input(), sonnet.output()), (Dollars::new(2.0), Dollars::new(10.0)));
/// assert_eq!(sonnet.source(), "https://platform.claude.com/docs/en/about-claude/pricing");
///
/// // 1,000 tokens of the request are new, 8,000 are read from the cache and 1,000 written to it.
/// let usage = Usage::new(10_000, 200).cached(8_000, 1_000);
/// assert_eq!(sonnet.cost(&usage).to_string(), "$0.0073");
///
/// assert_eq!(Price::by_model("somebody/something"), None); // no price is guessed
/// let own = Price::new(0.5, 2.0).cached(0.05, 0.5);
/// assert_eq!(own.cost(&usage).to_string(), "$0.0018");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    pub(crate) rates: UnitRates,
    /// The number of tokens above which the whole request has other rates, and these rates.
    pub(crate) beyond: Option<(u64, UnitRates)>,
    /// The price of a request that waits in a batch, for hours at most.
    pub(crate) batch: Option<Rebate>,
    /// The price of a request that waits in turn, for minutes, and that the provider may refuse.
    pub(crate) flex: Option<Rebate>,
    pub(crate) source: &'static str,
    /// A day on which the source is known to have had this price, as `YYYY-MM-DD`.
    pub(crate) date: &'static str,
}

/// The price of a token in millionths of a millionth of a dollar. One unit is a millionth of a dollar for a million
/// tokens, and no price is finer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnitRates {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) read: u64,
    pub(crate) write: u64,
    pub(crate) long_write: Option<u64>,
}

impl UnitRates {
    /// These percentages of the rates of a request, of its tokens from a cache, and of the reply.
    pub(crate) const fn percent(self, request: u64, cached: u64, reply: u64) -> Self {
        Self {
            input: percent(self.input, request),
            output: percent(self.output, reply),
            read: percent(self.read, cached),
            write: percent(self.write, request),
            long_write: match self.long_write {
                Some(each) => Some(percent(each, request)),
                None => None,
            },
        }
    }
}

const fn percent(rate: u64, percent: u64) -> u64 {
    // Rounded up, because a price should not be too low. Rates of the registry alone are multiplied here, which are far
    // too small to overflow.
    (rate * percent).div_ceil(100)
}

/// The rate of a price in US dollars for a million tokens.
#[expect(clippy::cast_possible_truncation, reason = "too high a price saturates")]
#[expect(clippy::cast_sign_loss, reason = "a negative price becomes zero")]
pub(crate) const fn rate(dollars: f64) -> u64 {
    (dollars * 1e6 + 0.5) as u64
}

#[expect(clippy::cast_precision_loss, reason = "rates of the registry are small numbers")]
pub(crate) const fn dollars(rate: u64) -> f64 {
    rate as f64 / 1e6
}

/// A lower price of all tokens, in percent of the usual price. Tokens that are read from a cache may have another
/// percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rebate {
    pub(crate) percent: u64,
    pub(crate) cached_percent: u64,
}

/// The rules by which a provider caches prefixes of requests to some models, and the fees, with source and date. Rules
/// change, so the fields of a clone can be set.
///
/// Factors are relative to the price of uncached input tokens.
///
/// ```
/// use columnar::cache::CachePolicy;
///
/// let sonnet = CachePolicy::by_model("anthropic/claude-sonnet-5-5");
/// assert_eq!((sonnet.read, sonnet.short.factor, sonnet.minimum), (0.05, 1.25, 512));
///
/// let unknown = CachePolicy::by_model("somebody/something");
/// assert_eq!((unknown.read, unknown.most_marks), (1.0, 0)); // no discount is assumed
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CachePolicy {
    /// The models, by name or by a prefix of names, as in `COLUMNAR_MODEL`.
    pub models: &'static [&'static str],
    /// The price of a million uncached input tokens in US dollars, where known.
    pub price: Option<f64>,
    /// The factor of tokens that are read from the cache.
    pub read: f64,
    /// The fee and the time of a short lifetime.
    pub short: Write,
    /// The fee and the time of a long lifetime, if there is one, and the interface takes it.
    pub long: Option<Write>,
    /// The minimum length of a cached prefix in tokens.
    pub minimum: usize,
    /// The most marks of a request. With 0 the provider caches prefixes automatically, or not at all.
    pub most_marks: usize,
    /// The number of blocks in which the provider looks for an entry, backwards from a mark and with the marked one.
    pub look_back: usize,
    /// The position at which a cached prefix may end.
    pub boundary: Boundary,
    /// The page with the rules. Where other pages contradict this one, or it leaves something open, the policy has the
    /// safer value. The factor of cached tokens comes from the [price](crate::usage::Price), where there is one.
    pub source: &'static str,
    /// A day on which the page is known to have had these rules, as `YYYY-MM-DD`.
    pub date: &'static str,
}

impl CachePolicy {
    /// The policy for an unknown model: no marks, no discount.
    pub(crate) const UNKNOWN: Self = Self {
        models: &[],
        price: None,
        read: 1.0,
        short: Write { factor: 1.0, lifetime: Duration::from_mins(5) },
        long: None,
        // The largest minimum in the registry.
        minimum: 4096,
        most_marks: 0,
        look_back: 1,
        boundary: Boundary::Message,
        source: "",
        date: "",
    };
}

/// The fee and the time for which a provider keeps a prefix.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Write {
    /// The factor of tokens that are written.
    pub factor: f64,
    /// The time for which tokens are kept after the last request that wrote or read these tokens.
    pub lifetime: Duration,
}

/// The positions at which a cached prefix may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Boundary {
    /// The end of a block of content: an instruction, or a part of a message that is sent as a block.
    Block,
    /// The end of a message.
    Message,
    /// The end of any token.
    Token,
}

impl Family {
    /// The price, if the row is for models by name.
    pub(crate) fn price(&self) -> Option<Price> {
        (!self.names.is_empty()).then_some(self.price)
    }

    /// The factor of cached tokens, by the price, which has a source and a date, or else by the rules. The factor has
    /// four decimal places, as prices have.
    pub(crate) fn read_factor(&self, rules: &CachePolicy) -> f64 {
        let UnitRates { input, read, .. } = self.price.rates;
        // A free model has a price of 0, which is no divisor, and so has a row without a price.
        if input == 0 { rules.read } else { (dollars(read) / dollars(input) * 1e4).round() / 1e4 }
    }

    /// The factors of written tokens, for a short and for a long time. A write costs nothing extra where no rules are
    /// known.
    pub(crate) fn write_factors(&self) -> (f64, Option<f64>) {
        let rules = self.cache.as_ref();
        (rules.map_or(1.0, |rules| rules.short.factor), rules.and_then(|rules| Some(rules.long?.factor)))
    }
}
