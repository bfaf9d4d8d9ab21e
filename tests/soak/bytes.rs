//! Stores whose files are changed at random, after they were closed or while they were written. Each confirmed entry can
//! be read as it was stored, or there is an error.
//!
//! There is one exception, which row S1 of the faults has: a folder of a killed process misses no line of its log since its
//! last opening.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use columnar::Name;
#[cfg(feature = "sqlite")]
use columnar::store::SqliteStore;
use columnar::store::{Entry, FileStore, Store, StoreError};
use fastrand::Rng;

use super::operations::{COLUMNS, entry};
use super::{Counts, block_on, count};

/// Confirmed entries.
type Entries = BTreeMap<(usize, usize), Entry>;

/// The changed copies of a store.
const COPIES: usize = 20;

pub(super) fn round(rng: &mut Rng) -> Counts {
    let mut counts = Counts::new();
    attack(rng, &mut counts, |folder| FileStore::new(folder.join("chat")));
    #[cfg(feature = "sqlite")]
    attack(rng, &mut counts, |folder| SqliteStore::new(folder.join("chats.db"), "ada"));
    counts
}

fn attack<S: Store>(rng: &mut Rng, counts: &mut Counts, store_in: impl Fn(&Path) -> S) {
    let original = tempfile::tempdir().expect("a folder");
    let store = store_in(original.path());
    let (entries, at_opening) = block_on(written(&store, rng));
    // A copy of an open store is what a killed process leaves.
    let is_closed = rng.bool();
    let open = (!is_closed).then_some(store);
    for _ in 0..COPIES {
        let copy = tempfile::tempdir().expect("a folder");
        copy_folder(original.path(), copy.path());
        let change = Change::random(rng, &files_of(copy.path()));
        change.apply();
        count(counts, "changed copies");
        match block_on(read(&store_in(copy.path()), &entries)) {
            Ok(read) => {
                count(counts, "harmless changes");
                let is_in_open_log = !is_closed && change.file.ends_with(".columnar/cells");
                let expected = if is_in_open_log { &at_opening } else { &entries };
                let lost = expected.iter().find(|(cell, _)| !read.contains_key(cell));
                assert_eq!(lost, None, "{change:?}");
                let changed = read.iter().find(|(cell, entry)| entries.get(cell) != Some(entry));
                assert_eq!(changed, None, "{change:?}");
            }
            // It is an error that names the change or its consequence.
            Err(_) => count(counts, "errors"),
        }
    }
    drop(open);
}

/// Stores entries. Returns all of them, and those before the last opening.
async fn written(store: &impl Store, rng: &mut Rng) -> (Entries, Entries) {
    let (mut entries, mut at_opening) = (Entries::new(), Entries::new());
    store.open().await.expect("it is new");
    store.define("the definition".to_owned()).await.expect("stored");
    for step in 0..rng.usize(1..20) {
        if rng.u8(..8) == 0 {
            store.open().await.expect("it can be opened again");
            at_opening.clone_from(&entries);
        }
        for (at, column) in COLUMNS.iter().enumerate() {
            let entry = entry(rng);
            store.put(name(column), step, entry.clone()).await.expect("stored");
            entries.insert((at, step), entry);
        }
    }
    (entries, at_opening)
}

/// All entries, or the first error.
async fn read(store: &impl Store, expected: &Entries) -> Result<Entries, StoreError> {
    let definition = store.open().await?;
    assert_eq!(definition.as_deref(), Some("the definition"));
    let mut entries = Entries::new();
    for (at, column) in COLUMNS.iter().enumerate() {
        // The number of steps is known to the caller alone, so a store cannot hide behind it.
        let steps = store.stored_steps(name(column)).await?;
        let loaded = store.load(name(column), 0..expected.len()).await?;
        let is_stored = |step: usize| step < steps.prefix || steps.beyond.contains(&step);
        assert!(loaded.iter().all(|(step, _)| is_stored(*step)), "the steps are those that are loaded");
        entries.extend(loaded.into_iter().map(|(step, entry)| ((at, step), entry)));
    }
    Ok(entries)
}

fn name(column: &str) -> Name {
    Name::new(column).expect("a name")
}

/// A change of a file.
#[derive(Debug)]
struct Change {
    file: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Flip {
        byte: usize,
        bit: u8,
    },
    Zero {
        from: usize,
        count: usize,
    },
    Truncate(usize),
    /// Moves a block of the file to another position in it.
    Copy {
        from: usize,
        to: usize,
        count: usize,
    },
    Append(Vec<u8>),
}

impl Change {
    fn random(rng: &mut Rng, files: &[PathBuf]) -> Self {
        // A file in proportion to its size, or any.
        let file = rng.choice(files).expect("a store has files").clone();
        let len = usize::try_from(fs::metadata(&file).expect("a file").len()).expect("it is small").max(1);
        let (from, count) = (rng.usize(..len), rng.usize(1..=64));
        let kind = match rng.u8(..10) {
            0..5 => Kind::Flip { byte: from, bit: rng.u8(..8) },
            5 => Kind::Zero { from, count },
            6 => Kind::Copy { from, to: rng.usize(..len), count },
            7 => Kind::Append((0..count).map(|_| rng.u8(..)).collect()),
            _ => Kind::Truncate(from),
        };
        Self { file, kind }
    }

    fn apply(&self) {
        let mut bytes = fs::read(&self.file).expect("it can be read");
        match &self.kind {
            Kind::Flip { byte, bit } => {
                if let Some(byte) = bytes.get_mut(*byte) {
                    *byte ^= 1 << bit;
                }
            }
            Kind::Zero { from, count } => {
                bytes.iter_mut().skip(*from).take(*count).for_each(|byte| *byte = 0);
            }
            Kind::Truncate(len) => bytes.truncate(*len),
            Kind::Copy { from, to, count } => {
                let block: Vec<u8> = bytes.iter().skip(*from).take(*count).copied().collect();
                bytes.iter_mut().skip(*to).zip(block).for_each(|(byte, copied)| *byte = copied);
            }
            Kind::Append(more) => bytes.extend(more),
        }
        fs::write(&self.file, bytes).expect("it can be written");
    }
}

/// The files in a folder, in order.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(files_of(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn copy_folder(from: &Path, to: &Path) {
    for file in files_of(from) {
        let copy = to.join(file.strip_prefix(from).expect("it is inside"));
        fs::create_dir_all(copy.parent().expect("a folder")).expect("made");
        fs::copy(&file, &copy).expect("copied");
    }
}
