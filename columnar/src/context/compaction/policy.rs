//! When a part of a log is laid anew.
//!
//! A text that is not valid any more costs `r` a token in each request that carries it: the rent. Laying a part anew costs
//! `w - r` for each token that stays, which is written and not read. A part is laid anew when the rent that it has cost
//! reaches [`RENT`] times that. So the rewrites cost at most a share of the rent, and the rent of a text grows with the
//! square of the time for which nothing is done; together they cost at most a constant times what any layout costs, also
//! one that knows the changes to come. This holds between pauses after which the provider has forgotten the prefix: then
//! everything is written in any case, and all is laid anew.

use super::log::DocumentLog;
use crate::context::documents::LogPlace;

/// The rent at which a part is laid anew, over the cost of that. The bill depends little on it: 1 has the smallest bound,
/// and a larger number is better for sessions that end soon.
const RENT: f64 = 2.0;

/// The largest request over the valid texts, unless a view or the price says otherwise.
const AT_MOST: f64 = 2.0;

/// The price of reading up to which requests may be of any size, over the price of a token.
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
    /// The tokens of the context window. From half of it on, a request is bounded in any case.
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

/// The place from which on the update of a step should lay documents anew, if it should. `log` is the log after that update,
/// with nothing laid anew.
pub(crate) fn first_laid_anew(log: &DocumentLog, step: usize, readers: &[LogReader<'_>]) -> Option<LogPlace> {
    readers.first()?;
    let (first, _) = log.parts(LogPlace::default()).next().filter(|_| !log.form().is_once)?;
    let places = [first, log.cold().max(first)];
    let [all, hot] = places.map(|place| log.size(place, step));
    if all.stale == 0 {
        return None;
    }
    if readers.iter().all(|reader| reader.is_late) {
        return Some(first);
    }
    let live = all.live + log.new_tokens(step);
    let [first, cold] = places;
    let [is_all_worth, is_hot_worth] = [(first, all), (cold, hot)].map(|(place, size)| {
        let gains = readers.iter().map(|reader| {
            let prices = reader.prices_of(live, all.stale);
            prices.gain(size.carried, size.live + (reader.turns)(place.step))
        });
        size.stale > 0 && gains.sum::<f64>() >= 0.0
    });
    if is_all_worth {
        return Some(first);
    }
    let most = readers.iter().filter_map(|reader| reader.most_stale(live, all.stale)).min();
    let most = most.unwrap_or(usize::MAX);
    let is_due = is_hot_worth || all.stale > most;
    is_due.then(|| if all.stale - hot.stale <= most { cold } else { first })
}

impl LogPrices {
    /// The rent of stale tokens that requests have carried, above what makes a rewrite of so many tokens worth it.
    fn gain(self, carried: usize, rewritten: usize) -> f64 {
        let Self { price, read, write, .. } = self;
        price * (read * tokens(carried) - RENT * (write - read) * tokens(rewritten))
    }
}

impl LogReader<'_> {
    /// The tokens of a request without stale texts.
    fn live(&self, documents: usize) -> usize {
        self.system + documents + (self.turns)(0)
    }

    /// The prices of requests with these documents. A request that is too short for the cache pays the price of a token.
    fn prices_of(&self, documents: usize, stale: usize) -> LogPrices {
        let is_cached = self.live(documents) + stale >= self.prices.minimum;
        if is_cached { self.prices } else { LogPrices { read: 1.0, write: 1.0, ..self.prices } }
    }

    /// The most stale tokens of a request; `None` for any number.
    #[expect(clippy::cast_possible_truncation, reason = "sizes are far below 2^53 tokens")]
    #[expect(clippy::cast_sign_loss, reason = "a bound is 1 or more")]
    fn most_stale(&self, documents: usize, stale: usize) -> Option<usize> {
        let live = self.live(documents);
        let LogPrices { read, at_most, window, .. } = self.prices;
        let is_free = read <= CHEAP && live + stale <= window / 2;
        let at_most = at_most.or_else(|| (!is_free).then_some(AT_MOST))?;
        Some((((at_most - 1.0) * tokens(live)) as usize).min(window.saturating_sub(live)))
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes beyond 2^53 tokens may be off by one")]
fn tokens(count: usize) -> f64 {
    count as f64
}
