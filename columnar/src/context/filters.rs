//! The values that pass the filters of views.
//!
//! A filtered view is a history of its own, which grows as contexts read on: windows, sums and budgets need positions, and work on
//! it as on a column.

use std::collections::BTreeMap;
use std::ops::Range;

use super::step_views::StepViews;
use crate::declare::{InputView, Reads, ViewFilter};
use crate::history::{History, StepRanges};

/// The values that passed in earlier contexts, by whether an input is an instruction and by the index.
#[derive(Clone, Debug, Default)]
pub(super) struct FilterMemory(BTreeMap<(bool, usize), FilteredHistory>);

/// The values that pass a filter. The filter is called once for each value, as long as the memory is kept.
#[derive(Clone, Debug, Default)]
struct FilteredHistory {
    passed: History,
    checked: StepRanges,
}

impl FilterMemory {
    /// The views with the values of filtered inputs that pass. Calls filters.
    pub(super) fn filter(&mut self, views: &StepViews, reads_all_steps: bool) -> StepViews {
        // A context needs its own values, and the values of the context before, whose prefix it repeats.
        let previous = previous_step(&views.reads, views.step, |input, step| match &input.spec.filter {
            None => views.history(Some(input)).is_some_and(|history| history.has(step)),
            Some(filter) => views.history(Some(input)).is_some_and(|column| {
                let filtered = self.of(input);
                filtered.check_known(filter, column, step..step + 1);
                filtered.passed.has(step)
            }),
        });
        views.filtered(|input| {
            let filter = input.spec.filter.as_ref()?;
            let column = views.history(Some(input))?;
            let filtered = self.of(input);
            let skipped = views.skipped(input.column);
            let needed = |step| views.reads.awaited(&input.spec, input.spec.cells(step, &skipped));
            let mut steps = needed(views.step);
            if reads_all_steps {
                steps.start = 0;
            }
            filtered.check_known(filter, column, steps.clone());
            // Steps without a value are skipped for good.
            filtered.checked.insert(steps);
            if let Some(previous) = previous {
                filtered.check_known(filter, column, needed(previous));
            }
            Some(filtered.passed.clone())
        })
    }

    fn of(&mut self, input: &InputView) -> &mut FilteredHistory {
        self.0.entry((input.is_instruction(), input.at)).or_default()
    }
}

impl FilteredHistory {
    /// Checks the values of steps, as far as they are stored.
    fn check_known(&mut self, filter: &ViewFilter, column: &History, steps: Range<usize>) {
        for step in StepRanges::from(steps).minus(&self.checked).steps() {
            if let (Some(text), Some(value)) = (column.text(step), column.value(step)) {
                if filter.shows(step, text.value) {
                    self.passed.insert(step, value, text.tokens);
                }
                self.checked.insert(step..step + 1);
            }
        }
    }
}

/// The last step before this one at which an input has a value: the step of the column's previous request. `is_read`
/// returns whether an input shows a value of the column at a step.
pub(crate) fn previous_step(
    reads: &Reads,
    step: usize,
    mut is_read: impl FnMut(&InputView, usize) -> bool,
) -> Option<usize> {
    // The request that wrote the beginning of a thread is one of another column.
    let steps = if reads.thread.is_some() { 0..0 } else { 0..step };
    steps.rev().find(|step| {
        let mut inputs = reads.inputs.iter().filter(|input| !input.is_log());
        inputs.any(|input| step.checked_sub(input.spec.lag).is_some_and(|source| is_read(input, source)))
    })
}
