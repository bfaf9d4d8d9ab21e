//! What recent calls say of a counter: how many tokens were reported for those that it counted.
//!
//! Pure: no lock, no clock. [`Calibration`](super::Calibration) shares it.

use std::collections::VecDeque;

use super::Ratio;

/// How many calls are remembered. Models are replaced behind their names, so the past must fade.
const RECENT: usize = 128;

/// How many it takes before anything is said.
const ENOUGH: usize = 8;

/// The most recent calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed(VecDeque<Ratio>);

impl Observed {
    /// A call for which so much was counted and so much reported. Neither is ever 0 for a request that was
    /// sent: who says so does not know.
    pub(super) fn learn(&mut self, counted: u64, reported: u64) {
        let Some(ratio) = Ratio::new(reported, counted).filter(|_| reported > 0) else { return };
        if self.0.len() == RECENT {
            self.0.pop_front();
        }
        self.0.push_back(ratio);
    }

    /// All that was reported over all that was counted.
    pub(super) fn ratio(&self) -> Option<Ratio> {
        let calls = self.enough()?;
        let (reported, counted) = calls.iter().fold((0_u64, 0_u64), |(reported, counted), call| {
            (reported.saturating_add(call.reported()), counted.saturating_add(call.counted()))
        });
        Ratio::new(reported, counted)
    }

    /// The least ratio that 99 of 100 counted tokens do not exceed. Calls weigh by their length: what is
    /// short is far off for the few tokens that each message costs, and fits into any budget.
    pub(super) fn high(&self) -> Option<Ratio> {
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

    fn observed(calls: impl IntoIterator<Item = (u64, u64)>) -> Observed {
        let mut observed = Observed::default();
        calls.into_iter().for_each(|(counted, reported)| observed.learn(counted, reported));
        observed
    }

    #[test]
    fn nothing_is_said_before_enough_calls_are_known() {
        let few = observed([(100, 120); ENOUGH - 1]);
        assert_eq!((few.ratio(), few.high()), (None, None));
        let enough = observed([(100, 120); ENOUGH]);
        assert_eq!((enough.ratio(), enough.high()), (Some(Ratio::percent(120)), Some(Ratio::percent(120))));
    }

    #[test]
    fn what_tells_nothing_teaches_nothing() {
        let none = observed([(100, 0), (0, 100), (0, 0)].repeat(ENOUGH));
        assert_eq!(none.ratio(), None);
    }

    #[test]
    fn a_model_that_changes_is_learnt_anew() {
        let changed = observed([(100, 120); RECENT].into_iter().chain([(100, 150); RECENT]));
        assert_eq!(changed.ratio(), Some(Ratio::percent(150)));
        let changing = observed([(100, 120); RECENT].into_iter().chain([(100, 150); RECENT / 2]));
        assert_eq!(changing.ratio(), Some(Ratio::percent(135)));
    }

    #[test]
    fn the_high_ratio_leaves_out_one_in_a_hundred_tokens() {
        let calls = (1..=100).map(|percent| (1000, 1000 + 10 * percent));
        assert_eq!(observed(calls).high(), Some(Ratio::percent(199)));
        let short = [(10_000, 11_000); 20].into_iter().chain([(4, 20); 20]);
        assert_eq!(observed(short).high(), Some(Ratio::percent(110)), "short calls hardly weigh");
        let long = [(10_000, 11_000); 20].into_iter().chain([(9000, 18_000)]);
        assert_eq!(observed(long).high(), Some(Ratio::percent(200)), "long ones do");
    }

    #[test]
    fn sums_do_not_overflow() {
        let huge = observed([(u64::MAX, u64::MAX); ENOUGH]);
        assert_eq!((huge.ratio(), huge.high()), (Some(Ratio::percent(100)), Some(Ratio::percent(100))));
    }
}
