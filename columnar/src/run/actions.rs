//! The interface between a run and the state of its flow: actions out, reports in.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::task::Waker;
use std::time::SystemTime;

use super::contexts::{Draft, Prepared};
use super::guard::{StoreRequest, caught, discard};
use super::shared::{Counted, Shared};
use super::state::RunState;
use super::table::receipt;
use super::{Error, Result};
use crate::compute::{Context, Defaults, Settings};
use crate::context::Snapshot;
use crate::history::Value;
use crate::model::{EndDate, ModelError};
use crate::schedule::{Action, Cell, InvalidHistory, OnFailure};
use crate::store::{Entry, Put, StoreError};

/// An action of the scheduler with the data that the driver needs for it.
pub(super) enum RunAction {
    Compute(Cell, Context),
    /// The cell fails without a call of its compute step: it has no valid context.
    Refuse(Cell, Error),
    Store(Cell),
    Skip(Cell),
    /// Emit the value of the cell, or that it is skipped.
    Emit(Cell, Option<Value>),
}

/// The result of a write that is in progress.
pub(super) type PutFuture = StoreRequest<Put>;

/// The status of a run that has carried out all actions it got.
pub(super) enum RunStatus {
    /// There are more actions.
    CanAct,
    /// Every cell is stored or failed.
    Finished,
    /// Cells are in progress.
    Waiting,
}

/// The days before the end of a model from which on a run warns.
const NOTICE: i64 = 30;

/// The warning that a model ends soon, or has ended.
fn end_of(model: &str, now: SystemTime) -> Option<String> {
    let end = EndDate::by_model(model).filter(|end| end.days_left(now) <= NOTICE)?;
    let ends = if end.is_past(now) { "ended" } else { "ends" };
    Some(format!("`{model}` {ends} on {}, by {}: choose another model", end.day, end.source))
}

impl Shared {
    /// Starts a run. Fails if another run is active, or if a column with missing cells has no usable model or a budget that
    /// holds no message.
    ///
    /// Returns the warnings about columns, by their numbers.
    pub(super) fn begin_run(&self) -> Result<BTreeMap<usize, String>> {
        let warnings = self.check_columns()?;
        let mut state = self.lock();
        // Asked again: the lock was free while the models were checked, so another run may have begun.
        match state.run {
            RunState::Active(_) => return Err(Error::Running),
            RunState::Stopped => {
                state.run = RunState::Active(None);
                state.scheduler.begin();
            }
        }
        drop(state);
        self.notify();
        Ok(warnings)
    }

    /// Checks the budgets and models of all columns with missing cells: everything that would fail at each of them. The
    /// check of a model may be slow and is code of users, as the counter is, so the lock is released.
    fn check_columns(&self) -> Result<BTreeMap<usize, String>> {
        let state = self.lock();
        if let RunState::Active(_) = state.run {
            return Err(Error::Running);
        }
        let state = self.check_budgets(state)?;
        let schema = state.plan.schema();
        let missing = |(column, settings): (usize, &Arc<Settings>)| {
            // A complete column calls no model, so a missing key must not keep the run from starting.
            let model = settings.model.clone().filter(|_| state.has_missing_cells(column))?;
            Some((column, schema.name(column).clone(), model, settings.check.clone()))
        };
        let models: Vec<_> = state.settings.iter().enumerate().filter_map(missing).collect();
        let defaults = Arc::clone(&state.defaults);
        drop(state);
        let mut warnings = BTreeMap::new();
        for (number, column, choice, check) in models {
            let ready = || {
                let mut warning = None;
                for model in choice.resolve_all(&defaults.model).map_err(ModelError::into_source)? {
                    check.as_ref().map_or(Ok(()), |check| check.check(&*model))?;
                    defaults.limit.as_ref().map_or(Ok(()), |limit| limit.check(model.name()))?;
                    warning = warning.or_else(|| end_of(model.name(), SystemTime::now()));
                }
                Ok(warning)
            };
            let ready =
                caught(ready).unwrap_or_else(|| Err("the model panicked, which is a bug in it".into()));
            let warning = ready.map_err(|source| Error::Model { column, source })?;
            warnings.extend(warning.map(|warning| (number, warning)));
        }
        Ok(warnings)
    }

    /// Ends the active run. The next run computes the cells that were in progress.
    pub(super) fn end_run(&self) {
        let mut state = self.lock();
        // Bound, so that the waker is dropped after the lock.
        let active = mem::replace(&mut state.run, RunState::Stopped);
        state.scheduler.stop();
        drop(state);
        discard(active);
        self.notify();
    }

    /// The next action, if there is one.
    pub(super) fn next_action(&self) -> Option<RunAction> {
        let mut state = self.lock();
        Some(match state.scheduler.poll()? {
            Action::Compute(cell) => {
                let (draft, defaults) = (state.draft(cell), Arc::clone(&state.defaults));
                drop(state);
                return self.start(cell, draft, defaults);
            }
            Action::Store(cell) => RunAction::Store(cell),
            Action::Skip(cell) => RunAction::Skip(cell),
            Action::Emit(cell) => RunAction::Emit(cell, state.table.get(cell)),
        })
    }

    /// The action that starts a cell. Its context is assembled outside of the lock.
    fn start(
        &self,
        cell: Cell,
        draft: Result<Prepared<Draft>>,
        defaults: Arc<Defaults>,
    ) -> Option<RunAction> {
        Some(match self.assembled(cell, draft) {
            Ok(snapshot) if snapshot.is_current() => {
                RunAction::Compute(cell, Context::new(snapshot, defaults))
            }
            // No new value passes the filters, so the next action skips the cell.
            Ok(snapshot) => {
                discard(snapshot);
                self.handle_skipped(cell);
                return self.next_action();
            }
            Err(error) => RunAction::Refuse(cell, error),
        })
    }

    /// Assembles the context of a cell.
    fn assembled(&self, cell: Cell, draft: Result<Prepared<Draft>>) -> Result<Snapshot> {
        let draft = match draft? {
            Ok(draft) => draft,
            Err(recipe) => {
                let made = move || {
                    self.made(&recipe);
                    drop(recipe);
                    self.draft(|_| Ok(cell))
                };
                caught(made).unwrap_or_else(|| Err(self.panicked(cell)))?
            }
        };
        let assembled = caught(|| draft.assemble()).unwrap_or_else(|| Err(self.panicked(cell)));
        if assembled.is_err() {
            discard(draft);
        }
        assembled
    }

    /// Code of users panicked for a cell.
    pub(super) fn panicked(&self, cell: Cell) -> Error {
        Error::Panicked { column: self.plan().schema().name(cell.column).clone(), step: cell.step }
    }

    /// The status of a run that has carried out all actions. If it has to wait, `waker` is woken when there may be
    /// more of them.
    pub(super) fn run_status(&self, waker: &Waker) -> RunStatus {
        let mut clone = None;
        loop {
            let mut state = self.lock();
            // One lock from this question to the waker: a push between the two would wake nobody.
            if state.scheduler.can_act() {
                return RunStatus::CanAct;
            }
            if state.scheduler.is_idle() {
                // Under the same lock: a later push finds no run that would include it.
                state.is_stale = false;
                return RunStatus::Finished;
            }
            let RunState::Active(slot) = &mut state.run else { return RunStatus::Waiting };
            // The usual case: both wake the same task.
            if slot.as_ref().is_some_and(|known| known.will_wake(waker)) {
                return RunStatus::Waiting;
            }
            // Cloned and dropped outside of the lock, since a waker is code of users.
            if let Some(clone) = clone.take() {
                let earlier = slot.replace(clone);
                drop(state);
                drop(earlier);
                return RunStatus::Waiting;
            }
            drop(state);
            clone = Some(waker.clone());
        }
    }

    /// Starts to write an entry; `None` without a store.
    pub(super) fn put(&self, column: usize, step: usize, entry: Entry) -> Option<PutFuture> {
        let store = self.store.as_ref()?;
        // Cloned, so the lock is free again when the store is called.
        let key = self.lock().stored.key(column).cloned();
        Some(match key {
            Some(key) => StoreRequest::new(|| store.put(key, step, entry)),
            None => unreachable!("a flow with a store is restored before it is used"),
        })
    }

    /// The cell is computed.
    pub(super) fn handle_computed(&self, cell: Cell) {
        let reported = self.lock().scheduler.handle_computed(cell);
        debug_assert!(reported.is_ok(), "{REPORTED}");
    }

    /// The cell is skipped.
    pub(super) fn handle_skipped(&self, cell: Cell) {
        let reported = self.lock().scheduler.handle_skipped(cell);
        debug_assert!(reported.is_ok(), "{REPORTED}");
    }

    /// The cell is stored with this entry, whose value is counted.
    ///
    /// # Errors
    ///
    /// If the receipt of the entry is invalid. Nothing has changed then.
    pub(super) fn handle_stored(
        &self,
        cell: Cell,
        entry: &Entry,
        counted: Option<&Counted>,
    ) -> Result<(), StoreError> {
        let unreadable = |_| StoreError::other(InvalidHistory::Receipt { step: cell.step });
        // Parsed before any change: an entry of an earlier writer may have an invalid one.
        let receipt = receipt(entry).map_err(unreadable)?;
        let mut state = match (&entry.value, counted) {
            // The lock is held to the end: dependents that unlock find the value in the table.
            (Some(value), Some(counted)) => {
                let (tokens, mut state) = self.lock_counted(value, counted);
                state.table.insert(cell, value.clone(), tokens);
                state
            }
            _ => self.lock(),
        };
        if let Some(receipt) = receipt {
            state.receipts.insert(cell, receipt);
        }
        let reported = state.scheduler.handle_stored(cell, entry.is_skipped());
        debug_assert!(reported.is_ok(), "{REPORTED}");
        drop(state);
        self.notify();
        Ok(())
    }

    /// The cell could not be computed. Returns the consequence for the cell and the run.
    pub(super) fn handle_failed(&self, cell: Cell) -> OnFailure {
        let reported = self.lock().scheduler.handle_failed(cell);
        self.notify();
        debug_assert!(reported.is_ok(), "{REPORTED}");
        // An invalid report is a bug of the driver: a release build ends the run with the cell's error.
        reported.unwrap_or(OnFailure::Stop)
    }

    /// The cell could not be stored.
    pub(super) fn handle_broken(&self, cell: Cell) {
        let reported = self.lock().scheduler.handle_broken(cell);
        debug_assert!(reported.is_ok(), "{REPORTED}");
    }
}

/// The invariant of every report.
const REPORTED: &str = "a run reports only cells that the scheduler has given to it";

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_run_warns_a_month_before_the_end_of_a_model() {
        // 2026-11-26.
        let today = SystemTime::UNIX_EPOCH + Duration::from_hours(20_783 * 24);
        let warning = end_of("anthropic/claude-sonnet-4-5", today).expect("it ends in four days");
        assert!(
            warning.starts_with("`anthropic/claude-sonnet-4-5` ends on 2026-11-30, by https://"),
            "{warning}"
        );
        let later = today + Duration::from_hours(10 * 24);
        assert!(
            end_of("anthropic/claude-sonnet-4-5", later).is_some_and(|warning| warning.contains("ended"))
        );
        assert_eq!(end_of("openai/gpt-6-luna", later), None);
        assert_eq!(end_of("openai/gpt-5-mini", today - Duration::from_hours(60 * 24)), None);
    }
}
