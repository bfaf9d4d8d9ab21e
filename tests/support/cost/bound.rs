//! A lower bound of the cost of all marking policies.
//!
//! The bound assumes a cache that takes any number of marks, finds every entry and knows the future. Then each block
//! has a separate cost: at each request with the block, the block is plain, or written, or read after a write or read
//! within the lifetime. Real rules allow less, so the sum of the minimum costs of all blocks is a lower bound for every
//! policy on the same requests at the same times.
//!
//! Blocks before the minimum length of a cached prefix count as one with the block that completes the minimum.

use columnar::cache::Lifetime;

use super::request::Request;
use super::rules::{Rules, Term};

/// A request with the time and the column.
#[derive(Clone, Copy, Debug)]
pub struct TimedRequest<'t> {
    /// The request.
    pub request: &'t Request,
    /// The time of the request in seconds.
    pub at: f64,
    /// The column; columns share no block.
    pub column: usize,
}

/// The minimum cost of the requests of each column, in prices of a plain token. The requests are in order of time;
/// `lifetimes` are the permitted ones.
pub fn bound<'t>(
    requests: impl IntoIterator<Item = TimedRequest<'t>>,
    rules: &Rules,
    lifetimes: &[Lifetime],
) -> Vec<f64> {
    let term = |lifetime| lifetimes.contains(&lifetime).then(|| rules.term(lifetime)).flatten();
    let terms =
        Terms { read: rules.read, ready: rules.ready, writes: [Lifetime::Short, Lifetime::Long].map(term) };
    let (mut visits, mut columns): (Vec<Option<Visited>>, Vec<f64>) = (Vec::new(), Vec::new());
    for TimedRequest { request, at, column } in requests {
        if columns.len() <= column {
            columns.resize(column + 1, 0.0);
        }
        let Some(cost) = columns.get_mut(column) else { continue };
        if request.tokens() < rules.minimum {
            *cost += f64::from(request.tokens());
            continue;
        }
        let mut before = 0;
        for block in request.blocks.iter().skip_while(|block| block.until < rules.minimum) {
            if visits.len() <= block.prefix {
                visits.resize(block.prefix + 1, None);
            }
            let size = f64::from(block.until - before);
            before = block.until;
            if let Some(visited) = visits.get_mut(block.prefix) {
                let visited = visited.get_or_insert(Visited::never());
                let least = visited.least();
                visited.visit(at, &terms);
                // The increases add up to the minimum of the block. Each is a cost of the request's column.
                *cost += size * (visited.least() - least);
            }
        }
    }
    columns
}

#[derive(Clone, Copy, Debug)]
struct Terms {
    read: f64,
    ready: f64,
    /// The terms of the short lifetime and of the long one.
    writes: [Option<Term>; 2],
}

/// The minimum cost of a block so far, by final state.
#[derive(Clone, Copy, Debug)]
struct Visited {
    /// The start of the current group of requests. No request of a group can read an entry that the first request of
    /// the group writes.
    since: f64,
    last: f64,
    /// The cost if the block is not cached.
    unknown: f64,
    /// The costs, by lifetime, if the first request of the group wrote the block.
    fresh: [f64; 2],
    /// The costs, by lifetime, if the block can be read.
    known: [f64; 2],
}

impl Visited {
    fn never() -> Self {
        let none = f64::NEG_INFINITY;
        // Infinite costs are states that cannot be: nothing has been written yet.
        Self { since: none, last: none, unknown: 0.0, fresh: [f64::INFINITY; 2], known: [f64::INFINITY; 2] }
    }

    fn least(&self) -> f64 {
        self.fresh.iter().chain(&self.known).copied().fold(self.unknown, f64::min)
    }

    fn visit(&mut self, at: f64, terms: &Terms) {
        let is_early = at < self.since + terms.ready;
        if is_early {
            self.unknown += 1.0;
            self.fresh.iter_mut().for_each(|cost| *cost += 1.0);
            self.known.iter_mut().for_each(|cost| *cost += terms.read);
        } else {
            let least = self.least();
            let states = self.fresh.iter_mut().zip(&mut self.known).zip(&terms.writes);
            for ((fresh, known), term) in states {
                let lives = term.is_some_and(|term| at - self.last <= term.seconds);
                *known = if lives { fresh.min(*known) + terms.read } else { f64::INFINITY };
                *fresh = term.map_or(f64::INFINITY, |term| least + term.write);
            }
            self.unknown = least + 1.0;
            self.since = at;
        }
        self.last = at;
    }
}
