//! What an earlier process stored: which columns to load, in which order, and what they cannot hold.

use alloc::vec::Vec;
use core::fmt;

use super::track::Slot;
use super::{Cell, Misuse, Scheduler};

/// Why what a store holds of a column cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unloadable {
    /// A source is without a step before this one.
    Gap { missing: usize, found: usize },
    /// A source is empty in a step.
    Empty { step: usize },
    /// A computed column has a step for which not every source has its value.
    NotBegun { step: usize, opened: usize },
}

impl fmt::Display for Unloadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gap { missing, found } => {
                write!(f, "step {missing} is not there, but step {found} is")
            }
            Self::Empty { step } => {
                write!(f, "step {step} is there without a value, which a source never is")
            }
            Self::NotBegun { step, opened } => {
                write!(f, "it holds a value for step {step}, but only {opened} steps have begun")
            }
        }
    }
}

impl core::error::Error for Unloadable {}

impl Scheduler {
    /// Asks for every column to be loaded: the sources first, for a step begins when they have it.
    pub(crate) fn restore(&mut self) {
        let schema = self.plan.schema();
        let (sources, derived): (Vec<_>, Vec<_>) =
            (0..schema.columns().len()).partition(|&column| schema.is_source(column));
        self.loads.extend(sources);
        self.loads.extend(derived);
    }

    /// The next column to load. It is reported before the next one is asked for.
    pub(crate) fn poll_load(&mut self) -> Option<usize> {
        self.loads.pop_front()
    }

    /// What a store holds of a column: the steps in any order, and whether they are empty. On an error
    /// nothing has changed.
    pub(crate) fn handle_loaded(
        &mut self,
        column: usize,
        mut cells: Vec<(usize, bool)>,
    ) -> Result<(), Unloadable> {
        cells.sort_unstable();
        if !self.plan.schema().is_source(column) {
            self.check_loaded(&cells)?;
            for (step, empty) in cells {
                // What is there already stays as it is.
                let _: Result<(), Misuse> = self.handle_restored(Cell { column, step }, empty);
            }
            return Ok(());
        }
        for (&(found, empty), missing) in cells.iter().zip(self.len(column)..) {
            if found != missing {
                return Err(Unloadable::Gap { missing, found });
            }
            if empty {
                return Err(Unloadable::Empty { step: found });
            }
        }
        cells.iter().for_each(|_| self.handle_pushed(column));
        Ok(())
    }

    /// Whether a computed column may hold these steps.
    pub(crate) fn check_loaded(&self, cells: &[(usize, bool)]) -> Result<(), Unloadable> {
        let opened = self.opened;
        match cells.iter().find(|(step, _)| *step >= opened) {
            Some(&(step, _)) => Err(Unloadable::NotBegun { step, opened }),
            None => Ok(()),
        }
    }

    /// A cell that an earlier process stored. Only before it is handed out.
    pub(super) fn handle_restored(&mut self, cell: Cell, empty: bool) -> Result<(), Misuse> {
        match self.slot(cell) {
            Some(Slot::Waiting(_) | Slot::Ready) => {}
            _ => return Err(Misuse),
        }
        // It may be among the ready ones; polling passes over it.
        if empty {
            self.skipped.insert(cell);
        }
        self.settle(cell);
        Ok(())
    }
}
