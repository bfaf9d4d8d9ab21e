//! Resumes from stored steps, and rejects an impossible history.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Scheduler;
use super::track::Track;
use crate::history::{StepRanges, StoredSteps};

/// The reason why the stored steps of a column are impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidHistory {
    /// A source lacks the step `missing`, but has the later step `found`.
    #[error("step {missing} is missing, but step {found} is stored; restore it, or remove the later ones")]
    Gap { missing: usize, found: usize },
    /// A source has a skipped cell.
    #[error("step {step} is stored as skipped, and a source is never skipped")]
    SkippedSource { step: usize },
    /// A derived column has a step for which not every source has a value.
    #[error(
        "step {step} is stored, but the sources have values for only {begun} steps; if it was added by hand, remove it, \
         such as the file `{step}.txt` in the folder of the column"
    )]
    NotBegun { step: usize, begun: usize },
    /// The store lists a step that it does not return.
    #[error("the store lists step {step} and cannot return it")]
    NotReturned { step: usize },
    /// The receipt of a step is invalid.
    #[error("the receipt of step {step} is invalid")]
    Receipt { step: usize },
}

impl Scheduler {
    /// Resumes from the stored steps of the columns from `first` on, which have no state yet.
    ///
    /// Costs the number of columns and of the steps after stored prefixes, for any length of the prefixes.
    ///
    /// # Errors
    ///
    /// The column and the reason, if its stored steps are impossible. Then nothing has changed.
    pub(crate) fn restore(
        &mut self,
        first: usize,
        stored_by_column: &[StoredSteps],
    ) -> Result<(), (usize, InvalidHistory)> {
        self.check(first, stored_by_column)?;
        self.adopt(first, stored_by_column);
        Ok(())
    }

    pub(super) fn adopt(&mut self, first: usize, stored_by_column: &[StoredSteps]) {
        for (stored_steps, column) in stored_by_column.iter().zip(first..) {
            let track = Track::of(stored_steps);
            if !self.plan.schema().is_source(column) {
                self.stored += track.stored();
            }
            if let Some(slot) = self.tracks.get_mut(column) {
                *slot = track;
            }
        }
        // Begun only now, because cells count views, and views need the tracks of all columns.
        self.begin_restored_steps(first);
    }

    pub(super) fn check(
        &self,
        first: usize,
        stored_by_column: &[StoredSteps],
    ) -> Result<(), (usize, InvalidHistory)> {
        let schema = self.plan.schema();
        let prefixes = schema.sources().map(|column| {
            let stored_steps = column.checked_sub(first).and_then(|at| stored_by_column.get(at));
            stored_steps.map_or_else(|| self.len(column), |stored_steps| stored_steps.prefix)
        });
        let begun = prefixes.min().unwrap_or(0);
        for (stored_steps, column) in stored_by_column.iter().zip(first..) {
            let last = stored_steps.beyond.last().copied().or_else(|| stored_steps.prefix.checked_sub(1));
            match (schema.is_source(column), stored_steps.beyond.first(), last) {
                (true, Some(&found), _) => {
                    return Err((column, InvalidHistory::Gap { missing: stored_steps.prefix, found }));
                }
                // A cell is computed only after the step has begun, so values of a source are missing.
                (false, _, Some(step)) if step >= begun => {
                    return Err((column, InvalidHistory::NotBegun { step, begun }));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The stored steps of a column.
    pub(crate) fn stored_steps(&self, column: usize) -> StepRanges {
        self.tracks.get(column).map(Track::stored_steps).unwrap_or_default()
    }

    /// The stored steps of a column before one.
    pub(crate) fn stored_before(&self, column: usize, step: usize) -> StepRanges {
        self.tracks.get(column).map(|track| track.before(step).stored_steps()).unwrap_or_default()
    }

    /// The steps of a column that are stored as skipped.
    pub(crate) fn skipped_steps(&self, column: usize) -> impl Iterator<Item = usize> {
        self.tracks.get(column).into_iter().flat_map(|track| track.skipped.steps())
    }

    /// Marks stored cells of a column as skipped.
    pub(crate) fn restore_skipped(&mut self, column: usize, steps: impl Iterator<Item = usize>) {
        let Some(track) = self.tracks.get_mut(column) else { return };
        let known = track.skipped.count();
        steps.for_each(|step| track.skipped.insert(step));
        // Windows that seemed to be stored may reach further back than any stored step now.
        if track.skipped.count() > known && track.stored_end() > track.prefix() {
            let plan = Arc::clone(&self.plan);
            let readers: BTreeSet<usize> = plan.readers(column).iter().map(|reader| reader.column).collect();
            readers.into_iter().for_each(|reader| self.recount(reader));
        }
    }

    /// Begins the steps of restored tracks, of the columns from `first` on.
    pub(super) fn begin_restored_steps(&mut self, first: usize) {
        self.begun = self.plan.schema().sources().map(|source| self.len(source)).min().unwrap_or(0);
        self.awaited = self.count_awaited();
        for column in 0..self.tracks.len() {
            let Some(track) = self.tracks.get(column) else { continue };
            if self.plan.schema().is_source(column) {
                continue;
            }
            let added = self.begun.saturating_sub(track.end());
            // Earlier columns have counted views already, and read none of the new columns.
            if column >= first {
                self.recount(column);
            }
            (0..added).for_each(|_| self.admit(column));
        }
    }
}
