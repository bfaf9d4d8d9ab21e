//! The queue of the cells that may start, with a limit for each column.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::action::Cell;
use crate::declare::Plan;

/// A queue of ready cells: early steps first, inside a step in topological order. A column at its limit does not delay
/// the others.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    columns: Vec<Queue>,
    /// The next cell of each column that may start a cell: step, rank, column.
    heads: BTreeSet<(usize, usize, usize)>,
}

#[derive(Clone, Debug)]
struct Queue {
    steps: BinaryHeap<Reverse<usize>>,
    rank: usize,
    taken: usize,
    limit: usize,
    /// The step of the column that is in `heads`.
    head: Option<usize>,
}

impl Ready {
    pub(super) fn new(plan: &Plan) -> Self {
        let mut ready = Self { columns: Vec::new(), heads: BTreeSet::new() };
        ready.extend(plan);
        ready
    }

    /// Adds the columns at the end of a longer plan.
    pub(super) fn extend(&mut self, plan: &Plan) {
        for column in self.columns.len()..plan.schema().columns().len() {
            let rank = plan.rank(column);
            self.columns.push(Queue {
                steps: BinaryHeap::new(),
                rank,
                taken: 0,
                limit: usize::MAX,
                head: None,
            });
        }
    }

    /// Sets the number of cells of a column that may be taken at once.
    pub(super) fn limit(&mut self, column: usize, cells: usize) {
        self.change(column, |queue| queue.limit = cells);
    }

    /// The step of the next cell, if one may start.
    pub(super) fn next_step(&self) -> Option<usize> {
        self.heads.first().map(|(step, ..)| *step)
    }

    /// Adds a cell that may start.
    pub(super) fn push(&mut self, cell: Cell) {
        self.change(cell.column, |queue| queue.steps.push(Reverse(cell.step)));
    }

    /// Removes all cells of a column that are not taken.
    pub(super) fn withdraw(&mut self, column: usize) {
        self.change(column, |queue| queue.steps.clear());
    }

    /// Takes the next cell.
    pub(super) fn pop(&mut self) -> Option<Cell> {
        let &(step, _, column) = self.heads.first()?;
        self.change(column, |queue| {
            // The head is the smallest step of the column, so the same step is removed here.
            queue.steps.pop();
            queue.taken += 1;
        });
        Some(Cell { column, step })
    }

    /// Takes a cell that was never in the queue.
    pub(super) fn take(&mut self, cell: Cell) {
        self.change(cell.column, |queue| queue.taken += 1);
    }

    /// Gives back a taken cell that has finished or stopped.
    pub(super) fn give_back(&mut self, cell: Cell) {
        self.change(cell.column, |queue| queue.taken -= 1);
    }

    fn change(&mut self, column: usize, change: impl FnOnce(&mut Queue)) {
        let Some(queue) = self.columns.get_mut(column) else { return };
        change(queue);
        let next =
            if queue.taken < queue.limit { queue.steps.peek().map(|Reverse(step)| *step) } else { None };
        // Many changes leave the head as it is, which saves two operations on the set.
        if next == queue.head {
            return;
        }
        let rank = queue.rank;
        if let Some(old) = queue.head {
            self.heads.remove(&(old, rank, column));
        }
        queue.head = next;
        self.heads.extend(next.map(|step| (step, rank, column)));
    }
}
