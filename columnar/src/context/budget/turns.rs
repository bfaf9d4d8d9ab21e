//! Turns as a strategy sees them: places in a row, some of which may be empty, and their sizes.

use std::ops::Range;

use crate::tokens::Sum;

/// Turns by their places, the oldest first.
pub(crate) trait Turns {
    /// Where there may be turns.
    fn places(&self) -> Range<usize>;

    /// How many turns there are at some places, and how many tokens they have.
    fn sum(&self, places: Range<usize>) -> Sum;

    /// All of them.
    fn all(&self) -> Sum {
        self.sum(self.places())
    }

    /// The first turn at or behind a place.
    fn next(&self, from: usize) -> Option<usize> {
        (from..self.places().end).find(|&place| self.sum(place..place + 1).count > 0)
    }

    /// The last turn before a place.
    fn previous(&self, before: usize) -> Option<usize> {
        (self.places().start..before).rev().find(|&place| self.sum(place..place + 1).count > 0)
    }
}

/// A list of sizes.
#[cfg(test)]
impl Turns for [usize] {
    fn places(&self) -> Range<usize> {
        0..self.len()
    }

    fn sum(&self, places: Range<usize>) -> Sum {
        self.get(places).unwrap_or_default().iter().map(|&tokens| Sum::one(tokens)).sum()
    }
}
