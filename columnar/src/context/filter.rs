//! What a view with a filter shows of a column.

use std::ops::Range;

use crate::declare::Filter;
use crate::history::History;

/// The values that a filter lets through, as a history of their own, so that everything that goes for columns
/// goes for it. Each value is asked for once.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilteredHistory {
    passed: History,
    /// Every step before this one has been asked for.
    checked: usize,
}

impl FilteredHistory {
    /// What passes of a column, as far as its values in `steps` go, which are stored.
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
