//! The messages of cells: the values of a context are taken under the lock of the state, and assembled outside of the lock.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{ColumnContexts, ContextDraft, ContextRecipe, OtherContexts};
use crate::context::{FlowPast, Messages, StoredCells, budget};
use crate::declare::Reads;
use crate::history::StepRanges;
use crate::run::shared::SharedFlow;
use crate::run::state::{FindColumn, FlowState};
use crate::run::{Error, Result};
use crate::schedule::Cell;

impl SharedFlow {
    /// The messages of a derived column at a step.
    pub(crate) fn messages(&self, column: impl FindColumn, step: usize) -> Result<Messages> {
        let snapshot = self.draft(column, step)?.assemble()?;
        if snapshot.is_current() {
            return Ok(Messages(snapshot));
        }
        Err(Error::Skipped { column: snapshot.column().clone(), step: snapshot.step })
    }

    /// The whole system text of a derived cell.
    pub(crate) fn system(&self, column: impl FindColumn, step: usize) -> Result<String> {
        let messages = self.messages(column, step)?;
        let column = column.find_in(&self.lock())?;
        Ok(messages.system(&self.instruction(column).unwrap_or_default()))
    }

    /// The instruction of a column, which is no part of the messages: a column that calls no model has none.
    pub(crate) fn instruction(&self, column: usize) -> Option<Arc<str>> {
        self.lock().settings.get(column)?.instruction.clone()
    }

    /// The values of the context of a derived cell.
    pub(crate) fn draft(&self, column: impl FindColumn, step: usize) -> Result<ContextDraft> {
        loop {
            let column = {
                let state = self.lock();
                let column = column.find_in(&state)?;
                if let Some(draft) = state.draft(Cell { column, step })? {
                    return Ok(draft);
                }
                column
            };
            self.prepare(column);
        }
    }

    /// The contexts of a column and of its thread, which are made if necessary, and kept: that calls the counter. `None` for a
    /// source.
    pub(crate) fn prepare(&self, column: usize) -> Option<Arc<ColumnContexts>> {
        let (other, thread) = {
            let state = self.lock();
            (state.other_contexts(column).cloned(), state.plan.schema().thread_of(column))
        };
        if let Some(other) = other {
            return other.prepare();
        }
        thread.and_then(|thread| self.prepare(thread));
        let recipe = {
            let state = self.lock();
            if let Some(kept) = state.kept(column) {
                return Some(Arc::clone(kept));
            }
            state.recipe(column)?
        };
        let contexts = recipe.make();
        self.lock().keep(&recipe, &contexts);
        Some(contexts)
    }
}

impl FlowState {
    /// The values of the context of a derived cell; `None` until the contexts of the column are made. Calls no code of users.
    pub(crate) fn draft(&self, cell: Cell) -> Result<Option<ContextDraft>> {
        let Some(reads) = self.plan.schema().reads(cell.column) else {
            return Err(Error::NotDerived { column: self.name(cell.column).clone() });
        };
        if let Some(missing) = self.missing_input(cell) {
            return Err(Error::Missing { column: self.name(missing.column).clone(), step: missing.step });
        }
        if let Some(other) = self.other_contexts(cell.column) {
            return other.draft(cell.step);
        }
        let Some(contexts) = self.kept(cell.column).cloned() else { return Ok(None) };
        // Contexts of steps that had begun before the fork do not change: requests may have been sent.
        let mut forks = self.forks.range(..=cell.step).rev();
        let fork = forks.find(|(_, since)| **since <= cell.step).map(|(step, _)| *step);
        let fork = fork.filter(|fork| self.has_context(Cell { step: fork.saturating_sub(1), ..cell }));
        let unloaded = self.unloaded_inputs(reads, cell.column);
        // A view of the histories, because copying the past at each step would be quadratic.
        let past = FlowPast { fork, exclusions: self.exclusions().cloned() };
        let taken = contexts.assembler.take(Arc::clone(reads), cell, past, |column| StoredCells {
            history: self.table.history(column),
            skipped: self.scheduler.skipped(column),
        });
        let thread = match self.plan.schema().thread_of(cell.column).zip(taken.thread_step()) {
            Some((column, step)) => match self.draft(Cell { column, step })? {
                Some(thread) => Some(Box::new(thread)),
                None => return Ok(None),
            },
            None => None,
        };
        let write = self.write_factor(cell.column, contexts.policy);
        Ok(Some(ContextDraft { cell, taken, contexts, unloaded, write, thread }))
    }

    /// A cell that the context of a cell waits for.
    pub(crate) fn missing_input(&self, cell: Cell) -> Option<Cell> {
        let schema = self.plan.schema();
        let step = cell.step;
        // A step that has not begun lacks a source, even if this column does not read it.
        let mut sources = schema.sources().filter(|_| step >= self.scheduler.begun());
        let late = sources.find(|source| self.scheduler.len(*source) <= step);
        late.map(|column| Cell { column, step }).or_else(|| self.scheduler.missing(cell))
    }

    /// The contexts of a column, if they are made.
    pub(crate) fn kept(&self, column: usize) -> Option<&Arc<ColumnContexts>> {
        self.contexts.get(column)?.as_ref()
    }

    /// The contexts that a column has in place of its own.
    pub(super) fn other_contexts(&self, column: usize) -> Option<&Arc<dyn OtherContexts>> {
        self.rehearsed.as_ref().filter(|other| other.column() == self.name(column))
    }

    /// The recipe of the contexts of a column; `None` for a source.
    fn recipe(&self, column: usize) -> Option<ContextRecipe> {
        let reads = Arc::clone(self.plan.schema().reads(column)?);
        let settings = self.settings.get(column).cloned().unwrap_or_default();
        // Each field of a budget comes from the column, else from the flow, else from the program.
        let budget = settings.budget.as_deref().map(|budget| budget.or(&self.budget));
        let budget = budget.as_ref().unwrap_or(&self.budget).or(&budget::program_default());
        let counter = Arc::clone(&self.counter);
        let defaults = Arc::clone(&self.defaults);
        let generation = self.generation;
        Some(ContextRecipe { column, reads, settings, budget, counter, defaults, generation })
    }

    /// Keeps the contexts of a column, unless their recipe has changed or they were made already.
    fn keep(&mut self, recipe: &ContextRecipe, contexts: &Arc<ColumnContexts>) {
        if recipe.generation != self.generation {
            return;
        }
        if self.contexts.len() <= recipe.column {
            self.contexts.resize(recipe.column + 1, None);
        }
        if let Some(slot) = self.contexts.get_mut(recipe.column) {
            slot.get_or_insert_with(|| Arc::clone(contexts));
        }
    }

    /// The contexts of a column of a state that no lock guards: calls the counter. `None` for a source.
    pub(crate) fn contexts_now(&mut self, column: usize) -> Option<Arc<ColumnContexts>> {
        if let Some(other) = self.other_contexts(column) {
            return other.prepare();
        }
        if let Some(thread) = self.plan.schema().thread_of(column) {
            self.contexts_now(thread);
        }
        if self.kept(column).is_none() {
            let recipe = self.recipe(column)?;
            let contexts = recipe.make();
            self.keep(&recipe, &contexts);
        }
        self.kept(column).cloned()
    }

    /// Whether the values in the context of a cell are in memory.
    fn has_context(&self, cell: Cell) -> bool {
        let mut needed = self.scheduler.needed(cell);
        self.unloaded.is_empty()
            || needed.all(|(column, steps)| self.first_unloaded(column, &steps).is_none())
    }

    /// The steps that are not in memory, of the columns that a context of this column shows.
    fn unloaded_inputs(&self, reads: &Reads, column: usize) -> BTreeMap<usize, StepRanges> {
        if self.unloaded.is_empty() {
            return BTreeMap::new();
        }
        let columns = reads.all_inputs().map(|input| input.column).chain([column]);
        columns.filter_map(|column| Some((column, self.unloaded.get(&column)?.steps.clone()))).collect()
    }
}
