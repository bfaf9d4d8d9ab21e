//! The markers of the values that views hide.
//!
//! A marker comes directly before the first value that the view shows, as a user message: it is one more view, of one text
//! at one step. The first shown value leaves the window next, so the shared prefix of two requests ends there in any case.

use std::ops::{Deref, Range};
use std::sync::Arc;

use super::step_views::{StepViews, ViewValues};

/// The marker of the values that one view hides.
#[derive(Clone, Debug)]
pub(super) struct Elision {
    /// The index of the view among the views of the column.
    pub(super) view: usize,
    /// The number of hidden values.
    pub(super) values: usize,
    /// The marker, at one step.
    pub(super) text: ViewValues,
}

/// The views of a step, and the markers of the values that they hide.
#[derive(Clone, Debug)]
pub(crate) struct MarkedViews {
    unmarked: StepViews,
    /// `None` if no view counts the values that it hides, as in most contexts.
    elisions: Option<Arc<[Elision]>>,
}

impl Deref for MarkedViews {
    type Target = StepViews;

    fn deref(&self) -> &StepViews {
        &self.unmarked
    }
}

impl MarkedViews {
    /// Calls the counter.
    #[inline]
    pub(super) fn new(unmarked: StepViews) -> Self {
        let mut elisions = None;
        if unmarked.reads.views().any(|view| view.elided) {
            elisions = Some(unmarked.elisions_at(unmarked.step).into());
        }
        Self { unmarked, elisions }
    }

    pub(super) fn elisions(&self) -> &[Elision] {
        self.elisions.as_deref().unwrap_or_default()
    }

    /// The marker of the values that one view hides.
    pub(super) fn elision(&self, view: usize) -> Option<&Elision> {
        self.elisions().iter().find(|elision| elision.view == view)
    }

    /// The tokens of a marker if it is in the turns of these steps, or else 0.
    pub(super) fn tokens_of(&self, elision: &Elision, steps: &Range<usize>) -> usize {
        elision.text.sum(steps).with_overhead(self.overhead.separator).tokens
    }
}

impl StepViews {
    /// The markers in a context of a step up to the next one, from the values that are known.
    pub(super) fn elisions_at(&self, step: usize) -> Vec<Elision> {
        let reads = &self.reads;
        let inputs = reads.inputs.len();
        if !reads.views().any(|view| view.elided) {
            return Vec::new();
        }
        let views = reads.views().zip(self.views()).enumerate();
        let elisions = views.filter(|(_, (spec, _))| spec.elided).filter_map(|(view, (spec, values))| {
            let turns = if view < inputs { values.turns(spec, step) } else { values.self_turns(spec, step) };
            // At the step of the context, the value of the column itself is still being computed.
            let end = turns.end.min(if view < inputs { self.step + 1 } else { self.step });
            let first = values.first(&(turns.start.min(end)..end))?;
            let hidden = values.sum(&(0..first)).count;
            let (text, tokens) = self.overhead.elision(hidden, reads.shown_as(view));
            (hidden > 0).then(|| Elision {
                view,
                values: hidden,
                text: ViewValues::single(first, text, tokens),
            })
        });
        elisions.collect()
    }
}
