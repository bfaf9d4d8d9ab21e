//! The contexts of a rehearsal: a column of one flow has the contexts that a column of another flow had, as its own settings
//! make them. The other flow is a copy, which shares the values, and never runs.

use std::sync::Arc;

use super::dry_run::{DryRun, TokenSums};
use super::{ColumnContexts, ContextDraft, OtherContexts};
use crate::compute::StepSettings;
use crate::declare::Name;
use crate::run::shared::SharedFlow;
use crate::run::{Error, Result};
use crate::schedule::Cell;

/// The contexts of a column in the past of another flow.
pub(crate) struct RehearsedContexts {
    /// The column of this flow that has the contexts.
    pub(crate) column: Name,
    /// The copy of the other flow.
    pub(crate) past: SharedFlow,
    /// The column of the other flow.
    pub(crate) original: usize,
    /// The steps of the other flow, by step of this one.
    pub(crate) steps: Vec<usize>,
}

impl OtherContexts for RehearsedContexts {
    fn column(&self) -> &Name {
        &self.column
    }

    fn draft(&self, step: usize) -> Result<Option<ContextDraft>> {
        let past = self.past.lock();
        match self.steps.get(step) {
            Some(&step) => past.draft(Cell { column: self.original, step }),
            None => Err(Error::Missing { column: past.name(self.original).clone(), step }),
        }
    }

    fn prepare(&self) -> Option<Arc<ColumnContexts>> {
        self.past.prepare(self.original)
    }

    fn request_tokens(&self, steps: &[usize]) -> Option<Vec<usize>> {
        let mut copy = self.past.lock().before(usize::MAX);
        let columns = copy.plan.schema().columns().len();
        let sums = TokenSums::of(&copy, &DryRun::of(copy.scheduler.clone(), columns));
        let steps: Vec<usize> = steps.iter().filter_map(|step| self.steps.get(*step).copied()).collect();
        copy.request_tokens(&sums, self.original, &steps)
    }

    fn mean_tokens(&self) -> Option<usize> {
        let past = self.past.lock();
        let sum = past.table.history(self.original).sum(0..past.scheduler.begun());
        sum.tokens.checked_div(sum.count)
    }
}

impl SharedFlow {
    /// A copy of the flow in memory, in which a column has other settings.
    pub(crate) fn with_settings(&self, column: usize, settings: Arc<StepSettings>) -> Self {
        let mut state = self.lock().before(usize::MAX);
        if let Some(slot) = state.settings.get_mut(column) {
            *slot = settings;
        }
        // The contexts of the other settings.
        if let Some(slot) = state.contexts.get_mut(column) {
            *slot = None;
        }
        Self::of(state, None)
    }
}
