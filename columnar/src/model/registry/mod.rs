//! The facts about models and providers, with sources and dates. Plain data: nothing here computes a cost, plans a
//! mark or sends a request.
//!
//! | to add | write |
//! |---|---|
//! | a model | a row in a file of `models`: its names, its price, the cache rules of its provider, its window |
//! | a provider | a row in `providers.rs`, and rows for its models where prices or cache rules are known |
//!
//! Prices are read by [`usage::Price`](crate::usage::Price), cache rules by
//! [`cache::CachePolicy`](crate::cache::CachePolicy), formats, addresses, schema dialects and keys by the client,
//! telemetry names by the spans.

#[cfg(feature = "providers")]
mod accepts;
mod context_window;
mod effort;
mod end_date;
mod max_tokens;
mod media;
mod models;
mod providers;
mod row;

use crate::context::budget::Budget;

#[cfg(feature = "providers")]
pub(crate) use self::accepts::{Accepts, EffortForm, Sampling, accepts};
pub use self::context_window::ContextWindow;
pub use self::effort::{Effort, ParseEffortError};
pub use self::end_date::EndDate;
pub use self::max_tokens::MaxTokens;
pub(crate) use self::models::families;
#[cfg(feature = "providers")]
pub(crate) use self::providers::{Api, BatchApi, SchemaDialect};
pub(crate) use self::providers::{PROVIDERS, ProviderFacts};
pub use self::row::{Boundary, CachePolicy, Price, Write};
pub(crate) use self::row::{Family, Rebate, UnitRates, dollars, rate};

/// The position in [`families`] of the family that a model belongs to, by its name or as a version of it.
///
/// A version is a name followed by a number of three digits or more, a date, or a word such as `latest`. The longest
/// name counts.
pub(crate) fn family(model: &str) -> Option<usize> {
    let (provider, model) = canonical(model);
    find(|family| {
        longest(family.names, |name| {
            let version = strip(provider, model, name);
            version.is_some_and(|rest| if name.ends_with('/') { !rest.is_empty() } else { is_version(rest) })
        })
    })
}

/// The position in [`families`] of the family whose cache rules a model has: its own, or else the family with the
/// longest prefix of its name.
pub(crate) fn caching(model: &str) -> Option<usize> {
    own_or_prefix(model, |family| family.cache.is_some())
}

impl MaxTokens {
    /// The limits of a model, by the name as in `COLUMNAR_MODEL`, or else by the longest prefix that is known.
    pub fn by_model(model: &str) -> Self {
        own_or_prefix(model, |family| family.reply.is_some())
            .and_then(|position| at(position)?.reply)
            .unwrap_or(Self::new(None, false, "", ""))
    }
}

impl ContextWindow {
    /// The window of a model, by its name as in `COLUMNAR_MODEL`, or else by the longest prefix that is known. A model
    /// on this machine has no such window, because the client decides.
    pub fn by_model(model: &str) -> Option<Self> {
        at(own_or_prefix(model, |family| family.window.is_some())?)?.window
    }

    /// The budget of requests to a model: a strategy without a number of tokens cuts to the window.
    pub(crate) fn limit(model: &str, budget: Budget) -> Budget {
        match Self::by_model(model) {
            Some(window) => budget.within(window.tokens, window.most_input),
            None => budget,
        }
    }
}

impl EndDate {
    /// The end of a model, by its name as in `COLUMNAR_MODEL` or as a version of it, if an end is announced. The end
    /// of a model with a merely similar name is not guessed.
    pub fn by_model(model: &str) -> Option<Self> {
        at(family(model)?)?.end
    }
}

/// Whether requests to a model may ask for the long lifetime of the cache, if there is one.
fn takes_long_writes(model: &str) -> bool {
    let (name, _) = split(model);
    provider(name).is_none_or(|provider| provider.takes_long_writes)
}

/// The same facts twice: for the interfaces of a provider that take all lifetimes of the cache, and for the interfaces
/// that take the short lifetime alone.
pub(crate) struct ByLifetimes<T> {
    pub(crate) all: T,
    pub(crate) short: T,
}

impl<T: PartialEq> ByLifetimes<T> {
    /// The facts for the interface in the name of a model.
    pub(crate) fn of(&self, model: &str) -> &T {
        if takes_long_writes(model) { &self.all } else { &self.short }
    }

    /// Both facts, if they differ.
    pub(crate) fn all(&self) -> impl Iterator<Item = &T> {
        [Some(&self.all), Some(&self.short).filter(|short| **short != self.all)].into_iter().flatten()
    }
}

fn at(position: usize) -> Option<&'static Family> {
    families().nth(position)
}

/// The position of the family of a model, if it has such facts, or else of the family with such facts and the longest
/// prefix.
fn own_or_prefix(model: &str, has_facts: impl Fn(&Family) -> bool) -> Option<usize> {
    // The facts of the model's own row come first, even before the longest prefix of another row.
    let own = family(model).filter(|position| at(*position).is_some_and(&has_facts));
    let (provider, model) = canonical(model);
    own.or_else(|| {
        find(|family| {
            let prefixes = if has_facts(family) { family.prefixes } else { "" };
            longest(prefixes, |prefix| strip(provider, model, prefix).is_some())
        })
    })
}

/// The row with the longest prefix of a name.
fn by_prefix<'r, R>(rows: &'r [R], [provider, name]: [&str; 2], prefixes: fn(&R) -> &str) -> Option<&'r R> {
    let rows = rows.iter().filter_map(|row| {
        Some((longest(prefixes(row), |prefix| strip(provider, name, prefix).is_some())?, row))
    });
    rows.max_by_key(|(length, _)| *length).map(|(_, row)| row)
}

/// The row of the provider of a model, which the name begins with.
pub(crate) fn provider(name: &str) -> Option<&'static ProviderFacts> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

fn find(length: impl Fn(&Family) -> Option<usize>) -> Option<usize> {
    let found = families().enumerate().filter_map(|(at, family)| Some((length(family)?, at)));
    found.max_by_key(|(length, _)| *length).map(|(_, at)| at)
}

fn longest(names: &str, is_it: impl Fn(&str) -> bool) -> Option<usize> {
    names.split_ascii_whitespace().filter(|name| is_it(name)).map(str::len).max()
}

/// The provider whose models these are, and the rest of the name with the slash.
fn canonical(model: &str) -> (&str, &str) {
    let (name, rest) = split(model);
    (provider(name).map_or(name, |provider| provider.models_of), rest)
}

/// The provider in a name, and the rest with the slash.
fn split(model: &str) -> (&str, &str) {
    // A name without a slash, such as `offline`, counts as a provider.
    model.split_at(model.find('/').unwrap_or(model.len()))
}

/// The rest of a name after a prefix.
fn strip<'m>(provider: &str, model: &'m str, prefix: &str) -> Option<&'m str> {
    // The provider is compared apart, because several interfaces of a provider, such as `openai_resp`, share the rows.
    model.strip_prefix(prefix.strip_prefix(provider)?)
}

/// Whether a name with this suffix is the same model: no suffix, a word such as `latest`, a number of three digits or
/// more, or a date.
fn is_version(rest: &str) -> bool {
    let mut parts = rest.split('-');
    // `gpt-4o` is no version of `gpt-4`: the suffix of a version begins with a dash.
    let is_separate = parts.next() == Some("");
    let mut numbers = 0;
    is_separate
        && parts.all(|part| match part {
            "latest" | "preview" => true,
            _ => {
                numbers += 1;
                // `claude-opus-5-6` is no version of `claude-opus-5`, but `-001` and `-2026-01-31` are.
                let least = if numbers == 1 { 3 } else { 2 };
                part.len() >= least && part.bytes().all(|byte| byte.is_ascii_digit())
            }
        })
}

#[cfg(test)]
mod tests;
