//! The settings of a live flow, which a program may change at any time, also during a run.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use super::SharedFlow;
use crate::declare::Plan;
use crate::history::tokens::Counter;
use crate::run::state::{FlowState, Unloaded, ValueTable};

impl SharedFlow {
    /// Changes a setting on which contexts depend.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut FlowState) -> T) {
        let mut state = self.lock();
        let replaced = (change(&mut state), state.forget_contexts());
        drop(state);
        // After the lock: these may be the last to have a model or a counter.
        drop(replaced);
    }

    /// Sets the counter of tokens, and counts the values in memory again.
    pub(crate) fn set_counter(&self, counter: Arc<dyn Counter>) {
        let mut recount: Option<Recount> = None;
        loop {
            let mut state = self.lock();
            if let Some(recount) = recount.take_if(|recount| recount.is_complete(&state)) {
                let replaced = recount.replace(&mut state, counter);
                drop(state);
                return drop(replaced);
            }
            let plan = Arc::clone(&state.plan);
            let table = state.table.clone();
            let unloaded = state.unloaded.clone();
            drop(state);
            // Outside of the lock. The values that are stored meanwhile are counted in the next round.
            let known = recount.filter(|recount| Arc::ptr_eq(&recount.plan, &plan));
            // The columns of another plan may have other indices.
            let mut counted = known.unwrap_or_else(|| Recount::new(plan));
            counted.table.count(&table, &*counter);
            for (column, unloaded) in unloaded {
                counted.unloaded.entry(column).or_insert_with(|| unloaded.counted(&counter));
            }
            recount = Some(counted);
        }
    }
}

/// Copies of the values of a flow, with the tokens of another counter.
struct Recount {
    plan: Arc<Plan>,
    table: ValueTable,
    unloaded: BTreeMap<usize, Unloaded>,
}

impl Recount {
    fn new(plan: Arc<Plan>) -> Self {
        Self { plan, table: ValueTable::default(), unloaded: BTreeMap::new() }
    }

    /// Whether all values of a state are counted.
    fn is_complete(&self, state: &FlowState) -> bool {
        Arc::ptr_eq(&self.plan, &state.plan)
            && self.table.has_as_many(&state.table)
            && state.unloaded.keys().all(|column| self.unloaded.contains_key(column))
    }

    /// Replaces the values of the state, and returns them, to be dropped outside of the lock.
    fn replace(self, state: &mut FlowState, counter: Arc<dyn Counter>) -> impl Sized + use<> {
        let unloaded = state.unloaded.iter().filter_map(|(column, unloaded)| {
            // Steps that were loaded meanwhile are in the table.
            Some((*column, self.unloaded.get(column)?.with_steps(unloaded.steps.clone())))
        });
        let unloaded = unloaded.collect();
        (
            mem::replace(&mut state.unloaded, unloaded),
            mem::replace(&mut state.table, self.table),
            mem::replace(&mut state.counter, counter),
            state.forget_contexts(),
            self.unloaded,
        )
    }
}
