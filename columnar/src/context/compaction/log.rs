//! The documents of a source as a log: each text in the entry of the step that put it, until the log is compacted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rpds::RedBlackTreeMapSync;

use super::edit::edit;
use super::entry::{EntryText, LogEntry, TextForm};
use crate::context::budget::FixedText;
use crate::context::documents::{Documents, Kind, Update, UpdateError};
use crate::history::Value;

/// The log of a source at a step. A clone is a few reference counts, and a step costs the documents that it changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentLog {
    documents: Documents,
    /// The texts that are valid now.
    live: RedBlackTreeMapSync<FixedText, LiveText>,
    /// The entries by step. A step that changes nothing has none.
    entries: RedBlackTreeMapSync<usize, Arc<LogEntry>>,
    /// The tokens of the texts that are no longer valid, and of edits, which take tokens beside the text that they change.
    stale: RedBlackTreeMapSync<StaleText, usize>,
    /// For each step at which a part was laid anew, the first step of that part.
    laid: RedBlackTreeMapSync<usize, usize>,
    /// Whether a change is an edit where that is shorter than the new text.
    has_edits: bool,
}

/// A text that is valid.
#[derive(Clone, Debug)]
struct LiveText {
    /// The step of the entry with the whole text, and that text.
    entry: usize,
    base: Value,
    /// The text after the edits in later entries.
    text: Value,
    /// The step of the last change.
    since: usize,
}

/// A text in the log that is not valid any more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct StaleText {
    text: FixedText,
    /// The step of the entry that has it.
    entry: usize,
    /// The step from which on requests carried it for nothing.
    since: usize,
}

/// The number of texts in a part of a log, by tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LogSize {
    /// The tokens of texts that are valid.
    pub(super) live: usize,
    pub(super) stale: usize,
    /// The stale tokens, each as often as a request has carried it.
    pub(super) carried: usize,
}

impl DocumentLog {
    pub(crate) fn new(has_edits: bool) -> Self {
        Self { has_edits, ..Self::default() }
    }

    /// The log after the update of a step.
    ///
    /// # Errors
    ///
    /// If the update cannot be applied to the documents of the step before.
    pub(crate) fn next(&self, step: usize, update: &Update) -> Result<Self, UpdateError> {
        let (documents, changes) = self.documents.apply(update)?;
        let mut touched: BTreeSet<FixedText> = BTreeSet::new();
        // A file hides the symbols, so a change concerns both documents of the path.
        let keys = changes.keys().flat_map(|key| [key.of_file(), key.of_symbols()]);
        // A page is shown for one step, so the pages of the step before end with this one.
        let pages = [&self.documents, &documents].into_iter().flat_map(Documents::pages);
        touched.extend(keys.chain(pages.map(|(key, _)| key.clone())).map(FixedText::Document));
        touched.extend(changes.legend().then_some(FixedText::Legend));
        touched.extend(changes.tree().then_some(FixedText::Tree));
        let mut next = Self { documents, ..self.clone() };
        let mut entry = LogEntry::default();
        if let Some(from) = update.first_laid_anew().filter(|from| *from < step) {
            next.lay_anew(from, step, &touched, &mut entry);
        }
        for text in touched {
            next.change(text, step, &mut entry);
        }
        if !entry.is_empty() {
            next.entries.insert_mut(step, Arc::new(entry.sorted()));
        }
        Ok(next)
    }

    /// Moves the valid texts of the entries from a step on into a new entry, except those that the step changes.
    fn lay_anew(&mut self, from: usize, step: usize, touched: &BTreeSet<FixedText>, entry: &mut LogEntry) {
        let dropped: Vec<_> =
            self.entries.range(from..).map(|(at, entry)| (*at, Arc::clone(entry))).collect();
        let stale: Vec<_> = self.stale.keys().filter(|stale| stale.entry >= from).cloned().collect();
        for stale in stale {
            self.stale.remove_mut(&stale);
        }
        let mut moved = BTreeMap::new();
        let mut removed = BTreeSet::new();
        for (at, dropped) in dropped {
            self.entries.remove_mut(&at);
            removed.extend(dropped.removed.iter().cloned());
            for EntryText { text, form, .. } in &dropped.texts {
                let live = self.live.get(text).filter(|live| live.entry == at || *form == TextForm::Edit);
                moved.extend(live.map(|live| (text.clone(), live.clone())));
            }
        }
        self.laid.insert_mut(step, from);
        for (text, live) in moved {
            if live.entry >= from {
                self.live.remove_mut(&text);
            } else {
                // The edits were laid anew and the text before them was not.
                self.live.insert_mut(text.clone(), LiveText { text: live.base.clone(), ..live.clone() });
            }
            if !touched.contains(&text) {
                self.put(text, live.text, live.since, step, entry);
            }
        }
        // The texts that these lines are about are still there.
        let still = removed.into_iter().filter(|text| !self.live.contains_key(text) && self.is_above(text));
        entry.removed.extend(still.filter(|text| !touched.contains(text)).collect::<Vec<_>>());
    }

    /// Brings a text up to date.
    fn change(&mut self, text: FixedText, step: usize, entry: &mut LogEntry) {
        let now = self.shown(&text);
        if now.as_ref() == self.live.get(&text).map(|live| &live.text) {
            return;
        }
        match now {
            Some(now) => self.put(text, now, step, step, entry),
            None => {
                self.end(&text, step);
                let is_page = matches!(&text, FixedText::Document(key) if key.kind() == Kind::Url);
                if !is_page && self.is_above(&text) {
                    entry.removed.push(text);
                }
            }
        }
    }

    /// Adds a text to the entry of a step: an edit, or the whole text, after which the text before is not valid.
    fn put(&mut self, text: FixedText, value: Value, since: usize, step: usize, entry: &mut LogEntry) {
        let before = self.live.get(&text).filter(|_| self.has_edits);
        if let Some(before) = before
            && let Some(edit) = edit(&before.text, &value)
        {
            let live = LiveText { text: value, since, ..before.clone() };
            let edited = EntryText { text: text.clone(), value: edit, form: TextForm::Edit, since };
            self.stale
                .insert_mut(StaleText { text: text.clone(), entry: step, since: step }, edited.tokens());
            self.live.insert_mut(text, live);
            entry.texts.push(edited);
            return;
        }
        self.end(&text, step);
        let form = if self.is_above(&text) { TextForm::Replacement } else { TextForm::New };
        entry.texts.push(EntryText { text: text.clone(), value: value.clone(), form, since });
        self.live.insert_mut(text, LiveText { entry: step, base: value.clone(), text: value, since });
    }

    /// Ends the validity of a text at a step.
    fn end(&mut self, text: &FixedText, step: usize) {
        let Some(LiveText { entry, base, since, .. }) = self.live.get(text).cloned() else { return };
        self.live.remove_mut(text);
        let ended = EntryText { text: text.clone(), value: base, form: TextForm::New, since };
        self.stale.insert_mut(StaleText { text: text.clone(), entry, since: step }, ended.tokens());
    }

    /// Whether the log has an earlier text of the same name.
    fn is_above(&self, text: &FixedText) -> bool {
        let first = StaleText { text: text.clone(), entry: 0, since: 0 };
        self.stale.range(first..).next().is_some_and(|(stale, _)| stale.text == *text)
    }

    /// The text that contexts show now.
    fn shown(&self, text: &FixedText) -> Option<Value> {
        match text {
            FixedText::Legend => self.documents.legend().cloned(),
            FixedText::Tree => self.documents.tree().cloned(),
            FixedText::Document(key) if self.documents.is_shown(key) => self.documents.get(key).cloned(),
            FixedText::Document(_) | FixedText::Instructions(_) => None,
        }
    }

    pub(crate) fn has_edits(&self) -> bool {
        self.has_edits
    }

    /// The documents of the step.
    pub(crate) fn documents(&self) -> &Documents {
        &self.documents
    }

    /// The texts that are valid.
    pub(crate) fn valid(&self) -> impl Iterator<Item = (&FixedText, &Value)> {
        self.live.iter().map(|(name, live)| (name, &live.text))
    }

    /// The entries from a step on, with the steps.
    pub(crate) fn entries(&self, from: usize) -> impl DoubleEndedIterator<Item = (usize, &LogEntry)> {
        self.entries.range(from..).map(|(step, entry)| (*step, &**entry))
    }

    /// The first step of the part that the update of a step laid anew.
    pub(crate) fn laid_anew(&self, step: usize) -> Option<usize> {
        self.laid.get(&step).copied()
    }

    /// Whether requests up to a step show the entries up to it as this log does.
    pub(crate) fn keeps(&self, step: usize) -> bool {
        self.laid.range(step + 1..).all(|(_, from)| *from > step)
    }

    /// The sizes of the parts from each entry on, with the step of the entry, the last one first. `step` is the step of
    /// the next request.
    pub(super) fn sizes(&self, step: usize) -> Vec<(usize, LogSize)> {
        let mut by_entry: BTreeMap<usize, LogSize> = BTreeMap::new();
        for (at, entry) in self.entries(0) {
            by_entry.entry(at).or_default().live = entry.tokens();
        }
        for (StaleText { entry, since, .. }, tokens) in &self.stale {
            let size = by_entry.entry(*entry).or_default();
            size.live = size.live.saturating_sub(*tokens);
            size.stale += tokens;
            size.carried += tokens * step.saturating_sub(*since);
        }
        let mut sum = LogSize::default();
        let sizes = by_entry.into_iter().rev().map(|(at, size)| {
            sum.live += size.live;
            sum.stale += size.stale;
            sum.carried += size.carried;
            (at, sum)
        });
        sizes.collect()
    }
}
