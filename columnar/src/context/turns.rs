//! The sizes of a context's turns: sums of known numbers, before any text is assembled.
//!
//! The inputs of a column at a step are one turn, in slot `2 * step`. Its own value at that step is another turn, in slot
//! `2 * step + 1`. A token was counted once, when the value was stored, and the tree of a column keeps sums, so the size of
//! a window is a subtraction.

use std::borrow::Cow;
use std::ops::Range;

use super::budget::Turns;
use super::elisions::{Elision, MarkedViews};
use super::step_views::ViewValues;
use crate::history::tokens::Sum;

/// The turns of a context at its own step, at an earlier one, or at the next one.
#[derive(Clone, Debug)]
pub(super) struct ContextTurns<'s> {
    views: &'s MarkedViews,
    step: usize,
    elisions: Cow<'s, [Elision]>,
}

impl<'s> ContextTurns<'s> {
    /// The turns at a step: the current one, an earlier one, or the next one. The new turns of the next step are expected
    /// to be as large as the last ones.
    pub(super) fn at(views: &'s MarkedViews, step: usize) -> Self {
        let is_current = step == views.step;
        let elisions =
            if is_current { Cow::Borrowed(views.elisions()) } else { views.elisions_at(step).into() };
        Self { views, step, elisions }
    }

    /// The inputs, with the values of each, the steps whose turns show the input and the tokens around each value.
    fn inputs(&self) -> impl Iterator<Item = (&'s ViewValues, Range<usize>, usize)> + Clone {
        let views = self.views;
        let step = self.step;
        let inputs = views.inputs().zip(&views.overhead.inputs);
        inputs.map(move |((input, view), overhead)| {
            // No budget omits documents, so they are in no turn.
            let turns = if input.is_log() { step..step } else { view.turns(&input.spec, step) };
            (view, turns, *overhead)
        })
    }

    /// The self history, and the steps of it that are shown.
    fn self_history(&self) -> Option<(&'s ViewValues, Range<usize>)> {
        let view = self.views.self_history()?;
        Some((view, view.self_turns(self.views.reads.self_view.as_ref()?, self.step)))
    }

    /// The turns of inputs in these steps, up to the current one.
    pub(super) fn inputs_in(&self, steps: &Range<usize>) -> Sum {
        let known = steps.start..steps.end.min(self.views.step + 1);
        let mut sum = turns(&self.inputs(), &known);
        for (group, tokens) in self.views.reads.groups.iter().zip(&self.views.overhead.groups) {
            // A group is written once in each turn in which any of the inputs has a value.
            let inside = self.inputs().skip(group.inputs.start).take(group.inputs.len());
            sum.tokens += turns(&inside, &known).count * tokens;
        }
        sum.tokens += self.markers_in(&known, false);
        sum
    }

    /// The turns of the column itself in these steps, before the current one.
    fn self_in(&self, steps: &Range<usize>) -> Sum {
        let known = steps.start..steps.end.min(self.views.step);
        let values = self.self_history().map(|(view, shown)| view.sum(&clip(&shown, &known)));
        let mut sum = values.unwrap_or_default().with_overhead(self.views.overhead.separator);
        sum.tokens += self.markers_in(&known, true);
        sum
    }

    /// The tokens of the markers in these steps, either of the self history or of the inputs.
    fn markers_in(&self, steps: &Range<usize>, of_self: bool) -> usize {
        let inputs = self.views.reads.inputs.len();
        // A marker is in the turn of the value that it precedes. It is no turn, and adds tokens only.
        let elisions = self.elisions.iter().filter(|elision| (elision.view == inputs) == of_self);
        elisions.map(|elision| self.views.tokens_of(elision, steps)).sum()
    }

    /// The expected turns of the next step, as large as the current ones.
    fn expected_in(&self, slots: &Range<usize>) -> Sum {
        let last = self.views.step;
        let mut sum = Sum::default();
        if self.step > last {
            let now = Self::at(self.views, last);
            let inputs = now.inputs_in(&(last..last + 1)).tokens;
            if slots.contains(&(2 * last + 2)) {
                sum += Sum::one(inputs);
            }
            if self.self_history().is_some() && slots.contains(&(2 * last + 1)) {
                let value = now.self_in(&(last.saturating_sub(1)..last));
                // Without an earlier reply, one as large as the inputs is assumed.
                sum += Sum::one(if value.count > 0 { value.tokens } else { inputs });
            }
        }
        sum
    }
}

impl Turns for ContextTurns<'_> {
    fn slots(&self) -> Range<usize> {
        let inputs = self.inputs().map(|(_, shown, _)| shown.start);
        let first = inputs.chain(self.self_history().map(|(_, shown)| shown.start)).min();
        // Without the last slot of the step: the value of the column there does not exist yet.
        2 * first.unwrap_or(self.step)..2 * self.step + 1
    }

    fn sum(&self, slots: Range<usize>) -> Sum {
        // Slot `2n` has the inputs of step `n`, and slot `2n + 1` the column's value. So the bounds are
        // rounded up for the inputs and down for the column.
        let inputs = self.inputs_in(&(slots.start.div_ceil(2)..slots.end.div_ceil(2)));
        inputs + self.self_in(&(slots.start / 2..slots.end / 2)) + self.expected_in(&slots)
    }

    fn is_empty(&self, slots: Range<usize>) -> bool {
        let read = slots.start.div_ceil(2)..slots.end.div_ceil(2).min(self.views.step + 1);
        // Any value will do, so no turns are counted, which may be of several values.
        self.inputs().all(|(view, shown, _)| view.sum(&clip(&shown, &read)).count == 0)
            && self.self_in(&(slots.start / 2..slots.end / 2)).count == 0
            && self.expected_in(&slots).count == 0
    }
}

/// The number of steps in which any of the inputs has a value, and the tokens of all.
fn turns<'s>(
    inputs: &(impl Iterator<Item = (&'s ViewValues, Range<usize>, usize)> + Clone),
    known: &Range<usize>,
) -> Sum {
    let mut tokens = 0;
    let mut most = 0;
    let mut all = 0;
    let mut first = known.end;
    for (view, shown, overhead) in inputs.clone() {
        let shown = clip(&shown, known);
        first = first.min(shown.start);
        let sum = view.sum(&shown).with_overhead(overhead);
        tokens += sum.tokens;
        most = most.max(sum.count);
        all += sum.count;
    }
    // The steps are visited one by one only if several inputs have values and a turn is empty, which is rare.
    if most == all || most == known.end - first {
        return Sum { count: most, tokens };
    }
    let mut count = 0;
    let mut step = first;
    while step < known.end {
        let mut is_read = false;
        let mut next = known.end;
        for (view, shown, _) in inputs.clone() {
            let shown = clip(&shown, &(step..known.end));
            let mut turns = view.possible(&shown);
            let mut turn = turns.next();
            if turn == Some(step) {
                is_read |= view.has(step);
                turn = turns.next();
            }
            next = turn.map_or(next, |turn| turn.min(next));
        }
        count += usize::from(is_read);
        step = next;
    }
    Sum { count, tokens }
}

fn clip(steps: &Range<usize>, within: &Range<usize>) -> Range<usize> {
    let start = steps.start.max(within.start);
    start..steps.end.min(within.end).max(start)
}
