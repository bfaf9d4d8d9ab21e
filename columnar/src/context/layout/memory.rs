//! The tiers of earlier steps.

use std::sync::Arc;

use super::super::forked_list::ForkedList;
use super::step_tiers::{StepTiers, Steps};
use crate::context::documents::UpdateError;

/// The number of steps from one checkpoint to the next. The first one is after step 0, which often has most documents.
const CHECKPOINT: usize = 8;

/// The tiers of a column so far. They are a function of the values, so this is a cache.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct TierMemory {
    /// The tiers of each step that is a multiple of [`CHECKPOINT`].
    checkpoints: ForkedList<Arc<StepTiers>>,
    /// The step that was asked for last, and its tiers.
    last: Option<(usize, Arc<StepTiers>)>,
    /// The tokens of the documents by step.
    tokens: ForkedList<usize>,
}

impl TierMemory {
    /// The tiers of a step.
    ///
    /// # Errors
    ///
    /// A step, and the reason why its value is no update of the documents before it.
    pub(in crate::context) fn at(
        &mut self,
        steps: &dyn Steps,
        target: usize,
        step: usize,
    ) -> Result<Arc<StepTiers>, (usize, UpdateError)> {
        let last = self.last.as_ref().filter(|(last, _)| *last <= step);
        let at = self.checkpoints.len().min(step / CHECKPOINT + 1).checked_sub(1);
        let checkpoint = at.and_then(|at| Some((at * CHECKPOINT, self.checkpoints.get(at)?)));
        let known = match (last, checkpoint) {
            (Some((last, tiers)), checkpoint) if checkpoint.is_none_or(|(step, _)| step <= *last) => {
                Some((*last, tiers))
            }
            (_, checkpoint) => checkpoint,
        };
        let (mut next, mut tiers) = match known {
            Some((step, tiers)) => (step + 1, Arc::clone(tiers)),
            None => (0, Arc::new(StepTiers::new(target))),
        };
        while next <= step {
            tiers = Arc::new(tiers.next(steps, next).map_err(|error| (next, error))?);
            if self.tokens.len() == next {
                self.tokens.push(tiers.system_tokens() + tiers.message_tokens());
            }
            if next.is_multiple_of(CHECKPOINT) && self.checkpoints.len() == next / CHECKPOINT {
                self.checkpoints.push(Arc::new(tiers.unread()));
            }
            next += 1;
        }
        self.last = Some((step, Arc::clone(&tiers)));
        Ok(tiers)
    }

    /// The tokens of the documents at a step up to the last one that was asked for.
    pub(in crate::context) fn tokens(&self, step: usize) -> usize {
        self.tokens.get(step).copied().unwrap_or(0)
    }

    /// The memory of a flow that shares the steps before this one.
    pub(in crate::context) fn before(&self, step: usize) -> Self {
        Self {
            checkpoints: self.checkpoints.before(step.div_ceil(CHECKPOINT)),
            last: self.last.clone().filter(|(last, _)| *last < step),
            tokens: self.tokens.before(step),
        }
    }
}
