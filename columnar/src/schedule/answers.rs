//! Cells whose values come from outside. Such a cell is pending as soon as its inputs are stored. A run asks for it once,
//! and does not wait. The answer may be stored at any time, also without a run.

use super::Scheduler;
use super::action::{Action, Cell, InvalidTransition};
use super::track::Slot;

impl Scheduler {
    /// The cells that wait for an answer, by column and step. Whether filters let a cell read anything is not known here.
    pub(crate) fn pending(&self) -> impl Iterator<Item = Cell> {
        self.pending.iter().filter(|cell| !self.skips(*cell))
    }

    /// Whether a run has asked for a cell, which waits for an answer.
    pub(crate) fn is_asked(&self, cell: Cell) -> bool {
        self.pending.has_asked(cell)
    }

    /// Whether a cell waits for an answer.
    pub(crate) fn is_pending(&self, cell: Cell) -> bool {
        self.pending.contains(cell) && !self.skips(cell)
    }

    pub(super) fn make_pending(&mut self, cell: Cell) {
        self.set(cell, Slot::Pending);
        self.pending.insert(cell);
        // The events of later steps need not wait for an answer that may never come.
        self.advance(cell.column);
    }

    /// Asks for the next cell.
    pub(super) fn ask(&mut self) -> Option<Action> {
        let cell = self.pending.ask(self.horizon)?;
        if !self.skips(cell) {
            return Some(Action::Ask(cell));
        }
        let taken = self.take_pending(cell);
        debug_assert!(taken.is_ok(), "a cell that is asked for is pending");
        self.set(cell, Slot::Storing);
        Some(Action::Skip(cell))
    }

    /// Lets a run ask for a pending cell again.
    pub(crate) fn ask_again(&mut self, cell: Cell) -> Result<(), InvalidTransition> {
        self.pending.ask_again(cell)
    }

    /// Takes a pending cell into the run, which skips it or fails it.
    pub(crate) fn take_pending(&mut self, cell: Cell) -> Result<(), InvalidTransition> {
        self.pending.remove(cell)?;
        self.running += 1;
        self.ready.take(cell);
        self.change(cell, Slot::Pending, Slot::Running)
    }

    /// Notes that a pending cell is stored, with an answer or as skipped. A run has an event for it.
    pub(crate) fn handle_answered(
        &mut self,
        cell: Cell,
        is_skipped: bool,
        is_running: bool,
    ) -> Result<(), InvalidTransition> {
        self.pending.remove(cell)?;
        self.enter_stored(cell, is_skipped);
        if is_running {
            self.emit(cell);
        }
        Ok(())
    }
}
