//! The caching rules of a provider, in the form of the simulator.

use columnar::cache::{Boundary, CachePolicy, Lifetime, Write};

/// The price and the duration of a lifetime.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The price of a written token, in prices of a plain one.
    pub write: f64,
    /// The seconds that an entry lives after the start of the last request with a use of the entry.
    pub seconds: f64,
}

/// The positions where a mark finds entries: this number of positions back, the position of the mark included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookBack {
    /// At the ends of blocks.
    Blocks(usize),
    /// At the ends of messages, and at the end of the instruction.
    Messages(usize),
}

/// A row of the table of providers.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The name of the provider in the tables of results.
    pub name: &'static str,
    /// The price of a token that is read, in prices of a plain one.
    pub read: f64,
    /// The lifetime that every provider has.
    pub short: Term,
    /// The longer lifetime.
    pub long: Option<Term>,
    /// Prefixes with fewer tokens are silently not cached.
    pub minimum: u32,
    /// A request with more marks is rejected.
    pub most_marks: usize,
    /// The positions where a mark finds entries.
    pub look_back: LookBack,
    /// The positions where the automatic mark of the provider finds entries.
    pub automatic: LookBack,
    /// Whether reading a longer entry refreshes a shorter one, which is undocumented.
    pub keeps_prefixes: bool,
    /// The seconds after the start of a request until the entries of the request can be read.
    pub ready: f64,
}

impl Rules {
    /// The terms of a lifetime, if the provider has it.
    pub fn term(&self, lifetime: Lifetime) -> Option<Term> {
        match lifetime {
            Lifetime::Short => Some(self.short),
            Lifetime::Long => self.long,
        }
    }

    /// The documented rules that most tests use: 1.25 and 2 for a write, 0.1 for a read, 1,024
    /// tokens, 5 minutes and an hour, 4 marks, 20 blocks. Entries can be read at once.
    pub fn documented() -> Self {
        Self {
            name: "documented",
            read: 0.1,
            short: Term { write: 1.25, seconds: 300.0 },
            long: Some(Term { write: 2.0, seconds: 3600.0 }),
            minimum: 1024,
            most_marks: 4,
            look_back: LookBack::Blocks(20),
            automatic: LookBack::Blocks(20),
            keeps_prefixes: false,
            ready: 0.0,
        }
    }
}

/// The seconds until an entry can be read: when the reply has begun.
const READY: f64 = 2.0;

/// The providers of the library's table that take marks, each with the caching rules. Of providers that differ only in
/// the price of a plain token, the first one is listed.
pub fn marked_providers() -> Vec<(&'static CachePolicy, Rules)> {
    let mut rows: Vec<(&CachePolicy, Rules)> = Vec::new();
    for provider in CachePolicy::all().filter(|provider| provider.most_marks > 0) {
        let rules = rules(provider);
        if rows.iter().all(|(_, known)| Rules { name: known.name, ..rules.clone() } != *known) {
            rows.push((provider, rules));
        }
    }
    rows
}

impl Rules {
    /// The rules for a model. A provider without marks caches every prefix that it was sent.
    pub fn of_model(model: &str) -> Self {
        let rules = rules(CachePolicy::by_model(model));
        if rules.most_marks > 0 {
            return rules;
        }
        let look_back = LookBack::Blocks(usize::MAX);
        Self { most_marks: usize::MAX, look_back, automatic: look_back, keeps_prefixes: true, ..rules }
    }
}

/// The name of the provider of a model.
pub fn name_of(providers: &[(&'static CachePolicy, Rules)], model: &str) -> Option<&'static str> {
    let rules = rules(CachePolicy::by_model(model));
    let same = |known: &Rules| Rules { name: rules.name, ..known.clone() } == rules;
    providers.iter().find(|(_, known)| same(known)).map(|(_, known)| known.name)
}

fn rules(provider: &'static CachePolicy) -> Rules {
    let term = |write: Write| Term { write: write.factor, seconds: write.lifetime.as_secs_f64() };
    let name = match provider.models.first().copied().unwrap_or_default() {
        // The other interface to these models has no long lifetime.
        "openai/gpt-5.6" if provider.long.is_some() => "openai_resp/gpt-5.6",
        name => name,
    };
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
        // The table has the rules of explicit marks. Without marks, providers that cache by messages look at the ends
        // of the last twenty messages.
        automatic: if look_back == LookBack::Blocks(1) { LookBack::Messages(20) } else { look_back },
        keeps_prefixes: false,
        ready: READY,
    }
}
