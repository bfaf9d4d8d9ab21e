//! Windows: the steps of a column that a view shows.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;

use crate::history::SkippedSteps;

/// The values of a column that a view shows, counted back from the current step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// All values since step 0.
    All,
    /// The last values, by their number; `.latest` is the last one.
    Last(NonZeroUsize),
}

impl Window {
    /// The newest value.
    pub const LATEST: Self = Self::Last(NonZeroUsize::MIN);

    /// The last `count` values; `None` if `count` is 0.
    pub const fn last(count: usize) -> Option<Self> {
        match NonZeroUsize::new(count) {
            Some(count) => Some(Self::Last(count)),
            None => None,
        }
    }

    /// The largest number of values that it shows; `None` for all.
    pub(crate) const fn most(self) -> Option<usize> {
        match self {
            Self::All => None,
            Self::Last(count) => Some(count.get()),
        }
    }

    /// The steps whose windows of an input are stored as a whole as soon as `step` is. `span` are the stored steps around
    /// it, without a gap.
    pub(crate) fn completed_by(
        self,
        step: usize,
        span: Range<usize>,
        skipped: &SkippedSteps,
    ) -> Range<usize> {
        match self {
            // Windows of all values that end later in the span have waited for `step` alone.
            Self::All if span.start == 0 => step..span.end,
            Self::All => step..step,
            Self::Last(count) => {
                let count = count.get();
                let later = step.saturating_add(1);
                // Nothing comes before step 0, so the windows near it are shorter than `count`.
                let is_full = span.start == 0 || skipped.start_of_last(count, later) >= span.start;
                let start = if is_full {
                    step
                } else {
                    let known = span.start..later;
                    // A window that is not full has room for each value of the span up to `step`.
                    skipped.nth_from(later, count - (known.len() - skipped.count_within(&known)))
                };
                // A window of later values alone was complete before.
                start..span.end.min(skipped.nth_from(later, count))
            }
        }
    }

    /// The steps of a window that ends before this step. The window counts values, so skipped steps make it longer.
    pub(crate) fn ending(self, end: usize, skipped: &SkippedSteps) -> Range<usize> {
        match self {
            Self::All => 0..end,
            Self::Last(count) => skipped.start_of_last(count.get(), end)..end,
        }
    }
}

/// As in a declaration after the column's name: nothing, `.latest` or `.window(n)`.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => Ok(()),
            Self::Last(NonZeroUsize::MIN) => f.write_str(".latest"),
            Self::Last(count) => write!(f, ".window({count})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::ViewSpec;

    fn skipped(steps: impl IntoIterator<Item = usize>) -> SkippedSteps {
        let mut skipped = SkippedSteps::default();
        steps.into_iter().for_each(|step| skipped.insert(step));
        skipped
    }

    #[test]
    fn inputs_include_the_current_step_and_the_self_history_does_not() {
        let two = Window::last(2).expect("two is not zero");
        for (window, step, inputs, own) in [
            (Window::All, 3, 0..4, 0..3),
            (Window::LATEST, 3, 3..4, 2..3),
            (two, 3, 2..4, 1..3),
            (two, 0, 0..1, 0..0),
            (two, 1, 0..2, 0..1),
        ] {
            let view = ViewSpec::all().windowed(Some(window));
            let none = SkippedSteps::default();
            assert_eq!(
                (view.cells(step, &none), view.self_cells(step, &none)),
                (inputs, own),
                "{window:?} at {step}"
            );
        }
    }

    /// A value is shown until the column has newer ones, and a window reaches back over steps without a value.
    #[test]
    fn a_window_counts_values() {
        let skipped = skipped([0, 2, 3, 4]);
        let two = Window::last(2).expect("two is not zero");
        for (window, step, shown) in [
            (Window::All, 4, 0..5),
            (Window::LATEST, 0, 0..1),
            (Window::LATEST, 4, 1..5),
            (Window::LATEST, 5, 5..6),
            (two, 4, 0..5),
            (two, 5, 1..6),
            // A step that is not stored counts as a value.
            (two, 6, 5..7),
        ] {
            let view = ViewSpec::all().windowed(Some(window));
            assert_eq!(view.cells(step, &skipped), shown, "{window:?} at {step}");
            assert_eq!(view.self_cells(step + 1, &skipped), shown, "{window:?} before {}", step + 1);
            let lagged = ViewSpec { lag: 1, ..view };
            assert_eq!(lagged.turns(step + 1, &skipped), shown.start + 1..shown.end + 1);
        }
    }

    /// For each order in which six steps are stored and each set of skipped ones, a window is completed once: by the step
    /// that makes it known.
    #[test]
    fn a_window_is_completed_once_and_as_soon_as_it_is_known() {
        fn known(window: Window, newest: usize, stored: &[usize], gaps: usize) -> bool {
            let most = window.most().unwrap_or(usize::MAX);
            let mut values = 0;
            for step in (0..=newest).rev() {
                if values == most {
                    return true;
                }
                if !stored.contains(&step) {
                    return false;
                }
                values += usize::from(gaps >> step & 1 == 0);
            }
            true
        }
        for code in 0..6_usize.pow(6) {
            let order: Vec<usize> = (0..6).map(|digit| code / 6_usize.pow(digit) % 6).collect();
            if (0..6).any(|step| !order.contains(&step)) {
                continue;
            }
            for gaps in 0..64 {
                let mut skipped = SkippedSteps::default();
                for at in 0..6 {
                    let step = order[at];
                    if gaps >> step & 1 == 1 {
                        skipped.insert(step);
                    }
                    let stored = &order[..=at];
                    let start =
                        (0..step).rev().take_while(|step| stored.contains(step)).last().unwrap_or(step);
                    let end = (step..7).find(|step| !stored.contains(step)).unwrap_or(6);
                    for window in [Window::All, Window::LATEST, Window::last(2).expect("not zero")] {
                        let newly = (0..6).filter(|newest| {
                            known(window, *newest, stored, gaps)
                                && !known(window, *newest, &order[..at], gaps)
                        });
                        let completed = window.completed_by(step, start..end, &skipped);
                        assert!(newly.eq(completed), "{window:?}: {step} after {:?}, {gaps:b}", &order[..at]);
                    }
                }
            }
        }
    }

    #[test]
    fn a_window_of_nothing_is_refused_and_a_huge_one_shows_everything() {
        assert_eq!(Window::last(0), None);
        let huge = Window::last(usize::MAX).expect("not zero");
        assert_eq!(huge.ending(8, &SkippedSteps::default()), 0..8);
    }
}
