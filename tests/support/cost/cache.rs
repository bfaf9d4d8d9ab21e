//! The simulator: what a provider's cache holds, and what it bills for a request.
//!
//! ```text
//! request, marks, time ──▶ the deepest entry that lives and that a mark finds: read
//!                          from there to the deepest mark: written
//!                          the rest: plain
//! ```
//!
//! Rules that no provider has written down are taken against the user: what was written with one lifetime
//! is not found by a mark of the other, and an entry that stands before the one that is read, and at which no
//! mark stands, is not kept alive by it. [`Rules::keeps_prefixes`] says otherwise for the latter.

use std::collections::{BTreeSet, HashMap};

use columnar::cache::Lifetime;

use super::request::Request;
use super::rules::{LookBack, Rules};

/// A place behind which the provider is asked to cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Which block it stands behind.
    pub at: usize,
    /// How long what it writes is to live.
    pub lifetime: Lifetime,
}

/// How a request is marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// In order of their places.
    pub explicit: Vec<Mark>,
    /// Whether the provider sets one at the end by itself, which counts as one.
    pub automatic: bool,
}

/// Tokens of a request by what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    /// Found in the cache.
    pub read: u32,
    /// Written for a short time.
    pub short: u32,
    /// Written for a long time.
    pub long: u32,
    /// Neither.
    pub plain: u32,
}

/// Why a provider refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// More marks than it takes.
    TooManyMarks,
    /// A mark where there is no block, or out of order.
    NoSuchPlace,
    /// A lifetime that it does not have.
    NoSuchLifetime,
    /// A short lifetime before a long one.
    ShortBeforeLong,
}

/// What one provider holds.
#[derive(Clone, Debug)]
pub struct Cache<'r> {
    rules: &'r Rules,
    /// By prefix and lifetime.
    entries: HashMap<(usize, Lifetime), Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    used: f64,
    ready: f64,
}

/// What a request reads.
#[derive(Clone, Copy, Debug)]
struct Found {
    at: usize,
    lifetime: Lifetime,
}

impl Marks {
    /// Marks of the short lifetime.
    pub fn short(places: impl IntoIterator<Item = usize>) -> Self {
        let places: BTreeSet<usize> = places.into_iter().collect();
        let mark = |at| Mark { at, lifetime: Lifetime::Short };
        Self { explicit: places.into_iter().map(mark).collect(), automatic: false }
    }

    /// The mark that the provider sets by itself, alone.
    pub fn automatic() -> Self {
        Self { explicit: Vec::new(), automatic: true }
    }
}

impl Bill {
    /// What it costs, in prices of a plain token.
    pub fn cost(self, rules: &Rules) -> f64 {
        let long = rules.long.map_or(0.0, |term| term.write);
        f64::from(self.read) * rules.read
            + f64::from(self.short) * rules.short.write
            + f64::from(self.long) * long
            + f64::from(self.plain)
    }
}

impl<'r> Cache<'r> {
    /// An empty one.
    pub fn new(rules: &'r Rules) -> Self {
        Self { rules, entries: HashMap::new() }
    }

    /// Sends a request. Times never go back.
    ///
    /// # Errors
    ///
    /// [`Refused`], and nothing is billed or cached.
    pub fn ask(&mut self, request: &Request, marks: &Marks, now: f64) -> Result<Bill, Refused> {
        let marks = self.check(request, marks)?;
        let found = self.find(request, &marks, now);
        let reaches = |mark: &&Mark| request.until(mark.at) >= self.rules.minimum;
        let deepest = |lifetime: Option<Lifetime>| {
            let marks = marks.explicit.iter().filter(reaches);
            let mut marks = marks.filter(|mark| lifetime.is_none_or(|lifetime| lifetime == mark.lifetime));
            marks.next_back().map_or(0, |mark| request.until(mark.at))
        };
        let read = found.map_or(0, |found| request.until(found.at));
        let written = deepest(None).max(read);
        let long = deepest(Some(Lifetime::Long)).saturating_sub(read);
        let bill = Bill { read, long, short: written - read - long, plain: request.tokens() - written };
        self.keep(request, &marks, found, now);
        Ok(bill)
    }

    /// The marks with the automatic one among them.
    fn check(&self, request: &Request, marks: &Marks) -> Result<Marks, Refused> {
        let mut marks = marks.clone();
        let end = request.blocks.len().checked_sub(1);
        if let Some(end) = end.filter(|_| marks.automatic)
            && marks.explicit.last().is_none_or(|last| last.at < end)
        {
            let lifetime = Lifetime::Short;
            marks.explicit.push(Mark { at: end, lifetime });
        }
        let pairs = || marks.explicit.iter().zip(marks.explicit.iter().skip(1));
        if marks.explicit.len() > self.rules.most_marks {
            return Err(Refused::TooManyMarks);
        }
        if marks.explicit.last().is_some_and(|last| Some(last.at) > end) || pairs().any(|(a, b)| a.at >= b.at)
        {
            return Err(Refused::NoSuchPlace);
        }
        if marks.explicit.iter().any(|mark| self.rules.term(mark.lifetime).is_none()) {
            return Err(Refused::NoSuchLifetime);
        }
        if pairs().any(|(a, b)| (a.lifetime, b.lifetime) == (Lifetime::Short, Lifetime::Long)) {
            return Err(Refused::ShortBeforeLong);
        }
        Ok(marks)
    }

    /// The deepest entry that any mark finds. A short one does not count before a mark that asks for a long
    /// one: what is kept for long was paid for as such from the beginning.
    fn find(&self, request: &Request, marks: &Marks, now: f64) -> Option<Found> {
        let last = marks.explicit.len().checked_sub(1)?;
        let long = marks.explicit.iter().rfind(|mark| mark.lifetime == Lifetime::Long).map(|mark| mark.at);
        let found = marks.explicit.iter().enumerate().filter_map(|(which, mark)| {
            let by_itself = marks.automatic && which == last;
            let places = (0..=mark.at).rev();
            let look_back = if by_itself { self.rules.automatic } else { self.rules.look_back };
            let mut places: Box<dyn Iterator<Item = usize>> = match look_back {
                LookBack::Blocks(count) => Box::new(places.take(count)),
                LookBack::Messages(count) => {
                    let ends = places.filter(|&at| request.block(at).is_some_and(|block| block.ends));
                    Box::new(ends.take(count).chain(Some(0)))
                }
            };
            let counts = |at: usize| mark.lifetime == Lifetime::Long || long.is_none_or(|long| at > long);
            let at = places.find(|at| counts(*at) && self.is_known(request, *at, mark.lifetime, now))?;
            Some(Found { at, lifetime: mark.lifetime })
        });
        found.max_by_key(|found| found.at)
    }

    /// Whether an entry can be read.
    fn is_known(&self, request: &Request, at: usize, lifetime: Lifetime, now: f64) -> bool {
        let entry = request.block(at).and_then(|block| self.entries.get(&(block.prefix, lifetime)));
        entry.is_some_and(|entry| self.lives(entry, lifetime, now) && entry.ready <= now)
    }

    fn lives(&self, entry: &Entry, lifetime: Lifetime, now: f64) -> bool {
        self.rules.term(lifetime).is_some_and(|term| now - entry.used <= term.seconds)
    }

    /// What is cached after the request. A mark within what was read costs nothing, and its entry lives no
    /// longer than what was paid for.
    fn keep(&mut self, request: &Request, marks: &Marks, found: Option<Found>, now: f64) {
        for mark in &marks.explicit {
            let Some(block) = request.block(mark.at).filter(|block| block.until >= self.rules.minimum) else {
                continue;
            };
            let paid = found.filter(|found| mark.at <= found.at);
            let key = (block.prefix, paid.map_or(mark.lifetime, |found| found.lifetime));
            let old = self.entries.get(&key).filter(|old| self.lives(old, key.1, now));
            let ready = now + self.rules.ready;
            let ready = old.map_or(ready, |old| old.ready.min(ready));
            self.entries.insert(key, Entry { used: now, ready });
        }
        let Some(found) = found else { return };
        let first = if self.rules.keeps_prefixes { 0 } else { found.at };
        for block in request.blocks.iter().take(found.at + 1).skip(first) {
            let key = (block.prefix, found.lifetime);
            if self.entries.get(&key).is_some_and(|entry| self.lives(entry, key.1, now))
                && let Some(entry) = self.entries.get_mut(&key)
            {
                entry.used = now;
            }
        }
    }
}
