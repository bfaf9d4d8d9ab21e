//! The same random operations on several stores, with two handles of one flow. All must give the same results.

use std::fmt::Debug;
use std::ops::Range;

use columnar::Name;
#[cfg(feature = "sqlite")]
use columnar::store::SqliteStore;
use columnar::store::{Entry, FileStore, MemoryStore, Store, StoreError};
use fastrand::Rng;

use super::{Counts, block_on, count};

/// The columns, as names of the operations have them.
pub(super) const COLUMNS: [&str; 3] = ["user", "debate.critic", "assistant"];

/// The number of steps that a column may have.
const STEPS: usize = 40;

/// An operation of a handle.
#[derive(Clone, Debug)]
enum Operation {
    Open,
    Drop,
    Define(String),
    Put(usize, usize, Entry),
    Load(usize, Range<usize>),
    StoredSteps(usize),
    Delete,
}

impl Operation {
    fn random(rng: &mut Rng) -> Self {
        let column = rng.usize(..COLUMNS.len());
        match rng.u8(..100) {
            0..10 => Self::Open,
            10..15 => Self::Drop,
            15..20 => Self::Define(text(rng)),
            20..70 => Self::Put(column, rng.usize(..STEPS), entry(rng)),
            70..85 => {
                let from = rng.usize(..STEPS);
                Self::Load(column, from..rng.usize(from..=STEPS))
            }
            85..98 => Self::StoredSteps(column),
            _ => Self::Delete,
        }
    }
}

/// Texts that stores have stumbled over, and others.
fn text(rng: &mut Rng) -> String {
    const PIECES: [&str; 10] =
        ["", "\0", "\r\n", "done 0\n", "\u{feff}", "\u{202e}", "é", "'; --", "\\", "x"];
    (0..rng.usize(..6)).map(|_| PIECES[rng.usize(..PIECES.len())]).collect()
}

pub(super) fn entry(rng: &mut Rng) -> Entry {
    let entry = if rng.u8(..5) == 0 { Entry::SKIPPED } else { Entry::from(text(rng)) };
    if rng.u8(..3) == 0 { entry.with_receipt(text(rng)) } else { entry }
}

/// A flow in a store, with two handles. A handle that was dropped is made again.
struct Subject {
    name: &'static str,
    handle: Box<dyn Fn() -> Box<dyn Store>>,
    handles: [Box<dyn Store>; 2],
}

impl Subject {
    fn new<S: Store>(name: &'static str, handle: impl Fn() -> S + 'static) -> Self {
        let handle = move || Box::new(handle()) as Box<dyn Store>;
        Self { name, handles: [handle(), handle()], handle: Box::new(handle) }
    }

    /// The result, as text that is the same for all stores: their errors differ.
    async fn apply(&mut self, at: usize, operation: &Operation) -> String {
        let column = |column: usize| Name::new(COLUMNS[column]).expect("a name");
        let store = &self.handles[at];
        match operation.clone() {
            Operation::Open => shown(store.open().await),
            Operation::Drop => {
                self.handles[at] = (self.handle)();
                String::new()
            }
            Operation::Define(definition) => shown(store.define(definition).await),
            Operation::Put(name, step, entry) => shown(store.put(column(name), step, entry).await),
            Operation::Load(name, steps) => {
                shown(store.load(column(name), steps).await.map(|mut entries| {
                    entries.sort_by_key(|(step, _)| *step);
                    entries
                }))
            }
            Operation::StoredSteps(name) => shown(store.stored_steps(column(name)).await),
            Operation::Delete => shown(store.delete().await),
        }
    }
}

fn shown<T: Debug>(result: Result<T, StoreError>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(StoreError::Locked { .. }) => "locked".to_owned(),
        Err(StoreError::Closed) => "closed".to_owned(),
        Err(error) => format!("an error: {error}"),
    }
}

pub(super) fn round(rng: &mut Rng) -> Counts {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = MemoryStore::new();
    let files = folder.path().join("files");
    #[cfg(feature = "sqlite")]
    let database = folder.path().join("chats.db");
    let mut subjects = [
        Subject::new("memory", move || memory.clone()),
        Subject::new("files", move || FileStore::new(&files)),
        #[cfg(feature = "sqlite")]
        Subject::new("SQLite", move || SqliteStore::new(&database, "ada")),
    ];
    let mut counts = Counts::new();
    for _ in 0..100 {
        let (at, operation) = (rng.usize(..2), Operation::random(rng));
        count(&mut counts, "operations");
        let results: Vec<_> = (subjects.iter_mut())
            .map(|subject| (subject.name, block_on(subject.apply(at, &operation))))
            .collect();
        let (first, rest) = results.split_first().expect("there are stores");
        for other in rest {
            assert_eq!(first.1, other.1, "{operation:?} of handle {at}: {} and {}", first.0, other.0);
        }
    }
    counts
}
