//! Damaged stores: the defects that are found, the salvaged values, and the recomputed ones.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use columnar::prelude::*;
use columnar::reopen;
use columnar::reopen::OpenOptions;
use columnar::store::{Entry, MemoryStore, Store, StoreError};
use columnar::{Column, Name};
use columnar_tests::log::Log;
use columnar_tests::store::{on_load, on_put};

/// Cells by column and step.
type Cells = BTreeSet<(String, usize)>;

/// A store with damaged cells, missing cells that it lists, and a limit on the number of puts.
#[derive(Default)]
struct Broken {
    inner: MemoryStore,
    damaged: Arc<Mutex<Cells>>,
    missing: Arc<Mutex<Cells>>,
    /// The number of puts until one fails, plus one; 0 without a limit.
    puts: Arc<AtomicUsize>,
}

impl Broken {
    fn damaged(&self) -> MutexGuard<'_, Cells> {
        self.damaged.lock().expect("no test panics")
    }

    fn missing(&self) -> MutexGuard<'_, Cells> {
        self.missing.lock().expect("no test panics")
    }

    /// Another handle to the same store.
    fn handle(&self) -> impl Store + use<> {
        let (damaged, missing, puts) =
            (Arc::clone(&self.damaged), Arc::clone(&self.missing), Arc::clone(&self.puts));
        let damaged = on_load(self.inner.clone(), move |inner, column, steps| {
            let cells = damaged.lock().expect("no test panics").clone();
            let missing = missing.lock().expect("no test panics").clone();
            async move {
                let mut damaged =
                    cells.iter().filter(|(name, step)| column == **name && steps.contains(step));
                if let Some(&(_, step)) = damaged.next() {
                    let reason = "its checksum is wrong".to_owned();
                    return Err(StoreError::Corrupt { column, step, reason });
                }
                let mut entries = inner.load(column.clone(), steps).await?;
                entries.retain(|(step, _)| !missing.contains(&(column.to_string(), *step)));
                Ok(entries)
            }
        });
        on_put(damaged, move |inner, column, step, entry| {
            let left = puts.load(Ordering::SeqCst);
            if left > 1 {
                puts.store(left - 1, Ordering::SeqCst);
            }
            async move {
                match left {
                    1 => Err(StoreError::other("the disk is full")),
                    _ => inner.put(column, step, entry).await,
                }
            }
        })
    }
}

fn name(name: &str) -> Name {
    Name::new(name).expect("a name")
}

fn named(name: &'static str, of: impl columnar::IntoViews, log: &Log) -> Column {
    column(name, of, log.upper(name))
}

/// The columns `topics`, `summary` and `mood` of the sources `user` and `notes`.
fn columns(log: &Log) -> [Column; 3] {
    let (user, notes) = (source("user"), source("notes"));
    let topics = named("topics", (user.latest(), notes.latest()), log);
    let summary = named("summary", (topics.latest(), this().latest()), log);
    [topics, summary, named("mood", user.latest(), log)]
}

const NAMES: [&str; 5] = ["user", "notes", "topics", "summary", "mood"];

/// A store with this number of steps of these columns, which no flow has open.
async fn filled(steps: usize) -> Result<Broken> {
    let store = Broken::default();
    let f = Flow::open(store.handle(), columns(&Log::default())).await?;
    for step in 0..steps {
        f.push("user", format!("text {step}")).await?;
        f.push("notes", format!("noted {step}")).await?;
    }
    f.run().await?;
    Ok(store)
}

/// The definition and all entries of a store, damaged or not.
async fn everything(store: &Broken) -> (Option<String>, Vec<(usize, Entry)>) {
    let reader = store.inner.clone();
    let definition = reader.open().await.expect("the store is free");
    let mut cells = Vec::new();
    for column in NAMES {
        cells.extend(reader.load(name(column), 0..usize::MAX).await.expect("it is open"));
    }
    (definition, cells)
}

async fn defects(store: &Broken) -> Vec<String> {
    let handle = store.handle();
    let defects = reopen::verify(&handle).await.expect("it can be opened");
    defects.iter().map(ToString::to_string).collect()
}

/// Salvages a store, which must not change, and runs the copy. Returns the flow and the computed cells.
async fn salvaged(store: &Broken) -> (Flow, Vec<(Name, usize)>) {
    let (before, copy) = (everything(store).await, MemoryStore::new());
    let found = defects(store).await;
    let reported = reopen::salvage(&store.handle(), &copy.clone()).await.expect("it can be opened");
    assert_eq!(reported.iter().map(ToString::to_string).collect::<Vec<_>>(), found);
    assert_eq!(everything(store).await, before, "the original does not change");
    let f = Flow::open(copy, columns(&Log::default())).await.expect("the copy is sound");
    let mut computed = Vec::new();
    let mut run = f.run();
    while let Some(event) = run.try_next().await.expect("nothing fails") {
        if let Event::Value { column, step, .. } = event {
            computed.push((column, step));
        }
    }
    drop(run);
    computed.sort();
    (f, computed)
}

#[tokio::test]
async fn a_store_without_defects_is_reported_as_sound() -> Result<()> {
    let store = filled(20).await?;
    assert_eq!(defects(&store).await, [""; 0]);
    let (f, computed) = salvaged(&store).await;
    assert_eq!((f.steps(), computed), (20, Vec::new()));
    assert_eq!(defects(&Broken::default()).await, [""; 0], "an empty store");
    Ok(())
}

#[tokio::test]
async fn unreadable_values_are_reported_and_recomputed() -> Result<()> {
    let store = filled(600).await?;
    let cells = [("topics", 3), ("topics", 4), ("topics", 550), ("summary", 599), ("mood", 0)];
    store.damaged().extend(cells.map(|(column, step)| (column.to_owned(), step)));
    let expected = cells.map(|(column, step)| format!("`{column}` at step {step}: its checksum is wrong"));
    let mut expected = Vec::from(expected);
    expected.sort_by_key(|defect| defect.starts_with("`topics`"));
    expected.sort_by_key(|defect| !defect.starts_with("`mood`"));
    assert_eq!(defects(&store).await, expected);

    let (f, computed) = salvaged(&store).await;
    let mut expected = cells.map(|(column, step)| (name(column), step));
    expected.sort();
    assert_eq!((f.steps(), computed), (600, expected.into()));
    assert_eq!(f.get("user", 3).as_deref(), Some("text 3"));
    Ok(())
}

#[tokio::test]
async fn a_value_that_is_listed_and_missing_is_reported() -> Result<()> {
    let store = filled(20).await?;
    store.missing().extend([("mood".to_owned(), 7), ("topics".to_owned(), 19)]);
    let cells = ["mood` at step 7", "topics` at step 19"];
    assert_eq!(
        defects(&store).await,
        cells.map(|cell| format!("`{cell}: the store lists it and cannot return it"))
    );
    let (_, computed) = salvaged(&store).await;
    assert_eq!(computed, [(name("mood"), 7), (name("topics"), 19)]);
    Ok(())
}

/// One defect was once reported as thousands, one for each computed value of later steps.
#[tokio::test]
async fn an_unreadable_source_is_one_defect_and_ends_the_copy() -> Result<()> {
    let store = filled(1200).await?;
    store.damaged().extend([("user".to_owned(), 700), ("user".to_owned(), 800), ("topics".to_owned(), 900)]);
    let cells = ["topics` at step 900", "user` at step 700", "user` at step 800"];
    assert_eq!(defects(&store).await, cells.map(|cell| format!("`{cell}: its checksum is wrong")));
    let (f, computed) = salvaged(&store).await;
    assert_eq!((f.steps(), computed.len()), (700, 0));
    assert_eq!((f.get("user", 700), f.get("topics", 700)), (None, None));
    // `notes` is complete, and waits for `user`.
    assert_eq!(f.get("notes", 1199).as_deref(), Some("noted 1199"));
    f.push("user", "text again").await?;
    f.run().await?;
    assert_eq!(f.steps(), 701);
    Ok(())
}

/// Entries that no flow stores, which another program put there.
#[tokio::test]
async fn impossible_histories_are_reported() -> Result<()> {
    let store = filled(5).await?;
    let writer = store.inner.clone();
    writer.open().await.expect("the store is free");
    for (column, step, entry) in [
        ("user", 8, Entry::from("late")),
        ("notes", 5, Entry::SKIPPED),
        ("notes", 6, Entry::from("more")),
        ("mood", 7, Entry::from("early")),
        ("mood", 6, Entry::SKIPPED),
    ] {
        writer.put(name(column), step, entry).await.expect("it is free");
    }
    drop(writer);
    let refused = Flow::open(store.handle(), columns(&Log::default())).await;
    assert!(matches!(refused, Err(Error::Load { .. })), "{refused:?}");
    assert_eq!(
        defects(&store).await,
        [
            "`mood` at step 7: it is stored, but the sources have values for only 7 steps",
            "`notes` at step 5: it is stored as skipped, and a source is never skipped",
            "`user` at step 5: it is missing, but step 8 is stored",
        ]
    );
    let (f, computed) = salvaged(&store).await;
    assert_eq!((f.steps(), computed.len(), f.get("user", 8)), (5, 0, None));
    Ok(())
}

/// A receipt is salvaged with its value, and an invalid one is reported.
#[tokio::test]
async fn receipts_are_verified_and_salvaged_with_their_values() -> Result<()> {
    const PAID: &str = r#"{"calls":1,"attempts":1,"input":120,"ms":640}"#;
    let store = MemoryStore::new();
    let mood = || [named("mood", source("user").latest(), &Log::default())];
    let f = Flow::open(store.clone(), mood()).await?;
    for step in 0..3 {
        f.push("user", format!("text {step}")).await?;
    }
    drop(f);
    store.open().await.expect("the store is free");
    let paid = [Entry::from("well").with_receipt(PAID), Entry::SKIPPED.with_receipt(PAID)];
    for (step, entry) in paid.iter().cloned().chain([Entry::from("so so").with_receipt("cheap")]).enumerate()
    {
        store.put(name("mood"), step, entry).await.expect("it is free");
    }
    let copy = MemoryStore::new();
    let reported = reopen::salvage(&store, &copy).await.expect("it can be read");
    let reported: Vec<_> = reported.iter().map(ToString::to_string).collect();
    assert_eq!(reported, ["`mood` at step 2: its receipt is invalid"]);
    assert_eq!(reopen::verify(&store).await.expect("it can be read").len(), 1);
    let copied = copy.load(name("mood"), 0..9).await.expect("it is open");
    assert!(copied.into_iter().map(|(_, entry)| entry).eq(paid.clone()));
    let there = copy.clone();
    drop(copy);

    // A recomputed cell gets a new receipt, and the others keep theirs.
    let other = MemoryStore::new();
    drop(Flow::open(OpenOptions::new(there).recompute_from(1, ["mood"], other.clone()), mood()).await?);
    other.open().await.expect("the store is free");
    assert_eq!(other.load(name("mood"), 0..9).await.expect("it is open"), [(0, paid[0].clone())]);
    Ok(())
}

/// Cells that were computed while the flow had the source were once cut off at its end; steps do not wait for it any more.
#[tokio::test]
async fn a_source_that_was_removed_from_the_flow_limits_nothing() -> Result<()> {
    let store = filled(3).await?;
    let mood = || [named("mood", source("user").latest(), &Log::default())];
    let f = Flow::open(store.handle(), mood()).await?;
    for step in 3..9 {
        f.push("user", format!("text {step}")).await?;
    }
    f.run().await?;
    drop(f);
    assert_eq!(defects(&store).await, [""; 0]);
    let copy = MemoryStore::new();
    assert_eq!(reopen::salvage(&store.handle(), &copy.clone()).await.expect("it is sound"), []);
    let f = Flow::open(copy.clone(), mood()).await?;
    assert_eq!((f.steps(), f.forecast().cells), (9, 0));
    drop(f);
    // The values of the removed source are copied as well, in case it returns.
    copy.open().await.expect("the store is free");
    assert_eq!(copy.stored_steps(name("summary")).await.expect("it is open").prefix, 3);
    Ok(())
}

/// The flow once lost the names under which its columns are stored.
#[tokio::test]
async fn a_flow_continues_in_its_store_after_a_column_is_removed() -> Result<()> {
    let store = filled(2).await?;
    let f = Flow::open(OpenOptions::new(store.handle()).recent(0), columns(&Log::default())).await?;
    f.remove_column("summary").await?;
    f.push("user", "text 2").await?;
    f.push("notes", "noted 2").await?;
    f.run().await?;
    f.load(0).await?;
    assert_eq!((f.steps(), f.get("topics", 0).is_some()), (3, true));
    drop(f);
    let f = Flow::open(store.handle(), columns(&Log::default())).await?;
    assert_eq!((f.steps(), f.forecast().cells), (2, 1), "step 2 of `summary`");
    Ok(())
}

#[tokio::test]
async fn an_interrupted_salvage_can_be_repeated() -> Result<()> {
    let store = filled(20).await?;
    store.damaged().insert(("topics".to_owned(), 3));
    for puts in [2, 30, 99] {
        let copy = Broken::default();
        copy.puts.store(puts, Ordering::SeqCst);
        let error = reopen::salvage(&store.handle(), &copy.handle()).await.expect_err("the disk is full");
        assert_eq!(error.to_string(), "the disk is full");
        copy.puts.store(0, Ordering::SeqCst);
        let defects = reopen::salvage(&store.handle(), &copy.handle()).await.expect("there is room now");
        assert_eq!(defects.len(), 1);
        let f = Flow::open(copy.handle(), columns(&Log::default())).await?;
        assert_eq!(f.forecast().cells, 1);
    }
    Ok(())
}

#[tokio::test]
async fn a_salvage_needs_a_flow_and_an_empty_store() -> Result<()> {
    let (store, other) = (filled(2).await?, filled(3).await?);
    let into = async |from: &Broken, into: &Broken| {
        let refused = reopen::salvage(&from.handle(), &into.handle()).await;
        refused.expect_err("the target is not empty").to_string()
    };
    let before = (everything(&store).await, everything(&other).await);
    assert_eq!(into(&store, &other).await, "the store to copy into holds a flow already: use an empty one");
    assert_eq!((everything(&store).await, everything(&other).await), before);
    let nothing = Broken::default();
    assert_eq!(
        into(&nothing, &Broken::default()).await,
        "the store to copy from holds no flow: is it the right one?"
    );
    assert!(into(&store, &store).await.starts_with("this memory is in use"));
    Ok(())
}

/// The columns with a different `topics`.
fn changed(log: &Log) -> [Column; 3] {
    let (user, notes) = (source("user"), source("notes"));
    let topics = named("topics", (user.window(2), notes.latest()), log);
    let summary = named("summary", (topics.latest(), this().latest()), log);
    [topics, summary, named("mood", user.latest(), log)]
}

#[tokio::test]
async fn changed_columns_and_their_dependents_alone_are_recomputed() -> Result<()> {
    let (store, other, log) = (filled(20).await?, Broken::default(), Log::default());
    let before = everything(&store).await;
    let options = OpenOptions::new(store.handle()).recompute_from(15, [""; 0], other.handle());
    let f = Flow::open(options, changed(&log)).await?;
    f.run().await?;
    assert_eq!((f.steps(), log.calls()), (20, 10));
    for step in 15..20 {
        assert_eq!((log.calls_of("topics", step), log.calls_of("summary", step)), (1, 1));
    }
    let original = before.1.iter().filter_map(|(_, entry)| entry.value.clone()).collect::<BTreeSet<_>>();
    assert!(original.contains(&f.get("topics", 14).expect("it is there")));
    assert!(!original.contains(&f.get("topics", 15).expect("it is there")));
    drop(f);
    assert_eq!(everything(&store).await, before, "the original does not change");

    // Opened again, the flow resumes without a read of the first store.
    let owner = store.handle();
    owner.open().await.expect("the store is free");
    let options = OpenOptions::new(store.handle()).recompute_from(15, [""; 0], other.handle());
    let f = Flow::open(options, changed(&log)).await?;
    assert_eq!((f.steps(), f.forecast().cells, log.calls()), (20, 0, 10));
    Ok(())
}

#[tokio::test]
async fn named_columns_are_recomputed_without_a_change() -> Result<()> {
    let (store, log) = (filled(20).await?, Log::default());
    for (step, names, cells) in [
        (19, vec!["mood"], 1),
        (10, vec!["mood"], 10),
        (0, vec!["topics"], 40),
        (18, vec!["mood", "topics"], 6),
    ] {
        let options = OpenOptions::new(store.handle()).recompute_from(step, names, MemoryStore::new());
        assert_eq!(Flow::open(options, columns(&log)).await?.forecast().cells, cells);
    }
    // A kept column is not recomputed, although its declaration has changed.
    let options =
        OpenOptions::new(store.handle()).keep("topics").recompute_from(18, ["mood"], MemoryStore::new());
    assert_eq!(Flow::open(options, changed(&log)).await?.forecast().cells, 2);
    Ok(())
}

#[tokio::test]
async fn an_unknown_name_or_a_source_cannot_be_recomputed() -> Result<()> {
    let store = filled(3).await?;
    for (column, expected) in [
        ("topic", "no column is named `topic`; did you mean `topics`?"),
        ("user", "`user` is a source: it reads nothing, so it has no messages"),
    ] {
        let other = Broken::default();
        let options = OpenOptions::new(store.handle()).recompute_from(1, [column], other.handle());
        let error = Flow::open(options, columns(&Log::default())).await.expect_err("it is no such column");
        assert_eq!(error.to_string(), expected);
        assert_eq!(everything(&other).await, (None, Vec::new()), "nothing was copied");
    }
    Ok(())
}

#[tokio::test]
async fn an_interrupted_copy_can_be_repeated() -> Result<()> {
    let store = filled(20).await?;
    for puts in [2, 30, 60] {
        let (other, log) = (Broken::default(), Log::default());
        other.puts.store(puts, Ordering::SeqCst);
        let options = || OpenOptions::new(store.handle()).recompute_from(15, [""; 0], other.handle());
        let error = Flow::open(options(), changed(&log)).await.expect_err("the disk is full");
        assert_eq!(error.to_string(), "the store cannot be opened: the disk is full");
        let mark = everything(&other).await.0.expect("the copy has begun");
        assert!(mark.starts_with("{\"columnar_copy\":1,"), "{mark}");
        other.puts.store(0, Ordering::SeqCst);
        let f = Flow::open(options(), changed(&log)).await?;
        f.run().await?;
        assert_eq!((f.steps(), log.calls()), (20, 10));
    }
    Ok(())
}

/// An earlier copy had copied more steps than this one copies, and its values were once taken for new ones.
#[tokio::test]
async fn an_interrupted_copy_cannot_be_repeated_with_other_columns() -> Result<()> {
    let (store, other) = (filled(20).await?, Broken::default());
    // Both sources and 16 steps of `topics`.
    other.puts.store(2 * 20 + 16 + 1, Ordering::SeqCst);
    let options = |step| OpenOptions::new(store.handle()).recompute_from(step, [""; 0], other.handle());
    Flow::open(options(17), changed(&Log::default())).await.expect_err("the disk is full");
    other.puts.store(0, Ordering::SeqCst);
    let error = Flow::open(options(5), changed(&Log::default())).await.expect_err("steps 5 to 15 are old");
    let expected = "the store cannot be opened: the store to copy into holds a part of another copy: delete it, or use an \
                    empty one";
    assert_eq!(error.to_string(), expected);
    Flow::open(options(17), changed(&Log::default())).await?;
    Ok(())
}

/// Rows that were stored before any flow was opened were once not copied.
#[tokio::test]
async fn a_store_without_a_definition_is_copied() -> Result<()> {
    let store = MemoryStore::new();
    let writer = store.clone();
    writer.open().await.expect("the store is free");
    for step in 0..3 {
        for column in ["user", "notes", "mood"] {
            writer.put(name(column), step, Entry::from("text")).await.expect("stored");
        }
    }
    drop(writer);
    let options = OpenOptions::new(store).recompute_from(2, ["mood"], MemoryStore::new());
    let f = Flow::open(options, columns(&Log::default())).await?;
    assert_eq!(
        (f.get("user", 2).is_some(), f.get("mood", 1).is_some(), f.get("mood", 2)),
        (true, true, None)
    );
    Ok(())
}
