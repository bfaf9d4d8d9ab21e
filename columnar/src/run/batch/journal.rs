//! The batches of a flow in its store: what is about to be submitted, what was submitted, what is over.
//!
//! A note is written before a batch is submitted, so a process that finds a note without an id knows what to look for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value as Json, json};
use tokio::sync::Mutex;

use crate::model::usage::UnixTime;
use crate::model::{SentBatch, UnsentRequest, hash};
use crate::run::Result;
use crate::run::reopen::batches_key;
use crate::run::state::load_error;
use crate::run::user_code::StoreRequest;
use crate::store::{Entry, Put, Store, StoreError, load};

/// The hexadecimal digits of a token.
const TOKEN: usize = 16;

/// A note about a batch.
enum BatchNote {
    /// The batch is about to be submitted, with requests of these ids.
    Intent(SentBatch, Vec<Arc<str>>),
    /// The batch with this token has this id.
    Submitted(String, String),
    /// No cell needs an answer of the batches with these tokens.
    Over(BTreeSet<String>),
}

impl BatchNote {
    fn parse(entry: &Entry) -> Option<Self> {
        let json: Json = serde_json::from_str(entry.value.as_deref()?).ok()?;
        let [token, batch, before] =
            ["token", "batch", "before"].map(|name| json.get(name).and_then(Json::as_str).map(str::to_owned));
        if let Some(over) = json.get("over") {
            let tokens = over.as_array()?.iter().map(|token| token.as_str().map(str::to_owned));
            return tokens.collect::<Option<_>>().map(Self::Over);
        }
        let token = token?;
        if let Some(batch) = batch {
            return Some(Self::Submitted(token, batch));
        }
        let requests = json.get("requests")?.as_array()?.iter().map(|id| id.as_str().map(Arc::from));
        let ids: Vec<Arc<str>> = requests.collect::<Option<_>>()?;
        let batch = SentBatch { token, requests: ids.len() as u64, before };
        Some(Self::Intent(batch, ids))
    }

    fn entry(&self) -> Entry {
        let json = match self {
            Self::Intent(SentBatch { token, before, .. }, ids) => {
                let ids: Vec<&str> = ids.iter().map(|id| &**id).collect();
                json!({ "token": token, "before": before, "requests": ids })
            }
            Self::Submitted(token, batch) => json!({ "token": token, "batch": batch }),
            Self::Over(tokens) => json!({ "over": tokens }),
        };
        json.to_string().into()
    }
}

/// A batch that is not over.
#[derive(Clone, Debug)]
pub(super) struct KnownBatch {
    pub(super) sent: SentBatch,
    /// `None` until the provider has confirmed the batch.
    pub(super) id: Option<String>,
}

/// The batches of a flow.
pub(super) struct Journal {
    /// `None` if the values are in memory only.
    store: Option<Arc<dyn Store>>,
    // Locked while a note is written, so notes have an order.
    state: Mutex<JournalState>,
}

#[derive(Default)]
struct JournalState {
    /// The number of notes.
    notes: usize,
    batches: BTreeMap<usize, KnownBatch>,
}

/// The notes of earlier runs, and the requests of the batches that are not over.
pub(super) struct OpenedJournal {
    pub(super) journal: Journal,
    pub(super) remembered: Vec<(usize, Vec<Arc<str>>)>,
}

impl Journal {
    /// Reads the notes of a store.
    pub(super) async fn open(store: Option<Arc<dyn Store>>) -> Result<OpenedJournal> {
        let key = batches_key();
        let mut state = JournalState::default();
        let mut remembered = BTreeMap::new();
        if let Some(store) = &store {
            let entries = load(&**store, &key, 0..usize::MAX).await;
            for (at, entry) in entries.map_err(|source| load_error(&key, source))? {
                let note = BatchNote::parse(&entry).ok_or_else(|| {
                    let location = format_args!("note {at} about batches in the store");
                    load_error(&key, StoreError::damaged(&location, "it cannot be read"))
                })?;
                state.notes = at + 1;
                let number = state.batches.len();
                match note {
                    BatchNote::Intent(sent, ids) => {
                        state.batches.insert(number, KnownBatch { sent, id: None });
                        remembered.insert(number, ids);
                    }
                    BatchNote::Submitted(token, id) => {
                        let mut batches = state.batches.values_mut();
                        if let Some(batch) = batches.find(|batch| batch.sent.token == token) {
                            batch.id = Some(id);
                        }
                    }
                    BatchNote::Over(tokens) => {
                        // The numbers of later batches do not change.
                        let over =
                            state.batches.iter().filter(|(_, batch)| tokens.contains(&batch.sent.token));
                        for number in over.map(|(number, _)| *number).collect::<Vec<_>>() {
                            remembered.insert(number, Vec::new());
                        }
                    }
                }
            }
        }
        remembered.retain(|_, ids| !ids.is_empty());
        state.batches.retain(|number, _| remembered.contains_key(number));
        let journal = Self { store, state: Mutex::new(state) };
        Ok(OpenedJournal { journal, remembered: remembered.into_iter().collect() })
    }

    /// Notes that a batch is about to be submitted.
    pub(super) async fn intend(
        &self,
        number: usize,
        requests: &[UnsentRequest],
        before: Option<String>,
    ) -> Result<SentBatch, StoreError> {
        let ids: Vec<Arc<str>> = requests.iter().map(|request| Arc::clone(&request.id)).collect();
        // With the time, so that a flow that is computed anew does not take the answers of an earlier one.
        let hashed = format!("{} {number} {}", UnixTime::now().as_millis(), ids.concat());
        let token = hash(hashed.as_bytes()).chars().take(TOKEN).collect();
        let sent = SentBatch { token, requests: ids.len() as u64, before };
        let mut state = self.state.lock().await;
        self.write(&mut state, &BatchNote::Intent(sent.clone(), ids)).await?;
        state.batches.insert(number, KnownBatch { sent: sent.clone(), id: None });
        Ok(sent)
    }

    /// Notes the id of a batch.
    pub(super) async fn submitted(&self, number: usize, id: &str) -> Result<(), StoreError> {
        let mut state = self.state.lock().await;
        let Some(batch) = state.batches.get_mut(&number) else { return Ok(()) };
        batch.id = Some(id.to_owned());
        let note = BatchNote::Submitted(batch.sent.token.clone(), id.to_owned());
        self.write(&mut state, &note).await
    }

    /// Notes that batches are over.
    pub(super) async fn end(&self, is_over: impl Fn(usize) -> bool + Send) -> Result<(), StoreError> {
        let mut state = self.state.lock().await;
        let over = state.batches.iter().filter(|(number, _)| is_over(**number));
        let over: BTreeSet<String> = over.map(|(_, batch)| batch.sent.token.clone()).collect();
        if over.is_empty() {
            return Ok(());
        }
        state.batches.retain(|_, batch| !over.contains(&batch.sent.token));
        self.write(&mut state, &BatchNote::Over(over)).await
    }

    pub(super) async fn batch(&self, number: usize) -> Option<KnownBatch> {
        self.state.lock().await.batches.get(&number).cloned()
    }

    /// The ids of all batches that are not over.
    pub(super) async fn ids(&self) -> BTreeSet<String> {
        self.state.lock().await.batches.values().filter_map(|batch| batch.id.clone()).collect()
    }

    async fn write(&self, state: &mut JournalState, note: &BatchNote) -> Result<(), StoreError> {
        let Some(store) = &self.store else { return Ok(()) };
        let entry = note.entry();
        loop {
            let put = StoreRequest::new(|| store.put(batches_key(), state.notes, entry.clone())).await?;
            state.notes += 1;
            // An earlier write may have succeeded without a confirmation.
            if put == Put::Stored {
                return Ok(());
            }
        }
    }
}
