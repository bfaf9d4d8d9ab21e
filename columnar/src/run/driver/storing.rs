//! Storing finished cells. A cell is stored before the dependents unlock, and dependents unlock before the event: a
//! reader of an event finds the value in the store.

use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use futures::future::FutureExt;

use super::Run;
use super::computation::Unstored;
use crate::compute::trace::CellSpan;
use crate::run::Error;
use crate::run::user_code::caught;
use crate::schedule::Cell;
use crate::store::{Entry, Put, StoreError};

impl<I> Run<'_, I> {
    pub(super) fn take_unstored(&mut self, cell: Cell) -> Option<Unstored> {
        self.unstored.take_if(|unstored| unstored.cell == cell)
    }

    /// A cell that is skipped without a computation, because all inputs are skipped.
    pub(super) fn skipped(&mut self, cell: Cell) -> Unstored {
        let span = CellSpan::new(self.name(cell.column), cell.step);
        Unstored { cell, entry: Entry::SKIPPED, counted: None, span }
    }

    pub(super) fn store(&mut self, unstored: Unstored, task: &mut TaskContext<'_>) {
        let shared = Arc::clone(self.shared());
        let cell = unstored.cell;
        let Some(mut put) = shared.put(cell, unstored.entry.clone()) else {
            return self.put_done(unstored, Ok(Put::Stored));
        };
        // A store in memory is ready at once, and the dependents start in the same poll of the run.
        match put.poll_unpin(task) {
            Poll::Ready(put) => self.put_done(unstored, put),
            Poll::Pending => self.writes.push(put.map(move |put| (unstored, put)).boxed()),
        }
    }

    pub(super) fn put_done(&mut self, mut unstored: Unstored, put: Result<Put, StoreError>) {
        let is_stored = put.and_then(|put| self.stored(&mut unstored, put));
        let Unstored { cell, entry, mut span, .. } = unstored;
        match is_stored {
            Ok(true) => {
                span.stored(&entry);
                self.span.stored(&entry);
            }
            Ok(false) => self.break_off(cell, span, self.shared().panicked(cell)),
            Err(source) => {
                self.shared().store_failed();
                let column = self.name(cell.column).clone();
                let step = cell.step;
                self.break_off(cell, span, Error::Store { column, step, source });
            }
        }
    }

    /// A cell is stored. Returns whether the value could be counted, which may panic.
    fn stored(&self, unstored: &mut Unstored, put: Put) -> Result<bool, StoreError> {
        let shared = self.shared();
        // An earlier write succeeded without a confirmation. The first value stays, and dependents show that one.
        if let Put::Exists(earlier) = put {
            unstored.counted = match earlier.value.as_ref().map(|value| caught(|| shared.counted(value))) {
                Some(None) => return Ok(false),
                counted => counted.flatten(),
            };
            unstored.entry = earlier;
        }
        let Unstored { cell, entry, counted, .. } = unstored;
        // A counter that was replaced meanwhile counts again.
        match caught(|| shared.handle_stored(*cell, entry, counted.as_ref())) {
            Some(stored) => stored.map(|()| true),
            None => Ok(false),
        }
    }

    /// A cell could not be stored, which ends the run.
    fn break_off(&mut self, cell: Cell, mut span: CellSpan, error: Error) {
        self.shared().report(|scheduler| scheduler.handle_broken(cell));
        span.failed(&error, error.class());
        self.span.cell_failed();
        self.fail(error);
    }
}
