//! A counter corrected by what is known of the model.

use super::{Counter, Ratio};

/// A counter times a ratio: a safety of your own, or what a [`Calibration`](super::Calibration) has learnt.
///
/// The ratio is that of the moment in which this was made and never moves: the same text always has the same
/// count, or budgets would cut elsewhere from step to step and what a provider has cached would be lost.
///
/// ```
/// use columnar::tokens::{Calibrated, Classes, Counter, Ratio};
///
/// let careful = Calibrated::new(Classes, Ratio::percent(125));
/// let text = "We should rewrite the backend in Rust, and then the frontend.";
/// assert_eq!((Classes.count(text), careful.count(text)), (13, 16));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibrated<C> {
    counter: C,
    ratio: Ratio,
}

impl<C: Counter> Calibrated<C> {
    /// The counter times the ratio.
    pub const fn new(counter: C, ratio: Ratio) -> Self {
        Self { counter, ratio }
    }

    /// The ratio.
    pub const fn ratio(&self) -> Ratio {
        self.ratio
    }
}

impl<C: Counter> Counter for Calibrated<C> {
    fn count(&self, text: &str) -> usize {
        self.ratio.of(self.counter.count(text))
    }
}
