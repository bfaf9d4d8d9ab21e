//! The facts about models and providers, with their sources and dates. Plain data: nothing here computes a cost, plans
//! a mark or sends a request.
//!
//! | to add | write |
//! |---|---|
//! | a model | a row in `models.rs`: its names, its price, the cache rules of its provider |
//! | a provider | a row in `providers.rs`, and rows for its models where prices or cache rules are known |
//!
//! Prices are read by [`usage::Price`](crate::usage::Price), cache rules by [`cache::CachePolicy`](crate::cache::CachePolicy),
//! the lengths of replies by [`model::MaxTokens`](crate::model::MaxTokens), formats, addresses, schema dialects and keys by
//! the client, telemetry names by the spans.

#[cfg(feature = "providers")]
mod accepts;
mod effort;
mod models;
mod providers;
mod row;

#[cfg(feature = "providers")]
pub(crate) use self::accepts::{Accepts, EffortForm, accepts};
pub use self::effort::{Effort, ParseEffortError};
pub(crate) use self::models::FAMILIES;
#[cfg(feature = "providers")]
pub(crate) use self::providers::{Api, SchemaDialect};
pub(crate) use self::providers::{PROVIDERS, ProviderFacts};
pub use self::row::{Boundary, Write};
pub(crate) use self::row::{Family, LongRequest, ReplyLimit};

/// The position in [`FAMILIES`] of the family that a model belongs to, by its name or as a version of it.
///
/// A version is a name followed by a number of three digits or more, a date, or an effort. The longest name counts.
pub(crate) fn family(model: &str) -> Option<usize> {
    let model = canonical(model);
    let named = |family: &Family| longest(family.names, |name| is_version_of(model.0, model.1, name));
    find(named)
}

/// The position in [`FAMILIES`] of the family whose cache rules a model has: its family, or else the one with the
/// longest prefix of its name.
pub(crate) fn caching(model: &str) -> Option<usize> {
    own_or_prefix(model, |family| family.cache.is_some())
}

/// The most tokens of a reply of a model: those of its family, or else of the one with the longest prefix of its name.
pub(crate) fn reply_limit(model: &str) -> Option<ReplyLimit> {
    FAMILIES.get(own_or_prefix(model, |family| family.reply.is_some())?)?.reply
}

/// The position of the family of a model, if it has such facts, or else of the one with the longest prefix that has them.
fn own_or_prefix(model: &str, has_facts: impl Fn(&Family) -> bool) -> Option<usize> {
    // The facts of its own row come first, however long the prefix of another row is.
    let own = family(model).filter(|at| FAMILIES.get(*at).is_some_and(&has_facts));
    let (provider, model) = canonical(model);
    let begins = |name: &str| strip(provider, model, name).is_some();
    own.or_else(|| find(|family| if has_facts(family) { longest(family.prefixes, begins) } else { None }))
}

/// The row of the provider of a model, which the name begins with.
pub(crate) fn provider(name: &str) -> Option<&'static ProviderFacts> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

fn find(length: impl Fn(&Family) -> Option<usize>) -> Option<usize> {
    let found = FAMILIES.iter().enumerate().filter_map(|(at, family)| Some((length(family)?, at)));
    found.max_by_key(|(length, _)| *length).map(|(_, at)| at)
}

fn longest(names: &[&str], is_it: impl Fn(&str) -> bool) -> Option<usize> {
    names.iter().filter(|name| is_it(name)).map(|name| name.len()).max()
}

/// The provider whose models these are, and the rest of the name with its slash.
fn canonical(model: &str) -> (&str, &str) {
    // A name without a slash, such as `offline`, counts as that of a provider.
    let (name, rest) = model.split_at(model.find('/').unwrap_or(model.len()));
    (provider(name).map_or(name, |provider| provider.models_of), rest)
}

/// The rest of a name after a prefix.
fn strip<'m>(provider: &str, model: &'m str, prefix: &str) -> Option<&'m str> {
    // Apart, because several interfaces of a provider, such as `openai_resp`, share its rows.
    model.strip_prefix(prefix.strip_prefix(provider)?)
}

fn is_version_of(provider: &str, model: &str, name: &str) -> bool {
    match strip(provider, model, name) {
        Some(rest) if name.ends_with('/') => !rest.is_empty(),
        Some(rest) => is_version(rest),
        None => false,
    }
}

/// Whether a name with this suffix is the same model: no suffix, a word for its state, a number of three digits or more,
/// a date, or an effort, which the client removes.
fn is_version(rest: &str) -> bool {
    let mut parts = rest.split('-');
    // `gpt-4o` is no version of `gpt-4`: the suffix of a version begins with a dash.
    let is_separate = parts.next() == Some("");
    let mut numbers = 0;
    is_separate
        && parts.all(|part| match part {
            "latest" | "preview" | "zero" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh"
            | "max" => true,
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
