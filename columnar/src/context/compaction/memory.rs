//! The logs of a column's contexts so far.

use std::sync::Arc;

use super::super::forked_list::ForkedList;
use super::log::DocumentLog;
use crate::context::documents::{Update, UpdateError};
use crate::history::History;
use crate::history::tokens::{Counter, Sum};

/// The number of steps from one checkpoint to the next.
const CHECKPOINT: usize = 8;

/// The logs of a column so far. A cache over the steps: all of them can be found out again.
#[derive(Clone, Debug)]
pub(crate) struct LogMemory {
    has_edits: bool,
    /// The log of each step that is a multiple of [`CHECKPOINT`], without the texts of entries.
    checkpoints: ForkedList<DocumentLog>,
    /// The step that was asked for last, and the log.
    last: Option<(usize, Arc<ShownLog>)>,
    /// The number and the tokens of the entries by step.
    sums: ForkedList<Sum>,
}

/// The log of a step, with the texts of the entries as the values of a column.
#[derive(Clone, Debug)]
pub(crate) struct ShownLog {
    log: DocumentLog,
    texts: History,
    /// The texts of the step before, if the step laid a part anew.
    before: Option<History>,
}

impl LogMemory {
    pub(crate) fn new(has_edits: bool) -> Self {
        Self { has_edits, checkpoints: ForkedList::default(), last: None, sums: ForkedList::default() }
    }

    /// The log of a step. Calls the counter.
    ///
    /// # Errors
    ///
    /// A step, and the reason why the value is no update of the documents before.
    pub(crate) fn at(
        &mut self,
        updates: &History,
        step: usize,
        counter: &dyn Counter,
    ) -> Result<Arc<ShownLog>, (usize, UpdateError)> {
        let last = self.last.take().filter(|(last, _)| *last <= step);
        let at = self.checkpoints.len().min(step / CHECKPOINT + 1).checked_sub(1);
        let checkpoint = at.and_then(|at| Some((at * CHECKPOINT, self.checkpoints.get(at)?)));
        let (mut next, mut shown) = match (last, checkpoint) {
            (Some((step, shown)), checkpoint) if checkpoint.is_none_or(|(at, _)| at <= step) => {
                (step + 1, shown)
            }
            (_, Some((at, log))) => (at + 1, Arc::new(ShownLog::of(log, counter))),
            _ => (0, Arc::new(ShownLog::of(&DocumentLog::new(self.has_edits), counter))),
        };
        while next <= step {
            let update = updates.value(next).map_or_else(|| Ok(Update::new()), Update::parse);
            let log =
                update.and_then(|update| shown.log.next(next, &update)).map_err(|error| (next, error))?;
            if next.is_multiple_of(CHECKPOINT) && self.checkpoints.len() == next / CHECKPOINT {
                self.checkpoints.push(log.clone());
            }
            shown = Arc::new(shown.next(next, log, counter));
            if self.sums.len() == next {
                self.sums.push(shown.texts.sum(0..next + 1));
            }
            next += 1;
        }
        self.last = Some((step, Arc::clone(&shown)));
        Ok(shown)
    }

    /// The number and the tokens of the entries at a step up to the last one that was asked for.
    pub(crate) fn sum(&self, step: usize) -> Sum {
        self.sums.get(step).copied().unwrap_or_default()
    }

    /// The memory of a flow that shares the steps before this one.
    pub(crate) fn before(&self, step: usize) -> Self {
        Self {
            has_edits: self.has_edits,
            checkpoints: self.checkpoints.before(step.div_ceil(CHECKPOINT)),
            last: self.last.clone().filter(|(last, _)| *last < step),
            sums: self.sums.before(step),
        }
    }
}

impl ShownLog {
    fn of(log: &DocumentLog, counter: &dyn Counter) -> Self {
        let mut texts = History::default();
        log.entries(0).for_each(|(step, _)| insert(&mut texts, log, step, counter));
        Self { log: log.clone(), texts, before: None }
    }

    /// The log of the next step.
    fn next(&self, step: usize, log: DocumentLog, counter: &dyn Counter) -> Self {
        let mut texts = self.texts.clone();
        let laid_anew = log.laid_anew(step);
        let dropped = laid_anew.into_iter().flat_map(|from| self.log.entries(from));
        dropped.for_each(|(at, _)| texts.remove(at));
        insert(&mut texts, &log, step, counter);
        Self { log, texts, before: laid_anew.map(|_| self.texts.clone()) }
    }

    pub(crate) fn log(&self) -> &DocumentLog {
        &self.log
    }

    /// The texts of the entries, by step.
    pub(crate) fn texts(&self) -> &History {
        &self.texts
    }

    /// The texts of the entries in the request of an earlier step, as far as this log knows them.
    pub(crate) fn texts_before(&self) -> &History {
        self.before.as_ref().unwrap_or(&self.texts)
    }
}

/// Adds the text of the entry at a step, if there is one.
fn insert(texts: &mut History, log: &DocumentLog, step: usize, counter: &dyn Counter) {
    if let Some((_, entry)) = log.entries(step).next().filter(|(at, _)| *at == step) {
        let text = entry.text();
        let tokens = counter.count(&text);
        texts.insert(step, text.into(), tokens);
    }
}
