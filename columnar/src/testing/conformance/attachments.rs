//! The attachments of values, which are stored before the entries.

use std::sync::Arc;

use futures::future::FutureExt;

use super::copies::{columns, known};
use super::{define, opened, reopened, store};
use crate::flow::Flow;
use crate::history::{Attachment, Text};
use crate::store::{Entry, MemoryStore, Store, StoreError};

/// Checks clause 13, and says so if the store keeps no attachments.
pub(super) async fn keeps_attachments<S: Store, H: Fn() -> S>(location: &impl Fn() -> H) {
    let handle = location();
    let store = opened(&handle).await;
    let refused = store.put_blob(attachment("a").digest().into(), attachment("a").shared_bytes()).await;
    if matches!(refused, Err(StoreError::NoAttachments)) {
        eprintln!("clause 13 is not tested, because the store keeps no attachments");
        return refuses_a_value_before_it_is_put(&location()).await;
    }
    assert!(refused.is_ok(), "clause 13: an attachment can be stored, but {refused:?}");
    drop(store);
    returns_exactly_the_bytes(&location()).await;
    stores_a_dropped_attachment_whole_or_not_at_all(&location()).await;
    deletes_what_no_flow_has(&location).await;
    opens_a_copy_with_the_attachments(&location).await;
}

fn attachment(text: &str) -> Attachment {
    let made = Attachment::new(text);
    made.unwrap_or_else(|error| unreachable!("a text can be attached: {error}"))
}

async fn put<S: Store>(store: &S, attachment: &Attachment) {
    let stored = store.put_blob(attachment.digest().to_owned(), attachment.shared_bytes()).await;
    assert!(stored.is_ok(), "clause 13: an attachment can be stored, but {stored:?}");
}

/// The bytes under the digest of an attachment.
async fn load<S: Store>(store: &S, attachment: &Attachment) -> Option<Arc<[u8]>> {
    let loaded = store.load_blob(attachment.digest().to_owned()).await;
    loaded.unwrap_or_else(|error| unreachable!("clause 13: an attachment can be looked for: {error}"))
}

async fn refuses_a_value_before_it_is_put<S: Store>(handle: &impl Fn() -> S) {
    let flow = known(Flow::open(handle(), columns()).await);
    let pushed = flow.push("user", Text::new("text").with(attachment("a"))).await;
    assert!(pushed.is_err() && flow.steps() == 0, "clause 13: the value is refused, but {pushed:?}");
    let pushed = flow.push("user", "text").await;
    assert!(pushed.is_ok(), "clause 13: a value without attachments is stored, but {pushed:?}");
}

async fn returns_exactly_the_bytes<S: Store>(handle: &impl Fn() -> S) {
    let closed = handle();
    let all = attachment("all");
    let refused = closed.put_blob(all.digest().into(), all.shared_bytes()).await;
    assert!(refused.is_err(), "clause 1: nothing is written through a handle that is not open");
    let every_byte: Vec<u8> =
        (0..1 << 20).map(|at: usize| at.to_le_bytes().iter().fold(7, |a, b| a ^ b)).collect();
    let made = Attachment::new(every_byte);
    let large = made.unwrap_or_else(|error| unreachable!("bytes can be attached: {error}"));
    let texts = ["a", "\0", "one\r\ntwo", "'; drop table attachment; --"].map(attachment);
    let mut store = reopened(closed, handle).await;
    assert_eq!(load(&store, &large).await, None, "clause 13: nothing was put");
    for attachment in texts.iter().chain([&large, &large]) {
        put(&store, attachment).await;
    }
    for _ in 0..2 {
        for attachment in texts.iter().chain([&large]) {
            // Compared apart from the assertion, whose message would quote a megabyte.
            let is_same = load(&store, attachment).await.as_deref() == Some(attachment.bytes());
            assert!(is_same, "clause 13: the bytes come back as they were put");
        }
        assert_eq!(load(&store, &all).await, None, "clause 13: another digest has no bytes");
        store = reopened(store, handle).await;
    }
}

async fn stores_a_dropped_attachment_whole_or_not_at_all<S: Store>(handle: &impl Fn() -> S) {
    let long = attachment(&"long ".repeat(100_000));
    let store = opened(handle).await;
    drop(store.put_blob(long.digest().into(), long.shared_bytes()));
    let _ = store.put_blob(long.digest().into(), long.shared_bytes()).now_or_never();
    let store = reopened(store, handle).await;
    let is_whole = load(&store, &long).await.is_none_or(|bytes| *bytes == *long.bytes());
    assert!(is_whole, "clause 13: an attachment whose put was dropped is there as a whole or not at all");
    put(&store, &long).await;
    assert!(load(&store, &long).await.is_some(), "clause 13: it can be put again");
}

async fn deletes_what_no_flow_has<S: Store, H: Fn() -> S>(location: &impl Fn() -> H) {
    let [first, second] = [location(), location()];
    let [both, one] = ["both", "one"].map(attachment);
    for handle in [&first, &second] {
        let store = opened(handle).await;
        define(&store, "{}").await;
        put(&store, &both).await;
        self::store(&store, "user", 0, Entry::from("a"), "clause 13").await;
    }
    put(&opened(&first).await, &one).await;
    let deleted = first().delete().await;
    assert!(deleted.is_ok(), "clause 10: a closed flow can be deleted, but {deleted:?}");
    let again = opened(&first).await;
    for attachment in [&both, &one] {
        assert_eq!(load(&again, attachment).await, None, "clause 13: a deleted flow has no attachments");
    }
    let other = load(&opened(&second).await, &both).await;
    assert_eq!(other.as_deref(), Some(both.bytes()), "clause 13: another flow keeps its attachments");
}

async fn opens_a_copy_with_the_attachments<S: Store, H: Fn() -> S>(location: &impl Fn() -> H) {
    let flow = known(Flow::open(MemoryStore::new(), columns()).await);
    let shown = attachment("shown").alt("a text");
    for text in ["first", "second"] {
        let pushed = flow.push("user", Text::new(text).with(shown.clone()).with(attachment(text))).await;
        assert!(pushed.is_ok(), "clause 13: a value with attachments can be pushed, but {pushed:?}");
    }
    let copy = location();
    drop(known(flow.fork_into(2, copy()).await));
    let copied = known(Flow::open(copy(), columns()).await);
    for (step, text) in ["first", "second"].iter().enumerate() {
        let value = copied.get("user", step).unwrap_or_default();
        assert_eq!((value.as_str(), value.attachments()), (*text, &[shown.clone(), attachment(text)][..]));
    }
}
