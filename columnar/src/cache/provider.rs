//! What a provider charges for what it has seen before, and how it is found again.

use std::time::Duration;

use super::mark::Lifetime;
use super::table::{ROWS, UNKNOWN};

/// The rules by which a provider keeps the beginnings of requests of some models, and what that costs: a row
/// of a table, with its source and date. Prices change, and so may a row: the fields of a clone can be set.
///
/// Factors are relative to what the same tokens cost where no cache is involved.
///
/// ```
/// use columnar::cache::CachePolicy;
///
/// let sonnet = CachePolicy::of("anthropic/claude-sonnet-4-5");
/// assert_eq!((sonnet.read, sonnet.short.factor, sonnet.minimum), (0.1, 1.25, 1024));
///
/// let unknown = CachePolicy::of("somebody/something");
/// assert_eq!((unknown.read, unknown.most_marks), (1.0, 0)); // nothing is promised
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CachePolicy {
    /// How the names of the models begin, spelled as in `COLUMNAR_MODEL`.
    pub models: &'static [&'static str],
    /// US dollars for a million tokens of input that come from no cache, where known.
    pub price: Option<f64>,
    /// The factor of tokens that are read from the cache.
    pub read: f64,
    /// What it takes to have tokens kept for a short time.
    pub short: Write,
    /// What it takes to have tokens kept for a long time, if that is possible.
    pub long: Option<Write>,
    /// The tokens that a prefix has at least that is kept.
    pub minimum: usize,
    /// How many marks a request may have. With 0 the provider finds prefixes by itself, or not at all.
    pub most_marks: usize,
    /// In how many blocks an earlier entry is looked for, backwards from a mark and the marked one included.
    pub look_back: usize,
    /// Where a prefix can end that is found again.
    pub boundary: Boundary,
    /// Where the provider says so. Its prices may stand in a list of their own. Where something else that it
    /// publishes contradicts this page, or the page leaves something open, the row has what is safer.
    pub source: &'static str,
    /// A day on which it is known to have said so, as `YYYY-MM-DD`.
    pub date: &'static str,
}

/// What it takes to have a provider keep a prefix.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Write {
    /// The factor of tokens that are written.
    pub factor: f64,
    /// For how long they are kept, counted from the request that wrote or read them last.
    pub lifetime: Duration,
}

/// Where a prefix can end that a provider finds again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Boundary {
    /// Behind a block of content: an instruction, or a part of a message that is sent as its own.
    Block,
    /// Behind a message.
    Message,
    /// Anywhere.
    Token,
}

impl CachePolicy {
    /// The row for a model, by the longest beginning that its name has. A model that no row is for gets one
    /// without marks and without any discount.
    pub fn of(model: &str) -> &'static Self {
        let longest = |row: &Self| {
            let begins = row.models.iter().filter(|models| model.starts_with(**models));
            begins.map(|models| models.len()).max()
        };
        let known = ROWS.iter().filter_map(|row| Some((longest(row)?, row)));
        known.max_by_key(|(length, _)| *length).map_or(&UNKNOWN, |(_, row)| row)
    }

    /// All rows, without the one for unknown models.
    pub fn all() -> &'static [Self] {
        ROWS
    }

    /// What it takes to have tokens kept, if the provider does for so long.
    pub fn write(&self, lifetime: Lifetime) -> Option<Write> {
        match lifetime {
            Lifetime::Short => Some(self.short),
            Lifetime::Long => self.long,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_wins() {
        assert_eq!(CachePolicy::of("anthropic/claude-opus-4-20250514").minimum, 1024);
        assert_eq!(CachePolicy::of("anthropic/claude-opus-4-1").minimum, 1024);
        assert_eq!(CachePolicy::of("anthropic/claude-opus-4-5-20251101").minimum, 4096);
        assert_eq!(CachePolicy::of("openai/gpt-5.5").most_marks, 0);
        assert!(CachePolicy::of("openai_resp/gpt-5.5").read < 1.0);
        assert!(CachePolicy::of("openai_resp/gpt-5.5-pro").read >= 1.0, "nothing is taken off");
        assert_eq!(CachePolicy::of("openai/gpt-5.6-mini").most_marks, 4);
        assert_eq!(CachePolicy::of("openai_resp/gpt-5.6"), CachePolicy::of("openai/gpt-5.6"));
    }

    #[test]
    fn of_what_is_unknown_nothing_is_assumed() {
        for model in ["", "anthropic", "offline", "xai/grok", "claude-sonnet-4-5", "anthropic/other"] {
            let row = CachePolicy::of(model);
            assert_eq!((row.most_marks, row.price, row.long), (0, None, None), "{model}");
            assert!(row.read >= 1.0 && row.short.factor >= 1.0, "{model}");
        }
    }

    #[test]
    fn every_beginning_is_that_of_a_model_and_of_one_row() {
        let mut all: Vec<&str> = ROWS.iter().flat_map(|row| row.models).copied().collect();
        assert!(all.iter().all(|models| models.contains('/')));
        for models in &all {
            assert!(CachePolicy::of(models).models.contains(models), "{models}");
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn every_row_is_plausible() {
        for row in CachePolicy::all() {
            let name = row.models.first().expect("it is for some models");
            assert!((0.0..=1.0).contains(&row.read), "{name}");
            assert!(row.price.is_none_or(|price| (0.01..100.0).contains(&price)), "{name}");
            assert!((1.0..=2.0).contains(&row.short.factor), "{name}");
            assert!(!row.short.lifetime.is_zero(), "{name}");
            if let Some(long) = row.long {
                assert!(long.factor > row.short.factor && long.lifetime > row.short.lifetime, "{name}");
            }
            assert!(row.minimum > 0 && row.look_back > 0, "{name}");
            assert!(row.source.starts_with("https://"), "{name}");
            let date: Vec<&str> = row.date.split('-').collect();
            assert_eq!(date.iter().map(|part| part.len()).collect::<Vec<_>>(), [4, 2, 2], "{name}");
            let number = |at: usize| date[at].parse::<u32>().expect(name);
            assert!(number(0) >= 2025 && (1..=12).contains(&number(1)) && (1..=31).contains(&number(2)));
        }
    }
}
