//! Opening a flow on a store, and copying a flow into another store.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::copying::{begin_copy, is_unfinished};
use super::definition::{FlowDefinition, exclusions_key};
use super::options::{KeptColumns, OpenOptions, Recompute};
use crate::declare::{Name, Plan, SchemaError, SchemaErrors};
use crate::history::StoredSteps;
use crate::history::tokens::Counter;
use crate::run::shared::SharedFlow;
use crate::run::state::{
    FlowState, PastColumn, PastStore, StoredColumns, Unloaded, invalid_history, load_all, load_error,
};
use crate::run::{Error, Result};
use crate::store::{
    CHUNK, LoadedAttachments, Store, check_beyond, copy, listed_steps, put_all, stored_steps,
};

impl SharedFlow {
    /// Opens the store and takes over the contents.
    pub(crate) async fn restore(&self, options: &OpenOptions) -> Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        let _writing = self.writing().await;
        // A misspelt name is an error before the store is opened or written.
        let mut recomputed = options.recompute.iter().flat_map(|recompute| &recompute.columns);
        recomputed.try_for_each(|column| self.find(column).map(drop))?;
        let plan = self.plan();
        let settings = self.lock().settings.clone();
        let mut text = store.open().await.map_err(Error::open)?;
        // A store with the definition of a flow has the copy already: this flow was opened before.
        if let Some(recompute) = &options.recompute
            && text.as_deref().is_none_or(is_unfinished)
        {
            text = Some(self.copy_past(recompute, options, &**store, text.as_deref()).await?);
        }
        let mut definition = parse(text.as_deref())?;
        self.check_kept(options, &definition)?;
        let keys = definition.keys(plan.schema());
        let stored_plan = StoredPlan { store, plan: &plan, keys: &keys, first: 0 };
        let stored_by_column = stored_plan.steps().await?;
        definition.update(plan.schema(), &keys, &settings, 0, |column, change| {
            // Nothing was computed by the old declaration of an empty column, which may change freely.
            is_empty(&stored_by_column, column) || options.keep.allow(change)
        })?;
        if let Some(late) = late_source(&plan, &stored_by_column) {
            return Err(SchemaErrors::one(SchemaError::LateSource { name: late.as_str().into() }).into());
        }
        let restored = self.lock().scheduler.restore(0, &stored_by_column);
        restored.map_err(|(column, error)| invalid_history(plan.schema().name(column), error))?;
        // After all checks: a flow that cannot be opened does not change the stored definition.
        define(&**store, text, &definition).await?;
        let recent = options.recent;
        let kept = options.keep.clone();
        {
            let mut state = self.lock();
            let attachments = state.stored.attachments.clone();
            let unloaded = stored_plan.unloaded(&stored_by_column, &state.counter, &attachments);
            state.stored = StoredColumns { definition, keys, kept, recent, attachments };
            state.unloaded = unloaded;
        }
        // Before values are loaded, because the contexts of cells decide which values are needed.
        self.restore_exclusions(&**store).await?;
        // All values by default: a flow that is reopened must be the flow that was closed.
        load_all(|| self.lock().recent(0)).await?;
        load_all(|| self.needed(recent.unwrap_or(0))).await
    }

    /// Checks that this flow or the store has the columns to keep. A column of the store may be added later.
    fn check_kept(&self, options: &OpenOptions, definition: &FlowDefinition) -> Result<()> {
        let mut unknown = options.keep.0.iter().filter(|name| !definition.has(name));
        unknown.try_for_each(|name| self.find(name).map(drop))
    }

    /// Copies everything that is not recomputed from another store into this one, in which `found` was found. Returns the
    /// definition.
    async fn copy_past(
        &self,
        recompute: &Recompute,
        options: &OpenOptions,
        into: &dyn Store,
        found: Option<&str>,
    ) -> Result<String> {
        let plan = self.plan();
        let settings = self.lock().settings.clone();
        let named = recompute.columns.iter().map(|name| match self.find(name)? {
            source if plan.schema().is_source(source) => {
                Err(Error::NotDerived { column: plan.schema().name(source).clone() })
            }
            column => Ok(column),
        });
        let named = named.collect::<Result<BTreeSet<_>>>()?;
        let text = recompute.from.open().await.map_err(Error::open)?;
        let mut definition = parse(text.as_deref())?;
        self.check_kept(options, &definition)?;
        let keys = definition.keys(plan.schema());
        // `update` takes a `Fn`, which collects the columns of refused changes here: these are recomputed.
        let changed = RefCell::new(named);
        definition.update(plan.schema(), &keys, &settings, 0, |column, change| {
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
        let text = definition.text();
        let part = format!("all but {recomputed:?} from step {}", recompute.step);
        begin_copy(into, found, &text, &part).await.map_err(Error::open)?;
        // Columns that the flow no longer has are copied as well, because a column may return.
        for column in &definition.columns {
            let before = if recomputed.contains(&column.key) { recompute.step } else { usize::MAX };
            // Copied and not edited: stored values never change, and the first store stays as a record.
            copy(&*recompute.from, into, &column.key, before).await.map_err(Error::open)?;
        }
        // Exclusions of later steps count from later steps on.
        copy(&*recompute.from, into, &exclusions_key(), usize::MAX).await.map_err(Error::open)?;
        into.define(text.clone()).await.map_err(Error::open)?;
        Ok(text)
    }

    /// Copies the values before a step into an empty store, on which `fork` is.
    pub(crate) async fn copy_fork(&self, step: usize, fork: &mut FlowState, store: &dyn Store) -> Result<()> {
        let plan = self.plan();
        let settings = self.lock().settings.clone();
        let mut definition = FlowDefinition::default();
        // The keys of this flow, if it has a key for each column: fingerprints name columns by keys.
        let keys = self.lock().stored.keys.clone();
        let is_whole = keys.iter().collect::<BTreeSet<_>>().len() == plan.schema().columns().len();
        let keys = if is_whole { keys } else { definition.keys(plan.schema()) };
        definition.update(plan.schema(), &keys, &settings, 0, |_, _| true)?;
        let text = definition.text();
        let found = store.open().await.map_err(Error::open)?;
        let part = format!("before step {step}");
        begin_copy(store, found.as_deref(), &text, &part).await.map_err(Error::open)?;
        for (column, key) in plan.schema().columns().iter().zip(&keys) {
            // Values of a store without a mark.
            check_beyond(store, key, step).await.map_err(Error::open)?;
            // In chunks, because the past may be larger than the memory.
            for first in (0..step).step_by(CHUNK) {
                let entries = self.entries(column.name.as_str(), first..step.min(first + CHUNK)).await?;
                self.copy_attachments(column.name.as_str(), &entries, store).await?;
                put_all(store, key, entries).await.map_err(Error::open)?;
            }
        }
        let StoredColumns { recent, attachments, .. } = self.lock().stored.clone();
        fork.stored = StoredColumns { definition, keys, kept: KeptColumns::default(), recent, attachments };
        fork.store_exclusions(store).await?;
        store.define(text).await.map_err(Error::open)
    }
}

/// The columns of a plan from a first one on, in a store that has each under a key.
pub(super) struct StoredPlan<'p> {
    pub(super) store: &'p Arc<dyn Store>,
    pub(super) plan: &'p Plan,
    pub(super) keys: &'p [Name],
    pub(super) first: usize,
}

impl StoredPlan<'_> {
    /// The stored steps of each column.
    pub(super) async fn steps(&self) -> Result<Vec<StoredSteps>> {
        let schema = self.plan.schema();
        let columns = self.keys.iter().enumerate().skip(self.first);
        let mut stored_by_column = BTreeMap::new();
        // The sources at last: the owner of a flow that is read may store more meanwhile, and no derived column has a step
        // that the sources do not have.
        for lists_sources in [false, true] {
            for (column, key) in columns.clone().filter(|(at, _)| schema.is_source(*at) == lists_sources) {
                // The sources decide how many steps a flow has.
                let steps = if lists_sources {
                    stored_steps(&**self.store, key).await
                } else {
                    listed_steps(&**self.store, key).await
                };
                let steps = steps.map_err(|source| load_error(schema.name(column), source))?;
                stored_by_column.insert(column, steps);
            }
        }
        Ok(stored_by_column.into_values().collect())
    }

    /// The columns with these stored steps, none of which is in memory.
    pub(super) fn unloaded(
        &self,
        stored_by_column: &[StoredSteps],
        counter: &Arc<dyn Counter>,
        attachments: &LoadedAttachments,
    ) -> BTreeMap<usize, Unloaded> {
        let columns = self.keys.iter().enumerate().skip(self.first).zip(stored_by_column);
        let columns = columns.filter(|(_, stored_steps)| !stored_steps.is_empty());
        let unloaded = columns.map(|((column, key), stored_steps)| {
            let past = PastColumn {
                name: self.plan.schema().name(column).clone(),
                is_source: self.plan.schema().is_source(column),
                counter: Arc::clone(counter),
                stored: Some(PastStore {
                    store: Arc::clone(self.store),
                    key: key.clone(),
                    attachments: attachments.clone(),
                }),
            };
            (column, Unloaded::new(past, stored_steps.into()))
        });
        unloaded.collect()
    }
}

/// A source without stored values in a flow with stored computed values, if there is one.
fn late_source<'p>(plan: &'p Plan, stored_by_column: &[StoredSteps]) -> Option<&'p Name> {
    let schema = plan.schema();
    let mut derived = (0..stored_by_column.len()).filter(|column| !schema.is_source(*column));
    let has_begun = derived.any(|column| !is_empty(stored_by_column, column));
    let mut sources = schema.sources().filter(|source| has_begun && is_empty(stored_by_column, *source));
    sources.next().map(|source| schema.name(source))
}

/// Whether nothing of a column is stored.
pub(super) fn is_empty(stored_by_column: &[StoredSteps], column: usize) -> bool {
    stored_by_column.get(column).is_none_or(StoredSteps::is_empty)
}

fn parse(text: Option<&str>) -> Result<FlowDefinition> {
    text.map_or(Ok(FlowDefinition::default()), FlowDefinition::parse).map_err(Error::open)
}

/// Writes the definition unless the stored one is the same.
async fn define(store: &dyn Store, stored: Option<String>, definition: &FlowDefinition) -> Result<()> {
    let text = definition.text();
    if stored.as_ref() == Some(&text) {
        return Ok(());
    }
    store.define(text).await.map_err(Error::open)
}
