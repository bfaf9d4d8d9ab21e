//! The words in which rows are written.

use std::time::Duration;

use super::super::{CachePolicy, ContextWindow, EndDate, Family, MaxTokens, Price, Rebate, Write};

/// Names of models between spaces.
pub(super) type Names = &'static str;

pub(super) const MINUTE: u64 = 60;
pub(super) const HOUR: u64 = 60 * MINUTE;

/// The date of the last entry of the lists from which rows without a separate date were made: of
/// <https://github.com/pydantic/genai-prices>, and of the table of models in <https://github.com/BerriAI/litellm>.
pub(super) const LISTED: &str = "2026-11-09";

pub(super) const fn write(factor: f64, seconds: u64) -> Write {
    Write { factor, lifetime: Duration::from_secs(seconds) }
}

/// A price in US dollars for a million tokens of the request, of the reply, and from the cache.
pub(super) const fn usd(input: f64, output: f64, cache_read: f64) -> Price {
    Price::new(input, output).cached(cache_read, input)
}

impl MaxTokens {
    pub(super) const fn plain(most: u32, source: &'static str, date: &'static str) -> Self {
        Self::new(Some(most), false, source, date)
    }

    pub(super) const fn thinking(most: u32, source: &'static str, date: &'static str) -> Self {
        Self::new(Some(most), true, source, date)
    }

    pub(super) const fn unlimited(source: &'static str, date: &'static str) -> Self {
        Self::new(None, true, source, date)
    }

    /// The limit of another model of the provider.
    pub(super) const fn most(self, tokens: u32) -> Self {
        Self::new(Some(tokens), self.thinks, self.source, self.date)
    }

    /// The limit of a model of the provider that does not think.
    pub(super) const fn without_thoughts(self, tokens: u32) -> Self {
        Self::plain(tokens, self.source, self.date)
    }

    pub(super) const fn on(self, date: &'static str) -> Self {
        Self { date, ..self }
    }
}

impl ContextWindow {
    pub(super) const fn new(tokens: usize, source: &'static str, date: &'static str) -> Self {
        Self { tokens, most_input: tokens, source, date }
    }

    /// The window of another model of the provider, with as many tokens kept free for a reply.
    pub(super) const fn holding(self, tokens: usize) -> Self {
        Self { tokens, most_input: tokens - (self.tokens - self.most_input), ..self }
    }

    /// The window with so many tokens kept free for a reply.
    pub(super) const fn reserving(self, reserved: usize) -> Self {
        Self { most_input: self.tokens - reserved, ..self }
    }
}

impl EndDate {
    /// The ends that a page lists.
    pub(super) const fn listed(source: &'static str, date: &'static str) -> Self {
        Self { day: "", source, date }
    }

    pub(super) const fn on(self, day: &'static str) -> Self {
        Self { day, ..self }
    }
}

impl Rebate {
    /// A rebate with which all tokens cost this percentage.
    pub(super) const fn all(percent: u64) -> Self {
        Self { percent, cached_percent: percent }
    }

    /// The same rebate, but tokens that are read from the cache cost this percentage.
    pub(super) const fn cached(self, percent: u64) -> Self {
        Self { cached_percent: percent, ..self }
    }
}

impl CachePolicy {
    pub(super) const fn minimum(self, tokens: usize) -> Self {
        Self { minimum: tokens, ..self }
    }

    pub(super) const fn read(self, factor: f64) -> Self {
        Self { read: factor, ..self }
    }

    pub(super) const fn seen(self, source: &'static str, date: &'static str) -> Self {
        Self { source, date, ..self }
    }
}

impl Family {
    const NOTHING: Self = Self {
        names: "",
        prefixes: "",
        price: Price::new(0.0, 0.0),
        cache: None,
        reply: None,
        window: None,
        end: None,
    };

    /// A price without cache rules.
    pub(super) const fn priced(names: Names, price: Price) -> Self {
        Self { names, price, ..Self::NOTHING }
    }

    /// Models without a row, by prefixes of names.
    pub(super) const fn prefixed(prefixes: Names) -> Self {
        Self { prefixes, ..Self::NOTHING }
    }

    /// Cache rules for models without a row.
    pub(super) const fn unpriced(prefixes: Names, rules: CachePolicy) -> Self {
        Self::prefixed(prefixes).cached(rules)
    }

    /// The family with this limit of a reply.
    pub(super) const fn replies(self, limit: MaxTokens) -> Self {
        Self { reply: Some(limit), ..self }
    }

    /// The family with this window for a request and the reply.
    pub(super) const fn window(self, window: ContextWindow) -> Self {
        Self { window: Some(window), ..self }
    }

    pub(super) const fn ends(self, end: EndDate) -> Self {
        Self { end: Some(end), ..self }
    }

    pub(super) const fn batch(self, rebate: Rebate) -> Self {
        Self { price: Price { batch: Some(rebate), ..self.price }, ..self }
    }

    /// The family without batches, or without a known price of batches.
    pub(super) const fn unbatched(self) -> Self {
        Self { price: Price { batch: None, ..self.price }, ..self }
    }

    pub(super) const fn flex(self, rebate: Rebate) -> Self {
        Self { price: Price { flex: Some(rebate), ..self.price }, ..self }
    }

    pub(super) const fn without_flex(self) -> Self {
        Self { price: Price { flex: None, ..self.price }, ..self }
    }

    pub(super) const fn cached(self, rules: CachePolicy) -> Self {
        Self { cache: Some(rules), ..self }
    }

    pub(super) const fn seen(self, source: &'static str, date: &'static str) -> Self {
        Self { price: Price { source, date, ..self.price }, ..self }
    }

    /// The family with a price that was seen on another date than the others of the provider.
    pub(super) const fn on(self, date: &'static str) -> Self {
        let source = self.price.source;
        self.seen(source, date)
    }

    /// The family with another price for requests of more than `above` tokens.
    pub(super) const fn beyond(self, above: u64, request_percent: u64, reply_percent: u64) -> Self {
        let rates = self.price.rates.percent(request_percent, request_percent, reply_percent);
        Self { price: Price { beyond: Some((above, rates)), ..self.price }, ..self }
    }
}
