//! The number of texts, and the sum of tokens.

use std::iter;
use std::ops::{Add, AddAssign, Sub};

/// A number of texts and the sum of the tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) count: usize,
    pub(crate) tokens: usize,
}

impl Sum {
    pub(crate) const fn one(tokens: usize) -> Self {
        Self { count: 1, tokens }
    }

    /// Adds an overhead in tokens to each text.
    pub(crate) const fn with_overhead(self, overhead: usize) -> Self {
        Self { count: self.count, tokens: self.tokens + self.count * overhead }
    }
}

impl Add for Sum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { count: self.count + other.count, tokens: self.tokens + other.tokens }
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Sum {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        // No underflow: only the sum over some of the same texts is subtracted.
        Self { count: self.count - other.count, tokens: self.tokens - other.tokens }
    }
}

impl iter::Sum for Sum {
    fn sum<I: Iterator<Item = Self>>(sums: I) -> Self {
        sums.fold(Self::default(), Add::add)
    }
}
