//! Assembling the contexts of cells. Their values are taken under the lock of the state, and they are assembled outside of
//! it, because that calls filters and counters of users.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard};

use super::contexts::{ColumnContexts, Draft, Prepared, Recipe};
use super::forecast::{Forecast, Limits, forecast};
use super::guard::caught;
use super::shared::Shared;
use super::state::State;
use super::{Error, Result};
use crate::compute::{Defaults, Settings};
use crate::context::budget;
use crate::context::{FlowPast, Messages};
use crate::declare::Reads;
use crate::history::StepRanges;
use crate::model::{ContextWindow, MaxTokens};
use crate::schedule::Cell;

impl Shared {
    /// The messages of a derived column at a step.
    pub(crate) fn messages(&self, column: usize, step: usize) -> Result<Messages> {
        self.messages_of(|_| Ok(Cell { column, step }))
    }

    /// The messages of the derived column with this name at a step.
    pub(crate) fn messages_by_name(&self, name: &str, step: usize) -> Result<Messages> {
        self.messages_of(|state| Ok(Cell { column: state.find(name)?, step }))
    }

    fn messages_of(&self, find: impl Fn(&State) -> Result<Cell>) -> Result<Messages> {
        let draft = self.draft(|state| {
            let cell = find(state)?;
            state.check_begun(cell)?;
            Ok(cell)
        })?;
        let snapshot = draft.assemble()?;
        if snapshot.is_current() {
            return Ok(Messages::new(snapshot));
        }
        Err(Error::Skipped { column: snapshot.column().clone(), step: snapshot.step })
    }

    /// The values of the context of a derived cell. `find` is called again if the assembler of its column has to be made:
    /// the columns may change meanwhile.
    pub(super) fn draft(&self, find: impl Fn(&State) -> Result<Cell>) -> Result<Draft> {
        loop {
            let recipe = {
                let state = self.lock();
                let cell = find(&state)?;
                match state.draft(cell)? {
                    Ok(draft) => return Ok(draft),
                    Err(recipe) => recipe,
                }
            };
            self.made(&recipe);
        }
    }

    /// Checks that the budgets of all columns with missing cells hold a message. Returns the lock of the state.
    pub(super) fn check_budgets<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
    ) -> Result<MutexGuard<'a, State>> {
        let mut checked = 0;
        // Most runs find all contexts made, and keep the lock.
        while let Some(recipe) = state.check_budgets(checked)? {
            drop(state);
            // A counter that panics here panics again for each cell, whose error it then is.
            if let Some(contexts) = caught(|| self.made(&recipe)) {
                check_budget(&recipe.reads, &contexts)?;
            }
            checked = recipe.column + 1;
            drop(recipe);
            state = self.lock();
        }
        Ok(state)
    }

    /// Forecasts the next run, on copies outside of the lock.
    pub(crate) fn forecast(&self) -> Forecast {
        let (plan, columns, scheduler, table, exclusions, settings, defaults) = {
            let state = self.lock();
            let (plan, exclusions) = (Arc::clone(&state.plan), Arc::clone(&state.exclusions));
            let (settings, defaults) = (state.settings.clone(), Arc::clone(&state.defaults));
            let (columns, scheduler) = (state.prepared(), state.scheduler.clone());
            (plan, columns, scheduler, state.table.clone(), exclusions, settings, defaults)
        };
        let made = |prepared: Prepared<_>| prepared.unwrap_or_else(|recipe| self.made(&recipe));
        let contexts: BTreeMap<_, _> =
            columns.into_iter().map(|(column, prepared)| (column, made(prepared))).collect();
        let assembler = |column| Some(&contexts.get(&column)?.assembler);
        // The name of a model is code of users, as the counter is. A run says what is wrong with it.
        let limits = |column: usize| caught(|| limits_of(settings.get(column)?, &defaults)).flatten();
        forecast(&plan, scheduler, (&table, &exclusions), assembler, limits)
    }

    /// Makes the contexts of a column, and keeps them.
    pub(super) fn made(&self, recipe: &Recipe) -> Arc<ColumnContexts> {
        let contexts = recipe.make();
        self.lock().keep(recipe, &contexts);
        contexts
    }
}

/// The limits of the requests of a column, if the window of its model is known.
fn limits_of(settings: &Settings, defaults: &Defaults) -> Option<Limits> {
    let model = settings.model.as_ref()?.model_name(&defaults.model)?;
    let window = ContextWindow::by_model(&model)?;
    let max_tokens = settings.max_tokens.unwrap_or_else(|| MaxTokens::by_model(&model).default);
    Some(Limits { model, window, max_tokens })
}

impl State {
    /// Checks that a cell is derived, and that its step has begun.
    fn check_begun(&self, cell: Cell) -> Result<()> {
        self.check_derived(cell.column)?;
        let (schema, step) = (self.plan.schema(), cell.step);
        // A step that has not begun lacks a source, even if this column does not read it.
        if step >= self.scheduler.begun()
            && let Some(source) = schema.sources().find(|&source| self.scheduler.len(source) <= step)
        {
            return Err(Error::Missing { column: schema.name(source).clone(), step });
        }
        Ok(())
    }

    /// The values of the context of a derived cell. Calls no code of users.
    pub(super) fn draft(&self, cell: Cell) -> Result<Prepared<Draft>> {
        let schema = self.plan.schema();
        if let Some(missing) = self.scheduler.missing(cell) {
            return Err(Error::Missing { column: schema.name(missing.column).clone(), step: missing.step });
        }
        let Some(reads) = schema.reads(cell.column).cloned() else {
            unreachable!("`{}` is derived", schema.name(cell.column))
        };
        let contexts = match self.contexts(cell.column, &reads) {
            Ok(contexts) => contexts,
            Err(recipe) => return Ok(Err(recipe)),
        };
        // Contexts of steps that had begun before the fork do not change: requests may have been sent.
        let counts = |(_, since): &(&usize, &usize)| **since <= cell.step;
        let fork = self.forks.range(..=cell.step).rev().find(counts).map(|(step, _)| *step);
        let fork =
            fork.filter(|fork| self.has_context(&reads, Cell { step: fork.saturating_sub(1), ..cell }));
        let unloaded = self.unloaded_of(&reads, cell.column);
        let past = FlowPast { fork, exclusions: self.exclusions().cloned() };
        let taken = contexts.assembler.take(reads, cell, past, |column| self.table.history(column));
        Ok(Ok(Draft { cell, taken, contexts, unloaded }))
    }

    /// Checks the budgets of the columns with missing cells, from this one on, up to the first whose contexts have to be
    /// made. Calls no code of users.
    fn check_budgets(&self, from: usize) -> Result<Option<Recipe>> {
        let schema = self.plan.schema();
        for column in (from..schema.columns().len()).filter(|column| self.has_missing_cells(*column)) {
            match (schema.reads(column), self.kept(column)) {
                (Some(reads), Some(contexts)) => check_budget(reads, contexts)?,
                (Some(reads), None) => return Ok(Some(self.recipe(column, reads))),
                (None, _) => {}
            }
        }
        Ok(None)
    }

    /// The derived columns, each with its contexts.
    fn prepared(&self) -> Vec<(usize, Prepared<Arc<ColumnContexts>>)> {
        let schema = self.plan.schema();
        let columns = 0..schema.columns().len();
        columns.filter_map(|column| Some((column, self.contexts(column, schema.reads(column)?)))).collect()
    }

    /// The contexts of a column.
    pub(super) fn contexts(&self, column: usize, reads: &Arc<Reads>) -> Prepared<Arc<ColumnContexts>> {
        match self.kept(column) {
            Some(contexts) => Ok(Arc::clone(contexts)),
            None => Err(Box::new(self.recipe(column, reads))),
        }
    }

    /// The contexts of a column, if they are made.
    fn kept(&self, column: usize) -> Option<&Arc<ColumnContexts>> {
        self.contexts.get(column)?.as_ref()
    }

    fn recipe(&self, column: usize, reads: &Arc<Reads>) -> Recipe {
        let settings = self.settings.get(column).cloned().unwrap_or_default();
        // Each field of a budget comes from the column, else from the flow, else from the program.
        let budget = settings.budget.as_deref().map(|budget| budget.or(&self.budget));
        let budget = budget.as_ref().unwrap_or(&self.budget).or(&budget::program_default());
        let (reads, counter) = (Arc::clone(reads), Arc::clone(&self.counter));
        let defaults = Arc::clone(&self.defaults);
        Recipe { column, reads, settings, budget, counter, defaults, generation: self.generation }
    }

    /// Keeps the contexts of a column, unless their recipe has changed or they were made already.
    pub(super) fn keep(&mut self, recipe: &Recipe, contexts: &Arc<ColumnContexts>) {
        if recipe.generation != self.generation {
            return;
        }
        if self.contexts.len() <= recipe.column {
            self.contexts.resize_with(self.plan.schema().columns().len().max(recipe.column + 1), || None);
        }
        if let Some(slot) = self.contexts.get_mut(recipe.column) {
            slot.get_or_insert_with(|| Arc::clone(contexts));
        }
    }

    /// The contexts of a column of a state that no lock guards: calls the counter.
    pub(super) fn contexts_now(&mut self, column: usize, reads: &Arc<Reads>) -> Arc<ColumnContexts> {
        self.contexts(column, reads).unwrap_or_else(|recipe| {
            let contexts = recipe.make();
            self.keep(&recipe, &contexts);
            contexts
        })
    }

    /// The steps that are not in memory, of the columns that a context of this column shows.
    fn unloaded_of(&self, reads: &Reads, column: usize) -> Option<BTreeMap<usize, StepRanges>> {
        if self.unloaded.is_empty() {
            return None;
        }
        let columns = reads.all_inputs().map(|input| input.column).chain([column]);
        let steps = |column| Some((column, self.unloaded.get(&column)?.steps().clone()));
        Some(columns.filter_map(steps).collect())
    }
}

/// Checks that the budget of a column holds a message.
fn check_budget(reads: &Reads, contexts: &ColumnContexts) -> Result<()> {
    let checked = contexts.assembler.check();
    checked.map_err(|source| Error::BudgetTooSmall { column: reads.column.clone(), source })
}
