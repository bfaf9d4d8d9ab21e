//! What flows on all stores have in common.

use columnar::prelude::*;
use columnar::store::{FileStore, MemoryStore, Store};

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
async fn i1_every_text_comes_back_as_it_was() -> Result<()> {
    let place = MemoryStore::new();
    keeps_texts(|| place.clone()).await?;
    let folder = tempfile::tempdir().expect("there is room");
    keeps_texts(|| FileStore::new(folder.path().join("flow"))).await
}
