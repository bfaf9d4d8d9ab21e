//! What flows on all stores have in common.

use std::sync::{Arc, Mutex};

use columnar::Name;
use columnar::prelude::*;
use columnar::store::{Entry, FileStore, MemoryStore, Put, Store, StoreError};
use columnar::testing::{LayeredStore, StoreLayer, conformance};
use futures::future::{BoxFuture, FutureExt};

/// Texts that are not what they look like.
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
    for text in TEXTS {
        f.push("user", text).await?;
    }
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
    let place = MemoryStore::new();
    keeps_texts(|| place.clone()).await?;
    let folder = tempfile::tempdir().expect("there is room");
    keeps_texts(|| FileStore::new(folder.path().join("flow"))).await
}

/// What a store may do to receipts that it must not.
#[derive(Clone, Copy, Debug)]
enum Wrong {
    /// It keeps none.
    Loses,
    /// It keeps none of cells without a value.
    LosesOfSkipped,
    /// It takes an empty one for none.
    LosesEmpty,
    /// It keeps one line of it.
    Cuts,
    /// Of those that come together it gives each cell that of the one before.
    Swaps,
    /// It says that what is there has the receipt of whoever asks.
    TellsTheLast,
}

/// Is careless with receipts.
struct Careless {
    wrong: Wrong,
    last: Mutex<Entry>,
}

impl Careless {
    fn keeps(&self, entry: Entry) -> Entry {
        let last = std::mem::replace(&mut *self.last.lock().expect("nobody panics"), entry.clone());
        let Entry { value, receipt } = entry;
        let receipt = match self.wrong {
            Wrong::Loses => None,
            Wrong::LosesOfSkipped => receipt.filter(|_| value.is_some()),
            Wrong::LosesEmpty => receipt.filter(|receipt| !receipt.is_empty()),
            Wrong::Cuts => receipt.map(|receipt| receipt.lines().next().unwrap_or_default().into()),
            Wrong::Swaps => receipt.map(|receipt| last.receipt.unwrap_or(receipt)),
            Wrong::TellsTheLast => receipt,
        };
        Entry { value, receipt }
    }
}

impl StoreLayer for Careless {
    fn put(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        column: Name,
        step: usize,
        entry: Entry,
    ) -> BoxFuture<'static, Result<Put, StoreError>> {
        let (put, wrong) = (inner.put(column, step, self.keeps(entry.clone())), self.wrong);
        async move {
            Ok(match put.await? {
                Put::Exists(there) if matches!(wrong, Wrong::TellsTheLast) => {
                    Put::Exists(Entry { receipt: entry.receipt, ..there })
                }
                put => put,
            })
        }
        .boxed()
    }
}

#[tokio::test]
async fn stores_that_mishandle_receipts_are_caught() {
    use Wrong::{Cuts, Loses, LosesEmpty, LosesOfSkipped, Swaps, TellsTheLast};

    for wrong in [Loses, LosesOfSkipped, LosesEmpty, Cuts, Swaps, TellsTheLast] {
        let place = move || {
            let careless = Arc::new(Careless { wrong, last: Mutex::new(Entry::SKIPPED) });
            let memory = MemoryStore::new();
            move || LayeredStore::with_shared(memory.clone(), Arc::clone(&careless))
        };
        let told = tokio::spawn(async move { conformance(place).await }).await;
        let panic = told.expect_err("it is found out").into_panic();
        let told = panic.downcast_ref::<String>().expect("a text");
        assert!(told.contains("clause 4") || told.contains("clause 5"), "{wrong:?}: {told}");
    }
}
