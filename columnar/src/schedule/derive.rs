//! Schedulers made of others: with further columns, with fewer, or with fewer steps.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::track::Track;
use super::{Cell, InvalidHistory, Rules, Scheduler};
use crate::declare::Plan;
use crate::history::StoredSteps;

impl Scheduler {
    /// Goes on with a plan that has further columns at the end, and what is stored of these. On an error,
    /// which names the column, nothing has changed.
    pub(crate) fn extend(
        &mut self,
        plan: Arc<Plan>,
        stored_by_column: &[StoredSteps],
    ) -> Result<(), (usize, InvalidHistory)> {
        let first = self.tracks.len();
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

    /// The scheduler of another flow that shares the past of this one: what is stored before `step`,
    /// of the columns that `origins` names for the columns of `plan`. All else is to be computed.
    ///
    /// Costs the number of columns, of cells that have begun and are not stored, and of skipped ones,
    /// whatever the length of the past; a column without origin costs its steps.
    pub(crate) fn derive(&self, plan: Arc<Plan>, origins: &[Option<usize>], step: usize) -> Self {
        let mut next = Self::new(plan, self.limit);
        for (column, origin) in origins.iter().enumerate() {
            let Some(track) = origin.and_then(|origin| self.tracks.get(origin)) else { continue };
            let track = track.before(step);
            if !next.plan.schema().is_source(column) {
                next.stored += track.stored();
            }
            if let Some(slot) = next.tracks.get_mut(column) {
                *slot = track;
            }
        }
        let places: BTreeMap<usize, usize> =
            origins.iter().zip(0..).filter_map(|(origin, column)| Some(((*origin)?, column))).collect();
        for cell in self.skipped.iter().filter(|cell| cell.step < step) {
            let column = places.get(&cell.column);
            next.skipped.extend(column.map(|&column| Cell { column, ..*cell }));
        }
        next.reopen(0);
        next
    }
}
