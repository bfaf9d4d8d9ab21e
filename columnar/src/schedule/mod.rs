//! The scheduler: a state machine that decides which cell is computed, stored and emitted, and when. The scheduler has
//! no I/O, no clock and no randomness.
//!
//! The scheduler owns the state of every cell, and never touches a value, a store or a future. A driver hands in
//! reports and carries out [actions](Action):
//!
//! - **Getters**: [`steps`](Scheduler::steps), [`len`](Scheduler::len), [`is_idle`](Scheduler::is_idle), …
//! - **Reports** (`handle_*`): something has happened to a cell. Each report may lead to actions.
//! - **Commands**: [`begin`](Scheduler::begin), [`stop`](Scheduler::stop), [`extend`](Scheduler::extend), …
//! - **Polling**: [`poll`](Scheduler::poll) returns the next action.
//!
//! The one rule of use: after any report or command, poll until `poll` returns `None`.
//!
//! ```text
//!            views stored         Compute           computed           stored
//!  Waiting ──────────────▶ Ready ─────────▶ Running ────────▶ Storing ────────▶ Stored
//!                            │ ▲              │ failed          ▲ │ broken
//!                            │ │ next run     ▼                 │ ▼
//!                            │ └─────────── Failed ◀────────────┼─┘
//!                            └─────── nothing to read: Skip ────┘
//! ```
//!
//! A cell of a column whose values come from outside is `Pending` in place of `Ready`, until the answer is stored. No run
//! waits for the answer.
//!
//! A cell that enters `Storing` causes a store action, and a cell that enters `Stored` an event. So with any driver a
//! value is stored before its dependents start and before a reader of the run sees it.
//!
//! There is no barrier: a cell of any step is ready as soon as the cells that it reads are stored. A finished cell costs
//! the number of views that show it, not the length of the history.
//!
//! Windows count values, so a cell waits until it is known how far its windows reach: for each cell that may still have one
//! of the values. A cell that the interval of its column skips is known before its inputs.

mod action;
mod answers;
mod derive;
mod outbox;
mod pending;
mod progress;
mod ready;
mod restore;
mod seen;
mod track;

use std::ops::Range;
use std::sync::Arc;

use crate::declare::{Plan, ViewReader};
use crate::history::SkippedSteps;
pub(crate) use action::{Action, Cell, InvalidTransition};
use outbox::Outbox;
use pending::PendingCells;
pub use progress::Progress;
use ready::Ready;
pub(crate) use restore::InvalidHistory;
pub(crate) use seen::SeenSteps;
use track::{Slot, Track};

/// The policy of a column for a cell that cannot be computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// Nothing new starts, and the run ends with the error of the cell.
    #[default]
    Stop,
    /// The run goes on without the cell and its dependents. The next run tries the cell again.
    Wait,
    /// The cell is stored as skipped, and its dependents do not show it.
    Skip,
}

/// The settings of a column that the scheduler follows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    /// The number of cells of the column that may be computed at once, if there is a limit.
    pub(crate) limit: Option<usize>,
    /// The interval: the column is computed at each step whose number, counted from 1, is a multiple; at each step if
    /// `None`.
    pub(crate) every: Option<usize>,
    pub(crate) on_failure: OnFailure,
    /// Whether the values of the column come from outside.
    pub(crate) is_external: bool,
}

/// The scheduler of a flow; see the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
    plan: Arc<Plan>,
    tracks: Vec<Track>,
    rules: Vec<Rules>,
    /// The number of steps that have begun: every source has a value for each.
    begun: usize,
    /// The number of sources that have no value for the next step, which has not begun.
    awaited: usize,
    ready: Ready,
    pending: PendingCells,
    outbox: Outbox,
    /// Cells that failed since the last run began.
    failed: Vec<Cell>,
    /// The number of cells that are being computed or stored.
    running: usize,
    /// The number of stored derived cells, skipped cells included.
    stored: usize,
    limit: usize,
    /// Whether a column has an interval, by which it skips steps before their inputs are stored.
    has_intervals: bool,
    /// Whether the run has no limit.
    is_unlimited: bool,
    /// Whether nothing new starts until the run has stopped.
    halted: bool,
    /// The step from which on nothing starts until the run has stopped, or goes on to later steps.
    horizon: usize,
}

impl Scheduler {
    /// The scheduler of a flow that has stored nothing. At most `limit` cells run at once.
    pub(crate) fn new(plan: Arc<Plan>, limit: usize) -> Self {
        let columns = plan.schema().columns().len();
        Self {
            tracks: vec![Track::default(); columns],
            rules: vec![Rules::default(); columns],
            begun: 0,
            awaited: plan.schema().sources().count(),
            ready: Ready::new(&plan),
            pending: PendingCells::default(),
            outbox: Outbox::default(),
            failed: Vec::new(),
            running: 0,
            stored: 0,
            // With a limit of 0 no cell could start, and a run would end with nothing computed.
            limit: limit.max(1),
            has_intervals: false,
            is_unlimited: false,
            halted: false,
            horizon: usize::MAX,
            plan,
        }
    }

    /// Sets the number of cells of the flow that may run at once; at least 1.
    pub(crate) fn limit(&mut self, cells: usize) {
        self.limit = cells.max(1);
    }

    /// Sets the rules of a column from now on.
    pub(crate) fn rule(&mut self, column: usize, rules: Rules) {
        self.ready.limit(column, rules.limit.map_or(usize::MAX, |cells| cells.max(1)));
        self.has_intervals |= rules.every.is_some();
        let Some(slot) = self.rules.get_mut(column) else { return };
        let is_ready_otherwise = (slot.every, slot.is_external) != (rules.every, rules.is_external);
        *slot = rules;
        if is_ready_otherwise {
            self.recount(column);
        }
    }

    /// The number of steps in which every column is stored.
    pub(crate) fn steps(&self) -> usize {
        self.tracks.iter().map(Track::prefix).min().unwrap_or(0)
    }

    /// The number of steps that a column has stored without a gap.
    pub(crate) fn len(&self, column: usize) -> usize {
        self.tracks.get(column).map_or(0, Track::prefix)
    }

    /// The end of the steps of a column that are stored or have begun.
    pub(crate) fn end(&self, column: usize) -> usize {
        self.tracks.get(column).map_or(0, Track::end)
    }

    /// The number of steps that have begun: every source has a value for each.
    pub(crate) fn begun(&self) -> usize {
        self.begun
    }

    /// The first cell that a derived cell shows or counts and that is not stored, if there is one.
    pub(crate) fn missing(&self, cell: Cell) -> Option<Cell> {
        let gaps = self
            .needed(cell)
            .filter_map(|(column, steps)| Some(Cell { column, step: self.tracks.get(column)?.gap(steps)? }));
        gaps.min_by_key(|gap| gap.step)
    }

    /// The cells that each view of a derived cell shows or counts, as far as it is known which are skipped: a cell that
    /// is not stored, or not in memory, counts as a value.
    pub(crate) fn needed(&self, cell: Cell) -> impl Iterator<Item = (usize, Range<usize>)> {
        let reads = self.plan.schema().reads(cell.column);
        let needed = reads.map(|reads| reads.needed(cell.column, cell.step, |column| self.skipped(column)));
        needed.into_iter().flatten()
    }

    /// The steps of a column that are stored as skipped, as far as they are in memory.
    pub(crate) fn skipped(&self, column: usize) -> SkippedSteps {
        self.tracks.get(column).map(|track| track.skipped.clone()).unwrap_or_default()
    }

    /// The first column in topological order that has not stored this step.
    pub(crate) fn first_missing(&self, step: usize) -> Option<usize> {
        let missing = self.tracks.iter().enumerate().filter(|(_, track)| !track.is_stored(step));
        missing.map(|(column, _)| column).min_by_key(|&column| self.plan.rank(column))
    }

    /// Whether a cell is stored, with a value or as skipped.
    pub(crate) fn is_stored(&self, cell: Cell) -> bool {
        self.tracks.get(cell.column).is_some_and(|track| track.is_stored(cell.step))
    }

    /// Whether a cell is stored as skipped.
    pub(crate) fn is_skipped(&self, cell: Cell) -> bool {
        self.tracks.get(cell.column).is_some_and(|track| track.skipped.contains(cell.step))
    }

    /// Whether a cell is being computed or stored.
    #[cfg(feature = "terminal")]
    pub(crate) fn is_running(&self, cell: Cell) -> bool {
        matches!(self.slot(cell), Some(Slot::Running | Slot::Storing))
    }

    /// Whether a cell failed in the last run.
    #[cfg(feature = "terminal")]
    pub(crate) fn has_failed(&self, cell: Cell) -> bool {
        self.failed.contains(&cell)
    }

    /// The number of cells in each state.
    pub(crate) fn progress(&self) -> Progress {
        let derived = self.tracks.len() - self.plan.schema().sources().count();
        let skipped = self.tracks.iter().map(|track| track.skipped.count()).sum::<usize>();
        let done = self.stored - skipped;
        let running = self.running;
        // A cell that failed and waits for another answer is pending.
        let failed = self.failed.iter().filter(|cell| !self.pending.contains(**cell)).count();
        let pending = self.pending.len();
        // Every begun cell is in exactly one of these states, so nothing underflows.
        let waiting = derived * self.begun - self.stored - running - failed - pending;
        Progress { done, skipped, running, failed, pending, waiting, not_loaded: 0 }
    }

    /// Whether no cell runs and none could start.
    pub(crate) fn is_idle(&self) -> bool {
        !self.can_act() && self.running == 0
    }

    /// Whether polling may return an action.
    pub(crate) fn can_act(&self) -> bool {
        // Once nothing runs, no cell comes before the held events any more, so these are due.
        !self.outbox.is_empty() || self.can_start() || self.running == 0 && self.outbox.holds()
    }

    fn can_start(&self) -> bool {
        let has_room = self.is_unlimited || self.running < self.limit;
        !self.halted && has_room && self.has_next()
    }

    /// Whether a cell before the horizon may start.
    fn has_next(&self) -> bool {
        self.ready.next_step().is_some_and(|step| step < self.horizon) || !self.pending.is_asked(self.horizon)
    }

    /// Notes that the next value of a source is stored.
    pub(crate) fn handle_pushed(&mut self, source: usize) {
        let Some(track) = self.tracks.get_mut(source) else { return };
        track.advance();
        if track.prefix() == self.begun + 1 {
            self.awaited -= 1;
        }
        // Another step may be complete by values that were pushed earlier.
        while self.awaited == 0 {
            self.begun += 1;
            self.awaited = self.count_awaited();
            for column in 0..self.tracks.len() {
                self.admit(column);
            }
        }
    }

    /// The number of sources that have no value for the next step.
    fn count_awaited(&self) -> usize {
        self.plan.schema().sources().filter(|source| self.len(*source) == self.begun).count()
    }

    /// Notes that a running cell is computed.
    pub(crate) fn handle_computed(&mut self, cell: Cell) -> Result<(), InvalidTransition> {
        self.change(cell, Slot::Running, Slot::Storing)?;
        self.outbox.push(Action::Store(cell));
        Ok(())
    }

    /// Notes that a cell is stored, with a value or as skipped.
    pub(crate) fn handle_stored(&mut self, cell: Cell, is_skipped: bool) -> Result<(), InvalidTransition> {
        self.expect(cell, Slot::Storing)?;
        self.leave(cell);
        self.enter_stored(cell, is_skipped);
        // Done after `settle`: the outbox goes on to later steps only if the track has this step as stored.
        self.emit(cell);
        Ok(())
    }

    fn enter_stored(&mut self, cell: Cell, is_skipped: bool) {
        if let Some(track) = self.tracks.get_mut(cell.column).filter(|_| is_skipped) {
            track.skipped.insert(cell.step);
        }
        self.settle(cell);
    }

    fn emit(&mut self, cell: Cell) {
        self.outbox.emit(cell, self.plan.rank(cell.column), !self.has_intervals);
        self.advance(cell.column);
    }

    /// Lets the events of a column go on, and the events of its readers where these wait.
    fn advance(&mut self, column: usize) {
        let plan = self.has_intervals.then(|| Arc::clone(&self.plan));
        let mut next = Some(column);
        let mut readers = Vec::new();
        while let Some(column) = next {
            let Some(track) = self.tracks.get(column) else { return };
            let rank = self.plan.rank(column);
            if self.outbox.advance(column, rank, track, plan.as_deref())
                && let Some(plan) = &plan
            {
                let others = plan.readers(column).iter().map(|reader| reader.column);
                readers.extend(others.filter(|reader| *reader != column));
            }
            next = readers.pop();
        }
    }

    /// Notes that a running cell has no value, and is to be stored as skipped.
    pub(crate) fn handle_skipped(&mut self, cell: Cell) -> Result<(), InvalidTransition> {
        self.change(cell, Slot::Running, Slot::Storing)?;
        self.outbox.push(Action::Skip(cell));
        Ok(())
    }

    /// Notes that a running cell could not be computed. Follows the policy of the column, and returns it.
    pub(crate) fn handle_failed(&mut self, cell: Cell) -> Result<OnFailure, InvalidTransition> {
        let on_failure = self.rules.get(cell.column).map_or(OnFailure::Stop, |rules| rules.on_failure);
        if on_failure == OnFailure::Skip {
            return self.handle_skipped(cell).map(|()| on_failure);
        }
        self.change(cell, Slot::Running, Slot::Failed)?;
        self.fail(cell);
        // `|=`, because a failure that does not stop the run must not restart one that is stopping.
        self.halted |= on_failure == OnFailure::Stop;
        Ok(on_failure)
    }

    /// Notes that a cell could not be stored, or failed for a reason outside the compute step. The run stops, under
    /// any policy of the column.
    pub(crate) fn handle_broken(&mut self, cell: Cell) -> Result<(), InvalidTransition> {
        let storing = self.change(cell, Slot::Storing, Slot::Failed);
        // A cell breaks while it is stored, or while it runs if the spend limit refuses the call.
        storing.or_else(|InvalidTransition| self.change(cell, Slot::Running, Slot::Failed))?;
        self.fail(cell);
        self.halted = true;
        Ok(())
    }

    /// Begins a run. The cells that failed in an earlier run wait again.
    pub(crate) fn begin(&mut self) {
        self.failed.clear();
        self.outbox.begin(&self.tracks);
    }

    /// Lifts the limit of the flow until the run has stopped.
    pub(crate) fn lift_limit(&mut self) {
        self.is_unlimited = true;
    }

    /// Starts nothing from this step on until the run has stopped.
    pub(crate) fn set_horizon(&mut self, step: usize) {
        self.horizon = step;
    }

    /// The first step from `step` on at which a derived column may lack a cell that this run computes: none once the run
    /// stops.
    pub(crate) fn next_missing(&self, step: usize) -> Option<usize> {
        let gaps = self.tracks.iter().enumerate().filter_map(|(column, track)| {
            let is_derived = !self.plan.schema().is_source(column) && !self.halted;
            is_derived.then(|| track.gap(step..self.begun)).flatten()
        });
        gaps.min()
    }

    /// Starts nothing new until the run has stopped.
    pub(crate) fn halt(&mut self) {
        self.halted = true;
    }

    /// Ends the run, finished or not. The cells that the run has begun or that have failed are ready again.
    pub(crate) fn stop(&mut self) {
        self.halted = false;
        self.is_unlimited = false;
        self.horizon = usize::MAX;
        self.running = 0;
        self.outbox.clear();
        let mut again = Vec::new();
        for (column, track) in self.tracks.iter_mut().enumerate() {
            for (step, slot) in track.slots_mut() {
                if matches!(slot, Slot::Running | Slot::Storing | Slot::Failed) {
                    again.push((Cell { column, step }, *slot));
                }
            }
        }
        // A failed cell was given back when it failed, and remains listed until the next run begins.
        for (cell, before) in again {
            if before != Slot::Failed {
                self.ready.give_back(cell);
            }
            self.count(cell);
        }
    }

    /// The next action, if there is one.
    pub(crate) fn poll(&mut self) -> Option<Action> {
        if let Some(action) = self.outbox.pop() {
            return Some(action);
        }
        if self.can_start() {
            return self.ask().or_else(|| self.start());
        }
        // Nothing runs and nothing can start, so no event will come before the held events.
        if self.running == 0 {
            self.outbox.flush();
        }
        self.outbox.pop()
    }

    /// Starts the next ready cell.
    fn start(&mut self) -> Option<Action> {
        self.ready.next_step().filter(|step| *step < self.horizon)?;
        let cell = self.ready.pop()?;
        debug_assert_eq!(self.slot(cell), Some(Slot::Ready), "{cell:?}");
        // A skipped cell runs, too, because it must be stored before its dependents start.
        self.running += 1;
        let skips = self.skips(cell);
        self.set(cell, if skips { Slot::Storing } else { Slot::Running });
        Some(if skips { Action::Skip(cell) } else { Action::Compute(cell) })
    }

    /// Whether a cell whose inputs are stored is skipped without a computation.
    fn skips(&self, cell: Cell) -> bool {
        !self.is_due(cell) || self.has_nothing_to_read(cell)
    }

    /// Adds a slot for the next step of a derived column.
    fn admit(&mut self, column: usize) {
        let Some(track) = self.tracks.get_mut(column) else { return };
        let cell = Cell { column, step: track.end() };
        if !self.plan.schema().is_source(column) {
            track.push(Slot::Waiting(0));
            self.count(cell);
        }
    }

    /// Counts the views of a cell that show unstored cells. Without such a view the cell is ready.
    fn count(&mut self, cell: Cell) {
        let missing = self.needed(cell).filter(|(column, steps)| {
            self.tracks.get(*column).is_none_or(|track| track.gap(steps.clone()).is_some())
        });
        let missing = missing.count();
        // A cell that is not due is skipped for any inputs, and columns whose windows reach over it shall not wait.
        let waits_for = if self.is_due(cell) { missing } else { 0 };
        self.set(cell, Slot::Waiting(waits_for));
        if waits_for == 0 {
            self.make_ready(cell);
        }
    }

    /// Counts the views of all cells of a column that have not started.
    fn recount(&mut self, column: usize) {
        let Some(track) = self.tracks.get_mut(column) else { return };
        let open = track
            .slots_mut()
            .filter(|(_, slot)| matches!(slot, Slot::Waiting(_) | Slot::Ready | Slot::Pending));
        let open: Vec<usize> = open.map(|(step, _)| step).collect();
        self.ready.withdraw(column);
        self.pending.withdraw(column);
        open.into_iter().for_each(|step| self.count(Cell { column, step }));
    }

    /// Updates the cells whose views show a stored cell.
    fn settle(&mut self, cell: Cell) {
        let Some(track) = self.tracks.get_mut(cell.column) else { return };
        let span = track.store(cell.step);
        let skipped = track.skipped.clone();
        self.stored += 1;
        // A second reference to the plan, because the loop changes the scheduler.
        let plan = Arc::clone(&self.plan);
        for &ViewReader { column, window, lag } in plan.readers(cell.column) {
            // Steps that have not begun count the views when they begin.
            let completed = window.completed_by(cell.step, span.clone(), &skipped);
            for newest in completed.start..completed.end.min(self.begun) {
                self.satisfy(Cell { column, step: newest + lag });
            }
        }
    }

    /// Notes that one more view of a cell shows only stored cells. A step that has not begun counts its views when it
    /// begins.
    fn satisfy(&mut self, cell: Cell) {
        if let Some(Slot::Waiting(waits_for)) = self.slot_mut(cell) {
            // Cannot underflow: a window is completed once, by the cell that is stored last.
            *waits_for -= 1;
            if *waits_for == 0 {
                self.make_ready(cell);
            }
        }
    }

    fn make_ready(&mut self, cell: Cell) {
        if self.rules.get(cell.column).is_some_and(|rules| rules.is_external) {
            return self.make_pending(cell);
        }
        self.set(cell, Slot::Ready);
        self.ready.push(cell);
    }

    /// Whether the column of a cell is computed at this step.
    pub(crate) fn is_due(&self, cell: Cell) -> bool {
        let every = self.rules.get(cell.column).and_then(|rules| rules.every);
        // Steps count from 0, and the user counts from 1.
        every.is_none_or(|every| cell.step.saturating_add(1).is_multiple_of(every))
    }

    /// Whether the newest value of each input of a cell is skipped.
    fn has_nothing_to_read(&self, cell: Cell) -> bool {
        let Some(reads) = self.plan.schema().reads(cell.column) else { return false };
        let mut inputs = reads.answered().filter(|input| !input.is_log());
        inputs.all(|input| match cell.step.checked_sub(input.spec.lag) {
            Some(step) => self.is_skipped(Cell { column: input.column, step }),
            None => true,
        })
    }

    /// Marks a cell as failed. The cell has no event.
    fn fail(&mut self, cell: Cell) {
        self.leave(cell);
        self.failed.push(cell);
        // The events of later steps need not wait for a cell that will have no event in this run.
        self.advance(cell.column);
    }

    /// Notes that a cell is no longer computed or stored.
    fn leave(&mut self, cell: Cell) {
        self.running -= 1;
        self.ready.give_back(cell);
    }

    fn slot(&self, cell: Cell) -> Option<Slot> {
        self.tracks.get(cell.column)?.slot(cell.step)
    }

    fn slot_mut(&mut self, cell: Cell) -> Option<&mut Slot> {
        self.tracks.get_mut(cell.column)?.slot_mut(cell.step)
    }

    fn set(&mut self, cell: Cell, to: Slot) {
        if let Some(slot) = self.slot_mut(cell) {
            *slot = to;
        }
    }

    fn expect(&self, cell: Cell, slot: Slot) -> Result<(), InvalidTransition> {
        if self.slot(cell) == Some(slot) { Ok(()) } else { Err(InvalidTransition) }
    }

    fn change(&mut self, cell: Cell, from: Slot, to: Slot) -> Result<(), InvalidTransition> {
        self.expect(cell, from)?;
        self.set(cell, to);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
