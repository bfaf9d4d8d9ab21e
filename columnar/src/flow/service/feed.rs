//! The parts of a run that no store has: the text of cells in progress, and the failures since the run began.
//!
//! There is no log of events. A text is kept once for all subscribers, until the cell is finished. Each subscriber
//! remembers how much of the text has been sent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::declare::Name;
use crate::model::cache::CacheMiss;
use crate::run::Event;

/// A cell by step and column, as subscribers see them.
pub(super) type ProgressKey = (usize, Name);

/// The cells in progress, and the failed cells.
#[derive(Debug, Default)]
pub(super) struct Feed {
    /// The number of runs so far, so that subscribers tell the failures of two runs apart.
    pub(super) run: u64,
    pub(super) drafts: BTreeMap<ProgressKey, Arc<TextInProgress>>,
    /// The messages of the errors.
    failures: BTreeMap<ProgressKey, String>,
    /// The cells that failed, in the order in which they did, so that a subscriber looks at each of them once.
    failed: Vec<ProgressKey>,
    /// The cells for which runs have asked, in the order in which they did. An answered cell stays in the list.
    asked: Vec<ProgressKey>,
    /// The misses of caches in this run.
    misses: BTreeMap<ProgressKey, CacheMiss>,
}

/// The growing text of one attempt to compute a cell.
#[derive(Debug)]
pub(super) struct TextInProgress {
    /// The number of the attempt, counted from 1.
    pub(super) attempt: usize,
    state: Mutex<DraftState>,
}

#[derive(Debug, Default)]
struct DraftState {
    text: String,
    /// The reason why the text was discarded.
    discarded: Option<String>,
}

impl Feed {
    /// The feed of a flow whose earlier runs have asked for these cells.
    pub(super) fn new(asked: Vec<ProgressKey>) -> Self {
        Self { asked, ..Self::default() }
    }

    /// A run begins: failed cells are tried again.
    pub(super) fn begin(&mut self) {
        self.run += 1;
        self.failures.clear();
        self.failed.clear();
        self.misses.clear();
    }

    /// Records an event of the run.
    pub(super) fn record(&mut self, event: Event) {
        match event {
            Event::Delta { column, step, text } => {
                self.drafts.entry((step, column)).or_insert_with(|| TextInProgress::new(1)).push(&text);
            }
            Event::Retry { column, step, attempt, error } => {
                self.discard(&(step, column.clone()), error);
                self.drafts.insert((step, column), TextInProgress::new(attempt + 1));
            }
            // A subscriber has the state of the cells, and this call goes on.
            Event::Warning { .. } | Event::Waiting { .. } => {}
            Event::Pending { column, step } => self.asked.push((step, column)),
            Event::CacheMiss { column, step, miss } => _ = self.misses.insert((step, column), miss),
            Event::Failed { column, step, error } => self.fail(column, step, error),
            // A subscriber that has sent a part of the text holds the text until the value is sent.
            Event::Value { column, step, .. } | Event::Skipped { column, step, .. } => {
                self.drafts.remove(&(step, column));
            }
        }
    }

    /// A cell could not be computed or stored.
    pub(super) fn fail(&mut self, column: Name, step: usize, error: String) {
        let key = (step, column);
        self.discard(&key, error.clone());
        if self.failures.insert(key.clone(), error).is_none() {
            self.failed.push(key);
        }
    }

    /// The run has ended. The cells in progress that are not stored will be computed again.
    pub(super) fn end(&mut self, reason: &str, is_stored: impl Fn(&Name, usize) -> bool) {
        for ((step, column), draft) in std::mem::take(&mut self.drafts) {
            if !is_stored(&column, step) {
                draft.discard(reason.to_owned());
            }
        }
    }

    /// The cells that failed in this run, after the first ones.
    pub(super) fn failed_after(&self, count: usize) -> &[ProgressKey] {
        self.failed.get(count..).unwrap_or_default()
    }

    /// The cells for which runs have asked, after the first ones.
    pub(super) fn asked_after(&self, count: usize) -> &[ProgressKey] {
        self.asked.get(count..).unwrap_or_default()
    }

    /// The message of the error of a cell that failed in this run.
    pub(super) fn failure(&self, key: &ProgressKey) -> Option<&String> {
        self.failures.get(key)
    }

    /// The miss of a cell in this run.
    pub(super) fn miss(&self, key: &ProgressKey) -> Option<&CacheMiss> {
        self.misses.get(key)
    }

    fn discard(&mut self, key: &ProgressKey, reason: String) {
        if let Some(draft) = self.drafts.remove(key) {
            draft.discard(reason);
        }
    }
}

impl TextInProgress {
    fn new(attempt: usize) -> Arc<Self> {
        Arc::new(Self { attempt, state: Mutex::default() })
    }

    /// The text from this byte on, if there is more.
    pub(super) fn text_from(&self, byte: usize) -> Option<String> {
        self.lock().text.get(byte..).filter(|more| !more.is_empty()).map(str::to_owned)
    }

    /// Whether a value begins with the first bytes of the text.
    pub(super) fn is_prefix(&self, bytes: usize, value: &str) -> bool {
        self.lock().text.get(..bytes).is_some_and(|sent| value.starts_with(sent))
    }

    /// The reason why the text was discarded; `None` if the text stays.
    pub(super) fn discarded(&self) -> Option<String> {
        self.lock().discarded.clone()
    }

    fn push(&self, text: &str) {
        self.lock().text.push_str(text);
    }

    fn discard(&self, reason: String) {
        self.lock().discarded = Some(reason);
    }

    fn lock(&self) -> MutexGuard<'_, DraftState> {
        // Each change is one assignment or one append, so a panic leaves nothing half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
