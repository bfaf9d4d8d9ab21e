//! The simulator of the cache and of the bills of one provider.
//!
//! ```text
//! request, marks, time ──▶ the deepest entry that lives and that a mark finds: read
//!                          from there to the deepest mark: written
//!                          the rest: plain
//! ```
//!
//! Undocumented rules are assumed in the disfavour of the user: a mark of one lifetime does not find entries of the
//! other, and reading an entry does not refresh shorter ones that have no mark. [`Rules::keeps_prefixes`] changes the
//! latter.

use std::collections::{BTreeSet, HashMap};

use columnar::cache::Lifetime;

use super::request::Request;
use super::rules::{LookBack, Rules};

/// A block after which the provider is to write an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The index of the block.
    pub at: usize,
    /// The lifetime of the entry.
    pub lifetime: Lifetime,
}

/// The marks of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The marks in order of position.
    pub explicit: Vec<Mark>,
    /// Whether the provider adds a mark at the end, which counts as one.
    pub automatic: bool,
}

/// The tokens of a request by price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    /// Tokens read from the cache.
    pub read: u32,
    /// Tokens written for a short time.
    pub short: u32,
    /// Tokens written for a long time.
    pub long: u32,
    /// Tokens neither read nor written.
    pub plain: u32,
}

/// The reason why a provider rejects a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Too many marks.
    TooManyMarks,
    /// A mark at a block that does not exist, or out of order.
    NoSuchPosition,
    /// An unsupported lifetime.
    NoSuchLifetime,
    /// A short lifetime before a long one.
    ShortBeforeLong,
}

/// The cache of one provider.
#[derive(Clone, Debug)]
pub struct Cache<'r> {
    rules: &'r Rules,
    /// The entries by prefix and lifetime.
    entries: HashMap<(usize, Lifetime), Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    used: f64,
    ready: f64,
}

/// The entry that a request reads.
#[derive(Clone, Copy, Debug)]
struct Found {
    at: usize,
    lifetime: Lifetime,
}

impl Marks {
    /// Marks of the short lifetime.
    pub fn short(positions: impl IntoIterator<Item = usize>) -> Self {
        let positions: BTreeSet<usize> = positions.into_iter().collect();
        let mark = |at| Mark { at, lifetime: Lifetime::Short };
        Self { explicit: positions.into_iter().map(mark).collect(), automatic: false }
    }

    /// The automatic mark alone, which the provider adds.
    pub fn automatic() -> Self {
        Self { explicit: Vec::new(), automatic: true }
    }
}

impl Bill {
    /// The cost, in prices of a plain token.
    pub fn cost(self, rules: &Rules) -> f64 {
        let long = rules.long.map_or(0.0, |term| term.write);
        f64::from(self.read) * rules.read
            + f64::from(self.short) * rules.short.write
            + f64::from(self.long) * long
            + f64::from(self.plain)
    }
}

impl<'r> Cache<'r> {
    /// An empty cache.
    pub fn new(rules: &'r Rules) -> Self {
        Self { rules, entries: HashMap::new() }
    }

    /// Sends a request. Times must not decrease.
    ///
    /// # Errors
    ///
    /// [`Refused`], and nothing is billed or cached.
    pub fn send(&mut self, request: &Request, marks: &Marks, now: f64) -> Result<Bill, Refused> {
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
        // Marks of the long lifetime come first, so this part is before the one with the short lifetime.
        let long = deepest(Some(Lifetime::Long)).saturating_sub(read);
        let bill = Bill { read, long, short: written - read - long, plain: request.tokens() - written };
        self.keep(request, &marks, found, now);
        Ok(bill)
    }

    /// All marks, the automatic one included.
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
            return Err(Refused::NoSuchPosition);
        }
        if marks.explicit.iter().any(|mark| self.rules.term(mark.lifetime).is_none()) {
            return Err(Refused::NoSuchLifetime);
        }
        if pairs().any(|(a, b)| (a.lifetime, b.lifetime) == (Lifetime::Short, Lifetime::Long)) {
            return Err(Refused::ShortBeforeLong);
        }
        Ok(marks)
    }

    /// The deepest entry that any mark finds. Before a mark of the long lifetime, entries of the short one do not count,
    /// since such a prefix must be written with the long lifetime as a whole.
    fn find(&self, request: &Request, marks: &Marks, now: f64) -> Option<Found> {
        let last = marks.explicit.len().checked_sub(1)?;
        let long = marks.explicit.iter().rfind(|mark| mark.lifetime == Lifetime::Long).map(|mark| mark.at);
        let found = marks.explicit.iter().enumerate().filter_map(|(which, mark)| {
            let by_itself = marks.automatic && which == last;
            let positions = (0..=mark.at).rev();
            let look_back = if by_itself { self.rules.automatic } else { self.rules.look_back };
            let mut positions: Box<dyn Iterator<Item = usize>> = match look_back {
                LookBack::Blocks(count) => Box::new(positions.take(count)),
                LookBack::Messages(count) => {
                    let ends = positions.filter(|&at| request.block(at).is_some_and(|block| block.ends));
                    // The entry of the instruction is found from any distance.
                    Box::new(ends.take(count).chain(Some(0)))
                }
            };
            let counts = |at: usize| mark.lifetime == Lifetime::Long || long.is_none_or(|long| at > long);
            let at = positions.find(|at| counts(*at) && self.is_known(request, *at, mark.lifetime, now))?;
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

    /// Updates the cache after a request. A mark inside the prefix that was read costs nothing, and the entry at that
    /// mark has the lifetime of the entry that was read.
    fn keep(&mut self, request: &Request, marks: &Marks, found: Option<Found>, now: f64) {
        for mark in &marks.explicit {
            let Some(block) = request.block(mark.at).filter(|block| block.until >= self.rules.minimum) else {
                continue;
            };
            let paid = found.filter(|found| mark.at <= found.at);
            let key = (block.prefix, paid.map_or(mark.lifetime, |found| found.lifetime));
            let old = self.entries.get(&key).filter(|old| self.lives(old, key.1, now));
            let ready = now + self.rules.ready;
            // An entry that can be read stays readable during a second write.
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
