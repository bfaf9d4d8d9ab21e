//! The conformance suite of stores.

mod attachments;
mod copies;
mod handles;
mod readers;

use futures::future::{FutureExt, join, join_all};

use self::handles::{
    define, is_locked, load, load_steps, opened, paid, put, receipt, reopened, store, stored_steps,
};
use crate::declare::Name;
use crate::store::{Entry, Put, Store, StoredSteps};

/// Checks all clauses of [`Store`] that are visible from outside. For the tests of authors who write a store, or a
/// wrapper of one.
///
/// `location` makes a new, empty location with each call, and returns a function that makes handles to that location.
///
/// ```
/// use columnar::store::MemoryStore;
/// use columnar::testing::conformance;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// conformance(|| {
///     let location = MemoryStore::new();
///     move || location.clone()
/// })
/// .await;
/// # }
/// ```
///
/// Failing or full disks, power loss, and the detection of changes made by other programs need separate tests.
///
/// # Panics
///
/// If the store violates a clause. The message has the number of the clause and the observation.
pub async fn conformance<S: Store, H: Fn() -> S>(location: impl Fn() -> H) {
    has_one_owner(&location()).await;
    refuses_writes_until_it_is_opened(&location()).await;
    keeps_what_it_has_confirmed(&location()).await;
    lets_the_first_writer_win(&location()).await;
    lets_one_of_many_writers_win(&location()).await;
    returns_exactly_the_entries_that_were_put(&location()).await;
    addresses_cells_in_any_order(&location()).await;
    keeps_columns_apart(&location()).await;
    loads_exactly_the_requested_steps(&location()).await;
    takes_concurrent_puts(&location()).await;
    stores_a_dropped_put_whole_or_not_at_all(&location()).await;
    keeps_the_order_that_it_promises(&location()).await;
    keeps_the_last_definition(&location()).await;
    deletes_a_flow_as_a_whole(&location()).await;
    deletes_nothing_where_there_is_no_flow(&location()).await;
    deletes_a_flow_or_opens_it(&location()).await;
    copies::shows_a_copy_whole_or_not_at_all(&location).await;
    attachments::keeps_attachments(&location).await;
    readers::lets_readers_in(&location).await;
}

/// Texts that stores have been known to change.
const TEXTS: [&str; 16] = [
    "",
    " ",
    "\n",
    "\n\n",
    "one\r\ntwo\rthree\n",
    "a\0b\0",
    "\u{feff}with a mark",
    "\u{2028}\u{2029}\u{85}",
    "\u{202e}backwards\u{200b}",
    "e\u{301} is not \u{e9}",
    "\u{1f469}\u{200d}\u{1f680}",
    "'; drop table cells; --",
    "\\ \" ' ` $1 %s {} ?1",
    "</user>\n\n<user>",
    "skipped",
    "null",
];

async fn has_one_owner<S: Store>(handle: &impl Fn() -> S) {
    let first = opened(handle).await;
    // Refused twice, because dropping a refused handle must not free the lock of the owner.
    for _ in 0..2 {
        let second = handle();
        let refused = second.open().await;
        assert!(is_locked(&refused), "clause 1: a second handle is refused as locked, and got {refused:?}");
    }
    store(&first, "user", 0, Entry::from("a"), "clause 1: the owner goes on").await;
    let again = first.open().await;
    assert!(again.is_ok(), "clause 1: the owner may open its handle again, but got {again:?}");
    assert_eq!(load(&first, "user").await, [(0, Entry::from("a"))], "clause 3: opened again");
    drop(first);
    let next = handle();
    let free = next.open().await;
    assert!(free.is_ok(), "clause 1: the location is free after its owner is gone, but got {free:?}");
}

async fn refuses_writes_until_it_is_opened<S: Store>(handle: &impl Fn() -> S) {
    let store = handle();
    let put = store.put(Name::known("user"), 0, Entry::from("a")).await;
    assert!(put.is_err(), "clause 1: nothing is written through a handle that is not open, but {put:?}");
    let defined = store.define("{}".into()).await;
    assert!(defined.is_err(), "clause 1: nothing is defined through a handle that is not open");
    let store = reopened(store, handle).await;
    assert_eq!(stored_steps(&store, "user").await, StoredSteps::default(), "clause 1: nothing was written");
}

async fn keeps_what_it_has_confirmed<S: Store>(handle: &impl Fn() -> S) {
    for step in 0..5 {
        let store = opened(handle).await;
        for earlier in 0..step {
            let entry = load_steps(&store, "user", earlier..earlier + 1).await;
            assert_eq!(entry, [(earlier, Entry::from(format!("text {earlier}")))], "clause 3: opened again");
        }
        self::store(&store, "user", step, Entry::from(format!("text {step}")), "clause 3").await;
    }
}

async fn lets_the_first_writer_win<S: Store>(handle: &impl Fn() -> S) {
    let text = Entry::from("first");
    let empty = Entry::SKIPPED;
    let paid = Entry::from("first").with_receipt(receipt(0));
    let in_vain = Entry::SKIPPED.with_receipt(receipt(1));
    let rivals = [
        (&text, &empty),
        (&empty, &text),
        (&text, &Entry::from("second")),
        (&Entry::from(""), &empty),
        (&paid, &Entry::from("first").with_receipt(receipt(2))),
        (&text, &paid),
        (&in_vain, &empty),
        (&empty, &in_vain),
    ];
    let store = opened(handle).await;
    for (step, (first, second)) in rivals.into_iter().enumerate() {
        self::store(&store, "map", step, first.clone(), "clause 4").await;
        let existing = Put::Exists(first.clone());
        assert_eq!(put(&store, "map", step, second.clone()).await, existing, "clause 4: at step {step}");
        assert_eq!(put(&store, "map", step, first.clone()).await, existing, "clause 4: the same entry again");
    }
    let kept: Vec<_> = rivals.into_iter().map(|(first, _)| first.clone()).enumerate().collect();
    assert_eq!(load(&reopened(store, handle).await, "map").await, kept, "clause 4: opened again");
}

async fn lets_one_of_many_writers_win<S: Store>(handle: &impl Fn() -> S) {
    let store = opened(handle).await;
    let writers = (0..32).map(|writer| store.put(Name::known("map"), 7, paid(format!("writer {writer}"))));
    let puts: Vec<_> = join_all(writers).await.into_iter().map(Result::ok).collect();
    let stored: Vec<_> = puts.iter().zip(0..).filter(|(put, _)| **put == Some(Put::Stored)).collect();
    let [(_, winner)] = stored.as_slice() else {
        unreachable!("clause 4: one of 32 writers wins, not {}", stored.len())
    };
    let existing = paid(format!("writer {winner}"));
    let losers = puts.iter().filter(|put| **put == Some(Put::Exists(existing.clone()))).count();
    assert_eq!(losers, 31, "clause 4: the others get the winning entry: {puts:?}");
    assert_eq!(load(&store, "map").await, [(7, existing)], "clause 4");
}

async fn returns_exactly_the_entries_that_were_put<S: Store>(handle: &impl Fn() -> S) {
    let large = "0123456789abcde\n".repeat(1 << 16);
    let texts = TEXTS.into_iter().chain([large.as_str()]).map(Entry::from);
    // Each text as a receipt, of a value and of a skipped cell.
    let receipts = TEXTS.map(str::to_owned).into_iter().chain([receipt("é")]);
    let paid = receipts.zip(TEXTS.into_iter().rev().cycle()).flat_map(|(receipt, text)| {
        [Entry::from(text), Entry::SKIPPED].map(|entry| entry.with_receipt(receipt.as_str()))
    });
    let entries: Vec<_> = texts.chain([Entry::SKIPPED]).chain(paid).enumerate().collect();
    let mut store = opened(handle).await;
    for (step, entry) in &entries {
        self::store(&store, "user", *step, entry.clone(), "clause 5").await;
    }
    for _ in 0..2 {
        let loaded = load(&store, "user").await;
        assert_eq!(loaded.len(), entries.len(), "clause 5: every entry comes back");
        for (existing, put) in loaded.iter().zip(&entries) {
            // Compared apart from the assertion, whose message would quote a megabyte.
            let same = existing == put;
            assert!(same, "clause 5: the entry of step {} comes back as it was put, with its receipt", put.0);
        }
        store = reopened(store, handle).await;
    }
}

async fn addresses_cells_in_any_order<S: Store>(handle: &impl Fn() -> S) {
    let store = opened(handle).await;
    let mut existing = Vec::new();
    // A store must not reserve room for the gap before step 1,000,000.
    for step in [5, 0, 9, 1, 1_000_000, 3, 2, 4] {
        self::store(&store, "map", step, Entry::from(step.to_string()), "clause 8").await;
        existing.push(step);
        let known = stored_steps(&store, "map").await;
        assert_eq!(known, existing.iter().copied().collect(), "clause 8: after step {step}");
    }
    let store = reopened(store, handle).await;
    let known = stored_steps(&store, "map").await;
    assert_eq!(known, StoredSteps { prefix: 6, beyond: vec![9, 1_000_000] }, "clause 8: opened again");
    self::store(&store, "map", 6, Entry::SKIPPED, "clause 8").await;
    assert_eq!(stored_steps(&store, "map").await.prefix, 7, "clause 8: a skipped step is one");
}

async fn keeps_columns_apart<S: Store>(handle: &impl Fn() -> S) {
    // `con` and `nul` are devices on Windows; others resemble the names of files and tables.
    let names = ["a", "ab", "a.b", "a_b", "debate.critic", "con", "nul", "columnar", "definition", "x0"];
    let longest = "l".repeat(64);
    let names: Vec<&str> = names.into_iter().chain([longest.as_str()]).collect();
    let store = opened(handle).await;
    for (at, column) in names.iter().enumerate() {
        self::store(&store, column, at % 3, Entry::from(*column), "clause 8").await;
    }
    let store = reopened(store, handle).await;
    for (at, column) in names.iter().enumerate() {
        let entries = load(&store, column).await;
        assert_eq!(entries, [(at % 3, Entry::from(*column))], "clause 8: `{column}` alone");
    }
    assert_eq!(load(&store, "never").await, [], "clause 8: a column that nothing was put into");
    assert_eq!(stored_steps(&store, "never").await, StoredSteps::default(), "clause 8");
}

async fn loads_exactly_the_requested_steps<S: Store>(handle: &impl Fn() -> S) {
    let store = opened(handle).await;
    for step in (0..40).filter(|step| step % 7 != 6) {
        let entry = if step % 5 == 0 { Entry::SKIPPED } else { Entry::from(step.to_string()) };
        put(&store, "map", step, if step % 2 == 0 { entry.with_receipt(receipt(step)) } else { entry }).await;
    }
    let whole = load(&store, "map").await;
    for (start, end) in [(0, 0), (0, 1), (6, 7), (5, 9), (20, 20), (35, 400), (39, usize::MAX), (400, 500)] {
        let expected: Vec<_> =
            whole.iter().filter(|(step, _)| (start..end).contains(step)).cloned().collect();
        assert_eq!(load_steps(&store, "map", start..end).await, expected, "clause 8: steps {start}..{end}");
    }
}

async fn takes_concurrent_puts<S: Store>(handle: &impl Fn() -> S) {
    let store = opened(handle).await;
    let cells = (0..40).flat_map(|step| ["map", "journal", "user"].map(|column| (column, step)));
    let puts =
        cells.map(|(column, step)| store.put(Name::known(column), step, paid(format!("{column} {step}"))));
    for put in join_all(puts).await {
        assert!(matches!(put, Ok(Put::Stored)), "clause 8: many at a time, but {put:?}");
    }
    let store = reopened(store, handle).await;
    for column in ["map", "journal", "user"] {
        let expected: Vec<_> = (0..40).map(|step| (step, paid(format!("{column} {step}")))).collect();
        assert_eq!(load(&store, column).await, expected, "clause 8: `{column}`");
    }
}

async fn stores_a_dropped_put_whole_or_not_at_all<S: Store>(handle: &impl Fn() -> S) {
    // Half a megabyte, so that a store that writes in pieces can be cut off in the middle.
    let text = "long ".repeat(100_000);
    let store = opened(handle).await;
    drop(store.put(Name::known("map"), 0, Entry::from(text.as_str())));
    // The put begins, if a poll begins it, and is dropped then.
    let begun = store.put(Name::known("map"), 1, Entry::from(text.as_str())).now_or_never();
    let store = reopened(store, handle).await;
    for (step, entry) in load(&store, "map").await {
        let whole = entry == Entry::from(text.as_str());
        assert!(whole, "clause 2: step {step}, whose put was dropped, is there as a whole or not at all");
    }
    if let Some(Ok(Put::Stored)) = begun {
        let existing = !load_steps(&store, "map", 1..2).await.is_empty();
        assert!(existing, "clause 3: step 1 was confirmed at once");
    }
}

async fn keeps_the_order_that_it_promises<S: Store>(handle: &impl Fn() -> S) {
    // Dropped after more and more polls, so that the puts end anywhere.
    for polls in 0..4 {
        let store = opened(handle).await;
        if !store.keeps_order() {
            return;
        }
        let first = stored_steps(&store, "map").await.prefix;
        let puts =
            (first..first + 40).map(|step| store.put(Name::known("map"), step, paid(format!("map {step}"))));
        let mut puts = join_all(puts);
        // `any` stops when all are done, because nothing may be polled after its end.
        let _ = (0..polls).any(|_| (&mut puts).now_or_never().is_some());
        drop(puts);
        let store = reopened(store, handle).await;
        let StoredSteps { beyond, .. } = stored_steps(&store, "map").await;
        assert!(beyond.is_empty(), "clause 12: steps {beyond:?} are stored after a gap");
    }
}

async fn keeps_the_last_definition<S: Store>(handle: &impl Fn() -> S) {
    let mut kept: Option<String> = None;
    for text in TEXTS.iter().chain(&["{\"columns\":[]}"]) {
        let store = handle();
        let known = store.open().await.unwrap_or_else(|error| unreachable!("the location is free: {error}"));
        assert_eq!(known, kept, "clause 9: opened again");
        define(&store, text).await;
        put(&store, "user", 0, Entry::from("a")).await;
        kept = Some((*text).to_owned());
    }
}

async fn deletes_a_flow_as_a_whole<S: Store>(handle: &impl Fn() -> S) {
    let store = opened(handle).await;
    for step in 0_usize..20 {
        let text = Entry::from(step.to_string());
        put(&store, "user", step, text.clone()).await;
        let entry = if step.is_multiple_of(3) { Entry::SKIPPED } else { text };
        put(&store, "map", step * 2, entry.with_receipt(receipt(step))).await;
    }
    define(&store, "{}").await;
    for refused in [store.delete().await, handle().delete().await] {
        assert!(is_locked(&refused), "clause 10: an open flow is not deleted, but {refused:?}");
    }
    assert_eq!(load(&store, "map").await.len(), 20, "clause 10: an open flow is not deleted");
    drop(store);
    let deleted = handle().delete().await;
    assert!(deleted.is_ok(), "clause 10: a closed flow can be deleted, but {deleted:?}");

    let store = handle();
    let opened_again = store.open().await;
    let is_free = matches!(opened_again, Ok(None));
    assert!(is_free, "clause 10: a deleted flow has no definition: {opened_again:?}");
    for column in ["user", "map"] {
        assert_eq!(stored_steps(&store, column).await, StoredSteps::default(), "clause 10: `{column}`");
        assert_eq!(load(&store, column).await, [], "clause 10: `{column}` is deleted");
    }
    self::store(&store, "map", 4, Entry::from("another"), "clause 10: its cells are free").await;
    let entries = load(&reopened(store, handle).await, "map").await;
    assert_eq!(entries, [(4, Entry::from("another"))], "clause 10: only the new flow is there");
}

async fn deletes_nothing_where_there_is_no_flow<S: Store>(handle: &impl Fn() -> S) {
    for _ in 0..2 {
        let deleted = handle().delete().await;
        assert!(deleted.is_ok(), "clause 10: there is nothing to delete, but {deleted:?}");
    }
    let store = handle();
    let opened = store.open().await;
    assert!(matches!(opened, Ok(None)), "clause 10: the location can be opened, but {opened:?}");
}

async fn deletes_a_flow_or_opens_it<S: Store>(handle: &impl Fn() -> S) {
    for _ in 0..8 {
        let store = opened(handle).await;
        for step in 0..3 {
            store.put(Name::known("user"), step, Entry::from("a")).await.ok();
        }
        drop(store);
        let (openings, deletions): (Vec<S>, Vec<S>) = (0..6).map(|_| (handle(), handle())).unzip();
        let opening = join_all(openings.iter().map(Store::open));
        let deleting = join_all(deletions.iter().map(Store::delete));
        let (opened, deleted) = join(opening, deleting).await;
        let opened: Vec<_> = opened.into_iter().map(|opened| opened.map(drop)).collect();
        for outcome in opened.iter().chain(&deleted) {
            let is_right = outcome.is_ok() || is_locked(outcome);
            assert!(is_right, "clause 10: done or refused as locked, but {outcome:?}");
        }
        let owners = opened.iter().filter(|opened| opened.is_ok()).count();
        assert!(owners <= 1, "clause 1: {owners} handles own a flow");
        drop((openings, deletions));
        let entries = load(&self::opened(handle).await, "user").await.len();
        assert!(entries == 0 || entries == 3, "clause 10: a flow is there as a whole or not at all");
    }
}
