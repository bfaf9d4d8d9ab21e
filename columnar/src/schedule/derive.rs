//! Schedulers that continue other schedulers: with further columns, with fewer columns, or with fewer steps.

use std::sync::Arc;

use super::track::Track;
use super::{InvalidHistory, Rules, Scheduler};
use crate::declare::Plan;
use crate::history::StoredSteps;

impl Scheduler {
    /// Continues with a plan that has further columns at the end, with these stored steps.
    ///
    /// # Errors
    ///
    /// The column and the reason, if its stored steps are impossible. Then nothing has changed.
    pub(crate) fn extend(
        &mut self,
        plan: Arc<Plan>,
        stored_by_column: &[StoredSteps],
    ) -> Result<(), (usize, InvalidHistory)> {
        let first = self.tracks.len();
        // `check` reads the plan, so the new plan is in place before, and is taken back on an error.
        let before = std::mem::replace(&mut self.plan, plan);
        if let Err(error) = self.check(first, stored_by_column) {
            self.plan = before;
            return Err(error);
        }
        self.ready.extend(&self.plan);
        self.tracks.resize_with(self.plan.schema().columns().len(), Track::default);
        self.rules.resize_with(self.tracks.len(), Rules::default);
        self.adopt(first, stored_by_column);
        Ok(())
    }

    /// The scheduler of another flow that shares the past of this flow: the stored cells before `step`. `origins` has
    /// the column of this flow for each column of `plan`. All other cells are computed.
    ///
    /// Costs the number of columns, of begun cells that are not stored, and of gaps of skipped cells, for any length of
    /// the past. A column without origin costs its steps; `adopted` has one such column, and the steps that it has all the
    /// same.
    pub(crate) fn derive(
        &self,
        plan: Arc<Plan>,
        origins: &[Option<usize>],
        step: usize,
        adopted: Option<(usize, &StoredSteps)>,
    ) -> Self {
        let mut next = Self::new(plan, self.limit);
        for (column, origin) in origins.iter().enumerate() {
            let adopted = adopted.filter(|(adopted, _)| *adopted == column);
            let track = match (origin.and_then(|origin| self.tracks.get(origin)), adopted) {
                (_, Some((_, stored_steps))) => Track::of(stored_steps),
                (Some(track), None) => track.before(step),
                (None, None) => continue,
            };
            // `stored` counts derived cells alone.
            if !next.plan.schema().is_source(column) {
                next.stored += track.stored();
            }
            if let Some(slot) = next.tracks.get_mut(column) {
                *slot = track;
            }
        }
        next.begin_restored_steps(0);
        next
    }
}
