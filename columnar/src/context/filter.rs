//! The values of a column that pass the filter of a view.

use std::ops::Range;

use crate::declare::Filter;
use crate::history::History;

/// The values that pass a filter, as a history: windows, sums and budgets work on it as on a column. The filter is called
/// once for each value.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilteredHistory {
    passed: History,
    /// Every step before this one has been checked.
    checked: usize,
}

impl FilteredHistory {
    /// Checks the values in `steps`, which are stored, and returns all values so far that pass the filter.
    pub(crate) fn history(&mut self, filter: &Filter, column: &History, steps: Range<usize>) -> History {
        let is_next = steps.start <= self.checked;
        for step in if is_next { self.checked.min(steps.end)..steps.end } else { steps.clone() } {
            if let Some(text) = column.text(step)
                && filter.shows(step, text.value)
                && let Some(value) = column.value(step)
            {
                self.passed.insert(step, value, text.tokens);
            }
        }
        if is_next {
            self.checked = self.checked.max(steps.end);
        }
        self.passed.clone()
    }
}
