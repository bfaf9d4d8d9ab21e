//! Excluding cells from the contexts of later steps: the exclusions of a live flow, and in the store.

use std::sync::Arc;

use super::SharedFlow;
use crate::context::{Exclusion, Exclusions};
use crate::declare::Name;
use crate::run::reopen::{exclusion_entry, exclusions_key, parse_exclusion};
use crate::run::state::{FindColumn, FlowState, load_error};
use crate::run::user_code::StoreRequest;
use crate::run::{Error, Result};
use crate::schedule::Cell;
use crate::store::{Entry, Put, Store, StoreError, listed_steps, load, put_all};

impl SharedFlow {
    /// Excludes a stored cell from the contexts of the steps that have not begun, or includes the cell again.
    pub(crate) async fn exclude(
        &self,
        column: impl FindColumn,
        step: usize,
        is_excluded: bool,
    ) -> Result<()> {
        // Pushes wait meanwhile, so no step begins between this and the end of the write.
        let _writing = self.writing().await;
        self.settle_exclusions().await?;
        loop {
            let (exclusion, at) = {
                let state = self.lock();
                let column = column.find_in(&state)?;
                let Some(exclusion) = state.exclusion(Cell { column, step }, is_excluded)? else {
                    return Ok(());
                };
                (exclusion, state.exclusions.0.len())
            };
            let Some(store) = &self.store else {
                self.lock().add_exclusion(exclusion);
                return Ok(());
            };
            let entry = exclusion_entry(&exclusion, &self.lock().key_of(&exclusion.column));
            let put = StoreRequest::new(|| store.put(exclusions_key(), at, entry));
            // If this call is dropped during the wait, nobody knows whether the exclusion is stored.
            self.lock().has_unknown_exclusion = true;
            let put = put.await.map_err(|source| {
                self.store_failed(&source);
                Error::Store { column: exclusion.column.clone(), step, source }
            });
            match put? {
                Put::Stored => {
                    self.lock().add_exclusion(exclusion);
                    return Ok(());
                }
                // Something else has written into the store, or an earlier put of a dropped call came late.
                Put::Exists(entry) => {
                    let mut state = self.lock();
                    let earlier = state.parse(at, &entry)?;
                    state.add_exclusion(earlier);
                }
            }
        }
    }

    /// Takes over the exclusion of a call that was dropped, if the store has that exclusion. The caller holds the lock of
    /// pushes: the next step begins when that is known.
    pub(crate) async fn settle_exclusions(&self) -> Result<()> {
        let at = {
            let state = self.lock();
            state.has_unknown_exclusion.then(|| state.exclusions.0.len())
        };
        let (Some(at), Some(store)) = (at, &self.store) else { return Ok(()) };
        let key = exclusions_key();
        let entries = load(&**store, &key, at..at + 1).await;
        let entries = entries.map_err(|source| load_error(&key, source))?;
        let mut state = self.lock();
        if let Some((_, entry)) = entries.first() {
            let exclusion = state.parse(at, entry)?;
            state.add_exclusion(exclusion);
        }
        state.has_unknown_exclusion = false;
        Ok(())
    }

    /// Takes over the exclusions of a store.
    pub(crate) async fn restore_exclusions(&self, store: &dyn Store) -> Result<()> {
        let key = exclusions_key();
        let stored = listed_steps(store, &key).await.map_err(|source| load_error(&key, source))?;
        if stored.is_empty() {
            return Ok(());
        }
        let entries = load(store, &key, 0..usize::MAX).await.map_err(|source| load_error(&key, source))?;
        let mut state = self.lock();
        let mut exclusions = Exclusions::default();
        for (expected, (at, entry)) in entries.iter().enumerate() {
            if *at != expected {
                return Err(damaged(expected, "it is missing, but later ones are there"));
            }
            exclusions.0.push(state.parse(*at, entry)?);
        }
        state.exclusions = Arc::new(exclusions);
        Ok(())
    }
}

impl FlowState {
    /// The exclusions, if there are any.
    pub(crate) fn exclusions(&self) -> Option<&Arc<Exclusions>> {
        (!self.exclusions.0.is_empty()).then_some(&self.exclusions)
    }

    /// Copies the exclusions of a fork into a store.
    pub(crate) async fn store_exclusions(&self, store: &dyn Store) -> Result<()> {
        let entries = self.exclusions.0.iter().map(|exclusion| {
            let key = self.key_of(&exclusion.column);
            exclusion_entry(exclusion, &key)
        });
        put_all(store, &exclusions_key(), entries.enumerate().collect()).await.map_err(Error::open)
    }

    /// The exclusion of a cell from now on; `None` if nothing changes.
    fn exclusion(&self, cell: Cell, is_excluded: bool) -> Result<Option<Exclusion>> {
        let column = self.plan.schema().name(cell.column).clone();
        if !self.scheduler.is_stored(cell) {
            return Err(Error::Missing { column, step: cell.step });
        }
        let excluded = self.exclusions.at(&column, usize::MAX);
        // The step itself shows the cell: another context of the same step may have been sent.
        // Contexts of begun steps do not change, because requests may have been sent.
        let since = self.scheduler.begun().max(cell.step + 1);
        let exclusion = Exclusion { column, step: cell.step, since, is_excluded };
        Ok((excluded.contains(&cell.step) != is_excluded).then_some(exclusion))
    }

    /// Gives exclusions of a column that is gone to the column that has the values under another name.
    pub(crate) fn rename_excluded(&mut self) {
        if self.exclusions.0.is_empty() {
            return;
        }
        let schema = self.plan.schema();
        self.exclusions = Arc::new(self.exclusions.renamed(|name| {
            let mut columns = schema.columns().iter().filter(|_| schema.find(name).is_none());
            let column = columns.find(|column| column.renamed_from.as_deref() == Some(name.as_str()));
            column.map(|column| column.name.clone())
        }));
    }

    fn add_exclusion(&mut self, exclusion: Exclusion) {
        self.has_unknown_exclusion = false;
        Arc::make_mut(&mut self.exclusions).0.push(exclusion);
    }

    /// The key under which a store has a column.
    fn key_of(&self, column: &Name) -> Name {
        let index = self.plan.schema().find(column);
        let key = index.and_then(|index| self.stored.key(index)).cloned();
        key.unwrap_or_else(|| self.stored.definition.key(column))
    }

    /// The exclusion in an entry of a store.
    fn parse(&self, at: usize, entry: &Entry) -> Result<Exclusion> {
        let exclusion = parse_exclusion(entry).ok_or_else(|| damaged(at, "it cannot be read"))?;
        let columns = &self.stored.definition.columns;
        let stored = columns.iter().find(|stored| stored.key == exclusion.column);
        let column = stored.map_or(exclusion.column, |stored| stored.name.clone());
        Ok(Exclusion { column, ..exclusion })
    }
}

fn damaged(at: usize, reason: &str) -> Error {
    let location = format_args!("exclusion {at} of the flow in the store");
    load_error(&exclusions_key(), StoreError::damaged(&location, reason))
}
