//! What is said of the values that a view hides.
//!
//! It stands directly before the first value that the view shows, in the words of the user, so it goes with that
//! value: it is one more view, of one text at one step. A value that is shown first leaves its window next, so
//! what requests have in common ends there in any case.

use std::ops::Range;

use super::shown::View;
use crate::context::budget::Around;
use crate::declare::Reads;

/// What is said of one view.
#[derive(Clone, Debug)]
pub(crate) struct Elision {
    /// The place of the view among those of the column.
    pub(super) at: usize,
    /// How many values it hides.
    pub(super) values: usize,
    /// The text, where it stands.
    pub(super) text: View,
}

impl Elision {
    /// All of a context of `step`, as far as the step `known` is known.
    pub(super) fn all(
        reads: &Reads,
        views: &[View],
        around: &Around,
        step: usize,
        known: usize,
    ) -> Vec<Self> {
        let own = reads.own.map(|own| clip(own.of_own(step), known));
        let inputs = reads.inputs.iter().map(|input| clip(input.turns(step), known + 1));
        let turns = inputs.chain(own).zip(views).enumerate().filter(|(at, _)| reads.is_elided(*at));
        let elision = |(at, (turns, view)): (usize, (Range<usize>, &View))| {
            let first = view.first(&turns)?;
            let values = view.sum(&(0..first)).count;
            let (text, tokens) = text(values, reads.called(at), around);
            (values > 0).then(|| Self { at, values, text: View::of_one(first, text, tokens) })
        };
        turns.filter_map(elision).collect()
    }

    /// The tokens of it, if it stands in the turns of some steps.
    pub(super) fn tokens(&self, steps: &Range<usize>, around: &Around) -> usize {
        self.text.sum(steps).framed(around.gap).tokens
    }
}

/// What is said of so many values, and its tokens without those around it.
pub(crate) fn text(values: usize, called: &str, around: &Around) -> (String, usize) {
    let plural = if values == 1 { "" } else { "s" };
    let text = format!("<elided>{values} value{plural} of {called}</elided>");
    let tokens = around.counter.count(&text);
    (text, tokens)
}

fn clip(steps: Range<usize>, end: usize) -> Range<usize> {
    let end = steps.end.min(end);
    steps.start.min(end)..end
}
