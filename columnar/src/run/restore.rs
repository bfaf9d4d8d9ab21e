//! Opening a flow on a store, adding columns with stored values, and copying a flow into another store.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;
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
use crate::history::tokens::{Counter, is_same};
use crate::run::reopen::{ColumnChange, Definition, KeptColumns, OpenOptions, Recompute, exclusions_key};
use crate::store::{CHUNK, Store, StoreError, check_beyond, copy, listed_steps, put_all, stored_steps};

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
        self.restore_exclusions(&**store).await?;
        load_all(|| self.lock().recent(0)).await?;
        load_all(|| self.needed(recent.unwrap_or(0))).await
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
            is_kept || !change.is_of_kind()
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
        // Those of later steps count from later steps on.
        let copied = copy(&*recompute.from, into, &exclusions_key(), usize::MAX).await;
        copied.map_err(|source| Error::Open { source })?;
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
        let (first, mut stored, may_return) = {
            let state = self.lock();
            let may_return = self.store.is_some() || !state.removed.is_empty();
            (state.plan.schema().columns().len(), state.stored.clone(), may_return)
        };
        let (mut unloaded, mut stored_by_column) = (BTreeMap::new(), Vec::new());
        if may_return {
            let keys = stored.definition.keys(plan.schema());
            (unloaded, stored_by_column) = match &self.store {
                None => self.removed_before(&keys, first),
                Some(store) => {
                    let stored_by_column = self.stored_by_column(&**store, &plan, &keys, first).await?;
                    (self.unloaded(store, &plan, &keys, first, &stored_by_column), stored_by_column)
                }
            };
            self.define_added(&plan, &keys, &steps, first, &stored_by_column, &mut stored).await?;
        }
        let extension = Extension { plan, steps, stored, stored_by_column, unloaded };
        if extension.unloaded.is_empty() && self.lock().unloaded.is_empty() {
            return Ok(extension);
        }
        // A copy of the state finds what the added columns read, of all columns. Their cells may start as soon as the
        // state itself has them.
        let mut copy = self.lock().before(usize::MAX);
        let counted = extension.counted(&copy.counter);
        drop(copy.extend(&extension, counted)?);
        load_all(|| adopted(&mut copy).recent(first)).await?;
        load_all(|| adopted(&mut copy).needed(0)).await?;
        Ok(extension)
    }

    /// Declares the columns from `first` on, whose values were perhaps computed by another declaration.
    async fn define_added(
        &self,
        plan: &Plan,
        keys: &[Name],
        steps: &[Option<Step<'_>>],
        first: usize,
        stored_by_column: &[StoredSteps],
        stored: &mut StoredColumns,
    ) -> Result<()> {
        let StoredColumns { definition, kept, .. } = stored;
        let before = definition.clone();
        let is_empty = |column: usize| {
            let added = column.checked_sub(first).and_then(|at| stored_by_column.get(at));
            added.is_none_or(StoredSteps::is_empty)
        };
        let may = |column: usize, change: &ColumnChange| is_empty(column) || kept.allow(change);
        definition.extend(plan.schema(), keys, &settings(steps), first, may)?;
        let Some(store) = &self.store else { return Ok(()) };
        stored.keys = keys.to_vec();
        if *definition == before {
            return Ok(());
        }
        // The definition comes before the first value: values without it would escape the check of changes.
        store.define(definition.text()).await.map_err(|source| Error::Open { source })
    }

    /// The columns from `first` on that this flow had before they were removed, and their stored steps.
    fn removed_before(&self, keys: &[Name], first: usize) -> (BTreeMap<usize, Unloaded>, Vec<StoredSteps>) {
        let state = self.lock();
        // Cloned: `extend` removes them, and until then the change may fail.
        let removed = |(column, key)| Some((column, state.removed.get(key)?.clone()));
        let unloaded: BTreeMap<_, _> = keys.iter().enumerate().skip(first).filter_map(removed).collect();
        let stored_steps = |column| unloaded.get(&column).map(|removed: &Unloaded| removed.steps().into());
        let stored_by_column = (first..keys.len()).map(|column| stored_steps(column).unwrap_or_default());
        (unloaded.clone(), stored_by_column.collect())
    }

    /// Changes to a longer plan. On an error the plan is as it was. The caller calls [`wake`](Self::wake) when it holds no
    /// lock.
    pub(crate) fn extend<'a>(&self, extension: &Extension<'a>, steps: &ComputeSteps<'a>) -> Result<()> {
        // A run looks up a step when it starts a cell, so the steps change before the plan. If the plan does not change,
        // the longer list does no harm: no cell looks up its end.
        let earlier = mem::replace(&mut *steps.lock(), extension.steps.clone());
        let (mut state, counted) = loop {
            let counter = Arc::clone(&self.lock().counter);
            let counted = extension.counted(&counter);
            let state = self.lock();
            if is_same(&counter, &state.counter) {
                break (state, counted);
            }
            drop(state);
        };
        let replaced = state.extend(extension, counted)?;
        let returned = state.forget_removed(extension);
        state.is_stale = true;
        drop(state);
        // Outside of the locks, because they may be the last to have code of users.
        drop((earlier, replaced, returned));
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
            // The steps of a flow are those of its sources, and no derived column has others.
            let stored_steps = if plan.schema().is_source(column) {
                stored_steps(store, key).await
            } else {
                listed_steps(store, key).await
            };
            stored_by_column
                .push(stored_steps.map_err(|source| load_error(plan.schema().name(column), source))?);
        }
        Ok(stored_by_column)
    }
}

impl Extension<'_> {
    /// The added columns with the tokens of this counter, which may have been replaced since they were loaded.
    fn counted(&self, counter: &Arc<dyn Counter>) -> BTreeMap<usize, Unloaded> {
        let counted = |(column, unloaded): (&usize, &Unloaded)| (*column, unloaded.clone().counted(counter));
        self.unloaded.iter().map(counted).collect()
    }
}

impl State {
    /// Forgets the removed columns that have returned, and returns them.
    fn forget_removed(&mut self, extension: &Extension<'_>) -> Vec<Unloaded> {
        if self.removed.is_empty() {
            return Vec::new();
        }
        let keys = self.stored.definition.keys(extension.plan.schema());
        let keys = extension.unloaded.keys().filter_map(|&column| keys.get(column));
        keys.filter_map(|key| self.removed.remove(key)).collect()
    }

    /// Changes to a longer plan, and returns what that replaces, to be dropped outside of the lock. On an error nothing has
    /// changed.
    fn extend(
        &mut self,
        extension: &Extension<'_>,
        counted: BTreeMap<usize, Unloaded>,
    ) -> Result<impl Sized + use<>> {
        let Extension { plan, steps, stored, stored_by_column, .. } = extension;
        let extended = self.scheduler.extend(Arc::clone(plan), stored_by_column);
        extended.map_err(|(column, error)| invalid_history(plan.schema().name(column), error))?;
        self.stored = stored.clone();
        let plan = mem::replace(&mut self.plan, Arc::clone(plan));
        self.rename_excluded();
        let settings = self.set_settings(settings(steps));
        self.unloaded.extend(counted);
        Ok((plan, settings, self.adopt()))
    }
}

/// A state that no lock guards, with all values that have been loaded.
fn adopted(state: &mut State) -> &mut State {
    drop(state.adopt());
    state
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
