//! The logs of a column's contexts so far.

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;

use super::super::forked_list::ForkedList;
use super::log::{DocumentLog, LogForm};
use crate::context::documents::{LogPlace, Update, UpdateError};
use crate::history::tokens::{Counter, Sum};
use crate::history::{History, Value};

/// The number of steps from one checkpoint to the next.
const CHECKPOINT: usize = 8;

/// The logs of a column so far. A cache over the steps: all of them can be found out again.
#[derive(Clone, Debug)]
pub(crate) struct LogMemory {
    form: LogForm,
    /// The log of each step that is a multiple of [`CHECKPOINT`], without the texts of parts.
    checkpoints: ForkedList<DocumentLog>,
    /// The step that was asked for last, and the log.
    last: Option<(usize, Arc<ShownLog>)>,
    /// The tokens of the parts by step.
    sums: ForkedList<Sum>,
}

/// The log of a step, with the texts of the parts.
#[derive(Clone, Debug)]
pub(crate) struct ShownLog {
    pub(super) log: DocumentLog,
    pub(super) texts: LogTexts,
    /// The texts of the step before, if the step laid a part anew.
    pub(super) before: Option<LogTexts>,
}

/// The texts of a log.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogTexts {
    parts: RedBlackTreeMapSync<LogPlace, ShownPart>,
    /// The parts of each step as a value of a column.
    values: History,
}

/// The text of a part, and its tokens without tags.
#[derive(Clone, Debug)]
pub(crate) struct ShownPart {
    pub(crate) text: Value,
    pub(crate) tokens: usize,
    /// Whether the text has no character that may need escaping. Documents are long, and are not searched again.
    pub(crate) is_plain: bool,
}

/// How the tokens of a log are counted.
#[derive(Clone, Copy)]
pub(crate) struct LogCounter<'c> {
    pub(crate) counter: &'c dyn Counter,
    /// The tokens around a part.
    pub(crate) around: usize,
}

impl LogMemory {
    pub(crate) fn new(form: LogForm) -> Self {
        Self { form, checkpoints: ForkedList::default(), last: None, sums: ForkedList::default() }
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
        counter: LogCounter<'_>,
    ) -> Result<Arc<ShownLog>, (usize, UpdateError)> {
        let last = self.last.take().filter(|(last, _)| *last <= step);
        let at = self.checkpoints.len().min(step / CHECKPOINT + 1).checked_sub(1);
        let checkpoint = at.and_then(|at| Some((at * CHECKPOINT, self.checkpoints.get(at)?)));
        let (mut next, mut shown) = match (last, checkpoint) {
            (Some((step, shown)), checkpoint) if checkpoint.is_none_or(|(at, _)| at <= step) => {
                (step + 1, shown)
            }
            (_, Some((at, log))) => (at + 1, Arc::new(ShownLog::of(log, counter))),
            _ => (0, Arc::new(ShownLog::of(&DocumentLog::new(self.form), counter))),
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
                self.sums.push(shown.texts.values.sum(0..next + 1));
            }
            next += 1;
        }
        self.last = Some((step, Arc::clone(&shown)));
        Ok(shown)
    }

    /// The number of steps with parts and the tokens, at a step up to the last one that was asked for.
    pub(crate) fn sum(&self, step: usize) -> Sum {
        self.sums.get(step).copied().unwrap_or_default()
    }

    /// The memory of a flow that shares the steps before this one.
    pub(crate) fn before(&self, step: usize) -> Self {
        Self {
            form: self.form,
            checkpoints: self.checkpoints.before(step.div_ceil(CHECKPOINT)),
            last: self.last.clone().filter(|(last, _)| *last < step),
            sums: self.sums.before(step),
        }
    }
}

impl ShownLog {
    fn of(log: &DocumentLog, counter: LogCounter<'_>) -> Self {
        let mut texts = LogTexts::default();
        let mut steps: Vec<usize> = log.parts(LogPlace::default()).map(|(place, _)| place.step).collect();
        steps.dedup();
        steps.into_iter().for_each(|step| texts.write(log, step, counter));
        Self { log: log.clone(), texts, before: None }
    }

    /// The log of the next step.
    fn next(&self, step: usize, log: DocumentLog, counter: LogCounter<'_>) -> Self {
        let mut texts = self.texts.clone();
        let from = log.laid_anew(step);
        if let Some(from) = from {
            texts.drop_from(from);
            // The parts of the step before that place stay.
            texts.write(&log, from.step, counter);
        }
        texts.write(&log, step, counter);
        Self { log, texts, before: from.map(|_| self.texts.clone()) }
    }
}

impl LogTexts {
    /// The parts of a step.
    pub(crate) fn parts(&self, step: usize) -> impl Iterator<Item = &ShownPart> {
        self.parts.range(LogPlace::of(step)..LogPlace::of(step + 1)).map(|(_, part)| part)
    }

    /// The parts of each step as a value of a column.
    pub(crate) fn values(&self) -> &History {
        &self.values
    }

    fn drop_from(&mut self, from: LogPlace) {
        let places: Vec<LogPlace> = self.parts.range(from..).map(|(place, _)| *place).collect();
        for place in places {
            self.parts.remove_mut(&place);
            self.values.remove(place.step);
        }
    }

    /// Writes the parts of a step that are not written yet, and the value of the step.
    fn write(&mut self, log: &DocumentLog, step: usize, counter: LogCounter<'_>) {
        let parts = log.parts(LogPlace::of(step)).take_while(|(place, _)| place.step == step);
        for (place, part) in parts {
            if !self.parts.contains_key(&place) {
                let text: Value = part.text().into();
                let tokens = counter.counter.count(&text);
                let is_plain = memchr::memchr2(b'<', b'&', text.as_bytes()).is_none();
                self.parts.insert_mut(place, ShownPart { text, tokens, is_plain });
            }
        }
        let parts: Vec<&ShownPart> = self.parts(step).collect();
        let tokens = parts.iter().map(|part| part.tokens).sum::<usize>();
        let value = match &parts[..] {
            [] => return,
            [part] => part.text.clone(),
            parts => parts.iter().map(|part| &*part.text).collect::<Vec<_>>().join("\n\n").into(),
        };
        let tokens = tokens + (parts.len() - 1) * counter.around;
        if !self.values.has(step) {
            self.values.insert(step, value, tokens);
        }
    }
}
