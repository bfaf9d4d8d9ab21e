//! Opening a flow on a store, adding columns with stored values, and copying a flow into another store.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::compute_steps::{ComputeSteps, settings};
use super::load::{invalid_history, load, load_error};
use super::shared::Shared;
use super::state::{Entries, StoredColumns};
use super::{Error, Result};
use crate::compute::Step;
use crate::declare::{Name, Plan, SchemaError, SchemaErrors};
use crate::history::StoredSteps;
use crate::reopen::{ColumnChange, Definition, KeptColumns, OpenOptions, Recompute};
use crate::store::{CHUNK, Store, StoreError, copy, put_all};

/// A longer plan of a flow, with its compute steps and the stored values of the added columns.
#[derive(Debug)]
pub(crate) struct Extension<'a> {
    plan: Arc<Plan>,
    steps: Vec<Option<Step<'a>>>,
    stored: StoredColumns,
    /// Of the added columns.
    stored_by_column: Vec<StoredSteps>,
    entries: Vec<(usize, Entries)>,
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
        restored.map_err(|(column, error)| invalid_history(&plan, column, error))?;
        // After all checks: a flow that cannot be opened leaves the stored definition as it is.
        define(&**store, text, &definition).await?;

        let next = |column: usize| stored_by_column.get(column).map_or(0, |stored_steps| stored_steps.prefix);
        let loaded = (0..keys.len()).map(|column| {
            first_needed(&plan, column, 0, next).min(next(column).saturating_sub(options.recent))
        });
        let stored = StoredColumns { definition, loaded: loaded.collect(), keys, kept: options.keep.clone() };
        for (column, (stored_steps, key)) in stored_by_column.iter().zip(&stored.keys).enumerate() {
            let steps = stored.loaded(column)..usize::MAX;
            let entries = load(&**store, &plan, column, key, steps, stored_steps).await?;
            self.insert_entries(&plan, column, entries)?;
        }
        self.lock().stored = stored;
        Ok(())
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
            // In chunks, because the past may be larger than the memory.
            for first in (0..step).step_by(CHUNK) {
                let entries = self.entries(&column.name, first..step.min(first + CHUNK)).await?;
                put_all(store, key, entries).await.map_err(open)?;
            }
        }
        definition.update(plan.schema(), &keys, &settings, |_, _| true)?;
        define(store, None, &definition).await?;
        let loaded = {
            let state = self.lock();
            (0..keys.len()).map(|column| state.stored.loaded(column)).collect()
        };
        Ok(StoredColumns { definition, keys, loaded, kept: KeptColumns::default() })
    }

    /// Loads the stored values of the columns that a longer plan adds at its end. This flow does not change before
    /// [`extend`](Self::extend).
    pub(crate) async fn load_added<'a>(
        &self,
        plan: Arc<Plan>,
        steps: Vec<Option<Step<'a>>>,
    ) -> Result<Extension<'a>> {
        let (first, mut stored) = {
            let state = self.lock();
            (state.plan.schema().columns().len(), state.stored.clone())
        };
        let columns = first..plan.schema().columns().len();
        let Some(store) = &self.store else {
            let state = self.lock();
            // Cloned: `extend` removes them, and until then the change may fail.
            let removed = |column| state.removed.get(plan.schema().name(column)).cloned().unwrap_or_default();
            let entries: Vec<(usize, Entries)> = columns.map(|column| (column, removed(column))).collect();
            let stored_by_column =
                entries.iter().map(|(_, entries)| entries.iter().map(|(step, _)| *step).collect());
            let stored_by_column = stored_by_column.collect();
            return Ok(Extension { plan, steps, stored, stored_by_column, entries });
        };
        stored.keys = stored.definition.keys(plan.schema());
        let stored_by_column = self.stored_by_column(&**store, &plan, &stored.keys, first).await?;
        let added = |column: usize| column.checked_sub(first).and_then(|at| stored_by_column.get(at));
        let (text, kept) = (stored.definition.text(), stored.kept.clone());
        stored.definition.update(plan.schema(), &stored.keys, &settings(&steps), |column, change| {
            added(column).is_none_or(StoredSteps::is_empty) || kept.allow(change)
        })?;
        // The definition comes before the first value: values without it would escape the check of changes.
        define(&**store, Some(text), &stored.definition).await?;

        let next = |column: usize| match added(column) {
            Some(stored_steps) => stored_steps.prefix,
            None => self.len(column),
        };
        let mut entries = Vec::new();
        // Nothing of an added column is in memory yet, so all that is stored counts as not loaded.
        stored.loaded.resize_with(plan.schema().columns().len(), || usize::MAX);
        // Of all columns: the new ones may read values of the others that opening did not load.
        for (column, (key, loaded)) in stored.keys.iter().zip(&mut stored.loaded).enumerate() {
            let known = StoredSteps::before(*loaded);
            let stored_steps = added(column).unwrap_or(&known);
            let start = first_needed(&plan, column, first, next).min(stored_steps.prefix);
            let not_loaded = start..*loaded;
            *loaded = start.min(*loaded);
            entries.push((column, load(&**store, &plan, column, key, not_loaded, stored_steps).await?));
        }
        Ok(Extension { plan, steps, stored, stored_by_column, entries })
    }

    /// Changes to a longer plan. On an error the plan is as it was.
    pub(crate) fn extend<'a>(&self, extension: Extension<'a>, steps: &ComputeSteps<'a>) -> Result<()> {
        let Extension { plan, steps: extended, stored, stored_by_column, entries } = extension;
        let settings = settings(&extended);
        // A run looks up a step when it starts a cell, so the steps change before the plan.
        *steps.lock() = extended;
        let mut state = self.lock();
        // If this fails, the longer list of steps does no harm: no cell looks up its end.
        let extended = state.scheduler.extend(Arc::clone(&plan), &stored_by_column);
        extended.map_err(|(column, error)| invalid_history(&plan, column, error))?;
        state.set_settings(settings);
        for (column, entries) in entries {
            state.removed.remove(plan.schema().name(column));
            state
                .insert_entries(&plan, column, entries)
                .map_err(|error| invalid_history(&plan, column, error))?;
        }
        (state.stored, state.plan) = (stored, plan);
        state.wake();
        Ok(())
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
            stored_by_column.push(stored_steps.map_err(|source| load_error(plan, column, source))?);
        }
        Ok(stored_by_column)
    }
}

/// A source without stored values in a flow with stored computed values, if there is one.
fn late_source<'p>(plan: &'p Plan, stored_by_column: &[StoredSteps]) -> Option<&'p Name> {
    let schema = plan.schema();
    let is_empty = |column: usize| stored_by_column.get(column).is_none_or(StoredSteps::is_empty);
    let has_begun = (0..stored_by_column.len()).any(|column| !schema.is_source(column) && !is_empty(column));
    schema.sources().find(|&source| has_begun && is_empty(source)).map(|source| schema.name(source))
}

/// The first step of a column that its readers need for their missing cells; only readers from column `first` on count.
/// `next` returns the first missing step of a column.
fn first_needed(plan: &Plan, column: usize, first: usize, next: impl Fn(usize) -> usize) -> usize {
    let readers = plan.readers(column).iter().filter(|reader| reader.column >= first);
    let needed =
        readers.map(|reader| reader.window.of_input(next(reader.column).saturating_sub(reader.lag)).start);
    // Without readers no value is needed in memory.
    needed.min().unwrap_or(usize::MAX)
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
