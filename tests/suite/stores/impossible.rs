//! Stores that list impossible steps, and return other entries than those that were asked for.

use std::sync::Arc;

use columnar::prelude::*;
use columnar::reopen::{self, OpenOptions};
use columnar::store::{Entry, FileStore, MemoryStore, Store, StoreError, StoredSteps};
use columnar::testing::{LayeredStore, StoreLayer};
use columnar::{Column, Name};
use columnar_tests::live::push_all;
use columnar_tests::log::Log;
use columnar_tests::store::on_load;
use futures::FutureExt;
use futures::future::{self, BoxFuture};

/// Lists other steps of a column than there are.
struct Lists(&'static str, StoredSteps);

impl StoreLayer for Lists {
    fn stored_steps(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        column: Name,
    ) -> BoxFuture<'static, Result<StoredSteps, StoreError>> {
        if column == *self.0 {
            return future::ready(Ok(self.1.clone())).boxed();
        }
        inner.stored_steps(column)
    }
}

fn name(name: &str) -> Name {
    Name::new(name).expect("a name")
}

fn columns() -> [Column; 1] {
    [column("map", source("user").latest(), Log::default().upper("map"))]
}

/// A store with this number of steps, and nobody has it open.
async fn filled(steps: usize) -> MemoryStore {
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), columns()).await.expect("it is new");
    push_all(&f, "user", (0..steps).map(|step| format!("{step}")).collect::<Vec<_>>()).await.expect("stored");
    f.run().await.expect("nothing fails");
    store
}

/// Lists of steps that no store has, with the step that the error names.
fn impossible() -> Vec<(&'static str, StoredSteps, usize)> {
    let mut lists = Vec::new();
    for column in ["user", "map"] {
        let mut add = |prefix: usize, beyond: &[usize], step| {
            lists.push((column, StoredSteps { prefix, beyond: beyond.to_vec() }, step));
        };
        add(3, &[5, 4], 4);
        add(3, &[5, 5], 5);
        add(3, &[3], 3);
        add(3, &[1], 1);
        add(0, &[1 << 40, 1], 1);
        add(usize::MAX, &[], usize::MAX - 1);
        add(3, &[usize::MAX], usize::MAX);
        add(3, &[usize::MAX, 4], 4);
        add(1 << 40, &[], (1 << 40) - 1);
    }
    lists
}

/// A store that listed a single impossible number, such as the length of a prefix with a wrong bit, made opening a flow
/// take memory for all steps below that number.
#[tokio::test]
async fn i6_impossible_lists_of_steps_are_errors_with_column_and_step() {
    let inner = filled(3).await;
    for (column, list, step) in impossible() {
        for recent in [None, Some(0), Some(2)] {
            let store = LayeredStore::new(inner.clone(), Lists(column, list.clone()));
            let mut options = OpenOptions::new(store);
            if let Some(recent) = recent {
                options = options.recent(recent);
            }
            let error = Flow::open(options, columns()).await.expect_err("it is impossible");
            let (named, context) = (error.to_string(), format!("{column} {list:?} {recent:?}"));
            let Error::Load { column: of, source } = error else { panic!("{context}: {named}") };
            assert_eq!(of, column, "{context}");
            assert!(format!("{named} {source}").contains(&step.to_string()), "{context}: {source}");
        }
    }
    Flow::open(inner, columns()).await.expect("the store itself is sound");
}

/// The same lists took all memory, or no end, when a store was verified or copied.
#[tokio::test]
async fn i6_verifying_and_copying_a_store_with_impossible_lists_ends() {
    let inner = filled(3).await;
    for (column, list, _) in impossible() {
        let hostile = || LayeredStore::new(inner.clone(), Lists(column, list.clone()));
        let context = format!("{column} {list:?}");
        match reopen::verify(&hostile()).await {
            Ok(defects) => {
                assert!(!defects.is_empty() && defects.len() < 2_000, "{context}: {}", defects.len());
            }
            Err(error) => assert!(error.to_string().contains(column), "{context}: {error}"),
        }
        let salvaged = reopen::salvage(&hostile(), &MemoryStore::new()).await;
        assert!(!matches!(salvaged, Ok(defects) if defects.is_empty()), "{context}");
        let options = OpenOptions::new(hostile()).recompute_from(2, [""; 0], MemoryStore::new());
        let error = Flow::open(options, columns()).await.expect_err("it cannot be copied").to_string();
        assert!(error.contains(column) || error.contains("step"), "{context}: {error}");
    }
}

/// A prefix that is too long by less than a chunk is found when its values are loaded.
#[tokio::test]
async fn i6_a_prefix_that_is_too_long_by_a_few_steps_is_an_error() {
    let inner = filled(600).await;
    for (prefix, step) in [(601, 600), (700, 699)] {
        let list = StoredSteps { prefix, beyond: Vec::new() };
        let store = LayeredStore::new(inner.clone(), Lists("user", list));
        let error =
            Flow::open(OpenOptions::new(store).recent(0), columns()).await.expect_err("it is too long");
        let Error::Load { column, source } = error else { panic!("{error}") };
        assert_eq!(
            (column, source.to_string()),
            (
                name("user"),
                format!("`user` at step {step} is damaged: the store lists it and cannot return it")
            )
        );
    }
}

/// Entries of other steps than those that were asked for were copied, and of two entries for a step one was taken.
#[tokio::test]
async fn i6_of_the_returned_entries_only_those_that_were_asked_for_are_used() {
    let inner = filled(3).await;
    let stranger = |step: usize| (step, Entry::from("stranger"));
    let outside = on_load(inner.clone(), move |inner, column, steps| async move {
        let mut entries = inner.load(column, steps).await?;
        // In any order, with steps that do not exist.
        entries.reverse();
        entries.extend([stranger(9), stranger(usize::MAX)]);
        Ok(entries)
    });
    let copy = MemoryStore::new();
    assert_eq!(reopen::salvage(&outside, &copy.clone()).await.expect("it is sound").len(), 0);
    copy.open().await.expect("it is free");
    assert_eq!(copy.stored_steps(name("user")).await.expect("it is open").beyond, [0; 0]);
    let f = Flow::open(outside, columns()).await.expect("its values are there");
    assert_eq!((f.steps(), f.get("map", 2).as_deref()), (3, Some("<USER>\n2\n</USER>")));
    drop(f);

    for twice in 0..3 {
        let doubled = on_load(inner.clone(), move |inner, column, steps| async move {
            let mut entries = inner.load(column, steps).await?;
            let again = entries.iter().filter(|(step, _)| *step == twice).map(|(step, _)| stranger(*step));
            entries.extend(again.collect::<Vec<_>>());
            Ok(entries)
        });
        let error = Flow::open(doubled, columns()).await.expect_err("which of them is it?");
        let Error::Load { source, .. } = error else { panic!("{error}") };
        let expected = format!("at step {twice} is damaged: the store returned it twice");
        assert!(source.to_string().ends_with(&expected), "{source}");
    }
}

/// The numbers of steps that a store takes are those that a flow refuses, in every store.
#[tokio::test]
async fn i6_a_step_far_beyond_the_others_is_an_error_in_every_store() {
    async fn check(store: impl Store, again: impl Store, far: usize) {
        for (column, end) in [("user", 3), ("map", 2)] {
            store.open().await.expect("it is free");
            for step in 0..end {
                store.put(name(column), step, Entry::from("x")).await.expect("it is stored");
            }
        }
        store.put(name("map"), far, Entry::from("far")).await.expect("it is stored");
        drop(store);
        let error = Flow::open(again, columns()).await.expect_err("there is no such step");
        let Error::Load { column, source } = error else { panic!("{error}") };
        let expected = format!("step {far} is stored, but the sources have values for only 3 steps; ");
        assert_eq!(column, "map");
        assert!(source.to_string().starts_with(&expected), "{source}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let memory = MemoryStore::new();
    check(memory.clone(), memory, 1 << 40).await;
    let files = || FileStore::new(folder.path().join("files"));
    check(files(), files(), 1 << 40).await;
    #[cfg(feature = "sqlite")]
    {
        let sqlite = || columnar::store::SqliteStore::new(folder.path().join("chats.db"), "monday");
        check(sqlite(), sqlite(), (1 << 32) - 1).await;
    }
    #[cfg(feature = "postgres")]
    if let Some(database) = columnar_tests::postgres::Database::new("i6, far").await {
        let postgres = || columnar::store::PostgresStore::new(database.address(), "monday");
        check(postgres(), postgres(), 1 << 40).await;
    }
}
