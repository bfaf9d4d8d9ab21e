//! The stages of a context: everything that the context shows, before any text is assembled.
//!
//! ```text
//! TakenViews ──▶ MarkedViews ──▶ LaidOut ──▶ Uncut ──▶ Snapshot
//!          filters         tiers      exclusions  budget
//! ```
//!
//! Each stage is a type, so the order cannot be mistaken: tiers know the filtered history with all cells, exclusions leave
//! cells out after that, and a budget knows the sizes of what is left. A context is a function of the declaration and the
//! stored values, and does not depend on the order in which cells were computed.

use std::ops::{Deref, Range};
use std::sync::Arc;

use super::compaction::LogContext;
use super::elisions::MarkedViews;
use super::exclusions::Exclusions;
use super::layout::DocumentLayout;
use super::overhead::{ContextForm, Overhead};
use super::step_views::{StepViews, StoredCells};
use super::truncation::Truncation;
use crate::declare::{Name, Reads};
use crate::history::History;
use crate::schedule::Cell;

/// The values of a context's views as they were taken from the flow: with nothing filtered or left out.
///
/// The next stage borrows these values: a drop may call code of users, so it must not happen while a filter unwinds.
#[derive(Debug)]
pub(crate) struct TakenViews {
    taken: StepViews,
    /// The updates of documents in tiers, if the column reads some.
    pub(super) updates: Option<History>,
    past: FlowPast,
}

/// The events in the past of a flow that the contexts depend on, beside values.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowPast {
    /// The nearest step at which a fork diverged.
    pub(crate) fork: Option<usize>,
    /// The exclusions of the flow. A context keeps them only if they concern the views.
    pub(crate) exclusions: Option<Arc<Exclusions>>,
}

/// The values that pass the filters of the views, and the layout of the documents.
pub(super) struct LaidOut {
    whole: MarkedViews,
    layout: Option<Arc<DocumentLayout>>,
    log: Option<Arc<LogContext>>,
    past: FlowPast,
}

/// A context with all turns: those that a budget omits are not known yet.
#[derive(Clone, Debug)]
pub(crate) struct Uncut {
    /// The views without excluded cells.
    shown: MarkedViews,
    pub(super) excluded: Option<Arc<Excluded>>,
    layout: Option<Arc<DocumentLayout>>,
    /// The log of the documents, if a view is compacted.
    log: Option<Arc<LogContext>>,
    pub(super) fork: Option<usize>,
    /// The context of the column whose conversation continues.
    pub(super) thread: Option<Arc<Snapshot>>,
}

/// The exclusions that concern a context.
#[derive(Debug)]
pub(super) struct Excluded {
    exclusions: Arc<Exclusions>,
    /// The views with all cells.
    whole: MarkedViews,
    /// The first turn and the view with a cell whose exclusion begins or ends with the next context.
    pub(super) next: Option<(usize, usize)>,
}

/// Everything that the context of one cell shows. A clone is a few reference counts.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    uncut: Uncut,
    /// The truncation to the budget, if there is a budget.
    truncation: Option<Arc<Truncation>>,
}

impl Deref for TakenViews {
    type Target = StepViews;

    fn deref(&self) -> &StepViews {
        &self.taken
    }
}

impl Deref for Uncut {
    type Target = MarkedViews;

    fn deref(&self) -> &MarkedViews {
        &self.shown
    }
}

impl Deref for Snapshot {
    type Target = Uncut;

    fn deref(&self) -> &Uncut {
        &self.uncut
    }
}

impl TakenViews {
    /// The values of a derived cell, all of whose inputs are stored. `cells` returns the stored cells of a column. Calls no
    /// code of users.
    pub(super) fn new(
        reads: Arc<Reads>,
        cell: Cell,
        overhead: Arc<Overhead>,
        past: FlowPast,
        mut cells: impl FnMut(usize) -> StoredCells,
    ) -> Self {
        let updates = reads.tiered.as_ref().map(|documents| cells(documents.column).history);
        let exclusions = past.exclusions.filter(|exclusions| exclusions.concern(&reads));
        let taken = StepViews::new(reads, cell.step, overhead, |input| {
            cells(input.map_or(cell.column, |input| input.column))
        });
        Self { taken, updates, past: FlowPast { exclusions, ..past } }
    }

    /// The context of the values that pass the filters of the views, with the layout of the documents.
    #[inline]
    pub(super) fn lay_out(
        &self,
        passing: MarkedViews,
        layout: Option<DocumentLayout>,
        log: Option<LogContext>,
    ) -> LaidOut {
        LaidOut {
            whole: passing,
            layout: layout.map(Arc::new),
            log: log.map(Arc::new),
            past: self.past.clone(),
        }
    }
}

impl Snapshot {
    /// The context with another fee of writing a token into the provider's cache, over the price of a token. The fee decides
    /// when documents are laid anew.
    pub(crate) fn written_at(mut self, factor: f64) -> Self {
        self.uncut.log = self.log().map(|log| Arc::new(log.written_at(factor)));
        self
    }
}

impl LaidOut {
    /// Leaves the excluded cells out of the views. Calls the counter.
    #[inline]
    pub(super) fn exclude(self) -> Uncut {
        let Self { whole, layout, log, past: FlowPast { fork, exclusions } } = self;
        let Some(exclusions) = exclusions else {
            return Uncut { shown: whole, excluded: None, layout, log, fork, thread: None };
        };
        let shown = MarkedViews::new(whole.without(&exclusions));
        let mut excluded = Excluded { exclusions, whole, next: None };
        excluded.next = excluded.between(shown.step, shown.step + 1).into_iter().min();
        Uncut { shown, excluded: Some(Arc::new(excluded)), layout, log, fork, thread: None }
    }
}

impl Excluded {
    /// The turns and views with a cell whose exclusion begins or ends between the contexts of two steps.
    pub(super) fn between(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let turns = self.whole.columns().enumerate().flat_map(|(at, (name, view))| {
            let changed = self.exclusions.changed(name, from, to);
            let turns = changed.into_iter().map(|step| step + view.lag);
            turns.filter(|turn| view.steps.contains(turn) && view.has(*turn)).map(move |turn| (turn, at))
        });
        turns.collect()
    }
}

impl Uncut {
    /// The context with the conversation that it continues.
    pub(super) fn continuing(self, thread: Option<Arc<Snapshot>>) -> Self {
        Self { thread, ..self }
    }

    #[inline]
    pub(super) fn truncated(self, truncation: Option<Truncation>) -> Snapshot {
        Snapshot { uncut: self, truncation: truncation.map(Arc::new) }
    }

    /// The views with the cells that are excluded from the context.
    pub(super) fn whole(&self) -> &MarkedViews {
        self.excluded.as_ref().map_or(&self.shown, |excluded| &excluded.whole)
    }

    /// The layout of the documents in tiers.
    pub(super) fn layout(&self) -> Option<&DocumentLayout> {
        self.layout.as_deref()
    }

    /// The log of the documents.
    pub(super) fn log(&self) -> Option<&LogContext> {
        self.log.as_deref()
    }

    /// The tokens of the delimiters around the documents of one step in a compacted view.
    pub(super) fn around_documents(&self) -> usize {
        let input = self.reads.compacted;
        input.and_then(|input| self.overhead.inputs.get(input)).copied().unwrap_or(0)
    }

    /// The last step from which on contexts of the column heed other exclusions than before.
    pub(super) fn excluding_since(&self, step: usize) -> usize {
        self.excluded.as_ref().map_or(0, |excluded| excluded.exclusions.since(&self.reads, step))
    }

    /// The context of an earlier step, without a layout and a thread: both were others then, and no caller asks for them.
    pub(super) fn at(&self, step: usize) -> Self {
        let exclusions = self.excluded.as_ref().map(|excluded| Arc::clone(&excluded.exclusions));
        let mut whole = self.whole().at(step);
        let log = self.log().map(|log| Arc::new(if step < self.step { log.before() } else { log.clone() }));
        if let Some(log) = &log {
            whole = whole.with_documents(log.texts().values());
        }
        LaidOut {
            whole: MarkedViews::new(whole),
            layout: None,
            log,
            past: FlowPast { fork: None, exclusions },
        }
        .exclude()
    }

    /// The tokens that no budget omits, beside the instruction: of the instructions among the inputs and the
    /// documents in the system text, and of the documents and the instruction in messages; and of the conversation that
    /// continues.
    pub(super) fn fixed_tokens(&self) -> [usize; 2] {
        let [system, messages] = self.document_tokens();
        let [of_thread, in_thread] = self.thread_tokens();
        let system = system + self.instruction_tokens(self.step) + of_thread;
        [system, messages + self.overhead.own_tokens() + in_thread]
    }

    /// The tokens of the documents in the system text, and of the ones in messages.
    pub(super) fn document_tokens(&self) -> [usize; 2] {
        if let Some(layout) = self.layout() {
            return [layout.system_tokens(), layout.message_tokens()];
        }
        [0, self.documents_in(&(0..self.step + 1))]
    }

    /// The tokens of the documents in the turns of these steps.
    pub(super) fn documents_in(&self, steps: &Range<usize>) -> usize {
        let logged = self.reads.compacted.and_then(|input| self.views().get(input));
        let sum = logged.map(|view| view.sum(steps).with_overhead(self.around_documents()));
        sum.unwrap_or_default().tokens
    }
}

impl Snapshot {
    /// The truncation to the budget, if there is a budget.
    pub(super) fn truncation(&self) -> Option<&Truncation> {
        self.truncation.as_deref()
    }

    /// The snapshot of an earlier step.
    pub(super) fn before(&self, step: usize) -> Self {
        self.at(step).truncated(self.truncation().map(Truncation::before))
    }

    /// The first step of the last message, which is the step after the last shown value of the column itself.
    pub(super) fn last_message(&self) -> usize {
        let omitted = self.truncation().map_or(0..0, |truncation| truncation.omitted.clone());
        let history = self.self_history().filter(|_| self.overhead.form != ContextForm::Document);
        let shown = history.and_then(|history| {
            let mut steps = history.possible(&history.steps).rev();
            steps.find(|step| !omitted.contains(&(2 * step + 1)) && history.has(*step))
        });
        shown.map_or_else(|| self.first_step(), |step| step + 1)
    }

    /// The columns whose cells a budget omits, and the steps of these, in the order in which they would be shown.
    pub(super) fn omitted(&self) -> impl Iterator<Item = (&Name, usize)> {
        let slots = self.truncation().map_or(0..0, |truncation| truncation.omitted.clone());
        let inputs = self.reads.inputs.len();
        slots.flat_map(move |slot| {
            let step = slot / 2;
            let is_own = slot % 2 == 1;
            let views = self
                .columns()
                .enumerate()
                .filter(move |(at, _)| (*at == inputs) == is_own && self.reads.compacted != Some(*at));
            // A skipped cell would not be shown in any case, so no budget omits it.
            let shown = views.filter(move |(_, (_, view))| view.steps.contains(&step) && view.has(step));
            shown.map(move |(_, (column, view))| (column, step - view.lag))
        })
    }
}
