//! What is to be done before anything new starts, and in which order values are told.
//!
//! The values of a column are told by step, however they were finished: one that is early is held until
//! those before it are stored or have failed.

use std::collections::{BTreeSet, VecDeque};

use super::action::{Action, Cell};
use super::track::{Slot, Track};

#[derive(Clone, Debug, Default)]
pub(super) struct Outbox {
    actions: VecDeque<Action>,
    /// By column: each step before this one is told, or has nothing to tell in this run.
    told: Vec<usize>,
    /// What is stored and waits to be told: by step, for that is an order in which everything comes
    /// after what it reads, if those of one step are ranked.
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

    /// Whether a value waits for one of an earlier step to be told.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// A run begins.
    pub(super) fn begin(&mut self, tracks: &[Track]) {
        self.told.clear();
        self.told.extend(tracks.iter().map(Track::prefix));
    }

    /// The run is over: what it has not told it will not tell.
    pub(super) fn clear(&mut self) {
        self.actions.clear();
        self.held.clear();
    }

    /// A cell is stored, and its value is told when its turn comes.
    pub(super) fn tell(&mut self, cell: Cell, rank: usize, track: &Track) {
        if self.told.get(cell.column) == Some(&cell.step) {
            self.push(Action::Emit(cell));
        } else {
            self.held.insert((cell.step, rank, cell));
        }
        self.advance(cell.column, rank, track);
    }

    /// Tells what may be told of a column, now that one more of its steps is stored or has failed.
    pub(super) fn advance(&mut self, column: usize, rank: usize, track: &Track) {
        if self.told.len() <= column {
            self.told.resize(column + 1, 0);
        }
        let Some(told) = self.told.get_mut(column) else { return };
        while *told < track.prefix() || matches!(track.slot(*told), Some(Slot::Stored { .. } | Slot::Failed))
        {
            let cell = Cell { column, step: *told };
            if self.held.remove(&(cell.step, rank, cell)) {
                self.actions.push_back(Action::Emit(cell));
            }
            *told += 1;
        }
    }

    /// Nothing will come any more that could be told first.
    pub(super) fn flush(&mut self) {
        self.actions
            .extend(std::mem::take(&mut self.held).into_iter().map(|(_, _, cell)| Action::Emit(cell)));
    }
}
