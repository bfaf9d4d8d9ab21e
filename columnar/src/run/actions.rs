//! What a run asks of the state, and reports to it.

use std::sync::Arc;
use std::task::Waker;

use futures::future::BoxFuture;

use super::shared::Shared;
use super::state::Running;
use super::table::receipt;
use super::{Error, Result};
use crate::compute::{Context, Settings};
use crate::history::Value;
use crate::schedule::{Action, Cell, InvalidHistory, OnFailure};
use crate::store::{Entry, Put, StoreError};

/// An action of the scheduler, with what it takes to do it.
pub(super) enum Work {
    Compute(Cell, Context),
    /// The cell cannot be asked.
    Refuse(Cell, Error),
    Store(Cell),
    Skip(Cell),
    /// Tell the value of the cell, or that it is empty.
    Emit(Cell, Option<Value>),
}

/// An entry on its way into a store.
pub(super) type Putting = BoxFuture<'static, Result<Put, StoreError>>;

/// What a run does next that has done all it could a moment ago.
pub(super) enum Rest {
    Idle,
    CanAct,
    Waits,
}

impl Shared {
    /// Begins a run, unless one goes on or a model cannot be asked.
    pub(super) fn begin_run(&self) -> Result<()> {
        self.check_models()?;
        let mut state = self.lock();
        match state.run {
            Running::Yes(_) => Err(Error::Running),
            Running::No => {
                state.run = Running::Yes(None);
                state.scheduler.begin();
                Ok(())
            }
        }
    }

    /// Whether the models can be asked of all columns that have something to compute.
    fn check_models(&self) -> Result<()> {
        let state = self.lock();
        if let Running::Yes(_) = state.run {
            return Err(Error::Running);
        }
        let schema = state.plan.schema();
        let asks = |(column, settings): (usize, &Arc<Settings>)| {
            let is_due = state.scheduler.len(column) < state.scheduler.opened();
            Some((schema.name(column).clone(), settings.model.clone().filter(|_| is_due)?))
        };
        let asked: Vec<_> = state.settings.iter().enumerate().filter_map(asks).collect();
        let defaults = Arc::clone(&state.defaults);
        drop(state);
        for (column, choice) in asked {
            let ready = choice.model(&defaults.model).and_then(|model| {
                model.ready()?;
                defaults.limit.as_ref().map_or(Ok(()), |limit| Ok(limit.check(model.name())?))
            });
            ready.map_err(|source| Error::Model { column, source })?;
        }
        Ok(())
    }

    /// Ends the run that goes on; what it had begun will begin again.
    pub(super) fn end_run(&self) {
        let mut state = self.lock();
        state.run = Running::No;
        state.scheduler.stop();
    }

    /// The next thing to do.
    pub(super) fn act(&self) -> Option<Work> {
        let mut state = self.lock();
        Some(match state.scheduler.poll()? {
            Action::Compute(cell) => match state.snapshot(cell) {
                Ok(snapshot) if snapshot.is_current() => {
                    Work::Compute(cell, Context::new(snapshot, Arc::clone(&state.defaults)))
                }
                Ok(_) => {
                    // Nothing new has passed its filters; the scheduler asks for it to be skipped next.
                    let reported = state.scheduler.handle_skipped(cell);
                    debug_assert!(reported.is_ok(), "it has just begun");
                    drop(state);
                    return self.act();
                }
                Err(error) => Work::Refuse(cell, error),
            },
            Action::Store(cell) => Work::Store(cell),
            Action::Skip(cell) => Work::Skip(cell),
            Action::Emit(cell) => Work::Emit(cell, state.table.get(cell)),
        })
    }

    /// What a run does next that has done all it could. If it waits, `waker` is woken when there may
    /// be more to do.
    pub(super) fn rest(&self, waker: &Waker) -> Rest {
        let mut state = self.lock();
        if state.scheduler.can_act() {
            return Rest::CanAct;
        }
        if state.scheduler.is_idle() {
            return Rest::Idle;
        }
        if let Running::Yes(slot) = &mut state.run {
            match slot {
                Some(known) => known.clone_from(waker),
                None => *slot = Some(waker.clone()),
            }
        }
        Rest::Waits
    }

    /// Stores an entry, where there is a store.
    pub(super) fn put(&self, column: usize, step: usize, entry: Entry) -> Option<Putting> {
        let store = self.store.as_ref()?;
        let key = self.lock().stored.key(column).cloned();
        Some(match key {
            Some(key) => store.put(key, step, entry),
            None => unreachable!("a flow with a store is opened before it is used"),
        })
    }

    /// The cell is computed.
    pub(super) fn computed(&self, cell: Cell) {
        let reported = self.lock().scheduler.handle_computed(cell);
        debug_assert!(reported.is_ok(), "the run reports the cells that it was given");
    }

    /// The cell stays empty for good.
    pub(super) fn skipped(&self, cell: Cell) {
        let reported = self.lock().scheduler.handle_skipped(cell);
        debug_assert!(reported.is_ok(), "the run reports the cells that it was given");
    }

    /// The cell is stored, unless what is stored of it cannot be read.
    pub(super) fn stored(&self, cell: Cell, entry: &Entry) -> Result<(), StoreError> {
        let unreadable = |_| StoreError::other(InvalidHistory::Receipt { step: cell.step });
        let receipt = receipt(entry).map_err(unreadable)?;
        let counter = self.counter();
        let value = entry.value.clone().map(|value| (counter.count(&value), value));
        let mut state = self.lock();
        if let Some((tokens, value)) = value {
            state.table.insert(cell, value, tokens);
        }
        if let Some(receipt) = receipt {
            state.receipts.insert(cell, receipt);
        }
        let reported = state.scheduler.handle_stored(cell, entry.is_skipped());
        debug_assert!(reported.is_ok(), "the run reports the cells that it was given");
        Ok(())
    }

    /// The cell could not be computed. Returns what becomes of it and of the run.
    pub(super) fn failed(&self, cell: Cell) -> OnFailure {
        let reported = self.lock().scheduler.handle_failed(cell);
        debug_assert!(reported.is_ok(), "the run reports the cells that it was given");
        reported.unwrap_or(OnFailure::Stop)
    }

    /// The cell could not be stored.
    pub(super) fn broken(&self, cell: Cell) {
        let reported = self.lock().scheduler.handle_broken(cell);
        debug_assert!(reported.is_ok(), "the run reports the cells that it was given");
    }
}
