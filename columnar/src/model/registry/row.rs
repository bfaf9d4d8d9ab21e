//! A row of the table of models: the price, the cache rules, the lengths of replies and contexts, and the end.

use std::time::Duration;

/// The models that share a price, cache rules, the most tokens of a reply, a context window, or an end.
#[derive(Debug)]
pub(crate) struct Family {
    /// The names of the models as in `COLUMNAR_MODEL`, without versions. A name that ends in `/` is for all models of a
    /// provider.
    pub(crate) names: &'static [&'static str],
    /// Prefixes of the names of other models that have the same cache rules, replies and windows. A price or an end is
    /// never guessed from a prefix.
    pub(crate) prefixes: &'static [&'static str],
    pub(crate) price: Option<Rates>,
    /// The price of a request that waits in a batch, for hours at most.
    pub(crate) batch: Option<Rebate>,
    /// The price of a request that waits in turn, for minutes, and that the provider may refuse.
    pub(crate) flex: Option<Rebate>,
    pub(crate) cache: Option<CacheRules>,
    pub(crate) reply: Option<ReplyLimit>,
    pub(crate) window: Option<WindowFact>,
    pub(crate) end: Option<EndFact>,
}

/// Prices in US dollars for a million tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    pub(crate) input: f64,
    pub(crate) output: f64,
    pub(crate) cache_read: f64,
    pub(crate) long_request: Option<LongRequest>,
    pub(crate) source: &'static str,
    /// A day on which the source is known to have had this price, as `YYYY-MM-DD`.
    pub(crate) date: &'static str,
}

/// Another price for a whole request of more than `above` tokens, and for the reply, in percent of the usual price.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongRequest {
    pub(crate) above: u64,
    pub(crate) request_percent: u64,
    pub(crate) reply_percent: u64,
}

/// A lower price of all tokens, in percent of the usual price. Tokens that are read from a cache may have another
/// percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rebate {
    pub(crate) percent: u64,
    pub(crate) cached_percent: u64,
}

/// The rules by which a provider caches prefixes of requests; see [`CachePolicy`](crate::cache::CachePolicy).
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheRules {
    /// The factor of cached tokens where no price is known.
    pub(crate) read: f64,
    pub(crate) short: Write,
    /// The long lifetime, which not every interface of the provider takes; see
    /// [`takes_long_writes`](super::takes_long_writes).
    pub(crate) long: Option<Write>,
    pub(crate) minimum: usize,
    pub(crate) most_marks: usize,
    pub(crate) look_back: usize,
    pub(crate) boundary: Boundary,
    pub(crate) source: &'static str,
    pub(crate) date: &'static str,
}

/// The most tokens of a reply; see [`MaxTokens`](crate::model::MaxTokens).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplyLimit {
    /// The most tokens that the model can write; `None` if the provider names no number.
    pub(crate) most: Option<u32>,
    /// Whether the model may think before it replies. Thoughts count as well.
    pub(crate) thinks: bool,
    pub(crate) source: &'static str,
    pub(crate) date: &'static str,
}

/// The most tokens of a request and the reply; see [`ContextWindow`](crate::model::ContextWindow).
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowFact {
    pub(crate) tokens: usize,
    /// The tokens that are kept free even for a short reply.
    pub(crate) reserved: usize,
    pub(crate) source: &'static str,
    pub(crate) date: &'static str,
}

/// The last day of a model; see [`EndDate`](crate::model::EndDate).
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndFact {
    pub(crate) day: &'static str,
    pub(crate) source: &'static str,
    pub(crate) date: &'static str,
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
    /// The factor of cached tokens, by the price, which has a source and a date, or else by the rules. The factor has
    /// four decimal places, as prices have.
    pub(crate) fn read_factor(&self, rules: &CacheRules) -> f64 {
        // A free model has a price of 0, which is no divisor.
        let priced = self.price.filter(|price| price.input > 0.0);
        priced.map_or(rules.read, |price| (price.cache_read / price.input * 1e4).round() / 1e4)
    }

    /// The factors of written tokens, for a short and for a long time. A write costs nothing extra where no rules are
    /// known.
    pub(crate) fn write_factors(&self) -> (f64, Option<f64>) {
        let rules = self.cache.as_ref();
        (rules.map_or(1.0, |rules| rules.short.factor), rules.and_then(|rules| Some(rules.long?.factor)))
    }
}
