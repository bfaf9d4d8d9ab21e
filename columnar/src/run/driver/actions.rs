//! The interface between a run and the state of the flow: actions out, reports in.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::task::Waker;
use std::time::SystemTime;

use futures::future::FutureExt;

use super::computation::Unstored;
use crate::compute::{Context, Defaults, StepSettings};
use crate::context::Snapshot;
use crate::declare::Name;
use crate::history::{SkipReason, Value};
use crate::model::usage::Fingerprint;
use crate::model::{Choice, EndDate, ModelError};
use crate::run::contexts::ContextDraft;
use crate::run::shared::SharedFlow;
use crate::run::state::{FlowState, StoredColumns};
use crate::run::user_code::{StoreRequest, caught, discard};
use crate::run::{Error, Result};
use crate::schedule::{Action, Cell, InvalidTransition, OnFailure, Scheduler};
use crate::store::{Entry, Put, put_blobs};

/// An action of the scheduler with the data that the driver needs for it.
pub(super) enum RunAction {
    /// With what computes the cell.
    Compute(Cell, Context, Fingerprint),
    /// The cell waits for an answer from outside.
    Ask(Cell),
    /// The cell fails without a call of the compute step, because there is no valid context.
    Refuse(Cell, Error),
    Store(Cell),
    /// With the reason, if the cell was not computed.
    Skip(Cell, SkipReason),
    /// Emit the value of the cell; without a value, that the cell is skipped, with the reason if it is known.
    Emit(Cell, Option<Value>, Option<SkipReason>),
}

/// The status of a run that has carried out all actions so far.
pub(super) enum RunStatus {
    /// There are more actions.
    CanAct,
    /// Every cell is stored or failed.
    Finished,
    /// The same, of the steps in memory.
    WindowDone,
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

/// A column with missing cells, for the check before a run.
struct MissingColumn {
    column: usize,
    name: Name,
    settings: Arc<StepSettings>,
}

impl MissingColumn {
    /// Checks the models of the column. Returns a warning about one model.
    fn check_models(&self, defaults: &Defaults) -> Result<Option<String>> {
        let StepSettings { model, check, .. } = &*self.settings;
        self.settings.check_place().map_err(|error| Error::Model {
            column: self.name.clone(),
            source: format!("`{}` {error}", self.name).into(),
        })?;
        // A missing key of a column that runs late would otherwise be found after the calls of the others.
        let Some(choice) = model else { return Ok(None) };
        let checked = caught(|| {
            self.settings.check_rate(defaults)?;
            let mut warning = None;
            for model in choice.resolve_all(&defaults.model).map_err(ModelError::into_source)? {
                check.as_ref().map_or(Ok(()), |check| check.check(&*model))?;
                defaults.limit.as_ref().map_or(Ok(()), |limit| limit.check(model.name()))?;
                warning = warning.or_else(|| end_of(model.name(), SystemTime::now()));
            }
            Ok(warning)
        });
        let checked = checked.unwrap_or_else(|| Err("the model panicked, which is a bug in it".into()));
        checked.map_err(|source| Error::Model { column: self.name.clone(), source })
    }
}

impl FlowState {
    /// The derived columns with missing cells. A complete column calls no model, so a missing key must not keep the run from
    /// starting.
    fn missing_columns(&self) -> Vec<MissingColumn> {
        let columns = 0..self.plan.schema().columns().len();
        let missing = columns.filter(|&column| self.scheduler.len(column) < self.scheduler.begun());
        let missing = missing.map(|column| MissingColumn {
            column,
            name: self.name(column).clone(),
            settings: self.settings.get(column).cloned().unwrap_or_default(),
        });
        missing.collect()
    }
}

impl SharedFlow {
    /// Starts a run. Fails if another run is active, or if a column with missing cells has no usable model or a budget that
    /// holds no message.
    ///
    /// Returns the warnings about columns, by number. A run by batches has a queue as the model of the flow.
    pub(crate) fn begin_run(&self, queue: Option<&Choice>) -> Result<BTreeMap<usize, String>> {
        let warnings = self.check_columns(queue)?;
        let mut state = self.lock();
        // Asked again: the lock was free while the models were checked, so another run may have begun.
        if state.is_running {
            return Err(Error::Running);
        }
        // A second run at the same time would compute and pay for the same cells.
        state.is_running = true;
        state.scheduler.begin();
        if queue.is_some() {
            state.scheduler.lift_limit();
        }
        drop(state);
        self.notify();
        Ok(warnings)
    }

    /// Checks the budgets and models of all columns with missing cells: everything that would fail at each cell, after
    /// the calls of other columns were paid for. The check of a model may be slow and is code of users, as the counter is,
    /// so the lock is released.
    fn check_columns(&self, queue: Option<&Choice>) -> Result<BTreeMap<usize, String>> {
        let (columns, defaults) = {
            let state = self.lock();
            if state.is_running {
                return Err(Error::Running);
            }
            (state.missing_columns(), state.defaults.with_queue(queue))
        };
        let mut warnings = BTreeMap::new();
        for missing in columns {
            // A counter that panics here panics again for each cell, and then fails the cell.
            if let Some(contexts) = caught(|| self.prepare(missing.column)).flatten() {
                let checked = contexts.assembler.check();
                checked.map_err(|source| Error::BudgetTooSmall { column: missing.name.clone(), source })?;
            }
            warnings.extend(missing.check_models(&defaults)?.map(|warning| (missing.column, warning)));
        }
        Ok(warnings)
    }

    /// Ends the active run. The next run computes the cells that were in progress.
    pub(super) fn end_run(&self) {
        // While this run is active, no other one has registered a waker.
        discard(self.waker.take());
        let mut state = self.lock();
        state.is_running = false;
        state.window = None;
        state.scheduler.stop();
        drop(state);
        self.notify();
    }

    /// The next action, if there is one.
    pub(super) fn next_action(&self) -> Option<RunAction> {
        let mut state = self.lock();
        Some(match state.scheduler.poll()? {
            Action::Compute(cell) => {
                let draft = state.draft(cell);
                let made = state.fingerprint(cell.column);
                let defaults = Arc::clone(&state.defaults);
                let past = state.past_requests(cell.column);
                drop(state);
                match self.assembled(cell, draft) {
                    Ok(snapshot) if snapshot.is_current() => {
                        RunAction::Compute(cell, Context::new(snapshot, defaults, past), made)
                    }
                    // No new value passes the filters, so the next action skips the cell.
                    Ok(snapshot) => {
                        discard(snapshot);
                        self.report(|scheduler| scheduler.handle_skipped(cell));
                        return self.next_action();
                    }
                    Err(error) => RunAction::Refuse(cell, error),
                }
            }
            Action::Ask(cell) => {
                drop(state);
                return self.ask(cell);
            }
            Action::Store(cell) => RunAction::Store(cell),
            Action::Skip(cell) => {
                let is_due = state.scheduler.is_due(cell);
                RunAction::Skip(cell, if is_due { SkipReason::Inputs } else { SkipReason::Every })
            }
            Action::Emit(cell) => {
                let value = state.table.get(cell);
                let reason = if value.is_none() { state.skip_reason(cell) } else { None };
                RunAction::Emit(cell, value, reason)
            }
        })
    }

    /// Assembles the context of a cell, outside of the lock.
    pub(super) fn assembled(&self, cell: Cell, draft: Result<Option<ContextDraft>>) -> Result<Snapshot> {
        let draft = match draft? {
            Some(draft) => draft,
            None => {
                let made = caught(|| self.draft(cell.column, cell.step));
                made.unwrap_or_else(|| Err(self.panicked(cell)))?
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
        Error::Panicked { column: self.lock().name(cell.column).clone(), step: cell.step }
    }

    /// The status of a run that has carried out all actions. If the run has to wait, `waker` is woken when there may
    /// be more.
    pub(super) fn run_status(&self, waker: &Waker) -> RunStatus {
        // Before the look at the state, so that a push after the look wakes the run.
        self.waker.register(waker);
        let mut state = self.lock();
        if state.scheduler.can_act() {
            return RunStatus::CanAct;
        }
        if state.scheduler.is_idle() && state.has_next_window() {
            return RunStatus::WindowDone;
        }
        if state.scheduler.is_idle() {
            // Under the same lock: a later push finds no run that would include the value.
            state.is_stale = false;
            return RunStatus::Finished;
        }
        RunStatus::Waiting
    }

    /// Starts to write an entry, whose attachments are stored; `None` without a store. An entry that the store has already
    /// comes with the attachments.
    pub(crate) fn put(&self, cell: Cell, entry: impl FnOnce() -> Entry) -> Option<StoreRequest<Put>> {
        let store = self.store.clone()?;
        let step = cell.step;
        // Cloned, so the lock is free again when the store is called.
        let (key, attachments) = {
            let StoredColumns { keys, attachments, .. } = &self.lock().stored;
            (keys.get(cell.column).cloned(), attachments.clone())
        };
        let Some(key) = key else { unreachable!("a flow with a store is restored before it is used") };
        Some(StoreRequest::new(|| {
            // Called at once, because a store keeps the order of the calls.
            let put = store.put(key.clone(), step, entry());
            async move { attachments.found(&*store, &key, step, put.await?).await }.boxed()
        }))
    }

    /// Starts to write an entry after the attachments: no stored entry names an attachment that never was.
    pub(super) fn put_after(
        self: &Arc<Self>,
        blobs: StoreRequest<()>,
        cell: Cell,
        entry: Entry,
    ) -> StoreRequest<Put> {
        let shared = Arc::clone(self);
        let put = async move {
            blobs.await?;
            match shared.put(cell, || entry) {
                Some(put) => put.await,
                None => Ok(Put::Stored),
            }
        };
        StoreRequest::new(|| put.boxed())
    }

    /// Starts to store the attachments of a value; `None` without attachments or a store.
    pub(crate) fn put_blobs(&self, value: &Value) -> Option<StoreRequest<()>> {
        let store = self.store.clone().filter(|_| !value.attachments().is_empty())?;
        let value = value.clone();
        Some(StoreRequest::new(|| async move { put_blobs(&*store, Some(&value)).await }.boxed()))
    }

    /// Reports to the scheduler. `None` for an invalid report, which is a bug of the driver.
    pub(super) fn report<T>(
        &self,
        report: impl FnOnce(&mut Scheduler) -> Result<T, InvalidTransition>,
    ) -> Option<T> {
        let reported = report(&mut self.lock().scheduler);
        debug_assert!(reported.is_ok(), "{REPORTED}");
        reported.ok()
    }

    /// The cell is stored with the value, which is counted; as skipped without a value.
    pub(super) fn handle_stored(&self, unstored: &mut Unstored) {
        let Unstored { cell, value, receipt, called, counted, .. } = unstored;
        let cell = *cell;
        let mut state = match (value.as_ref(), counted.as_ref()) {
            // The lock is held to the end: dependents that unlock find the value in the table.
            (Some(value), Some(counted)) => {
                let (tokens, mut state) = self.lock_counted(value, counted);
                state.table.insert(cell, value.clone(), tokens);
                state
            }
            _ => self.lock(),
        };
        state.receipts.insert(cell, mem::take(receipt));
        let thread = state.plan.schema().thread_of(cell.column);
        state.requests.sent(cell.column, thread, called.take().map(|call| *call));
        let reported = state.scheduler.handle_stored(cell, value.is_none());
        debug_assert!(reported.is_ok(), "{REPORTED}");
        drop(state);
        self.notify();
    }

    /// The cell could not be computed. Returns the consequence for the cell and the run.
    pub(super) fn handle_failed(&self, cell: Cell) -> OnFailure {
        let consequence = self.report(|scheduler| scheduler.handle_failed(cell));
        self.notify();
        // A release build ends the run with the error of the cell.
        consequence.unwrap_or(OnFailure::Stop)
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
