//! The documents of a source as a log: each text in the turn of the step that put it, until a part is laid anew.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;

use rpds::RedBlackTreeMapSync;

use super::edit::edit;
use super::part::{DocumentName, LogPart, LogText, LogTextKind};
use crate::context::documents::{Changes, Documents, Kind, LogPlace, Update, UpdateError};
use crate::declare::Compaction;
use crate::history::Value;

/// The number of steps without a change after which a document is laid before the others, in a part that later changes
/// rarely concern.
const COLD: usize = 3;

/// About the tokens from which on a document that is shown once is worth a place of its own: reading a small one saves less
/// than writing the turns behind it costs, when it changes.
const WORTH: usize = 256;

/// How a view writes a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogForm {
    /// Whether a change is an edit where that is shorter than the new text.
    pub(crate) has_edits: bool,
    /// Whether each document is shown once: what stands behind a changed one is laid anew at once.
    pub(crate) is_once: bool,
}

impl LogForm {
    /// The form of a log with what both forms have.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { has_edits: self.has_edits && other.has_edits, is_once: self.is_once && other.is_once }
    }

    pub(crate) fn of(view: Compaction) -> Self {
        Self { has_edits: view.edits, is_once: view.at_most.is_some_and(|factor| factor <= 1.0) }
    }
}

/// The log of a source at a step. A clone is a few reference counts, and a step costs the documents that it changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentLog {
    form: LogForm,
    documents: Documents,
    /// The texts that are valid now.
    live: RedBlackTreeMapSync<DocumentName, LiveText>,
    parts: RedBlackTreeMapSync<LogPlace, Arc<LogPart>>,
    /// The tokens of the texts that are no longer valid, and of edits as far as they are more than the text has grown.
    stale: RedBlackTreeMapSync<StaleText, usize>,
    /// For each step that laid a part anew, the place from which on.
    laid: RedBlackTreeMapSync<usize, LogPlace>,
    /// The place behind the documents that had not changed lately when a part was laid anew last.
    cold: LogPlace,
    /// The place of the documents that are not settled, of a log that shows each once.
    tail: Option<LogPlace>,
}

/// A text that is valid.
#[derive(Clone, Debug)]
struct LiveText {
    /// The place of the whole text, and that text.
    place: LogPlace,
    base: Value,
    /// The text after the edits behind it.
    text: Value,
    /// The tokens of the whole text and the edits, and how many of them are stale.
    carried: usize,
    excess: usize,
    /// The step of the last change.
    since: usize,
    /// Whether the text has a part of its own.
    is_settled: bool,
}

/// A text in the log that is not valid any more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct StaleText {
    name: DocumentName,
    place: LogPlace,
    /// The step from which on requests carried it for nothing.
    since: usize,
}

/// The tokens of a log from a place on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LogSize {
    /// The tokens of texts that are valid, except those that the last step put.
    pub(super) live: usize,
    pub(super) stale: usize,
    /// The stale tokens, each as often as a request has carried it.
    pub(super) carried: usize,
}

/// What a step puts into a log.
#[derive(Default)]
struct StepTexts {
    /// Documents that are laid anew, each with the step of the last change.
    cold: LogPart,
    settled: Vec<LogText>,
    rest: LogPart,
}

impl DocumentLog {
    pub(crate) fn new(form: LogForm) -> Self {
        Self { form, ..Self::default() }
    }

    /// The log after the update of a step.
    ///
    /// # Errors
    ///
    /// If the update cannot be applied to the documents of the step before.
    pub(crate) fn next(&self, step: usize, update: &Update) -> Result<Self, UpdateError> {
        let (documents, changes) = self.documents.apply(update)?;
        let touched = self.touched(&documents, &changes);
        let mut next = Self { documents, ..self.clone() };
        let changed: Vec<DocumentName> = touched.into_iter().filter(|name| next.is_changed(name)).collect();
        let mut from = update.first_laid_anew().filter(|from| from.step < step);
        if self.form.is_once {
            let places = changed.iter().filter_map(|name| Some(next.live.get(name)?.place));
            from = places.chain(self.tail).chain(from).min();
        }
        let is_first = self.parts.is_empty();
        let mut texts = StepTexts::default();
        if let Some(from) = from {
            next.lay_anew(from, step, &changed, &mut texts);
        }
        for name in changed {
            next.change(name, step, &mut texts.rest);
        }
        next.add(step, texts, is_first, from);
        Ok(next)
    }

    /// The texts that an update may have changed.
    fn touched(&self, documents: &Documents, changes: &Changes) -> BTreeSet<DocumentName> {
        // A file hides the symbols, so a change concerns both documents of the path.
        let keys = changes.keys().flat_map(|key| [key.of_file(), key.of_symbols()]);
        // A page is shown for one step, so the pages of the step before end with this one.
        let pages = [&self.documents, documents].into_iter().flat_map(Documents::pages);
        let documents = keys.chain(pages.map(|(key, _)| key.clone())).map(DocumentName::Document);
        let legend = changes.legend().then_some(DocumentName::Legend);
        documents.chain(legend).chain(changes.tree().then_some(DocumentName::Tree)).collect()
    }

    fn is_changed(&self, name: &DocumentName) -> bool {
        self.shown(name).as_ref() != self.live.get(name).map(|live| &live.text)
    }

    /// Moves the valid texts from a place on to the step, except the ones that the step changes.
    fn lay_anew(&mut self, from: LogPlace, step: usize, changed: &[DocumentName], texts: &mut StepTexts) {
        let stale: Vec<_> = self.stale.keys().filter(|stale| stale.place >= from).cloned().collect();
        for stale in stale {
            self.stale.remove_mut(&stale);
        }
        let dropped: Vec<_> = self.parts.range(from..).map(|(at, part)| (*at, Arc::clone(part))).collect();
        let mut moved = BTreeMap::new();
        let mut removed = BTreeSet::new();
        for (at, part) in dropped {
            self.parts.remove_mut(&at);
            removed.extend(part.removed.iter().cloned());
            for LogText { name, form, .. } in &part.texts {
                let live = self.live.get(name).filter(|live| live.place == at || *form == LogTextKind::Edit);
                moved.extend(live.map(|live| (name.clone(), live.clone())));
            }
        }
        self.laid.insert_mut(step, from);
        for (name, live) in moved {
            if live.place >= from {
                self.live.remove_mut(&name);
            } else {
                // The edits are gone, and the text before them is not.
                let base = live.base.clone();
                let carried = LogText::new(name.clone(), base.clone(), LogTextKind::New, 0).tokens();
                let unedited = LiveText { text: base, carried, excess: 0, ..live.clone() };
                self.live.insert_mut(name.clone(), unedited);
            }
            if !changed.contains(&name) {
                self.lay(name, live, step, texts);
            }
        }
        // The texts that these lines are about are still there.
        let still = removed.into_iter().filter(|name| !self.live.contains_key(name) && self.is_above(name));
        texts.rest.removed.extend(still.filter(|name| !changed.contains(name)).collect::<Vec<_>>());
    }

    /// Lays a text anew that the step does not change.
    fn lay(&mut self, name: DocumentName, live: LiveText, step: usize, texts: &mut StepTexts) {
        let LiveText { text, since, is_settled, .. } = live;
        let size = LogText::new(name.clone(), text.clone(), LogTextKind::New, since).tokens();
        let mut part = LogPart::default();
        self.put(name.clone(), text, since, step, &mut part);
        let settles = self.form.is_once && (is_settled || size >= WORTH);
        if let Some(live) = self.live.get(&name).cloned() {
            self.live.insert_mut(name, LiveText { is_settled: settles, ..live });
        }
        if settles {
            texts.settled.append(&mut part.texts);
        } else if !self.form.is_once && step - since >= COLD {
            texts.cold.texts.append(&mut part.texts);
        } else {
            texts.rest.texts.append(&mut part.texts);
        }
    }

    /// Brings a text up to date.
    fn change(&mut self, name: DocumentName, step: usize, part: &mut LogPart) {
        if let Some(now) = self.shown(&name) {
            return self.put(name, now, step, step, part);
        }
        self.end(&name, step);
        let is_page = matches!(&name, DocumentName::Document(key) if key.kind() == Kind::Url);
        if !is_page && self.is_above(&name) {
            part.removed.push(name);
        }
    }

    /// Adds a text to a part: an edit, or the whole text, after which the text before is not valid. The places of all texts
    /// follow when the parts of the step are known.
    fn put(&mut self, name: DocumentName, text: Value, since: usize, step: usize, part: &mut LogPart) {
        let before = self.live.get(&name).filter(|_| self.form.has_edits);
        if let Some(before) = before
            && let Some(edit) = edit(&before.text, &text)
        {
            let edited = LogText::new(name.clone(), edit, LogTextKind::Edit, since);
            let carried = before.carried + edited.tokens();
            let whole = LogText::new(name.clone(), text.clone(), LogTextKind::New, since).tokens();
            let live =
                LiveText { text, carried, excess: carried.saturating_sub(whole), since, ..before.clone() };
            part.texts.push(LogText { excess: live.excess.saturating_sub(before.excess), ..edited });
            self.live.insert_mut(name, live);
            return;
        }
        self.end(&name, step);
        let form = if self.is_above(&name) { LogTextKind::Replacement } else { LogTextKind::New };
        let whole = LogText::new(name.clone(), text.clone(), form, since);
        let live = LiveText {
            place: LogPlace::default(),
            base: text.clone(),
            text,
            carried: whole.tokens(),
            excess: 0,
            since,
            is_settled: false,
        };
        part.texts.push(whole);
        self.live.insert_mut(name, live);
    }

    /// Ends the validity of a text at a step.
    fn end(&mut self, name: &DocumentName, step: usize) {
        let Some(LiveText { place, carried, excess, .. }) = self.live.get(name).cloned() else { return };
        self.live.remove_mut(name);
        self.stale.insert_mut(StaleText { name: name.clone(), place, since: step }, carried - excess);
    }

    /// Adds the parts of a step.
    fn add(&mut self, step: usize, texts: StepTexts, is_first: bool, from: Option<LogPlace>) {
        let StepTexts { mut cold, settled, mut rest } = texts;
        if is_first && !self.form.is_once {
            // The first documents are taken for ones that do not change soon.
            cold = mem::take(&mut rest);
        }
        let settled = settled.into_iter().map(LogPart::from);
        let is_cold = !cold.is_empty();
        let parts = [cold].into_iter().chain(settled).filter(|part| !part.is_empty());
        let mut place = LogPlace::of(step);
        for part in parts {
            self.add_part(place, part);
            place.part += 1;
        }
        if is_cold || self.form.is_once || from.is_some_and(|from| from < self.cold) {
            self.cold = place;
        }
        self.tail = None;
        if !rest.is_empty() {
            self.tail = Some(place).filter(|_| self.form.is_once);
            self.add_part(place, rest);
        }
    }

    fn add_part(&mut self, place: LogPlace, part: LogPart) {
        for LogText { name, form, excess, .. } in &part.texts {
            if *form == LogTextKind::Edit {
                let stale = StaleText { name: name.clone(), place, since: place.step };
                self.stale.insert_mut(stale, *excess);
            } else if let Some(live) = self.live.get(name).cloned() {
                self.live.insert_mut(name.clone(), LiveText { place, ..live });
            }
        }
        self.parts.insert_mut(place, Arc::new(part.sorted()));
    }

    /// Whether the log has an earlier text of the same name.
    fn is_above(&self, name: &DocumentName) -> bool {
        let first = StaleText { name: name.clone(), place: LogPlace::default(), since: 0 };
        self.stale.range(first..).next().is_some_and(|(stale, _)| stale.name == *name)
    }

    /// The text that contexts show now.
    fn shown(&self, name: &DocumentName) -> Option<Value> {
        match name {
            DocumentName::Legend => self.documents.legend().cloned(),
            DocumentName::Tree => self.documents.tree().cloned(),
            DocumentName::Document(key) if self.documents.is_shown(key) => self.documents.get(key).cloned(),
            DocumentName::Document(_) => None,
        }
    }

    pub(crate) fn form(&self) -> LogForm {
        self.form
    }

    /// The documents of the step.
    pub(crate) fn documents(&self) -> &Documents {
        &self.documents
    }

    /// The texts that are valid.
    pub(crate) fn valid(&self) -> impl Iterator<Item = (&DocumentName, &Value)> {
        self.live.iter().map(|(name, live)| (name, &live.text))
    }

    /// The parts from a place on.
    pub(crate) fn parts(&self, from: LogPlace) -> impl DoubleEndedIterator<Item = (LogPlace, &LogPart)> {
        self.parts.range(from..).map(|(place, part)| (*place, &**part))
    }

    /// The place from which on a step laid everything anew.
    pub(crate) fn laid_anew(&self, step: usize) -> Option<LogPlace> {
        self.laid.get(&step).copied()
    }

    /// The tokens of the texts that a step changed, if the step also laid other texts anew by a decision.
    pub(crate) fn changed_tokens(&self, step: usize) -> Option<usize> {
        self.laid_anew(step).filter(|_| !self.form.is_once)?;
        let parts = self.parts(LogPlace::of(step)).flat_map(|(_, part)| &part.texts);
        Some(parts.filter(|text| text.since == step).map(LogText::tokens).sum())
    }

    /// The tokens of texts that are no longer valid.
    pub(crate) fn stale_tokens(&self) -> usize {
        self.stale.values().sum()
    }

    /// Whether requests up to a step show the parts up to it as this log does.
    pub(crate) fn keeps(&self, step: usize) -> bool {
        self.laid.range(step + 1..).all(|(_, from)| from.step > step)
    }

    /// The place behind the documents that seldom change.
    pub(crate) fn cold(&self) -> LogPlace {
        self.cold
    }

    /// The tokens from a place on, for the request of a step.
    pub(super) fn size(&self, from: LogPlace, step: usize) -> LogSize {
        let mut size = LogSize::default();
        for (place, part) in self.parts(from) {
            size.live += if place.step < step { part.tokens() } else { 0 };
        }
        for (StaleText { place, since, .. }, tokens) in &self.stale {
            if *place >= from {
                // Texts that the step replaces are no longer valid, and no request has carried them for nothing.
                size.live = size.live.saturating_sub(if place.step < step { *tokens } else { 0 });
                size.stale += tokens;
                size.carried += tokens * step.saturating_sub(*since);
            }
        }
        size
    }

    /// The tokens of the valid texts that a step puts.
    pub(super) fn new_tokens(&self, step: usize) -> usize {
        let step = LogPlace::of(step);
        // An edit is stale from the first as far as the text has not grown.
        let stale = self.stale.iter().filter(|(stale, _)| stale.place >= step).map(|(_, tokens)| tokens);
        let new: usize = self.parts(step).map(|(_, part)| part.tokens()).sum();
        new.saturating_sub(stale.sum())
    }
}
