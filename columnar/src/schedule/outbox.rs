//! The actions that come before any new cell starts, and the order of events.
//!
//! The events of a column are in step order, for any order in which the cells were finished. An event is held until
//! all earlier cells of the column are stored, have failed or wait for an answer.

use std::collections::{BTreeSet, VecDeque};

use super::action::{Action, Cell};
use super::track::Track;
use crate::declare::Plan;

#[derive(Clone, Debug, Default)]
pub(super) struct Outbox {
    actions: VecDeque<Action>,
    /// The next step of each column: each earlier step is emitted, or has no event in this run.
    emitted: Vec<usize>,
    /// The stored cells whose events wait: by step, rank and cell. In this order each cell comes after the cells that
    /// it reads.
    held: BTreeSet<(usize, usize, Cell)>,
}

impl Outbox {
    pub(super) fn push(&mut self, action: Action) {
        self.actions.push_back(action);
    }

    pub(super) fn pop(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Whether an event waits for an earlier one.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Begins a run.
    pub(super) fn begin(&mut self, tracks: &[Track]) {
        self.emitted.clear();
        self.emitted.extend(tracks.iter().map(Track::prefix));
    }

    /// Ends the run, and drops the remaining events.
    pub(super) fn clear(&mut self) {
        self.actions.clear();
        self.held.clear();
    }

    /// Emits the event of a stored cell, or holds the event until earlier ones. `is_next` says whether the next step of a column
    /// waits for nothing else than its earlier steps.
    pub(super) fn emit(&mut self, cell: Cell, rank: usize, is_next: bool) {
        // A cell may be answered after later steps, whose events have not waited for it.
        let next = self.emitted.get(cell.column).copied();
        if next.is_some_and(|next| cell.step < next || is_next && cell.step == next) {
            self.push(Action::Emit(cell));
        } else {
            self.held.insert((cell.step, rank, cell));
        }
    }

    /// Emits the held events of a column that no longer wait, after one more of its steps is stored, has failed or waits for an
    /// answer. Returns whether the column has passed a step.
    ///
    /// A cell comes after the cells that it reads, because each earlier cell of its column has waited for what that one reads.
    /// With a `plan`, some cells have not waited: then the events of a column follow the events of its inputs.
    pub(super) fn advance(&mut self, column: usize, rank: usize, track: &Track, plan: Option<&Plan>) -> bool {
        // A column that was added during the run passes the stored steps here, without events.
        if self.emitted.len() <= column {
            self.emitted.resize(column + 1, 0);
        }
        let Some(&first) = self.emitted.get(column) else { return false };
        let mut step = first;
        while (step < track.prefix() || track.is_stored(step) || track.holds_nothing_back(step))
            && plan.is_none_or(|plan| self.has_passed_inputs(plan, Cell { column, step }))
        {
            let cell = Cell { column, step };
            // A cell that an earlier run has stored is not held, and has no event.
            if self.held.remove(&(step, rank, cell)) {
                self.actions.push_back(Action::Emit(cell));
            }
            step += 1;
        }
        if let Some(emitted) = self.emitted.get_mut(column) {
            *emitted = step;
        }
        step > first
    }

    /// Whether the inputs of a cell have passed the newest steps that the cell may show. Sources have no events.
    fn has_passed_inputs(&self, plan: &Plan, cell: Cell) -> bool {
        let schema = plan.schema();
        let inputs = schema.reads(cell.column).into_iter().flat_map(|reads| reads.all_inputs());
        let mut inputs = inputs.filter(|input| !schema.is_source(input.column));
        inputs.all(|input| {
            let newest = cell.step.checked_sub(input.spec.lag);
            newest.is_none_or(|newest| self.emitted.get(input.column).is_some_and(|next| newest < *next))
        })
    }

    /// Emits all held events: no cell will finish before these.
    pub(super) fn flush(&mut self) {
        self.actions
            .extend(std::mem::take(&mut self.held).into_iter().map(|(_, _, cell)| Action::Emit(cell)));
    }
}
