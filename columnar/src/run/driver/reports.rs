//! The reports of computations: a report becomes an event, or a finished cell that the next action stores.

use std::task::{Context as TaskContext, Poll};

use futures::stream::StreamExt;

use super::Run;
use super::computation::{CellFailure, CellReport, Computation};
use crate::declare::default_limits::SKIP_MESSAGE;
use crate::history::SkipReason;
use crate::run::event::{ColumnId, Event};
use crate::run::user_code::{caught, discard};
use crate::schedule::{Cell, OnFailure};

impl<'a, I: ColumnId> Run<'a, I> {
    /// Starts a computation. A value that is ready at once, such as the value of a plain function, is not queued; a failure
    /// is, until all other ready cells have started.
    pub(super) fn compute(
        &mut self,
        mut computation: Computation<'a>,
        task: &mut TaskContext<'_>,
    ) -> Option<Event<I>> {
        // There is room for one early failure, and this cell may fail as well.
        if self.early_failure.is_some() {
            self.computations.push(computation);
            return None;
        }
        let event = match computation.poll_next_unpin(task) {
            Poll::Ready(Some((cell, report))) => {
                let report = self.counted(report);
                if let CellReport::Failed(_) = report {
                    self.early_failure = Some((cell, report));
                    None
                } else {
                    self.handle_report(cell, report)
                }
            }
            Poll::Ready(None) | Poll::Pending => None,
        };
        // `SelectAll` polls a new stream soon, and so replaces the waker of the poll above.
        if !computation.is_finished() {
            self.computations.push(computation);
        }
        event
    }

    /// Counts a computed value. If the counter panics, the cell has failed, and nothing is stored.
    pub(super) fn counted(&self, report: CellReport) -> CellReport {
        let CellReport::Finished(mut unstored) = report else { return report };
        let Some(value) = &unstored.value else { return CellReport::Finished(unstored) };
        unstored.counted = caught(|| self.shared().counted(value));
        if unstored.counted.is_some() {
            return CellReport::Finished(unstored);
        }
        let error = self.shared().panicked(unstored.cell);
        unstored.span.failed(&error, error.class());
        let cause = error.cause();
        unstored.value = None;
        unstored.receipt.made = None;
        unstored.receipt.skipped = Some(SkipReason::failed(&cause, SKIP_MESSAGE));
        CellReport::Failed(Box::new(CellFailure { error, cause, is_over_limit: false, unstored }))
    }

    /// Handles a report. If the cell is finished, the next action stores it.
    pub(super) fn handle_report(&mut self, cell: Cell, report: CellReport) -> Option<Event<I>> {
        let column = self.column_id(cell);
        let step = cell.step;
        match report {
            CellReport::Delta(text) => Some(Event::Delta { column: column?, step, text }),
            CellReport::Retry { attempt, error } => {
                Some(Event::Retry { column: column?, step, attempt, error })
            }
            CellReport::Warning(message) => Some(Event::Warning { column: column?, step, message }),
            CellReport::Waiting { pause, error } => {
                Some(Event::Waiting { column: column?, step, pause, error })
            }
            CellReport::Finished(unstored) => {
                let is_skipped = unstored.value.is_none();
                // Before the cell is stored: readers of a value know what it cost. Filters and the counter are called.
                let miss = caught(|| self.shared().cache_miss(cell, &unstored.receipt)).flatten();
                self.unstored = Some(unstored);
                self.shared().report(|scheduler| {
                    if is_skipped { scheduler.handle_skipped(cell) } else { scheduler.handle_computed(cell) }
                });
                miss.and_then(|miss| Some(Event::CacheMiss { column: column?, step, miss }))
            }
            CellReport::Failed(failure) => {
                let CellFailure { error, cause, is_over_limit, unstored } = *failure;
                let consequence = if is_over_limit {
                    // The limit refuses every further call, so the run ends even if the column allows failures.
                    self.shared().report(|scheduler| scheduler.handle_broken(cell));
                    OnFailure::Stop
                } else {
                    self.shared().handle_failed(cell)
                };
                match consequence {
                    OnFailure::Stop => {
                        self.span.cell_failed();
                        self.fail(error);
                        return None;
                    }
                    OnFailure::Wait => self.span.cell_failed(),
                    // Stored, because dependents must show the same context after a restart.
                    // No failed cell: storing counts the cell as a skipped one.
                    OnFailure::Skip => self.unstored = Some(unstored),
                }
                // The drop of the error of a compute step is code of users.
                discard(error);
                Some(Event::Failed { column: column?, step, error: cause })
            }
        }
    }
}
