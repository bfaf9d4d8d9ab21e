//! Storing finished cells. A cell is stored before the dependents unlock, and dependents unlock before the event: a
//! reader of an event finds the value in the store.

use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use futures::future::FutureExt;

use super::Run;
use super::computation::Unstored;
use crate::compute::trace::CellSpan;
use crate::history::SkipReason;
use crate::model::usage::CellReceipt;
use crate::run::Error;
use crate::run::state::{entry, receipt};
use crate::run::user_code::caught;
use crate::schedule::{Cell, InvalidHistory};
use crate::store::{Put, StoreError};

impl<I> Run<'_, I> {
    pub(super) fn take_unstored(&mut self, cell: Cell) -> Option<Unstored> {
        self.unstored.take_if(|unstored| unstored.cell == cell)
    }

    /// A cell that is skipped without a computation.
    pub(super) fn skipped(&mut self, cell: Cell, reason: SkipReason) -> Unstored {
        let span = CellSpan::new(self.name(cell.column), cell.step);
        let receipt = CellReceipt::skipped(reason);
        Unstored { cell, value: None, receipt, called: None, counted: None, span }
    }

    pub(super) fn store(&mut self, unstored: Unstored, task: &mut TaskContext<'_>) {
        let shared = Arc::clone(self.shared());
        let cell = unstored.cell;
        // In one entry: neither the value nor the receipt may exist without the other.
        let Unstored { value, receipt, .. } = &unstored;
        let put = match value.as_ref().and_then(|value| shared.put_blobs(value)) {
            Some(blobs) => Some(shared.put_after(blobs, cell, entry(value.clone(), receipt))),
            None => shared.put(cell, || entry(value.clone(), receipt)),
        };
        let Some(mut put) = put else {
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
        let Unstored { cell, value, mut span, .. } = unstored;
        match is_stored {
            Ok(true) => {
                span.stored(value.is_none());
                self.span.stored(value.is_none());
            }
            Ok(false) => self.break_off(cell, span, self.shared().panicked(cell)),
            Err(source) => {
                self.shared().store_failed(&source);
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
            let step = unstored.cell.step;
            let receipt = receipt(&earlier);
            unstored.receipt = receipt.map_err(|_| StoreError::other(InvalidHistory::Receipt { step }))?;
            unstored.value = earlier.value;
        }
        // A counter that was replaced meanwhile counts again.
        Ok(caught(|| shared.handle_stored(unstored)).is_some())
    }

    /// A cell could not be stored, which ends the run.
    fn break_off(&mut self, cell: Cell, mut span: CellSpan, error: Error) {
        self.shared().report(|scheduler| scheduler.handle_broken(cell));
        span.failed(&error, error.class());
        self.span.cell_failed();
        self.fail(error);
    }
}
