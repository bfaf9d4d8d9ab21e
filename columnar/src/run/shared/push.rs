//! Pushing values of sources. An update of documents is checked against the documents so far before it is stored.

use std::pin::pin;
use std::sync::{Arc, MutexGuard};

use futures::future::{FutureExt, join_all};
use futures::stream::{Stream, StreamExt};

use super::SharedFlow;
use crate::context::documents::{Documents, Update, UpdateError};
use crate::declare::error::caught;
use crate::declare::{Name, Plan};
use crate::history::tokens::{Counter, is_same};
use crate::history::{Attachment, Value};
use crate::model::usage::CellReceipt;
use crate::run::state::{FindColumn, FlowState, damaged_update, entry, load_all};
use crate::run::{Error, Result};
use crate::schedule::{Cell, InvalidHistory};
use crate::store::{BYTES, CHUNK, Entry, Put, StoreError, occupied};

/// The tokens of a value by a counter, which is held so that the address is not reused.
pub(crate) struct CountedTokens {
    tokens: usize,
    counter: Arc<dyn Counter>,
}

impl SharedFlow {
    /// Stores the next value of a source, and returns the step.
    pub(crate) async fn push(&self, source: impl FindColumn, value: Value) -> Result<usize> {
        self.push_batch(source, value, Vec::new()).await
    }

    /// Stores the next values of a source, and returns their number. Values that are ready at once are stored together.
    pub(crate) async fn push_all(
        &self,
        source: impl FindColumn,
        values: impl Stream<Item = Value>,
    ) -> Result<usize> {
        source.find_in(&self.lock())?;
        let mut values = pin!(values.fuse());
        let mut count = 0;
        while let Some(first) = values.next().await {
            let mut bytes = size(&first);
            let mut rest = Vec::new();
            // A value that is ready does not wait for a slow stream.
            while rest.len() + 1 < CHUNK
                && bytes < BYTES
                && let Some(Some(value)) = values.next().now_or_never()
            {
                bytes += size(&value);
                rest.push(value);
            }
            count += 1 + rest.len();
            self.push_batch(source, first, rest).await?;
        }
        Ok(count)
    }

    /// Stores the next values of a source, and returns the step of the first one.
    async fn push_batch(&self, source: impl FindColumn, first: Value, rest: Vec<Value>) -> Result<usize> {
        // A wrong name is an error at once.
        source.find_in(&self.lock())?;
        let attachments = self.lock().stored.attachments.clone();
        let first = attachments.share(first);
        // Before anything is stored, and outside of the lock: a counter may panic, or push itself.
        let counted = self.counted(&first);
        let rest = rest.into_iter().map(|value| (self.counted(&value), attachments.share(value))).collect();
        let (step, pushed) = {
            // Pushes alone wait for a store: the order of values is the order of pushes.
            let _writing = self.writing().await;
            self.settle_exclusions().await?;
            // The plan changes under that lock only.
            let plan = self.plan();
            let source = source.find_in(&self.lock())?;
            // Alone, because a push that was dropped may have taken the step. All later steps are free then.
            let step = self.push_next(&plan, source, first, counted).await?;
            (step, self.push_rest(&plan, source, rest).await)
        };
        // Outside of the lock, because those who are woken may push.
        self.wake();
        pushed.map(|()| step)
    }

    /// Stores the values that follow the first one of a batch. The stored ones have no gap, also after an interruption.
    async fn push_rest(&self, plan: &Plan, source: usize, rest: Vec<(CountedTokens, Value)>) -> Result<()> {
        let store = self.store.as_ref();
        let keeps_order = store.is_some_and(|store| caught(|| store.keeps_order()).unwrap_or(false));
        if !keeps_order || plan.schema().is_documents(source) {
            for (counted, value) in rest {
                self.push_next(plan, source, value, counted).await?;
            }
            return Ok(());
        }
        let first = self.lock().scheduler.len(source);
        // All before the first entry: a store keeps the order of calls, and a call that waited would be out of order.
        for ((_, value), step) in rest.iter().zip(first..) {
            self.put_attachments(plan, Cell { column: source, step }, value).await?;
        }
        let puts = rest.iter().zip(first..).filter_map(|((_, value), step)| {
            self.put(Cell { column: source, step }, || entry(Some(value.clone()), &CellReceipt::default()))
        });
        for (put, (counted, value)) in join_all(puts).await.into_iter().zip(rest) {
            let cell = Cell { column: source, step: self.lock().scheduler.len(source) };
            match self.checked(plan, cell, put)? {
                Put::Stored => self.insert_pushed(cell, value, &counted),
                Put::Exists(_) => {
                    let name = plan.schema().name(source);
                    return Err(Error::Load { column: name.clone(), source: occupied(name, cell.step) });
                }
            }
        }
        Ok(())
    }

    /// Stores the attachments of a value. No stored entry names an attachment that never was.
    pub(super) async fn put_attachments(&self, plan: &Plan, cell: Cell, value: &Value) -> Result<()> {
        let Some(blobs) = self.put_blobs(value) else { return Ok(()) };
        self.checked(plan, cell, blobs.await)
    }

    /// The outcome of a write. After a failure, the flow no longer trusts the store.
    pub(super) fn checked<T>(&self, plan: &Plan, cell: Cell, written: Result<T, StoreError>) -> Result<T> {
        written.map_err(|source| {
            self.store_failed(&source);
            Error::Store { column: plan.schema().name(cell.column).clone(), step: cell.step, source }
        })
    }

    async fn push_next(
        &self,
        plan: &Plan,
        source: usize,
        mut value: Value,
        mut counted: CountedTokens,
    ) -> Result<usize> {
        let name = plan.schema().name(source);
        if !plan.schema().is_source(source) {
            let sources = plan.names(&plan.schema().sources().collect::<Vec<_>>());
            return Err(Error::NotASource { column: name.clone(), sources });
        }
        loop {
            let step = self.lock().scheduler.len(source);
            let cell = Cell { column: source, step };
            // Before the write: a stored value never changes, so nothing invalid may be stored.
            let documents = self.updated(plan, cell, &value).await?;
            if let Some(laid) = self.laid_anew(plan, cell, &value)? {
                value = laid;
                counted = self.counted(&value);
            }
            self.put_attachments(plan, cell, &value).await?;
            let put = match self.put(cell, || entry(Some(value.clone()), &CellReceipt::default())) {
                None => Ok(Put::Stored),
                Some(put) => put.await,
            };
            match self.checked(plan, cell, put)? {
                Put::Stored => {
                    self.insert_pushed(cell, value, &counted);
                    if let Some(documents) = documents {
                        self.remember(name, step + 1, documents);
                    }
                    return Ok(step);
                }
                // An earlier push was dropped before the store confirmed the value, which comes first.
                Put::Exists(Entry { value: Some(earlier), .. }) => {
                    let earlier_counted = self.counted(&earlier);
                    self.insert_pushed(cell, earlier, &earlier_counted);
                    self.wake();
                    counted = self.counted(&value);
                }
                // No flow skips a cell of a source, so something else has written into the store.
                Put::Exists(Entry { value: None, .. }) => {
                    let source = StoreError::other(InvalidHistory::SkippedSource { step });
                    return Err(Error::Load { column: name.clone(), source });
                }
            }
        }
    }

    fn insert_pushed(&self, cell: Cell, value: Value, counted: &CountedTokens) {
        let (tokens, mut state) = self.lock_counted(&value, counted);
        state.table.insert(cell, value, tokens);
        state.scheduler.handle_pushed(cell.column);
        state.is_stale = true;
    }

    /// Counts a value.
    pub(crate) fn counted(&self, value: &str) -> CountedTokens {
        let counter = Arc::clone(&self.lock().counter);
        CountedTokens { tokens: counter.count(value), counter }
    }

    /// Locks the state. Returns the tokens of a value by the counter that the state has then.
    pub(crate) fn lock_counted(
        &self,
        value: &str,
        counted: &CountedTokens,
    ) -> (usize, MutexGuard<'_, FlowState>) {
        let mut recounted = None;
        loop {
            let known = recounted.as_ref().unwrap_or(counted);
            let state = self.lock();
            if is_same(&known.counter, &state.counter) {
                return (known.tokens, state);
            }
            // `set_counter` was called. The earlier counter is dropped after the lock, too.
            drop(state);
            recounted = Some(self.counted(value));
        }
    }

    /// Stores the next update of a source of documents, and returns the step.
    pub(crate) async fn push_update(&self, source: usize, update: &Update) -> Result<usize> {
        let error = match update.to_text() {
            Ok(text) => return self.push(source, text).await,
            Err(error) => error,
        };
        // With the faults that only the documents show, so that all are reported at once.
        let (name, cell) = self.next_of(source);
        let documents = self.documents_before(&name, cell).await?;
        let source = documents.apply(update).err().unwrap_or(error);
        Err(Error::Update { column: name, step: cell.step, source })
    }

    /// The documents of a source after all updates.
    pub(crate) async fn documents(&self, source: usize) -> Result<Documents> {
        let (name, cell) = self.next_of(source);
        self.documents_before(&name, cell).await
    }

    /// The name of a source, and the cell of the next push.
    fn next_of(&self, source: usize) -> (Name, Cell) {
        let state = self.lock();
        (state.name(source).clone(), Cell { column: source, step: state.scheduler.len(source) })
    }

    /// The documents of a source after the cell at which this value is pushed; `None` for a source of text.
    ///
    /// # Errors
    ///
    /// If the value is not the text of an update, or the update cannot be applied.
    async fn updated(&self, plan: &Plan, cell: Cell, value: &Value) -> Result<Option<Documents>> {
        let schema = plan.schema();
        if !schema.is_documents(cell.column) {
            return Ok(None);
        }
        let name = schema.name(cell.column);
        let next = apply(&self.documents_before(name, cell).await?, value);
        next.map(Some).map_err(|source| Error::Update { column: name.clone(), step: cell.step, source })
    }

    /// The documents of a source before a cell, found from the stored updates and remembered.
    async fn documents_before(&self, name: &Name, cell: Cell) -> Result<Documents> {
        let Cell { column: source, step } = cell;
        load_all(|| self.lock().unloaded_of([(source, 0..step)])).await?;
        let ((first, mut documents), updates) = {
            let state = self.lock();
            let known = state.documents.get(name).filter(|(steps, _)| *steps <= step);
            (known.cloned().unwrap_or_default(), state.table.history(source))
        };
        for at in first..step {
            let Some(value) = updates.value(at) else {
                return Err(self.lock().not_loaded(Cell { column: source, step: at }));
            };
            // Every update was checked before storing, so something else has written this one.
            documents = apply(&documents, &value).map_err(|error| damaged_update(name, at, &error))?;
        }
        if first < step {
            self.remember(name, step, documents.clone());
        }
        Ok(documents)
    }

    /// Remembers the documents of a source after a number of steps.
    fn remember(&self, source: &Name, steps: usize, documents: Documents) {
        self.lock().documents.insert(source.clone(), (steps, documents));
    }
}

/// The bytes of a value, with the attachments.
fn size(value: &Value) -> usize {
    value.len() + value.attachments().iter().map(Attachment::len).sum::<usize>()
}

fn apply(documents: &Documents, value: &Value) -> Result<Documents, UpdateError> {
    let (next, _) = documents.apply(&Update::parse(value.clone())?)?;
    Ok(next)
}
