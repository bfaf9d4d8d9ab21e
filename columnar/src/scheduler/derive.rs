//! Schedulers made of others: with further columns, with fewer, or with fewer steps.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::track::{Slot, Track};
use super::{Cell, Rules, Scheduler};
use crate::plan::Plan;

impl Scheduler {
    /// Goes on with a plan that has further columns at the end. Their cells start at step 0.
    pub(crate) fn extend(&mut self, plan: Arc<Plan>) {
        self.ready.extend(&plan);
        self.plan = plan;
        while self.tracks.len() < self.plan.schema().columns().len() {
            self.tracks.push(Track::default());
            self.rules.push(Rules::default());
            for _ in 0..self.opened {
                self.admit(self.tracks.len() - 1);
            }
        }
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
        next.reopen();
        next
    }

    /// Begins, once more, the steps of tracks that were taken over.
    fn reopen(&mut self) {
        self.opened = self.plan.schema().sources().map(|source| self.len(source)).min().unwrap_or(0);
        for column in 0..self.tracks.len() {
            let Some(track) = self.tracks.get_mut(column) else { continue };
            if self.plan.schema().is_source(column) {
                continue;
            }
            let begun: Vec<usize> = (track.slots_mut())
                .filter(|(_, slot)| !matches!(slot, Slot::Stored { .. }))
                .map(|(step, _)| step)
                .collect();
            let missing = self.opened.saturating_sub(track.end());
            begun.into_iter().for_each(|step| self.count(Cell { column, step }));
            (0..missing).for_each(|_| self.admit(column));
        }
    }
}
