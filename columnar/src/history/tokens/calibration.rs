//! The correction of a counter by the usage that a provider reports.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Counter, LimitedCounter, Ratio};

/// Measures the error of a counter for a model from the usage that the provider reports: the tokenizer may differ, and
/// each message costs tokens besides the text.
///
/// [Wrap the model](Self::watching). After eight calls there is a [`ratio`](Self::ratio), which is right on average,
/// and a [`p99`](Self::p99), which a budget can rely on. The last 128 calls count. Clones share the calls. Use one
/// calibration for each model with all its columns.
///
/// ```
/// use columnar::model::Offline;
/// use columnar::prelude::*;
/// use columnar::tokens::{Calibrated, Calibration, Estimate, Counter, Ratio};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let calibration = Calibration::new(Estimate);
/// let chat = flow! {
///     source user;
///     column assistant(user, self) = prompt("Answer.").model(calibration.watching(Offline::new()));
/// };
/// chat.user.push("hello").await?;
/// chat.run().await?;
///
/// // The next flow, or the next start of the program.
/// let ratio = calibration.p99().unwrap_or(Ratio::percent(125));
/// let counter = Calibrated::new(Estimate, ratio);
/// assert_eq!(counter.count("hello"), 3);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Calibration {
    counter: Arc<dyn Counter>,
    calls: Arc<Mutex<Calls>>,
}

impl Calibration {
    /// A calibration of the counter without any calls.
    pub fn new(counter: impl Counter + 'static) -> Self {
        Self { counter: Arc::new(LimitedCounter(counter)), calls: Arc::default() }
    }

    /// Adds a call that does not go through [`watching`](Self::watching): the tokens of the request by the counter and
    /// by the provider. A call with a 0 is ignored.
    pub fn learn(&self, counted: usize, reported: u64) {
        self.calls().learn(u64::try_from(counted).unwrap_or(u64::MAX), reported);
    }

    /// The factor that makes counts right on average: all reported tokens over all counted tokens. `None` before the
    /// eighth call.
    pub fn ratio(&self) -> Option<Ratio> {
        self.calls().ratio()
    }

    /// The factor that makes counts high enough for 99 of 100 sent tokens. `None` before the eighth call.
    pub fn p99(&self) -> Option<Ratio> {
        self.calls().p99()
    }

    pub(crate) fn counter(&self) -> &dyn Counter {
        &*self.counter
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        // The calls are whole even after a panic, because each is pushed at once.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [ratio, p99] = [self.ratio(), self.p99()].map(|ratio| ratio.map(|ratio| ratio.to_string()));
        f.debug_struct("Calibration").field("ratio", &ratio).field("p99", &p99).finish_non_exhaustive()
    }
}

/// A counter times a ratio: a safety margin, or the result of a [`Calibration`].
///
/// The ratio is fixed when the counter is made, so the same text always has the same count. Otherwise budgets would
/// truncate elsewhere from step to step, and providers could not serve requests from their caches.
///
/// ```
/// use columnar::tokens::{Calibrated, Estimate, Counter, Ratio};
///
/// let careful = Calibrated::new(Estimate, Ratio::percent(125));
/// let text = "We should rewrite the backend in Rust, and then the frontend.";
/// assert_eq!((Estimate.count(text), careful.count(text)), (16, 20));
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
        self.ratio.apply(self.counter.count(text))
    }
}

/// The number of calls that count. Providers replace models under the same name, so old calls must fade.
const RECENT: usize = 128;

/// The number of calls before there is a ratio.
const ENOUGH: usize = 8;

/// The most recent calls, each as a ratio.
#[derive(Clone, Debug, Default)]
struct Calls(VecDeque<Ratio>);

impl Calls {
    /// Adds a call. Neither number is ever 0 for a request that was sent; a 0 means an unknown number.
    fn learn(&mut self, counted: u64, reported: u64) {
        let Some(ratio) = Ratio::new(reported, counted).filter(|_| reported > 0) else { return };
        if self.0.len() == RECENT {
            self.0.pop_front();
        }
        self.0.push_back(ratio);
    }

    /// All reported tokens over all counted tokens.
    fn ratio(&self) -> Option<Ratio> {
        let calls = self.enough()?;
        let (reported, counted) = calls.iter().fold((0_u64, 0_u64), |(reported, counted), call| {
            (reported.saturating_add(call.reported), counted.saturating_add(call.counted()))
        });
        Ratio::new(reported, counted)
    }

    /// The least ratio that 99 of 100 counted tokens do not exceed. Calls weigh by length: the fixed tokens of each
    /// message make the ratio of a short call high, but a short call fits into any budget.
    fn p99(&self) -> Option<Ratio> {
        let mut calls: Vec<Ratio> = self.enough()?.iter().copied().collect();
        calls.sort_unstable();
        let all: u128 = calls.iter().map(|call| u128::from(call.counted())).sum();
        let mut below = 0;
        calls.into_iter().find(|call| {
            below += u128::from(call.counted());
            below * 100 >= all * 99
        })
    }

    fn enough(&self) -> Option<&VecDeque<Ratio>> {
        Some(&self.0).filter(|calls| calls.len() >= ENOUGH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls_of(pairs: impl IntoIterator<Item = (u64, u64)>) -> Calls {
        let mut all = Calls::default();
        pairs.into_iter().for_each(|(counted, reported)| all.learn(counted, reported));
        all
    }

    #[test]
    fn there_is_no_ratio_before_the_eighth_call() {
        let few = calls_of([(100, 120); ENOUGH - 1]);
        assert_eq!((few.ratio(), few.p99()), (None, None));
        let enough = calls_of([(100, 120); ENOUGH]);
        assert_eq!((enough.ratio(), enough.p99()), (Some(Ratio::percent(120)), Some(Ratio::percent(120))));
    }

    #[test]
    fn calls_with_a_zero_are_ignored() {
        let none = calls_of([(100, 0), (0, 100), (0, 0)].repeat(ENOUGH));
        assert_eq!(none.ratio(), None);
    }

    #[test]
    fn old_calls_fade_when_a_model_changes() {
        let changed = calls_of([(100, 120); RECENT].into_iter().chain([(100, 150); RECENT]));
        assert_eq!(changed.ratio(), Some(Ratio::percent(150)));
        let changing = calls_of([(100, 120); RECENT].into_iter().chain([(100, 150); RECENT / 2]));
        assert_eq!(changing.ratio(), Some(Ratio::percent(135)));
    }

    #[test]
    fn p99_leaves_out_one_in_a_hundred_tokens() {
        let calls = (1..=100).map(|percent| (1000, 1000 + 10 * percent));
        assert_eq!(calls_of(calls).p99(), Some(Ratio::percent(199)));
        let short = [(10_000, 11_000); 20].into_iter().chain([(4, 20); 20]);
        assert_eq!(calls_of(short).p99(), Some(Ratio::percent(110)), "short calls hardly weigh");
        let long = [(10_000, 11_000); 20].into_iter().chain([(9000, 18_000)]);
        assert_eq!(calls_of(long).p99(), Some(Ratio::percent(200)), "long ones do");
    }

    #[test]
    fn sums_do_not_overflow() {
        let huge = calls_of([(u64::MAX, u64::MAX); ENOUGH]);
        assert_eq!((huge.ratio(), huge.p99()), (Some(Ratio::percent(100)), Some(Ratio::percent(100))));
    }
}
