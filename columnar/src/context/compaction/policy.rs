//! When a part of a log is laid anew.
//!
//! A text that is not valid any more costs `r` a token in each request that carries it: the rent. Laying a part anew costs
//! `w - r` for each token that stays, which is written and not read. A part is laid anew when the rent that it has cost
//! reaches [`RENT`] times that. So the rewrites cost at most a share of the rent, and the rent of a text grows with the
//! square of the time for which nothing is done; together they cost at most a constant times what any layout costs, also
//! one that knows the changes to come. This holds between pauses after which the provider has forgotten the prefix: then
//! everything is written in any case, and all is laid anew.

use super::log::{DocumentLog, LogSize};

/// The rent at which a part is laid anew, over the cost of that. The bill depends little on it: 1 has the smallest bound,
/// and a larger number is better for sessions that end soon.
const RENT: f64 = 1.5;

/// The largest request over the valid texts, unless a view or the price says otherwise.
const AT_MOST: f64 = 2.0;

/// The price of reading at which requests may be of any size, over the price of a token.
const CHEAP: f64 = 0.05;

/// The prices of a column that reads a log, and the bounds of its requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LogPrices {
    /// The price of a token.
    pub(crate) price: f64,
    /// The prices of reading and writing a token of the cache, over the price of a token.
    pub(crate) read: f64,
    pub(crate) write: f64,
    /// The tokens of the shortest prefix that the provider caches.
    pub(crate) minimum: usize,
    /// The largest request over the valid texts; `None` for the default.
    pub(crate) at_most: Option<f64>,
    /// The tokens from which on a request is bounded in any case.
    pub(crate) window: usize,
}

/// A column that reads a log.
pub(crate) struct LogReader<'r> {
    pub(crate) prices: LogPrices,
    /// The tokens before the messages.
    pub(crate) system: usize,
    /// The tokens of the turns from a step on, without documents.
    pub(crate) turns: &'r dyn Fn(usize) -> usize,
    /// Whether the provider has forgotten the request before.
    pub(crate) is_late: bool,
}

/// The first step of the part of a log that the update of a step should lay anew, if there is any. `log` is the log after
/// that update, with nothing laid anew.
pub(crate) fn first_laid_anew(log: &DocumentLog, step: usize, readers: &[LogReader<'_>]) -> Option<usize> {
    let mut sizes = log.sizes(step);
    // The texts of the step itself are new in any case.
    let new = sizes.first().filter(|(at, _)| *at == step).map_or_else(LogSize::default, |(_, size)| *size);
    sizes.retain(|(at, size)| *at < step && size.stale > new.stale);
    let (first, all) = *sizes.last()?;
    if readers.iter().all(|reader| reader.is_late) {
        return Some(first);
    }
    // From the first step on, because that part holds all others.
    let worth = sizes.iter().rev().find(|(at, size)| {
        let (mut rent, mut rewrite) = (0.0, 0.0);
        for reader in readers {
            let LogPrices { price, read, write, .. } = reader.prices_of(all);
            rent += price * read * tokens(size.carried);
            rewrite += price * (write - read) * tokens(size.live - new.live + (reader.turns)(*at));
        }
        rent >= RENT * rewrite
    });
    worth.map(|(at, _)| *at).or_else(|| readers.iter().filter_map(|it| it.bounded(&sizes, all)).min())
}

impl LogReader<'_> {
    /// The tokens of a request without stale texts.
    fn live(&self, all: LogSize) -> usize {
        self.system + all.live + (self.turns)(0)
    }

    /// The prices of requests with these documents. A request that is too short for the cache pays the price of a token.
    fn prices_of(&self, all: LogSize) -> LogPrices {
        let is_cached = self.live(all) + all.stale >= self.prices.minimum;
        if is_cached { self.prices } else { LogPrices { read: 1.0, write: 1.0, ..self.prices } }
    }

    /// The last part whose rewrite makes the request small enough, if the request is too large.
    fn bounded(&self, sizes: &[(usize, LogSize)], all: LogSize) -> Option<usize> {
        let is_free = self.prices.read <= CHEAP && self.live(all) + all.stale <= self.prices.window;
        let at_most = self.prices.at_most.or_else(|| (!is_free).then_some(AT_MOST))?;
        let most = (at_most - 1.0) * tokens(self.live(all));
        if tokens(all.stale) <= most {
            return None;
        }
        let mut parts = sizes.iter();
        parts.find(|(_, size)| tokens(all.stale - size.stale) <= most).map(|(at, _)| *at)
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes beyond 2^53 tokens may be off by one")]
fn tokens(count: usize) -> f64 {
    count as f64
}
