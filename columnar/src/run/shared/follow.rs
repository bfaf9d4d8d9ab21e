//! The interface between the state of a flow and the followers: a signal of changes, and the stored cells that a reader has
//! not seen. A reader has no queue, because a slow client must cost nothing and a returning one must miss nothing.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::watch;

use super::SharedFlow;
use crate::declare::{Name, Plan};
use crate::run::state::CellState;
use crate::run::user_code::caught;
use crate::schedule::{Cell, SeenSteps};
use crate::store::StoreError;

/// The cells of a flow that a reader has seen.
#[derive(Clone, Debug)]
pub(crate) struct SeenCells {
    pub(crate) plan: Arc<Plan>,
    /// By column.
    columns: Vec<SeenSteps>,
}

impl SeenCells {
    /// The cells that a reader of this flow has seen, by column.
    pub(crate) fn new(plan: Arc<Plan>, seen: impl Fn(&Name) -> SeenSteps) -> Self {
        let columns = plan.schema().columns().iter().map(|column| seen(&column.name)).collect();
        Self { plan, columns }
    }

    /// The columns with the seen steps.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&Name, &SeenSteps)> {
        self.plan.schema().columns().iter().map(|column| &column.name).zip(&self.columns)
    }

    pub(crate) fn contains(&self, cell: Cell) -> bool {
        self.columns.get(cell.column).is_some_and(|seen| seen.contains(cell.step))
    }

    pub(crate) fn insert(&mut self, cell: Cell) {
        if let Some(seen) = self.columns.get_mut(cell.column) {
            seen.insert(cell.step);
        }
    }

    /// Changes to the columns that the flow has now. Nothing of an added column has been seen.
    fn update(&mut self, plan: &Arc<Plan>) {
        if !Arc::ptr_eq(&self.plan, plan) {
            *self = Self::new(Arc::clone(plan), |name| {
                let before = self.plan.schema().find(name).and_then(|column| self.columns.get(column));
                before.cloned().unwrap_or_default()
            });
        }
    }
}

impl SharedFlow {
    /// A receiver that is notified when a cell is stored, fails or is pushed, when the columns change, and when a run
    /// begins or ends.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.get_or_init(watch::Sender::default).subscribe()
    }

    /// Notifies those who wait for a change.
    pub(crate) fn notify(&self) {
        // A receiver that is made later reads the state after this change.
        if let Some(changes) = self.changes.get() {
            // A panic of a follower's waker is no failure of the cell that is stored.
            caught(|| changes.send_replace(()));
        }
    }

    /// The cells that are stored now.
    pub(crate) fn stored_now(&self) -> SeenCells {
        let state = self.lock();
        let columns = 0..state.plan.schema().columns().len();
        let columns = columns.map(|column| state.scheduler.seen(column)).collect();
        SeenCells { plan: Arc::clone(&state.plan), columns }
    }

    /// The next stored cell in order that a reader has not seen.
    pub(crate) fn next_unseen(&self, seen: &mut SeenCells) -> Option<(Cell, CellState)> {
        let state = self.lock();
        seen.update(&state.plan);
        // A cell that fails for good must not hide the later ones, so the scheduler passes such a cell.
        let cell = state.scheduler.next_unseen(&seen.columns, state.is_running)?;
        Some((cell, state.cell(cell)))
    }

    /// Whether a cell waits for an answer, or for a cell that does.
    pub(crate) fn awaits_answer(&self, column: &Name, step: usize) -> bool {
        let state = self.lock();
        let mut next = state.plan.schema().find(column).map(|column| Cell { column, step });
        // Each cell waits for one of an earlier step or level, so this ends.
        while let Some(cell) = next {
            if state.scheduler.is_pending(cell) {
                return true;
            }
            next = state.scheduler.missing(cell);
        }
        false
    }

    /// Whether a run has asked for a cell, which waits for an answer.
    pub(crate) fn is_asked(&self, column: &Name, step: usize) -> bool {
        let state = self.lock();
        let column = state.plan.schema().find(column);
        column.is_some_and(|column| state.scheduler.is_asked(Cell { column, step }))
    }

    /// The cells that wait for answers, by column and step, also where filters leave nothing to read.
    pub(crate) fn pending_cells(&self) -> Vec<(Name, usize)> {
        let state = self.lock();
        state.scheduler.pending().map(|cell| (state.name(cell.column).clone(), cell.step)).collect()
    }

    pub(crate) fn is_stored(&self, column: &Name, step: usize) -> bool {
        let state = self.lock();
        let column = state.plan.schema().find(column);
        column.is_some_and(|column| state.scheduler.is_stored(Cell { column, step }))
    }

    /// A write has failed. A store that keeps no attachments has written nothing, and goes on.
    pub(crate) fn store_failed(&self, error: &StoreError) {
        if let StoreError::NoAttachments = error {
            return;
        }
        self.has_store_failed.store(true, Ordering::Release);
        self.notify();
    }

    /// Whether a write has failed.
    pub(crate) fn has_store_failed(&self) -> bool {
        self.has_store_failed.load(Ordering::Acquire)
    }

    /// Lets the active run end when the cells in progress are stored. Returns whether there is one.
    pub(crate) fn halt(&self) -> bool {
        let mut state = self.lock();
        let is_running = state.is_running;
        if is_running {
            state.scheduler.halt();
            drop(state);
            self.wake();
        }
        is_running
    }

    /// The first cell in topological order that is missing at a step.
    pub(crate) fn first_missing(&self, step: usize) -> Option<Name> {
        let state = self.lock();
        let column = state.scheduler.first_missing(step)?;
        Some(state.plan.schema().name(column).clone())
    }
}
