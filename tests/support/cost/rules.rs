//! A provider's rules of caching, as the simulator needs them.

use columnar::cache::Lifetime;

/// What a lifetime means and costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The price of a written token, in prices of a plain one.
    pub write: f64,
    /// For so many seconds after the request that used it last, counted from its start, an entry lives.
    pub seconds: f64,
}

/// Where a mark finds entries: at so many places, its own included, back from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookBack {
    /// At the ends of blocks.
    Blocks(usize),
    /// At the ends of messages, and at that of the instruction.
    Messages(usize),
}

/// A row of the table of providers.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// What the tables of results call it.
    pub name: &'static str,
    /// The price of a token that is read, in prices of a plain one.
    pub read: f64,
    /// The lifetime that every provider has.
    pub short: Term,
    /// The longer one.
    pub long: Option<Term>,
    /// Prefixes of fewer tokens are not cached, and nobody is told.
    pub minimum: u32,
    /// A request with more marks is refused.
    pub most_marks: usize,
    /// Where a mark finds entries.
    pub look_back: LookBack,
    /// Where the mark finds them that the provider sets by itself.
    pub automatic: LookBack,
    /// Whether an entry is used by requests that read a longer one. That is not written down.
    pub keeps_prefixes: bool,
    /// An entry can be read so many seconds after the start of the request that wrote it.
    pub ready: f64,
}

impl Rules {
    /// What a lifetime means, if the provider has it.
    pub fn term(&self, lifetime: Lifetime) -> Option<Term> {
        match lifetime {
            Lifetime::Short => Some(self.short),
            Lifetime::Long => self.long,
        }
    }

    /// The documented rules that most tests are about: 1.25 and 2 for a write, 0.1 for a read, 1,024
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
