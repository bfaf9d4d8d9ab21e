//! Rules that hold for flows on all stores.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use columnar::Name;
use columnar::prelude::*;
use columnar::store::{Entry, FileStore, MemoryStore, Put, Store, StoreError, StoredSteps};
use columnar::testing::{LayeredStore, StoreLayer, conformance};
use columnar_tests::live::push_all;
use columnar_tests::store::on_put;
use futures::future::{BoxFuture, FutureExt};

/// Texts that are easily changed.
const TEXTS: [&str; 9] = [
    "",
    "\n",
    "one\r\ntwo\rthree\n\n",
    "a\0b",
    "\u{feff}marked",
    "\u{202e}backwards\u{200b}",
    "e\u{301}",
    "\u{1f469}\u{200d}\u{1f680}",
    "</user>\n\n<user>",
];

async fn keeps_texts<S: Store>(handle: impl Fn() -> S) -> Result<()> {
    let answer = |cx: Context| async move { TEXTS.get(cx.step()).copied().unwrap_or("no text") };
    let map = || column("map", source("user").latest(), answer);
    let f = Flow::open(handle(), [map()]).await?;
    push_all(&f, "user", TEXTS).await?;
    f.run().await?;
    drop(f);
    let f = Flow::open(handle(), [map()]).await?;
    for (step, text) in TEXTS.iter().enumerate() {
        for column in ["user", "map"] {
            assert_eq!(f.get(column, step).as_deref(), Some(*text), "`{column}` at step {step}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn i1_every_text_is_loaded_as_it_was_stored() -> Result<()> {
    let memory = MemoryStore::new();
    keeps_texts(|| memory.clone()).await?;
    let folder = tempfile::tempdir().expect("a folder");
    keeps_texts(|| FileStore::new(folder.path().join("flow"))).await
}

/// Defects of stores in their treatment of receipts.
#[derive(Clone, Copy, Debug)]
enum Wrong {
    /// Keeps none.
    Loses,
    /// Keeps none of skipped cells.
    LosesOfSkipped,
    /// Treats an empty one as none.
    LosesEmpty,
    /// Keeps one line of it.
    Truncates,
    /// Stores each entry with the receipt of the last one.
    Swaps,
    /// Returns the existing entry with the receipt of the later writer.
    ReturnsTheLast,
}

impl Wrong {
    /// The entry that is stored, after the last one that was put.
    fn keeps(self, entry: Entry, last: Entry) -> Entry {
        let Entry { value, receipt } = entry;
        let receipt = match self {
            Self::Loses => None,
            Self::LosesOfSkipped => receipt.filter(|_| value.is_some()),
            Self::LosesEmpty => receipt.filter(|receipt| !receipt.is_empty()),
            Self::Truncates => receipt.map(|receipt| receipt.lines().next().unwrap_or_default().into()),
            Self::Swaps => receipt.map(|receipt| last.receipt.unwrap_or(receipt)),
            Self::ReturnsTheLast => receipt,
        };
        Entry { value, receipt }
    }

    /// A store with this defect.
    fn store(self, inner: MemoryStore, last: &Arc<Mutex<Entry>>) -> impl Store + use<> {
        let last = Arc::clone(last);
        on_put(inner, move |inner, column, step, entry| {
            let last = std::mem::replace(&mut *last.lock().expect("no test panics"), entry.clone());
            let put = inner.put(column, step, self.keeps(entry.clone(), last));
            async move {
                Ok(match put.await? {
                    Put::Exists(existing) if matches!(self, Self::ReturnsTheLast) => {
                        Put::Exists(Entry { receipt: entry.receipt, ..existing })
                    }
                    put => put,
                })
            }
        })
    }
}

/// A program may select a store when it runs.
#[tokio::test]
async fn a_pointer_to_a_store_is_one() {
    conformance(|| {
        let memory = MemoryStore::new();
        move || -> Box<dyn Store> { Box::new(memory.clone()) }
    })
    .await;
    conformance(|| {
        let memory = MemoryStore::new();
        move || -> Arc<dyn Store> { Arc::new(memory.clone()) }
    })
    .await;
}

#[tokio::test]
async fn stores_that_mishandle_receipts_are_caught() {
    use Wrong::{Loses, LosesEmpty, LosesOfSkipped, ReturnsTheLast, Swaps, Truncates};

    for wrong in [Loses, LosesOfSkipped, LosesEmpty, Truncates, Swaps, ReturnsTheLast] {
        let location = move || {
            let (memory, last) = (MemoryStore::new(), Arc::new(Mutex::new(Entry::SKIPPED)));
            move || wrong.store(memory.clone(), &last)
        };
        let outcome = tokio::spawn(async move { conformance(location).await }).await;
        let panic = outcome.expect_err("the suite must detect it").into_panic();
        let message = panic.downcast_ref::<String>().expect("a text");
        assert!(message.contains("clause 4") || message.contains("clause 5"), "{wrong:?}: {message}");
    }
}

/// Promises an order of puts, and stores every other one late.
struct Unordered(Arc<MemoryStore>);

impl Store for Unordered {
    fn open(&self) -> BoxFuture<'static, Result<Option<String>, StoreError>> {
        self.0.open()
    }

    fn define(&self, definition: String) -> BoxFuture<'static, Result<(), StoreError>> {
        self.0.define(definition)
    }

    fn stored_steps(&self, column: Name) -> BoxFuture<'static, Result<StoredSteps, StoreError>> {
        self.0.stored_steps(column)
    }

    fn load(
        &self,
        column: Name,
        steps: Range<usize>,
    ) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, StoreError>> {
        self.0.load(column, steps)
    }

    fn put(&self, column: Name, step: usize, entry: Entry) -> BoxFuture<'static, Result<Put, StoreError>> {
        let memory = Arc::clone(&self.0);
        async move {
            if !step.is_multiple_of(2) {
                tokio::task::yield_now().await;
            }
            memory.put(column, step, entry).await
        }
        .boxed()
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn delete(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        self.0.delete()
    }
}

#[tokio::test]
async fn a_store_that_breaks_its_promise_of_order_is_caught() {
    let location = || {
        let memory = MemoryStore::new();
        move || Unordered(Arc::new(memory.clone()))
    };
    let outcome = tokio::spawn(async move { conformance(location).await }).await;
    let panic = outcome.expect_err("the suite must detect it").into_panic();
    let message = panic.downcast_ref::<String>().expect("a text");
    assert!(message.contains("clause 12"), "{message}");
}

/// Defects of stores in the deletion of flows.
#[derive(Clone, Copy, Debug)]
enum WrongDeletion {
    DeletesNothing,
    KeepsTheDefinition,
    KeepsAColumn,
    DeletesAnOpenFlow,
}

struct Deleting {
    wrong: WrongDeletion,
    memory: MemoryStore,
}

impl StoreLayer for Deleting {
    fn delete(self: &Arc<Self>, inner: &Arc<dyn Store>) -> BoxFuture<'static, Result<(), StoreError>> {
        let (this, inner) = (Arc::clone(self), Arc::clone(inner));
        async move {
            if matches!(this.wrong, WrongDeletion::DeletesAnOpenFlow) {
                return inner.delete().await.or(Ok(()));
            }
            let user = Name::new("user").map_err(StoreError::other)?;
            let before = this.memory.clone();
            let definition = before.open().await?;
            let entries = before.load(user.clone(), 0..usize::MAX).await?;
            drop(before);
            if matches!(this.wrong, WrongDeletion::DeletesNothing) {
                return Ok(());
            }
            inner.delete().await?;
            let after = this.memory.clone();
            after.open().await?;
            match (this.wrong, definition) {
                (WrongDeletion::KeepsTheDefinition, Some(definition)) => after.define(definition).await,
                _ => put_all(&after, &user, entries).await,
            }
        }
        .boxed()
    }
}

async fn put_all(store: &MemoryStore, column: &Name, entries: Vec<(usize, Entry)>) -> Result<(), StoreError> {
    for (step, entry) in entries {
        store.put(column.clone(), step, entry).await?;
    }
    Ok(())
}

#[tokio::test]
async fn stores_that_mishandle_deletions_are_caught() {
    use WrongDeletion::{DeletesAnOpenFlow, DeletesNothing, KeepsAColumn, KeepsTheDefinition};

    for wrong in [DeletesNothing, KeepsTheDefinition, KeepsAColumn, DeletesAnOpenFlow] {
        let location = move || {
            let memory = MemoryStore::new();
            move || LayeredStore::new(memory.clone(), Deleting { wrong, memory: memory.clone() })
        };
        let outcome = tokio::spawn(async move { conformance(location).await }).await;
        let panic = outcome.expect_err("the suite must detect it").into_panic();
        let message = panic.downcast_ref::<String>().expect("a text");
        assert!(message.contains("clause 10"), "{wrong:?}: {message}");
    }
}
