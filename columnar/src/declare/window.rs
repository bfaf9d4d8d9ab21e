//! How much of a column's history a view shows.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;

/// How much of a column's history a view shows, counted back from the current step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// Everything since step 0.
    All,
    /// The last so many values; `.latest` is the last one.
    Last(NonZeroUsize),
}

impl Window {
    /// The newest value alone.
    pub const LATEST: Self = Self::Last(NonZeroUsize::MIN);

    /// The last `count` values, or `None` for a window that would show nothing.
    pub const fn last(count: usize) -> Option<Self> {
        match NonZeroUsize::new(count) {
            Some(count) => Some(Self::Last(count)),
            None => None,
        }
    }

    /// How many values it shows at the most; `None` for all.
    pub(crate) const fn most(self) -> Option<usize> {
        match self {
            Self::All => None,
            Self::Last(count) => Some(count.get()),
        }
    }

    /// The steps of an input that are shown at `step`: they end with `step` itself.
    pub(crate) fn of_input(self, step: usize) -> Range<usize> {
        self.ending(step + 1)
    }

    /// The steps of the own past that are shown at `step`: they end with the step before.
    pub(crate) fn of_own(self, step: usize) -> Range<usize> {
        self.ending(step)
    }

    fn ending(self, end: usize) -> Range<usize> {
        match self {
            Self::All => 0..end,
            Self::Last(count) => end.saturating_sub(count.get())..end,
        }
    }
}

/// As it is written after the column's name: nothing, `.latest` or `.window(n)`.
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

    #[test]
    fn inputs_include_the_current_step_and_the_own_past_does_not() {
        let two = Window::last(2).expect("two is not zero");
        assert_eq!(Window::All.of_input(3), 0..4);
        assert_eq!(Window::LATEST.of_input(3), 3..4);
        assert_eq!(two.of_input(3), 2..4);
        assert_eq!(two.of_input(0), 0..1);
        assert_eq!(Window::All.of_own(3), 0..3);
        assert_eq!(Window::LATEST.of_own(3), 2..3);
        assert_eq!(two.of_own(1), 0..1);
        assert_eq!(Window::All.of_own(0), 0..0);
    }

    #[test]
    fn a_window_of_nothing_is_refused_and_a_huge_one_shows_everything() {
        assert_eq!(Window::last(0), None);
        let huge = Window::last(usize::MAX).expect("not zero");
        assert_eq!(huge.of_input(7), 0..8);
    }
}
