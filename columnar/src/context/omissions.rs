//! Omissions: the values that a context does not show, and the markers that replace them.
//!
//! The marker of hidden values comes directly before the first value that the view shows, as a user message: it is one
//! more view, of one text at one step. The first shown value leaves its window next, so the shared prefix of two
//! requests ends there in any case.

use std::ops::Range;
use std::sync::Arc;

use super::budget::Report;
use super::delimiters::Overhead;
use super::layout::Omitted;
use super::view::ViewValues;
use crate::declare::Reads;
use crate::history::tokens::Sum;

/// The values that a context omits, and their markers. Most contexts omit nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Omissions {
    /// The truncation to the budget, if there is a budget.
    pub(super) truncation: Option<Truncation>,
    /// The markers of hidden values.
    pub(super) elisions: Vec<Elision>,
}

impl Omissions {
    /// The values that the views of a context hide, if any view counts them.
    pub(super) fn hidden(
        reads: &Reads,
        views: &[ViewValues],
        overhead: &Overhead,
        step: usize,
    ) -> Option<Arc<Self>> {
        if !reads.views().any(|view| view.elided) {
            return None;
        }
        let elisions = Elision::all(reads, views, overhead, step, step);
        (!elisions.is_empty()).then(|| Arc::new(Self { truncation: None, elisions }))
    }
}

/// The turns that a budget omits from a context. They are numbered by slots; see [`Turns`](super::budget::Turns).
#[derive(Clone, Debug)]
pub(crate) struct Truncation {
    pub(crate) report: Report,
    /// The slots of the omitted turns.
    pub(super) omitted: Range<usize>,
    /// The turns that the last context with a response omitted, if documents have tiers.
    pub(super) answered: Omitted,
    /// The slots that the previous context omitted, if cuts persist.
    pub(super) previous: Range<usize>,
    /// The slots that the next context most likely omits. Without persistent cuts, all from the first one on.
    pub(super) next: Range<usize>,
    /// Whether the next context certainly omits other turns.
    pub(super) changes: bool,
    /// The marker that replaces the turns, if there is one, and its tokens.
    pub(super) marker: Option<(String, usize)>,
}

impl Truncation {
    /// The truncation of the previous context.
    pub(super) fn before(&self) -> Self {
        let omitted = self.previous.clone();
        let marker = self.marker.clone().filter(|_| !omitted.is_empty());
        Self {
            next: omitted.clone(),
            omitted,
            previous: 0..0,
            changes: false,
            answered: Omitted::default(),
            marker,
            ..self.clone()
        }
    }
}

/// The marker of turns that a budget omits.
pub(super) fn truncation_marker(omitted: Sum) -> String {
    format!("<elided>{} turns, about {} tokens</elided>", omitted.count, omitted.tokens)
}

impl Overhead {
    /// The tokens of the marker of turns that a budget omits.
    pub(super) fn marker_tokens(&self, omitted: Sum) -> usize {
        self.counter.count(&truncation_marker(omitted)) + self.separator
    }
}

/// The marker of the values that one view hides.
#[derive(Clone, Debug)]
pub(super) struct Elision {
    /// The index of the view among those of the column.
    pub(super) view: usize,
    /// The number of hidden values.
    pub(super) values: usize,
    /// The marker, at its step.
    pub(super) text: ViewValues,
}

impl Elision {
    /// All markers in a context of `step`, from the values up to the step `known`.
    pub(super) fn all(
        reads: &Reads,
        views: &[ViewValues],
        overhead: &Overhead,
        step: usize,
        known: usize,
    ) -> Vec<Self> {
        let inputs = reads.inputs.len();
        // At the last known step, the value of the column itself is still being computed.
        let end = |at| if at < inputs { known + 1 } else { known };
        let turns = reads
            .turns(step)
            .enumerate()
            .map(|(at, turns)| clip(turns, end(at)))
            .zip(views)
            .enumerate()
            .filter(|(at, _)| reads.is_elided(*at));
        let elision = |(view, (turns, values)): (usize, (Range<usize>, &ViewValues))| {
            let first = values.first(&turns)?;
            let hidden = values.sum(&(0..first)).count;
            let (text, tokens) = overhead.elision(hidden, reads.shown_as(view));
            (hidden > 0).then(|| Self { view, values: hidden, text: ViewValues::single(first, text, tokens) })
        };
        turns.filter_map(elision).collect()
    }

    /// The tokens of the marker if it is in the turns of these steps, or else 0.
    pub(super) fn tokens(&self, steps: &Range<usize>, overhead: &Overhead) -> usize {
        self.text.sum(steps).with_overhead(overhead.separator).tokens
    }
}

fn clip(steps: Range<usize>, end: usize) -> Range<usize> {
    let end = steps.end.min(end);
    steps.start.min(end)..end
}
