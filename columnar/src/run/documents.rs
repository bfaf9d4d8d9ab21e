//! The documents of a source, as its updates left them. A push is checked against them before it is stored.

use super::needs::load_all;
use super::past::damaged_update;
use super::shared::Shared;
use super::{Error, Result};
use crate::context::documents::{Documents, Update, UpdateError};
use crate::declare::{Name, Plan};
use crate::history::Value;
use crate::schedule::Cell;

impl Shared {
    /// Stores the next update of a source of documents, and returns its step.
    pub(crate) async fn push_update(&self, source: usize, update: &Update) -> Result<usize> {
        let error = match update.to_text() {
            Ok(text) => return self.push(source, text).await,
            Err(error) => error,
        };
        // With the faults that only the documents show, so that all are reported at once.
        let (plan, step) = (self.plan(), self.len(source));
        let column = plan.schema().name(source).clone();
        let documents = self.documents_before(&column, source, step).await?;
        Err(Error::Update { column, step, source: documents.apply(update).err().unwrap_or(error) })
    }

    /// The documents of a source after all its updates.
    pub(crate) async fn documents(&self, source: usize) -> Result<Documents> {
        let column = self.plan().schema().name(source).clone();
        self.documents_before(&column, source, self.len(source)).await
    }

    /// The documents of a source after a step at which this value is pushed; `None` for a source of text.
    ///
    /// # Errors
    ///
    /// If the value is not the text of an update, or the update cannot be applied.
    pub(super) async fn updated(
        &self,
        plan: &Plan,
        source: usize,
        step: usize,
        value: &Value,
    ) -> Result<Option<Documents>> {
        let schema = plan.schema();
        if !schema.is_documents(source) {
            return Ok(None);
        }
        let name = schema.name(source);
        let documents = self.documents_before(name, source, step).await?;
        let next = apply(&documents, value);
        next.map(Some).map_err(|error| Error::Update { column: name.clone(), step, source: error })
    }

    /// The documents of a source after the steps before this one. They are found from its stored updates, and remembered.
    async fn documents_before(&self, name: &Name, source: usize, step: usize) -> Result<Documents> {
        load_all(|| self.lock().loads_of(source, 0..step)).await?;
        let ((first, mut documents), updates) = {
            let state = self.lock();
            let known = state.documents.get(name).filter(|(steps, _)| *steps <= step);
            (known.cloned().unwrap_or_default(), state.table.history(source))
        };
        for at in first..step {
            let Some(value) = updates.value(at) else {
                return Err(self.lock().not_loaded(Cell { column: source, step: at }));
            };
            // Every update was checked before it was stored, so something else has written it.
            let next = apply(&documents, &value);
            documents = next.map_err(|error| damaged_update(name, at, &error))?;
        }
        if first < step {
            self.remember(name, step, documents.clone());
        }
        Ok(documents)
    }

    /// Remembers the documents of a source after a number of steps.
    pub(super) fn remember(&self, source: &Name, steps: usize, documents: Documents) {
        self.lock().documents.insert(source.clone(), (steps, documents));
    }
}

fn apply(documents: &Documents, value: &Value) -> Result<Documents, UpdateError> {
    let (next, _) = documents.apply(&Update::parse(value.clone())?)?;
    Ok(next)
}
