//! Snapshot: everything that a context shows, before any text is assembled.
//!
//! ```text
//! views ──▶ windows, at the current step ──▶ snapshots of the columns
//! ```
//!
//! Nothing is copied: a snapshot is a few reference counts for any length of the history, and its parts are made when they
//! are read. It is a pure function of the declaration and the stored values, and does not depend on the order in which
//! cells were computed.

use std::ops::Range;
use std::sync::Arc;

use super::delimiters::{Form, Overhead};
use super::layout::Layout;
use super::omissions::{Elision, Omissions, Truncation};
use super::view::ViewValues;
use crate::declare::{Input, Name, Reads};
use crate::history::{History, Value};
use crate::schedule::Cell;

/// The histories that the context of one cell shows. Cloning it is a few reference counts.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) reads: Arc<Reads>,
    pub(crate) step: usize,
    /// The inputs in order of declaration, and the self history after them.
    pub(super) views: Arc<[ViewValues]>,
    /// The instructions among the inputs, which are in the system text.
    pub(super) instruction_views: Arc<[ViewValues]>,
    pub(super) overhead: Arc<Overhead>,
    /// The nearest step at which a fork diverged.
    fork: Option<usize>,
    omissions: Option<Arc<Omissions>>,
    /// The documents in tiers, if the column reads some.
    tiered: Option<Arc<TieredSnapshot>>,
}

/// The updates of documents in tiers, and their layout, once it is made.
#[derive(Clone, Debug)]
struct TieredSnapshot {
    updates: History,
    layout: Option<Arc<Layout>>,
}

impl Snapshot {
    /// The snapshot of a derived cell, all of whose inputs are stored, before filters and with nothing hidden.
    pub(super) fn new(
        reads: Arc<Reads>,
        cell: Cell,
        fork: Option<usize>,
        overhead: Arc<Overhead>,
        mut history: impl FnMut(usize) -> History,
    ) -> Self {
        let inputs = reads.inputs.iter();
        let inputs = inputs.map(|input| (input.column, input.spec.turns(cell.step), input.spec.lag));
        let history_view = reads.self_view.as_ref().map(|view| (cell.column, view.self_cells(cell.step), 0));
        // Collected at once, which is one allocation.
        let views = inputs.chain(history_view).map(|(column, steps, lag)| ViewValues {
            steps,
            lag,
            history: history(column),
        });
        let (views, step) = (views.collect(), cell.step);
        let instructions = reads.instructions.iter().map(|input| ViewValues {
            steps: input.spec.turns(step),
            lag: input.spec.lag,
            history: history(input.column),
        });
        let instruction_views = instructions.collect();
        let tiered = reads
            .tiered
            .as_ref()
            .map(|documents| Arc::new(TieredSnapshot { updates: history(documents.column), layout: None }));
        Self { reads, step, views, instruction_views, overhead, fork, omissions: None, tiered }
    }

    /// The update of the documents at a step.
    pub(super) fn update(&self, step: usize) -> Option<Value> {
        self.tiered.as_ref()?.updates.value(step)
    }

    /// The layout of the documents in tiers.
    pub(super) fn layout(&self) -> Option<&Layout> {
        self.tiered.as_ref()?.layout.as_deref()
    }

    /// Sets the layout of the documents.
    pub(super) fn lay_out(&mut self, layout: Layout) {
        if let Some(tiered) = &mut self.tiered {
            Arc::make_mut(tiered).layout = Some(Arc::new(layout));
        }
    }

    /// Whether the column reads instructions. Then the next request may have another system text.
    pub(super) fn has_instructions(&self) -> bool {
        !self.instruction_views.is_empty()
    }

    /// The values of an input.
    pub(super) fn history(&self, input: &Input) -> Option<&History> {
        let views = if input.is_instruction() { &self.instruction_views } else { &self.views };
        views.get(input.at).map(|view| &view.history)
    }

    /// Whether an input has a value at a step of its column.
    pub(super) fn has(&self, input: &Input, step: usize) -> bool {
        self.history(input).is_some_and(|history| history.has(step))
    }

    /// The value of an input at a step of its column.
    pub(crate) fn value(&self, input: &Input, step: usize) -> Option<Value> {
        self.history(input)?.value(step)
    }

    /// Replaces the values of an input by those that pass its filter.
    pub(super) fn replace(&mut self, input: &Input, passed: History) {
        let views = if input.is_instruction() { &mut self.instruction_views } else { &mut self.views };
        // The snapshot was made just now and has no clone, so nothing is copied.
        if let Some(view) = Arc::make_mut(views).get_mut(input.at) {
            view.history = passed;
        }
    }

    /// Counts the values that the views hide.
    pub(super) fn hide(&mut self) {
        self.omissions = Omissions::hidden(&self.reads, &self.views, &self.overhead, self.step);
    }

    /// Applies a truncation.
    pub(super) fn truncate(&mut self, truncation: Truncation) {
        Arc::make_mut(self.omissions.get_or_insert_default()).truncation = Some(truncation);
    }

    pub(crate) fn column(&self) -> &Name {
        &self.reads.column
    }

    /// Whether both are the same snapshot, by identity.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.views, &other.views)
    }

    /// The snapshot of the previous step at which any input had a value.
    pub(super) fn previous(&self) -> Option<Self> {
        // A step whose inputs are all skipped is skipped as well, and made no request.
        (0..self.step).rev().find(|step| self.is_read_at(*step)).map(|step| self.at(step))
    }

    /// The snapshot of the last step that is shared with the nearest fork. `None` if a budget omits turns now, because
    /// the turns that it omitted then are unknown.
    pub(super) fn before_fork(&self) -> Option<Self> {
        let is_whole = self.truncation().is_none_or(|truncation| truncation.omitted.is_empty());
        self.fork?.checked_sub(1).filter(|_| is_whole).map(|step| self.at(step))
    }

    /// The snapshot of an earlier step.
    fn at(&self, step: usize) -> Self {
        // Values never change, so the current histories also have the earlier context. Only windows differ.
        let views = self
            .reads
            .turns(step)
            .zip(&*self.views)
            .map(|(steps, view)| ViewValues { steps, ..view.clone() });
        let (reads, overhead) = (Arc::clone(&self.reads), Arc::clone(&self.overhead));
        let views: Arc<[ViewValues]> = views.collect();
        let instructions = reads.instructions.iter().zip(&*self.instruction_views);
        let instructions =
            instructions.map(|(input, view)| ViewValues { steps: input.spec.turns(step), ..view.clone() });
        let instruction_views = instructions.collect();
        let omissions = Omissions::hidden(&reads, &views, &overhead, step);
        // The layout of an earlier step is not that of this one. No caller asks for it.
        let fork = None;
        let mut earlier =
            Self { reads, step, views, instruction_views, overhead, fork, omissions, tiered: None };
        self.truncation().into_iter().for_each(|truncation| earlier.truncate(truncation.before()));
        earlier
    }

    /// The truncation to the budget, if there is a budget.
    pub(super) fn truncation(&self) -> Option<&Truncation> {
        self.omissions.as_ref()?.truncation.as_ref()
    }

    /// The markers of hidden values.
    pub(super) fn elisions(&self) -> &[Elision] {
        self.omissions.as_ref().map_or(&[], |omissions| &omissions.elisions)
    }

    /// The marker of the values that one view hides.
    pub(super) fn elision(&self, view: usize) -> Option<&Elision> {
        self.elisions().iter().find(|elision| elision.view == view)
    }

    /// The tags and values of the inputs at the current step, without skipped cells.
    pub(crate) fn current(&self) -> Vec<(Name, Value)> {
        let inputs = self.reads.inputs.iter().zip(&*self.views);
        inputs.filter_map(|(input, view)| Some((input.tag.clone(), view.value(self.step)?))).collect()
    }

    /// Whether any input has a value in the turn of a step.
    fn is_read_at(&self, step: usize) -> bool {
        self.reads.inputs.iter().zip(&*self.views).any(|(_, view)| view.has(step))
    }

    /// Whether any input has a value at the current step.
    pub(crate) fn is_current(&self) -> bool {
        self.is_read_at(self.step)
    }

    /// The number of groups that stay open after an input's value in the turn of `step`, in the context of the step
    /// `context`, which is this one or the next.
    pub(super) fn open_after(&self, input: &Input, step: usize, context: usize) -> usize {
        let later = self.reads.inputs.iter().zip(&*self.views).skip(input.at + 1);
        let mut siblings = later.map(|(other, view)| (input.shared_groups(other), other, view));
        // A group holds neighbouring inputs, and inputs further away share fewer groups. So the first one
        // that is shown decides.
        let next = siblings.by_ref().take_while(|(shared, ..)| *shared > 0);
        let mut shown =
            next.filter(|(_, other, view)| other.spec.turns(context).contains(&step) && view.has(step));
        shown.next().map_or(0, |(shared, ..)| shared)
    }

    /// Whether no view has a value.
    pub(super) fn is_empty(&self) -> bool {
        self.views.iter().all(|view| !view.steps.clone().any(|step| view.has(step)))
    }

    /// The self history, if the column reads it.
    pub(super) fn self_history(&self) -> Option<&ViewValues> {
        self.views.get(self.reads.inputs.len())
    }

    /// Whether a value becomes the first that its view shows. Then a marker precedes it in the next context, and none
    /// does in this one.
    pub(super) fn is_first_next(&self, view: usize, step: usize, next: &Range<usize>) -> bool {
        let view = self.views.get(view).filter(|_| self.reads.is_elided(view));
        view.is_some_and(|view| view.first(next) == Some(step) && view.first(&view.steps) != Some(step))
    }

    /// Whether the next context begins with a value of the column itself and without a marker, as far as the known values
    /// decide it.
    pub(super) fn is_led_next(&self) -> bool {
        let next = self.step + 1;
        let (Some(spec), Some(view)) = (&self.reads.self_view, self.self_history()) else { return false };
        if self.overhead.form == Form::Document {
            return false;
        }
        // The value that is being computed will be stored by then.
        let mut values = spec.self_cells(next).filter(|&step| step == self.step || view.has(step));
        values.next().is_some_and(|first| {
            let is_marked = spec.elided && view.sum(&(0..first)).count > 0;
            let mut inputs = self.reads.inputs.iter().zip(&*self.views);
            !is_marked
                && !inputs
                    .any(|(input, view)| (input.spec.turns(next).start..=first).any(|step| view.has(step)))
        })
    }

    /// The first step that any view shows.
    pub(super) fn first_step(&self) -> usize {
        self.views.iter().map(|view| view.steps.start).min().unwrap_or(self.step)
    }

    /// The first step of the last message, which is the step after the last shown value of the column itself.
    pub(super) fn last_message(&self) -> usize {
        let is_omitted =
            |slot: usize| self.truncation().is_some_and(|truncation| truncation.omitted.contains(&slot));
        let is_document = self.overhead.form == Form::Document;
        let after_self = self.self_history().filter(|_| !is_document).and_then(|history| {
            let is_shown = |&step: &usize| !is_omitted(2 * step + 1) && history.has(step);
            history.steps.clone().rev().find(is_shown).map(|step| step + 1)
        });
        after_self.unwrap_or_else(|| self.first_step())
    }
}
