//! Windows: the steps of a column that a view shows.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;

/// The steps of a column that a view shows, counted back from the current step.
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
    pub(crate) fn completed_by(self, step: usize, span: Range<usize>) -> Range<usize> {
        match self {
            // Windows of all values that end later in the span have waited for `step` alone.
            Self::All if span.start == 0 => step..span.end,
            Self::All => step..step,
            Self::Last(count) => {
                // Nothing comes before step 0, so the windows near it are shorter than `count`.
                let start = if span.start == 0 { 0 } else { span.start.saturating_add(count.get() - 1) };
                // Only windows that end at `step` or fewer than `count` steps later show it.
                step.max(start)..span.end.min(step.saturating_add(count.get()))
            }
        }
    }

    /// The values in words, as the label of a line in a drawing.
    pub(crate) fn label(self) -> String {
        match self {
            Self::All => "all".to_owned(),
            Self::Last(NonZeroUsize::MIN) => "latest".to_owned(),
            Self::Last(count) => format!("last {count}"),
        }
    }

    /// The steps of a window that ends before this step.
    pub(crate) fn ending(self, end: usize) -> Range<usize> {
        match self {
            Self::All => 0..end,
            Self::Last(count) => end.saturating_sub(count.get())..end,
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
            assert_eq!((view.cells(step), view.self_cells(step)), (inputs, own), "{window:?} at {step}");
        }
    }

    #[test]
    fn a_window_of_nothing_is_refused_and_a_huge_one_shows_everything() {
        assert_eq!(Window::last(0), None);
        let huge = Window::last(usize::MAX).expect("not zero");
        assert_eq!(huge.ending(8), 0..8);
    }
}
