//! Opening a flow on a store, adding columns with stored values, and copying a flow into another store.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::compute_steps::{ComputeSteps, settings};
use super::needs::load_all;
use super::past::{Unloaded, invalid_history, load_error};
use super::shared::Shared;
use super::state::{State, StoredColumns};
use super::{Error, Result};
use crate::compute::Step;
use crate::declare::{Name, Plan, SchemaError, SchemaErrors};
use crate::history::StoredSteps;
use crate::reopen::{ColumnChange, Definition, KeptColumns, OpenOptions, Recompute};
use crate::store::{CHUNK, Store, StoreError, check_beyond, copy, put_all};

/// A longer plan of a flow, with its compute steps and the stored values of the added columns.
pub(crate) struct Extension<'a> {
    plan: Arc<Plan>,
    steps: Vec<Option<Step<'a>>>,
    stored: StoredColumns,
    /// Those of the added columns.
    stored_by_column: Vec<StoredSteps>,
    unloaded: BTreeMap<usize, Unloaded>,
}

impl Shared {
    /// Opens the store and takes over its contents.
    pub(crate) async fn restore(&self, options: &OpenOptions) -> Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        let _writing = self.writing.lock().await;
        // A misspelt name is an error before the store is opened or written.
        let mut recomputed = options.recompute.iter().flat_map(|recompute| &recompute.columns);
        recomputed.try_for_each(|column| self.find(column).map(drop))?;
        let (plan, settings) = (self.plan(), self.lock().settings.clone());
        let mut text = store.open().await.map_err(|source| Error::Open { source })?;
        // A store with a definition has its copy already: this flow was opened before.
        if let (None, Some(recompute)) = (&text, &options.recompute) {
            text = Some(self.copy_past(recompute, options, &**store).await?);
        }
        let mut definition = parse(text.as_deref())?;
        self.check_kept(options, &definition)?;
        let keys = definition.keys(plan.schema());
        let stored_by_column = self.stored_by_column(&**store, &plan, &keys, 0).await?;
        let is_empty = |column: usize| stored_by_column.get(column).is_none_or(StoredSteps::is_empty);
        definition.update(plan.schema(), &keys, &settings, |column, change| {
            // Nothing was computed by the old declaration of an empty column, so it may change freely.
            is_empty(column) || options.keep.allow(change)
        })?;
        if let Some(late) = late_source(&plan, &stored_by_column) {
            return Err(SchemaErrors::one(SchemaError::LateSource { name: late.as_str().into() }).into());
        }
        let restored = self.lock().scheduler.restore(0, &stored_by_column);
        restored.map_err(|(column, error)| invalid_history(plan.schema().name(column), error))?;
        // After all checks: a flow that cannot be opened leaves the stored definition as it is.
        define(&**store, text, &definition).await?;
        let (recent, kept) = (options.recent, options.keep.clone());
        let unloaded = self.unloaded(store, &plan, &keys, 0, &stored_by_column);
        {
            let mut state = self.lock();
            state.stored = StoredColumns { definition, keys, kept, recent };
            state.unloaded = unloaded;
        }
        load_all(|| self.lock().recent(0)).await?;
        load_all(|| self.lock().needed(recent.unwrap_or(0))).await
    }

    /// Checks that this flow or its store has the columns to keep. Those of the store may be added later.
    fn check_kept(&self, options: &OpenOptions, definition: &Definition) -> Result<()> {
        let mut unknown = options.keep.names().filter(|name| !definition.has(name));
        unknown.try_for_each(|name| self.find(name).map(drop))
    }

    /// Copies everything that is not recomputed from another store into this one, and returns the definition. The
    /// definition is written last, so a store that has one is complete.
    async fn copy_past(
        &self,
        recompute: &Recompute,
        options: &OpenOptions,
        into: &dyn Store,
    ) -> Result<String> {
        let (plan, settings) = (self.plan(), self.lock().settings.clone());
        let named =
            recompute.columns.iter().map(|name| self.find_derived(name)).collect::<Result<BTreeSet<_>>>()?;
        let text = recompute.from.open().await.map_err(|source| Error::Open { source })?;
        let mut definition = parse(text.as_deref())?;
        self.check_kept(options, &definition)?;
        let keys = definition.keys(plan.schema());
        // `update` takes a `Fn`, which collects the refused changes here: their columns are recomputed.
        let changed = RefCell::new(named);
        definition.update(plan.schema(), &keys, &settings, |column, change| {
            let is_kept = options.keep.allow(change);
            if !is_kept {
                changed.borrow_mut().insert(column);
            }
            // Recomputing helps no source, and a column that was one has values from outside.
            is_kept || !matches!(change, ColumnChange::Kind { .. })
        })?;
        let changed = changed.into_inner();
        let dependents = changed.iter().flat_map(|&column| plan.dependents(column));
        let recomputed: BTreeSet<&Name> =
            changed.iter().copied().chain(dependents).filter_map(|at| keys.get(at)).collect();
        // Columns that the flow no longer has are copied as well: they may return.
        for column in definition.columns() {
            let before = if recomputed.contains(&column.key) { recompute.step } else { usize::MAX };
            let copied = copy(&*recompute.from, into, &column.key, before).await;
            copied.map_err(|source| Error::Open { source })?;
        }
        let text = definition.text();
        into.define(text.clone()).await.map_err(|source| Error::Open { source })?;
        Ok(text)
    }

    /// Copies the values before a step into an empty store. The definition is written last, so a store that has one is
    /// complete.
    pub(super) async fn copy_fork(&self, step: usize, store: &dyn Store) -> Result<StoredColumns> {
        let (plan, settings) = (self.plan(), self.lock().settings.clone());
        let open = |source| Error::Open { source };
        if store.open().await.map_err(open)?.is_some() {
            return Err(open(StoreError::other("it holds a flow already: use an empty one")));
        }
        let mut definition = Definition::default();
        let keys = definition.keys(plan.schema());
        for (column, key) in plan.schema().columns().iter().zip(&keys) {
            // Of a fork whose copy was interrupted.
            check_beyond(store, key, step).await.map_err(open)?;
            // In chunks, because the past may be larger than the memory.
            for first in (0..step).step_by(CHUNK) {
                let entries = self.entries(column.name.as_str(), first..step.min(first + CHUNK)).await?;
                put_all(store, key, entries).await.map_err(open)?;
            }
        }
        definition.update(plan.schema(), &keys, &settings, |_, _| true)?;
        define(store, None, &definition).await?;
        let recent = self.lock().stored.recent;
        Ok(StoredColumns { definition, keys, kept: KeptColumns::default(), recent })
    }

    /// Prepares a change to a longer plan, with the stored values of the columns at its end. This flow does not change
    /// before [`extend`](Self::extend).
    pub(crate) async fn load_added<'a>(
        &self,
        plan: Arc<Plan>,
        steps: Vec<Option<Step<'a>>>,
    ) -> Result<Extension<'a>> {
        let (first, mut stored) = {
            let state = self.lock();
            (state.plan.schema().columns().len(), state.stored.clone())
        };
        let (unloaded, stored_by_column) = match &self.store {
            None => self.removed_before(&plan, first),
            Some(store) => {
                stored.keys = stored.definition.keys(plan.schema());
                let stored_by_column = self.stored_by_column(&**store, &plan, &stored.keys, first).await?;
                let added = |column: usize| column.checked_sub(first).and_then(|at| stored_by_column.get(at));
                let (text, kept) = (stored.definition.text(), stored.kept.clone());
                stored.definition.update(
                    plan.schema(),
                    &stored.keys,
                    &settings(&steps),
                    |column, change| added(column).is_none_or(StoredSteps::is_empty) || kept.allow(change),
                )?;
                // The definition comes before the first value: values without it would escape the check of changes.
                define(&**store, Some(text), &stored.definition).await?;
                (self.unloaded(store, &plan, &stored.keys, first, &stored_by_column), stored_by_column)
            }
        };
        let extension = Extension { plan, steps, stored, stored_by_column, unloaded };
        // A copy of the state finds what the added columns read, of all columns. Their cells may start as soon as the
        // state itself has them.
        let mut copy = self.lock().before(usize::MAX);
        copy.extend(&extension)?;
        load_all(|| copy.adopt().recent(first)).await?;
        load_all(|| copy.adopt().needed(0)).await?;
        Ok(extension)
    }

    /// The columns from `first` on that this flow had before they were removed, and their stored steps.
    fn removed_before(&self, plan: &Plan, first: usize) -> (BTreeMap<usize, Unloaded>, Vec<StoredSteps>) {
        let state = self.lock();
        // Cloned: `extend` removes them, and until then the change may fail.
        let removed = |column: usize| state.removed.get(plan.schema().name(column)).cloned();
        let columns = first..plan.schema().columns().len();
        let stored_steps = |column| removed(column).map(|removed| removed.steps().into()).unwrap_or_default();
        let stored_by_column = columns.clone().map(stored_steps).collect();
        (columns.filter_map(|column| Some((column, removed(column)?))).collect(), stored_by_column)
    }

    /// Changes to a longer plan. On an error the plan is as it was.
    pub(crate) fn extend<'a>(&self, extension: &Extension<'a>, steps: &ComputeSteps<'a>) -> Result<()> {
        // A run looks up a step when it starts a cell, so the steps change before the plan. If the plan does not change,
        // the longer list does no harm: no cell looks up its end.
        steps.lock().clone_from(&extension.steps);
        let mut state = self.lock();
        state.extend(extension)?;
        let schema = extension.plan.schema();
        extension.unloaded.keys().for_each(|&column| drop(state.removed.remove(schema.name(column))));
        state.wake();
        state.is_stale = true;
        drop(state);
        self.notify();
        Ok(())
    }

    /// The stored steps of the columns from `first` on, none of which is in memory.
    fn unloaded(
        &self,
        store: &Arc<dyn Store>,
        plan: &Plan,
        keys: &[Name],
        first: usize,
        stored_by_column: &[StoredSteps],
    ) -> BTreeMap<usize, Unloaded> {
        let counter = Arc::clone(&self.lock().counter);
        let columns = (first..).zip(keys.iter().skip(first)).zip(stored_by_column);
        let columns = columns.filter(|(_, stored_steps)| !stored_steps.is_empty());
        let unloaded = |((column, key), stored_steps): ((usize, &Name), &StoredSteps)| {
            let (stored, is_source) = ((Arc::clone(store), key.clone()), plan.schema().is_source(column));
            (column, Unloaded::new(stored, is_source, Arc::clone(&counter), stored_steps.into()))
        };
        columns.map(unloaded).collect()
    }

    /// The stored steps of the columns from `first` on.
    async fn stored_by_column(
        &self,
        store: &dyn Store,
        plan: &Plan,
        keys: &[Name],
        first: usize,
    ) -> Result<Vec<StoredSteps>> {
        let mut stored_by_column = Vec::new();
        for (column, key) in keys.iter().enumerate().skip(first) {
            let stored_steps = store.stored_steps(key.clone()).await;
            stored_by_column
                .push(stored_steps.map_err(|source| load_error(plan.schema().name(column), source))?);
        }
        Ok(stored_by_column)
    }
}

impl State {
    /// Changes to a longer plan. On an error nothing has changed.
    fn extend(&mut self, extension: &Extension<'_>) -> Result<()> {
        let Extension { plan, steps, stored, stored_by_column, unloaded } = extension;
        let extended = self.scheduler.extend(Arc::clone(plan), stored_by_column);
        extended.map_err(|(column, error)| invalid_history(plan.schema().name(column), error))?;
        (self.plan, self.stored) = (Arc::clone(plan), stored.clone());
        self.set_settings(settings(steps));
        for (&column, unloaded) in unloaded {
            // The counter may have been replaced since they were loaded.
            self.unloaded.insert(column, unloaded.clone().counted(&self.counter));
        }
        self.adopt();
        Ok(())
    }
}

/// A source without stored values in a flow with stored computed values, if there is one.
fn late_source<'p>(plan: &'p Plan, stored_by_column: &[StoredSteps]) -> Option<&'p Name> {
    let schema = plan.schema();
    let is_empty = |column: usize| stored_by_column.get(column).is_none_or(StoredSteps::is_empty);
    let has_begun = (0..stored_by_column.len()).any(|column| !schema.is_source(column) && !is_empty(column));
    schema.sources().find(|&source| has_begun && is_empty(source)).map(|source| schema.name(source))
}

fn parse(text: Option<&str>) -> Result<Definition> {
    let definition = text.map_or_else(|| Ok(Definition::default()), Definition::parse);
    definition.map_err(|source| Error::Open { source })
}

/// Writes the definition if it differs from the stored one.
async fn define(store: &dyn Store, stored: Option<String>, definition: &Definition) -> Result<()> {
    let text = definition.text();
    if stored.as_ref() == Some(&text) {
        return Ok(());
    }
    store.define(text).await.map_err(|source| Error::Open { source })
}
