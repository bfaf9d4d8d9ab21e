//! Which cell may be computed, and when: a state machine without I/O, clock or randomness.
//!
//! The scheduler owns what is known of every cell. It never touches a value, a store or a future;
//! a driver carries reports in and takes cells out:
//!
//! - **Getters**: [`steps`](Scheduler::steps), [`len`](Scheduler::len), [`is_idle`](Scheduler::is_idle), …
//! - **Reports** (`handle_*`): what has happened. Each may make cells ready.
//! - **Commands**: [`extend`](Scheduler::extend), [`stop`](Scheduler::stop).
//! - **Polling**: [`poll_start`](Scheduler::poll_start) hands out the next cell to compute.
//!
//! The one rule of use: after any report or command, poll until nothing comes.
//!
//! ```text
//!            views stored          poll_start         handle_stored
//!  Waiting ───────────────▶ Ready ────────────▶ Running ──────────▶ Stored
//!                             ▲                    │
//!                             └────────────────────┘ handle_failed, stop
//! ```
//!
//! There is no barrier: a cell is ready as soon as the cells that it reads are stored, whatever its
//! step. A finished cell costs the number of views that show it, not the length of the history.

mod ready;
mod track;

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use crate::plan::{Plan, Reader};
use crate::window::Window;
use ready::Ready;
use track::{Slot, Track};

/// The place of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cell {
    pub(crate) column: usize,
    pub(crate) step: usize,
}

/// A report about a cell that nobody was asked to compute. The state is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Misuse;

/// How many cells of the steps that have begun are where.
///
/// ```
/// # use columnar::prelude::*;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column topics(user.latest) = prompt("List the topics.");
/// };
/// chat.user.push("one").await?;
/// chat.user.push("two").await?;
///
/// let mut run = chat.run();
/// while run.try_next().await?.is_some() {
///     let progress = chat.progress();
///     println!("{} of {}", progress.done, progress.total());
/// }
/// assert_eq!(chat.progress().done, 2);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Computed and stored.
    pub done: usize,
    /// Being computed or stored.
    pub running: usize,
    /// Failed in the last run, and to be tried again by the next.
    pub failed: usize,
    /// To be computed.
    pub waiting: usize,
}

impl Progress {
    /// All of them.
    pub fn total(&self) -> usize {
        self.done + self.running + self.failed + self.waiting
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
    plan: Arc<Plan>,
    tracks: Vec<Track>,
    /// How many steps have begun: every source has its value for them.
    opened: usize,
    ready: Ready,
    running: usize,
    /// Derived cells that are stored.
    stored: usize,
    /// Cells that failed since the last run began.
    failed: usize,
    limit: usize,
    /// A cell failed: nothing new starts until the run has stopped.
    halted: bool,
}

impl Scheduler {
    /// A flow that has stored nothing. At most `limit` cells run at once.
    pub(crate) fn new(plan: Arc<Plan>, limit: usize) -> Self {
        let columns = plan.schema().columns().len();
        let (tracks, ready) = (vec![Track::default(); columns], Ready::new(&plan));
        Self {
            plan,
            tracks,
            opened: 0,
            ready,
            running: 0,
            stored: 0,
            failed: 0,
            limit: limit.max(1),
            halted: false,
        }
    }

    /// Lets so many cells of the flow run at once, and at least one.
    pub(crate) fn limit(&mut self, cells: usize) {
        self.limit = cells.max(1);
    }

    /// Lets so many cells of a column run at once, and at least one.
    pub(crate) fn limit_column(&mut self, column: usize, cells: usize) {
        self.ready.limit(column, cells.max(1));
    }

    /// The steps in which every column has its value.
    pub(crate) fn steps(&self) -> usize {
        self.tracks.iter().map(Track::prefix).min().unwrap_or(0)
    }

    /// The number of steps that a column has stored without a gap.
    pub(crate) fn len(&self, column: usize) -> usize {
        self.tracks.get(column).map_or(0, Track::prefix)
    }

    /// The steps that have begun: every source has its value for them.
    pub(crate) fn opened(&self) -> usize {
        self.opened
    }

    /// How far the computing is.
    pub(crate) fn progress(&self) -> Progress {
        let derived = self.tracks.len() - self.plan.schema().sources().count();
        let (done, running, failed) = (self.stored, self.running, self.failed);
        Progress { done, running, failed, waiting: derived * self.opened - done - running - failed }
    }

    /// Whether nothing runs and nothing could start.
    pub(crate) fn is_idle(&self) -> bool {
        self.running == 0 && (self.halted || self.ready.is_empty())
    }

    /// Whether polling may bring a cell.
    pub(crate) fn can_start(&self) -> bool {
        !self.halted && self.running < self.limit && !self.ready.is_empty()
    }

    /// The next value of a source is stored.
    pub(crate) fn handle_pushed(&mut self, source: usize) {
        if let Some(track) = self.tracks.get_mut(source) {
            track.advance();
        }
        let begun = self.plan.schema().sources().map(|source| self.len(source)).min().unwrap_or(0);
        while self.opened < begun {
            self.opened += 1;
            for column in 0..self.tracks.len() {
                self.admit(column);
            }
        }
    }

    /// A running cell is stored.
    pub(crate) fn handle_stored(&mut self, cell: Cell) -> Result<(), Misuse> {
        self.leave_running(cell)?;
        let Some(track) = self.tracks.get_mut(cell.column) else { return Err(Misuse) };
        let run = track.store(cell.step);
        self.stored += 1;
        let plan = Arc::clone(&self.plan);
        for &Reader { column, window, lag } in plan.readers(cell.column) {
            // The windows that end in the run, hold the new cell, and lie inside the run as a whole.
            let shown = match window {
                Window::All if run.start == 0 => cell.step..run.end,
                Window::All => continue,
                Window::Last(count) => {
                    let whole = if run.start == 0 { 0 } else { run.start.saturating_add(count.get() - 1) };
                    cell.step.max(whole)..run.end.min(cell.step.saturating_add(count.get()))
                }
            };
            for newest in shown {
                self.satisfy(Cell { column, step: newest + lag });
            }
        }
        Ok(())
    }

    /// A running cell failed: it will be handed out again, by the next run.
    pub(crate) fn handle_failed(&mut self, cell: Cell) -> Result<(), Misuse> {
        self.leave_running(cell)?;
        self.halted = true;
        self.failed += 1;
        self.make_ready(cell);
        Ok(())
    }

    /// A cell that an earlier process stored.
    ///
    /// Only before the first poll: a cell that was handed out is not restored.
    pub(crate) fn handle_restored(&mut self, cell: Cell) -> Result<(), Misuse> {
        match self.tracks.get_mut(cell.column).and_then(|track| track.slot_mut(cell.step)) {
            Some(slot @ (Slot::Waiting(_) | Slot::Ready)) => *slot = Slot::Running,
            _ => return Err(Misuse),
        }
        self.running += 1;
        self.ready.take(cell);
        self.handle_stored(cell)
    }

    /// A run begins, and what failed in an earlier one waits to be tried again.
    pub(crate) fn begin(&mut self) {
        self.failed = 0;
    }

    /// The run is over, finished or not: what still runs is given up and will be handed out again.
    pub(crate) fn stop(&mut self) {
        self.halted = false;
        self.running = 0;
        for (column, track) in self.tracks.iter_mut().enumerate() {
            for (step, slot) in track.slots_mut().filter(|(_, slot)| **slot == Slot::Running) {
                *slot = Slot::Ready;
                self.ready.give_back(Cell { column, step });
                self.ready.push(Cell { column, step });
            }
        }
    }

    /// Goes on with a plan that has further columns at the end. Their cells start at step 0.
    pub(crate) fn extend(&mut self, plan: Arc<Plan>) {
        self.ready.extend(&plan);
        self.plan = plan;
        while self.tracks.len() < self.plan.schema().columns().len() {
            self.tracks.push(Track::default());
            for _ in 0..self.opened {
                self.admit(self.tracks.len() - 1);
            }
        }
    }

    /// The next cell to compute, if one may start.
    pub(crate) fn poll_start(&mut self) -> Option<Cell> {
        while self.can_start() {
            let cell = self.ready.pop()?;
            // A restored cell may have been ready before it was known to be stored.
            if let Some(slot @ Slot::Ready) = self.tracks.get_mut(cell.column)?.slot_mut(cell.step) {
                *slot = Slot::Running;
                self.running += 1;
                return Some(cell);
            }
            self.ready.give_back(cell);
        }
        None
    }

    /// Gives the next step of a derived column its slot.
    fn admit(&mut self, column: usize) {
        let Some(track) = self.tracks.get(column) else { return };
        let cell = Cell { column, step: track.end() };
        let Some(waits_for) = self.unstored_views(cell) else { return };
        if let Some(track) = self.tracks.get_mut(column) {
            track.push(Slot::Waiting(waits_for));
        }
        if waits_for == 0 {
            self.make_ready(cell);
        }
    }

    /// How many views of a cell show something that is not stored; `None` for a source.
    fn unstored_views(&self, cell: Cell) -> Option<usize> {
        let covers = |column: usize, steps| self.tracks.get(column).is_some_and(|track| track.covers(steps));
        let reads = self.plan.schema().reads(cell.column)?;
        let inputs = reads.inputs.iter().map(|input| covers(input.column, input.window.of_input(cell.step)));
        let own = reads.own.map(|own| covers(cell.column, own.of_own(cell.step)));
        Some(inputs.chain(own).filter(|stored| !stored).count())
    }

    /// One more view of a cell shows only what is stored. Steps that have not begun count their
    /// views when they do.
    fn satisfy(&mut self, cell: Cell) {
        let slot = self.tracks.get_mut(cell.column).and_then(|track| track.slot_mut(cell.step));
        if let Some(Slot::Waiting(waits_for)) = slot {
            *waits_for -= 1;
            if *waits_for == 0 {
                self.make_ready(cell);
            }
        }
    }

    fn make_ready(&mut self, cell: Cell) {
        if let Some(slot) = self.tracks.get_mut(cell.column).and_then(|track| track.slot_mut(cell.step)) {
            *slot = Slot::Ready;
            self.ready.push(cell);
        }
    }

    fn leave_running(&mut self, cell: Cell) -> Result<(), Misuse> {
        match self.tracks.get(cell.column).and_then(|track| track.slot(cell.step)) {
            Some(Slot::Running) => {
                self.running -= 1;
                self.ready.give_back(cell);
                Ok(())
            }
            _ => Err(Misuse),
        }
    }
}

#[cfg(test)]
mod tests;
