//! The rows of the library's table of providers for which it matters where requests are marked.

use columnar::cache::{Boundary, CachePolicy, Write};

use super::rules::{LookBack, Rules, Term};

/// So many seconds after a request an entry can be read: when the answer has begun.
const READY: f64 = 2.0;

/// The rules of each row that takes marks, without those that differ in nothing but the price of a plain
/// token.
pub fn market() -> Vec<(&'static CachePolicy, Rules)> {
    let mut rows: Vec<(&CachePolicy, Rules)> = Vec::new();
    for provider in CachePolicy::all().filter(|provider| provider.most_marks > 0) {
        let rules = rules(provider);
        if rows.iter().all(|(_, known)| Rules { name: known.name, ..rules.clone() } != *known) {
            rows.push((provider, rules));
        }
    }
    rows
}

/// What the row is called that a model has.
pub fn row(market: &[(&'static CachePolicy, Rules)], model: &str) -> Option<&'static str> {
    let rules = rules(CachePolicy::by_model(model));
    let same = |known: &Rules| Rules { name: rules.name, ..known.clone() } == rules;
    market.iter().find(|(_, known)| same(known)).map(|(_, known)| known.name)
}

fn rules(provider: &'static CachePolicy) -> Rules {
    let term = |write: Write| Term { write: write.factor, seconds: write.lifetime.as_secs_f64() };
    let name = provider.models.first().copied().unwrap_or_default();
    let look_back = match provider.boundary {
        Boundary::Message => LookBack::Messages(provider.look_back),
        _ => LookBack::Blocks(provider.look_back),
    };
    Rules {
        name,
        read: provider.read,
        short: term(provider.short),
        long: provider.long.map(term),
        minimum: u32::try_from(provider.minimum).unwrap_or(u32::MAX),
        most_marks: provider.most_marks,
        look_back,
        // The table is about marks of one's own. What is sent without them finds entries at the endings of
        // the last twenty messages where providers think in messages.
        automatic: if look_back == LookBack::Blocks(1) { LookBack::Messages(20) } else { look_back },
        keeps_prefixes: false,
        ready: READY,
    }
}
