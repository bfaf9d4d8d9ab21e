//! Snapshot: everything that a context shows, before any text is assembled.
//!
//! ```text
//! views ──▶ windows, at the current step ──▶ snapshots of the columns
//! ```
//!
//! Nothing is copied: a snapshot is a few reference counts for any length of the history, and its parts are made when they
//! are read. It is a pure function of the declaration and the stored values, and does not depend on the order in which
//! cells were computed.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::delimiters::{Form, Overhead};
use super::exclusions::Exclusions;
use super::layout::Layout;
use super::omissions::{Elision, Omissions, Truncation};
use super::view::{RareViews, ViewValues};
use crate::context::tiers::Moves;
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
    pub(super) instruction_views: RareViews,
    pub(super) overhead: Arc<Overhead>,
    /// The nearest step at which a fork diverged.
    fork: Option<usize>,
    /// The exclusions of the flow, if any concerns the views.
    exclusions: Option<Arc<Exclusions>>,
    /// The views with the excluded cells, once these are left out of the others.
    whole: Option<Arc<WholeViews>>,
    omissions: Option<Arc<Omissions>>,
    /// The documents in tiers, if the column reads some.
    tiered: Option<Arc<TieredSnapshot>>,
}

/// All values of the views of a context: those of the messages, and the instructions.
#[derive(Clone, Debug)]
struct WholeViews {
    views: Arc<[ViewValues]>,
    instruction_views: RareViews,
    /// The first turn and its view with a cell whose exclusion begins or ends with the next context.
    next: Option<(usize, usize)>,
}

/// The updates of documents in tiers, and their layout, once it is made.
#[derive(Clone, Debug)]
struct TieredSnapshot {
    updates: History,
    layout: Option<Arc<Layout>>,
    /// The moves, if a budget or an exclusion changes other tiers than the items do.
    moves: Option<Moves>,
}

impl Snapshot {
    /// The snapshot of a derived cell, all of whose inputs are stored, before filters and with nothing hidden.
    pub(super) fn new(
        reads: Arc<Reads>,
        cell: Cell,
        (fork, exclusions): (Option<usize>, Option<&Arc<Exclusions>>),
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
        let tiered = reads.tiered.as_ref().map(|documents| {
            Arc::new(TieredSnapshot { updates: history(documents.column), layout: None, moves: None })
        });
        let exclusions = exclusions.filter(|exclusions| exclusions.concern(&reads)).cloned();
        Self {
            reads,
            step,
            views,
            instruction_views,
            overhead,
            fork,
            exclusions,
            whole: None,
            omissions: None,
            tiered,
        }
    }

    /// Leaves the excluded cells out of the views.
    pub(super) fn exclude(&mut self) {
        if self.exclusions.is_some() {
            let Self { views, instruction_views, .. } = self;
            let (views, instruction_views) = (Arc::clone(views), instruction_views.clone());
            let next = self.first_excluded(self.step, self.step + 1);
            let whole = WholeViews { views, instruction_views, next };
            (self.views, self.instruction_views) = self.without_excluded(&whole, self.step);
            self.whole = Some(Arc::new(whole));
            self.hide();
        }
    }

    /// The views that a context of `step` shows.
    fn without_excluded(&self, whole: &WholeViews, step: usize) -> (Arc<[ViewValues]>, RareViews) {
        let without = |(name, view): (&Name, &ViewValues)| {
            let excluded = self.exclusions.as_ref().map(|exclusions| exclusions.at(name, step));
            let mut view = view.clone();
            excluded.into_iter().flatten().for_each(|step| view.history.remove(step));
            view
        };
        let inputs = self.reads.inputs.iter().map(|input| &input.name).chain([&self.reads.column]);
        let instructions = self.reads.instructions.iter().map(|input| &input.name);
        (
            inputs.zip(&*whole.views).map(without).collect(),
            instructions.zip(&*whole.instruction_views).map(without).collect(),
        )
    }

    /// The views with all values, also with those that are excluded.
    fn whole_views(&self) -> WholeViews {
        match &self.whole {
            Some(whole) => WholeViews::clone(whole),
            None => WholeViews {
                views: Arc::clone(&self.views),
                instruction_views: self.instruction_views.clone(),
                next: None,
            },
        }
    }

    /// The first turn and its view with a cell whose exclusion begins or ends with the next context.
    pub(super) fn excluded_next(&self) -> Option<(usize, usize)> {
        self.whole.as_ref()?.next
    }

    /// Whether any cell of the views was ever excluded.
    pub(super) fn has_exclusions(&self) -> bool {
        self.exclusions.is_some()
    }

    /// The same context with the cells that are excluded from it.
    pub(super) fn whole(&self) -> Cow<'_, Self> {
        if self.whole.is_none() {
            return Cow::Borrowed(self);
        }
        let WholeViews { views, instruction_views, .. } = self.whole_views();
        let mut whole = Self { views, instruction_views, exclusions: None, whole: None, ..self.clone() };
        whole.hide();
        Cow::Owned(whole)
    }

    /// The last step from which on contexts of the column heed other exclusions than before.
    pub(super) fn excluding_since(&self, step: usize) -> usize {
        self.exclusions.as_ref().map_or(0, |exclusions| exclusions.since(&self.reads, step))
    }

    /// The first turn and its view with a cell whose exclusion begins or ends between the contexts of two steps.
    fn first_excluded(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        self.excluded_between(from, to).into_iter().min()
    }

    /// The turns and views with a cell whose exclusion begins or ends between the contexts of two steps.
    pub(super) fn excluded_between(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let Some(exclusions) = &self.exclusions else { return Vec::new() };
        let views = self.whole_views().views;
        let names = self.reads.inputs.iter().map(|input| &input.name).chain([&self.reads.column]);
        let turns = names.zip(&*views).enumerate().flat_map(|(at, (name, view))| {
            let changed = exclusions.changed(name, from, to);
            let turns = changed.into_iter().map(|step| step + view.lag);
            turns.filter(|turn| view.steps.contains(turn) && view.has(*turn)).map(move |turn| (turn, at))
        });
        turns.collect()
    }

    /// The update of the documents at a step.
    pub(super) fn update(&self, step: usize) -> Option<Value> {
        self.tiered.as_ref()?.updates.value(step)
    }

    /// The layout of the documents in tiers.
    pub(super) fn layout(&self) -> Option<&Layout> {
        self.tiered.as_ref()?.layout.as_deref()
    }

    /// The moves of documents and exchanges between tiers, as far as the context shows them.
    pub(super) fn moves(&self) -> Option<&Moves> {
        let moves = self.tiered.as_ref()?.moves.as_ref();
        moves.or_else(|| Some(self.layout()?.moves()))
    }

    /// Finds the tiers that a budget or an exclusion changes.
    pub(super) fn find_moves(&mut self) {
        let moves = self.moves_shown();
        if let Some(tiered) = self.tiered.as_mut().filter(|_| moves.is_some()) {
            Arc::make_mut(tiered).moves = moves;
        }
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
        let views = if input.is_instruction() { &*self.instruction_views } else { &*self.views };
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
        // The snapshot was made just now and has no clone, so nothing is copied.
        let view = if input.is_instruction() {
            self.instruction_views.get_mut(input.at)
        } else {
            Arc::make_mut(&mut self.views).get_mut(input.at)
        };
        if let Some(view) = view {
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
        self.previous_step().map(|step| self.at(step))
    }

    /// The previous step at which any input had a value.
    pub(super) fn previous_step(&self) -> Option<usize> {
        let whole = self.whole();
        (0..self.step).rev().find(|step| whole.is_read_at(*step))
    }

    /// The previous step at which the column has a value.
    pub(super) fn answered_step(&self) -> Option<usize> {
        let whole = self.whole();
        let history = whole.self_history()?;
        (0..self.step).rev().find(|step| history.has(*step))
    }

    /// The snapshot of the last step that is shared with the nearest fork. `None` if a budget omits turns now, because
    /// the turns that it omitted then are unknown.
    pub(super) fn before_fork(&self) -> Option<Self> {
        let is_whole = self.truncation().is_none_or(|truncation| truncation.omitted.is_empty());
        self.fork?.checked_sub(1).filter(|_| is_whole).map(|step| self.at(step))
    }

    /// The snapshot of an earlier step.
    pub(super) fn at(&self, step: usize) -> Self {
        // Values never change, so the current histories also have the earlier context. Only windows differ.
        let whole = self.whole_views();
        let views = self
            .reads
            .turns(step)
            .zip(&*whole.views)
            .map(|(steps, view)| ViewValues { steps, ..view.clone() });
        let (reads, overhead) = (Arc::clone(&self.reads), Arc::clone(&self.overhead));
        let instructions = reads.instructions.iter().zip(&*whole.instruction_views);
        let instructions =
            instructions.map(|(input, view)| ViewValues { steps: input.spec.turns(step), ..view.clone() });
        let whole =
            WholeViews { views: views.collect(), instruction_views: instructions.collect(), next: None };
        let (views, instruction_views) = self.without_excluded(&whole, step);
        let omissions = Omissions::hidden(&reads, &views, &overhead, step);
        // The layout of an earlier step is not that of this one. No caller asks for it.
        let exclusions = self.exclusions.clone();
        let mut earlier = Self {
            reads,
            step,
            views,
            instruction_views,
            overhead,
            fork: None,
            exclusions,
            whole: Some(Arc::new(whole)).filter(|_| self.exclusions.is_some()),
            omissions,
            tiered: None,
        };
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

    /// The values that the view with a tag shows, the oldest first. The tag of the self history is the name of the column.
    pub(crate) fn values(&self, tag: &str) -> impl DoubleEndedIterator<Item = Value> + use<'_> {
        let Reads { inputs, instructions, self_view, column, .. } = &*self.reads;
        let position = |inputs: &[Input]| inputs.iter().position(|input| input.tag == tag);
        let own = || self_view.as_ref().filter(|_| column.tag() == tag).and_then(|_| self.self_history());
        let view = position(inputs)
            .and_then(|at| self.views.get(at))
            .or_else(|| self.instruction_views.get(position(instructions)?))
            .or_else(own);
        view.into_iter().flat_map(|view| view.steps.clone().filter_map(|step| view.value(step)))
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
