//! The tokens of the calls that began within the last minute. The time is an argument.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

/// The period for which providers count tokens.
pub(super) const PERIOD: Duration = Duration::from_mins(1);

/// A limit on the tokens of the calls that begin within any minute.
pub(super) struct TokenWindow {
    most: u64,
    /// The sum of the calls.
    taken: u64,
    /// The calls of the last minute, in the order in which they began.
    calls: BTreeMap<u64, TokensTaken>,
    next: u64,
}

struct TokensTaken {
    at: Instant,
    tokens: u32,
}

impl TokenWindow {
    pub(super) fn new(most: u64) -> Self {
        Self { most, taken: 0, calls: BTreeMap::new(), next: 0 }
    }

    /// The time until a call of this many tokens may begin, or until the first of the calls before it is a minute old.
    pub(super) fn early(&mut self, tokens: u64, now: Instant) -> Duration {
        while let Some(first) = self.calls.first_entry() {
            let age = now.saturating_duration_since(first.get().at);
            if age < PERIOD {
                return if self.has_room(tokens) { Duration::ZERO } else { PERIOD.saturating_sub(age) };
            }
            self.taken -= u64::from(first.remove().tokens);
        }
        Duration::ZERO
    }

    pub(super) fn has_room(&self, tokens: u64) -> bool {
        self.taken.saturating_add(tokens) <= self.most
    }

    /// Begins a call, and returns its number.
    pub(super) fn take(&mut self, tokens: u32, at: Instant) -> u64 {
        self.next += 1;
        if tokens > 0 {
            self.taken += u64::from(tokens);
            self.calls.insert(self.next, TokensTaken { at, tokens });
        }
        self.next
    }

    /// Puts the tokens that a call had in the place of those that it took, unless it began more than a minute ago.
    pub(super) fn correct(&mut self, call: u64, had: u32) {
        if let Some(call) = self.calls.get_mut(&call) {
            self.taken = self.taken - u64::from(call.tokens) + u64::from(had);
            call.tokens = had;
        }
    }
}
