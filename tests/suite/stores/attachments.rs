//! Values with attachments on every store: they come back whole, their bytes are there once, and a text is never lost with
//! an attachment.

use std::error::Error as _;
use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use columnar::prelude::*;
use columnar::reopen::{OpenOptions, salvage, verify};
use columnar::rows::{read_json_lines, write_json_lines};
use columnar::simulation::Simulation;
use columnar::store::{Entry, FileStore, MemoryStore, Put, Store, StoreError, StoredSteps};
use columnar::testing::{LayeredStore, StoreLayer, conformance};
use columnar::{Attachment, CellState, Column, Name, Text, Value};
use columnar_tests::pictures::{dot, png};
use columnar_tests::store::on_put;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::TryStreamExt;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A picture of this size, with these bytes in a chunk that decoders pass.
pub(super) fn picture(width: u32, rest: &[u8]) -> Attachment {
    let mut bytes = png(width, 1);
    let end = bytes.split_off(bytes.len() - 12);
    let length = u32::try_from(rest.len()).expect("it is small").to_be_bytes();
    for part in [&length, b"teXt", rest, &[0; 4], &end] {
        bytes.extend_from_slice(part);
    }
    Attachment::new(bytes).expect("a picture")
}

pub(super) fn note() -> Attachment {
    Attachment::new("Launch on Monday.\n").expect("a text").alt("a \"note\"")
}

/// A source, and a column whose values have the first attachment of the source.
pub(super) fn columns() -> [Column; 1] {
    let echo = |cx: Context| async move {
        let first = cx.messages().parts().find_map(|part| part.attachments().first().cloned());
        first.into_iter().fold(Text::new("seen"), Text::with)
    };
    [column("echo", source("user").latest(), echo)]
}

/// A store that the first version with attachments wrote has these values.
pub(super) async fn is_the_first_format<S: Store>(store: impl Fn() -> S) -> Outcome {
    assert_eq!(verify(&store()).await?, []);
    let f = Flow::open(store(), columns()).await?;
    let values: Vec<Value> = (0..3).filter_map(|step| f.get("user", step)).collect();
    assert_eq!(values, ["What is this?", "And now?", ""]);
    let attachments: Vec<_> = values.iter().map(|value| value.attachments().to_vec()).collect();
    let note = Attachment::new("Launch on Monday.")?;
    assert_eq!(attachments, [vec![dot(), note], vec![], vec![dot()]]);
    assert_eq!(f.push("user", Text::new("The same.").with(dot())).await?, 3);
    Ok(())
}

/// Three values, of which the first two have the same picture, and the values of `echo`.
pub(super) async fn talk(store: impl Store) -> Result<()> {
    let f = Flow::open(store, columns()).await?;
    f.push("user", Text::new("What is this?").with(picture(7, b"")).with(note())).await?;
    f.push_all(
        "user",
        [Text::new("And this?").with(picture(7, b"").alt("a plan")).into(), Value::from("Nothing.")],
    )
    .await?;
    f.run().await?;
    Ok(())
}

fn assert_talk(f: &Flow) {
    let said = |column, step| {
        let value = f.get(column, step).expect("it is stored");
        (value.to_string(), value.attachments().to_vec())
    };
    assert_eq!(said("user", 0), ("What is this?".into(), vec![picture(7, b""), note()]));
    assert_eq!(said("user", 1), ("And this?".into(), vec![picture(7, b"").alt("a plan")]));
    assert_eq!(said("user", 2), ("Nothing.".into(), vec![]));
    assert_eq!(said("echo", 0), ("seen".into(), vec![picture(7, b"")]));
    assert_eq!(said("echo", 1), ("seen".into(), vec![picture(7, b"").alt("a plan")]));
    assert_eq!(said("echo", 2), ("seen".into(), vec![]));
}

/// The bytes are in memory once, for all columns and steps.
fn assert_shared(f: &Flow) {
    let of = |column, step| f.get(column, step).expect("it is stored").attachments()[0].bytes().as_ptr();
    let pictures = [of("user", 0), of("user", 1), of("echo", 0), of("echo", 1)];
    assert!(pictures.iter().all(|at| *at == pictures[0]), "{pictures:?}");
}

/// Opens the talk again in every way.
pub(super) async fn returns<S: Store>(handle: impl Fn() -> S) -> Outcome {
    talk(handle()).await?;
    let f = Flow::open(handle(), columns()).await?;
    assert_talk(&f);
    assert_shared(&f);
    assert_eq!(f.forecast().cells, 0);
    drop(f);

    let f = Flow::open(OpenOptions::new(handle()).recent(0), columns()).await?;
    assert_eq!(f.cell("user", 0)?, CellState::NotLoaded);
    let value = f.value("user", 1).await?.expect("it is stored");
    assert_eq!(value.attachments(), [picture(7, b"").alt("a plan")]);
    let all: Vec<(usize, Value)> = f.values("user", ..).try_collect().await?;
    let counts: Vec<_> = all.iter().map(|(step, value)| (*step, value.attachments().len())).collect();
    assert_eq!(counts, [(0, 2), (1, 1), (2, 0)]);

    // From the store, and from memory.
    for _ in 0..2 {
        let other = MemoryStore::new();
        drop(f.fork_into(3, other.clone()).await?);
        assert_talk(&Flow::open(other, columns()).await?);
        f.load(0).await?;
    }
    assert_talk(&f);
    assert_talk(&f.fork(3)?);
    drop(f);

    let other = MemoryStore::new();
    assert_eq!(salvage(&handle(), &other).await?, []);
    assert_talk(&Flow::open(other, columns()).await?);
    assert_eq!(verify(&handle()).await?, []);
    let recomputed = OpenOptions::new(handle()).recompute_from(1, ["echo"], MemoryStore::new());
    let f = Flow::open(recomputed, columns()).await?;
    assert_eq!(f.forecast().cells, 2);
    f.run().await?;
    assert_talk(&f);
    Ok(())
}

/// Reads a talk whose picture is gone or damaged. `reason` is the end of each error.
pub(super) async fn names_a_lost_picture<S: Store>(handle: impl Fn() -> S, reason: &str) -> Outcome {
    let picture = picture(7, b"");
    let digest = &picture.digest()[..8];
    let reason = format!("its attachment `image/png {digest}` {reason}; restore it from a backup");
    let error = Flow::open(handle(), columns()).await.expect_err("a value is not whole");
    assert!(matches!(error, Error::Load { .. }), "{error:?}");
    let source = error.source().expect("it has one").to_string();
    assert_eq!(source, format!("`user` at step 0 is damaged: {reason}"));

    // The texts are there, and the cells that need no picture.
    let f = Flow::open(OpenOptions::new(handle()).recent(0), columns()).await?;
    let mut lines = Vec::new();
    assert_eq!(write_json_lines(&f, &mut lines).await?, 3);
    assert!(String::from_utf8(lines)?.contains(r#"{"_step":0,"user":"What is this?","echo":"seen","#));
    assert_eq!(f.value("user", 2).await?.as_deref(), Some("Nothing."));
    assert!(
        f.value("user", 1).await.is_err() && f.load(1).await.is_err() && f.value("echo", 0).await.is_err()
    );
    f.push("user", "Go on.").await?;
    f.run().await?;
    assert_eq!(f.get("echo", 3).as_deref(), Some("seen"));
    drop(f);

    let defects = verify(&handle()).await?;
    let cells: Vec<_> = defects.iter().map(|defect| (defect.column.as_str(), defect.step)).collect();
    assert_eq!(cells, [("echo", 0), ("echo", 1), ("user", 0), ("user", 1)]);
    assert!(defects.iter().all(|defect| defect.reason == reason), "{defects:?}");

    let copy = MemoryStore::new();
    assert_eq!(salvage(&handle(), &copy).await?, defects);
    assert_eq!(verify(&copy).await?, []);
    let f = Flow::open(copy, columns()).await?;
    assert_eq!(f.get("user", 0).map(|value| value.attachments().to_vec()), Some(vec![note()]));
    assert_eq!(f.get("user", 1).as_deref(), Some("And this?"));
    Ok(())
}

#[tokio::test]
async fn values_come_back_with_their_attachments() -> Outcome {
    let memory = MemoryStore::new();
    returns(|| memory.clone()).await?;
    let folder = tempfile::tempdir()?;
    returns(|| FileStore::new(folder.path().join("chat"))).await
}

/// A store in memory that loses attachments, or has others in their place.
struct Losing(Option<&'static [u8]>);

impl StoreLayer for Losing {
    fn load_blob(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        digest: String,
    ) -> BoxFuture<'static, Result<Option<Arc<[u8]>>, StoreError>> {
        if digest != picture(7, b"").digest() {
            return inner.load_blob(digest);
        }
        let bytes = self.0.map(Into::into);
        async move { Ok(bytes) }.boxed()
    }
}

#[tokio::test]
async fn s23_an_attachment_that_a_store_lost_or_changed_is_named_and_its_text_stays() -> Outcome {
    let longer = [picture(7, b"").bytes(), b"\0"].concat().leak();
    let other = picture(8, b"").bytes().to_vec().leak();
    let cases: [(Option<&'static [u8]>, &str); 5] = [
        (None, "is gone"),
        (Some(b""), "was changed or damaged"),
        (Some(b"another"), "was changed or damaged"),
        (Some(longer), "was changed or damaged"),
        (Some(other), "was changed or damaged"),
    ];
    for (bytes, reason) in cases {
        let memory = MemoryStore::new();
        talk(memory.clone()).await?;
        names_a_lost_picture(|| LayeredStore::new(memory.clone(), Losing(bytes)), reason).await?;
    }
    Ok(())
}

/// A store of somebody who has not heard of attachments.
#[derive(Clone)]
struct Plain(MemoryStore);

impl Store for Plain {
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
        steps: std::ops::Range<usize>,
    ) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, StoreError>> {
        self.0.load(column, steps)
    }

    fn put(&self, column: Name, step: usize, entry: Entry) -> BoxFuture<'static, Result<Put, StoreError>> {
        self.0.put(column, step, entry)
    }

    fn delete(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        self.0.delete()
    }
}

#[tokio::test]
async fn s24_a_store_that_keeps_no_attachments_refuses_them_before_the_value() -> Outcome {
    conformance(|| {
        let memory = MemoryStore::new();
        move || Plain(memory.clone())
    })
    .await;

    let store = Plain(MemoryStore::new());
    let drawn =
        column("drawn", source("user").latest(), |_| async { Text::new("a plan").with(picture(7, b"")) });
    let f = Flow::open(store.clone(), [drawn]).await?;
    let error = f.push("user", Text::new("What is this?").with(note())).await.expect_err("it is refused");
    let reason = error.source().expect("it has one").to_string();
    assert!(reason.starts_with("the store keeps no attachments: implement `put_blob`"), "{reason}");
    assert_eq!(f.push_all("user", ["one"]).await?, 1);
    let batch = [Value::from("two"), Text::new("three").with(note()).into()];
    assert!(f.push_all("user", batch).await.is_err());
    assert_eq!(f.len("user")?, 2, "the value before it is stored");
    let error = f.run().await.expect_err("no value of `drawn` is stored");
    assert!(matches!(&error, Error::Store { column, step: 0, .. } if *column == "drawn"), "{error:?}");
    drop(f);
    store.0.open().await?;
    assert_eq!(store.0.stored_steps(Name::new("drawn")?).await?, StoredSteps::default());
    // Without a store, a flow has attachments.
    let f = flow(columns())?;
    f.push("user", Text::new("What is this?").with(note())).await?;
    assert_eq!(f.get("user", 0).map(|value| value.attachments().len()), Some(1));
    Ok(())
}

/// Counts the calls, and fails at one.
#[derive(Default)]
struct Counted {
    calls: AtomicUsize,
    fails_at: Option<usize>,
}

impl StoreLayer for Counted {
    fn put_blob(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        digest: String,
        bytes: Arc<[u8]>,
    ) -> BoxFuture<'static, Result<(), StoreError>> {
        if Some(self.calls.fetch_add(1, Ordering::SeqCst)) == self.fails_at {
            return async { Err(StoreError::other("the disk is full")) }.boxed();
        }
        inner.put_blob(digest, bytes)
    }
}

#[tokio::test]
async fn s4_an_attachment_that_cannot_be_stored_is_a_value_that_cannot_be_stored() -> Outcome {
    for fails_at in 0..4 {
        let memory = MemoryStore::new();
        let counted = Counted { fails_at: Some(fails_at), ..Counted::default() };
        assert!(talk(LayeredStore::new(memory.clone(), counted)).await.is_err(), "{fails_at}");
        // What is stored is whole, and the rest can be done.
        assert_eq!(verify(&memory).await?, []);
        let f = Flow::open(memory, columns()).await?;
        f.run().await?;
        assert_eq!(f.len("user")?, [0, 0, 1, 3][fails_at]);
    }
    Ok(())
}

/// Defects of stores in their treatment of attachments.
#[derive(Clone, Copy, Debug)]
enum WrongBlobs {
    Loses,
    Truncates,
    /// Returns the last bytes under each digest.
    Mixes,
}

struct Mishandling {
    wrong: WrongBlobs,
    last: Mutex<Option<Arc<[u8]>>>,
}

impl StoreLayer for Mishandling {
    fn put_blob(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        digest: String,
        bytes: Arc<[u8]>,
    ) -> BoxFuture<'static, Result<(), StoreError>> {
        *self.last.lock().expect("no test panics") = Some(Arc::clone(&bytes));
        inner.put_blob(digest, bytes)
    }

    fn load_blob(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        digest: String,
    ) -> BoxFuture<'static, Result<Option<Arc<[u8]>>, StoreError>> {
        let (this, loaded) = (Arc::clone(self), inner.load_blob(digest));
        async move {
            let Some(bytes) = loaded.await? else { return Ok(None) };
            Ok(match this.wrong {
                WrongBlobs::Loses => None,
                WrongBlobs::Truncates => Some(bytes[..bytes.len() / 2].into()),
                WrongBlobs::Mixes => this.last.lock().expect("no test panics").clone().or(Some(bytes)),
            })
        }
        .boxed()
    }
}

#[tokio::test]
async fn stores_that_mishandle_attachments_are_caught() {
    for wrong in [WrongBlobs::Loses, WrongBlobs::Truncates, WrongBlobs::Mixes] {
        let location = move || {
            let memory = MemoryStore::new();
            move || LayeredStore::new(memory.clone(), Mishandling { wrong, last: Mutex::default() })
        };
        let outcome = tokio::spawn(async move { conformance(location).await }).await;
        let panic = outcome.expect_err("the suite must detect it").into_panic();
        let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned()).expect("a text");
        assert!(message.contains("clause 13"), "{wrong:?}: {message}");
    }
}

/// The push was dropped when the value was stored, and the next push found another value than its own.
#[tokio::test]
async fn c5_a_dropped_push_leaves_a_value_with_its_attachments() -> Outcome {
    let memory = MemoryStore::new();
    let dropping = on_put(memory.clone(), |inner, column, step, entry| async move {
        let put = inner.put(column, step, entry).await?;
        // The confirmation of the first value never comes.
        if step == 0 && put == Put::Stored { futures::future::pending().await } else { Ok(put) }
    });
    let f = Flow::open(dropping, columns()).await?;
    let first = f.push("user", Text::new("What is this?").with(picture(7, b""))).now_or_never();
    assert!(first.is_none(), "it waits");
    assert_eq!(f.push("user", "Nothing.").await?, 1);
    let found = f.get("user", 0).expect("it was stored");
    assert_eq!((found.as_str(), found.attachments()), ("What is this?", &[picture(7, b"")][..]));
    Ok(())
}

#[test]
fn r7_in_many_schedules_no_value_is_stored_before_its_attachments() {
    Simulation::new().schedules(200).run(|world| async move {
        let store = world.store();
        let f = Flow::open(store.clone(), columns()).await?;
        world.enter(&f);
        for step in 0..4 {
            let text = Text::new("What is this?").with(picture(step + 1, b""));
            f.push("user", text.clone()).await?;
            world.drive(&f).await;
        }
        let again = Flow::open(store, columns()).await?;
        for step in 0..4 {
            for column in ["user", "echo"] {
                let shown = again.get(column, step as usize).map(|value| value.attachments().to_vec());
                assert_eq!(shown, Some(vec![picture(step + 1, b"")]), "`{column}` at step {step}");
            }
        }
        Ok(())
    });
}

/// The bytes of all files in a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries
        .map(|path| if path.is_dir() { size(&path) } else { fs::metadata(path).expect("it is there").len() })
        .sum()
}

#[tokio::test]
async fn q1_a_picture_of_20_megabytes_in_1000_steps_is_stored_and_in_memory_once() -> Outcome {
    const LARGE: usize = 20 << 20;
    let scratch = tempfile::tempdir()?;
    let folder = scratch.path().join("chat");
    let store = LayeredStore::new(FileStore::new(&folder), Counted::default());
    let f = Flow::open(store.clone(), columns()).await?;
    // Opened anew for the first steps, as a program does that gets it anew.
    for _ in 0..2 {
        f.push("user", Text::new("What is this?").with(picture(7, &vec![1; LARGE]))).await?;
    }
    let shown = f.get("user", 0).expect("it is stored").attachments()[0].clone();
    for _ in 2..1000 {
        f.push("user", Text::new("What is this?").with(shown.clone())).await?;
    }
    f.run().await?;
    let one = shown.bytes().as_ptr();
    let is_one = |f: &Flow, column: &str| {
        (0..1000).all(|step| {
            f.get(column, step).is_some_and(|value| value.attachments()[0].bytes().as_ptr() == one)
        })
    };
    assert!(is_one(&f, "user") && is_one(&f, "echo"));
    drop(f);
    drop(store);
    let attached = size(&folder.join("_attachments"));
    assert_eq!(attached, shown.len() as u64);
    assert!(size(&folder) - attached < 1 << 20, "{}", size(&folder) - attached);

    let f = Flow::open(FileStore::new(&folder), columns()).await?;
    let read = f.get("echo", 999).expect("it is stored").attachments()[0].bytes().as_ptr();
    let all = (0..1000)
        .all(|step| f.get("user", step).is_some_and(|value| value.attachments()[0].bytes().as_ptr() == read));
    assert!(all);
    Ok(())
}

#[tokio::test]
async fn rows_name_attachments_and_are_read_as_texts() -> Outcome {
    let memory = MemoryStore::new();
    talk(memory.clone()).await?;
    let f = Flow::open(memory, columns()).await?;
    let mut lines = Vec::new();
    write_json_lines(&f, &mut lines).await?;
    let first: serde_json::Value =
        serde_json::from_slice(lines.split(|byte| *byte == b'\n').next().expect("a line"))?;
    let [picture, note] = [picture(7, b""), note()];
    assert_eq!(
        first["_attachments"],
        serde_json::json!({
            "user": [
                { "sha256": picture.digest(), "type": "image/png", "bytes": picture.len() },
                { "sha256": note.digest(), "type": "text/plain", "bytes": 18, "alt": "a \"note\"" },
            ],
            "echo": [{ "sha256": picture.digest(), "type": "image/png", "bytes": picture.len() }],
        })
    );
    assert_eq!(String::from_utf8(lines.clone())?.matches("_attachments").count(), 2, "step 2 has none");
    let store = MemoryStore::new();
    assert_eq!(read_json_lines(&store, Cursor::new(lines)).await?, 3);
    let again = Flow::open(store, columns()).await?;
    let value = again.get("user", 0).expect("it was read");
    assert_eq!((value.as_str(), value.attachments()), ("What is this?", &[][..]));
    Ok(())
}
