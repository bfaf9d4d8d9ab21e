//! Counting the values of a flow again, with another counter.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use super::past::Unloaded;
use super::shared::Shared;
use super::state::State;
use super::table::Table;
use crate::declare::Plan;
use crate::history::tokens::Counter;

/// Copies of the values of a flow, with the tokens of another counter.
struct Recount {
    plan: Arc<Plan>,
    table: Table,
    unloaded: BTreeMap<usize, Unloaded>,
}

impl Shared {
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
            let copy = (Arc::clone(&state.plan), state.table.clone(), state.unloaded.clone());
            drop(state);
            // Outside of the lock. The values that are stored meanwhile are counted in the next round.
            recount = Some(Recount::add(recount, copy, &counter));
        }
    }
}

impl Recount {
    /// Counts the values that are not counted yet.
    fn add(
        recount: Option<Self>,
        (plan, table, unloaded): (Arc<Plan>, Table, BTreeMap<usize, Unloaded>),
        counter: &Arc<dyn Counter>,
    ) -> Self {
        // The columns of another plan may have other indices.
        let known = recount.filter(|recount| Arc::ptr_eq(&recount.plan, &plan));
        let mut counted =
            known.unwrap_or_else(|| Self { plan, table: Table::default(), unloaded: BTreeMap::new() });
        counted.table.count(&table, &**counter);
        for (column, unloaded) in unloaded {
            counted.unloaded.entry(column).or_insert_with(|| unloaded.counted(counter));
        }
        counted
    }

    /// Whether all values of a state are counted.
    fn is_complete(&self, state: &State) -> bool {
        Arc::ptr_eq(&self.plan, &state.plan)
            && self.table.has_as_many(&state.table)
            && state.unloaded.keys().all(|column| self.unloaded.contains_key(column))
    }

    /// Replaces the values of the state, and returns them, to be dropped outside of the lock.
    fn replace(self, state: &mut State, counter: Arc<dyn Counter>) -> impl Sized + use<> {
        let unloaded = state.unloaded.iter().filter_map(|(column, unloaded)| {
            // Steps that were loaded meanwhile are in the table.
            Some((*column, self.unloaded.get(column)?.with_steps(unloaded.steps())))
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
