//! A disk that is full, fails, or cannot do what is asked of it, at any operation.

use std::io::ErrorKind;

use super::super::backend::FileBackend;
use super::life::{Act, Cell, Verdict, entry, judge, life, live, look};
use super::model::{Fault, Model, Wrong};
use super::power::images_after_loss;
use super::{location, name, wait};
use crate::store::worker::{Backend, NewCell, Worker};
use crate::store::{Entry, Put, StoreError};

type Handle = Worker<FileBackend<Model>>;

/// The life of all tests, one cell at a time.
fn acts() -> Vec<Act> {
    let one_by_one = |act| match act {
        Act::Put(cells) => cells.into_iter().map(|cell| Act::Put(vec![cell])).collect(),
        act => vec![act],
    };
    life().into_iter().flat_map(one_by_one).collect()
}

fn put(handle: &Handle, cell: Cell) -> Result<Put, StoreError> {
    wait(handle.put(name(cell.0), cell.1, entry(cell)))
}

fn act(handle: &Handle, act: &Act) -> Result<(), StoreError> {
    match act {
        Act::Open(_) => wait(handle.open()).map(|_| ()),
        Act::Define(text) => wait(handle.define((*text).to_owned())),
        Act::Put(cells) => cells.iter().try_for_each(|cell| put(handle, *cell).map(|_| ())),
    }
}

/// What of this life was confirmed, and the error that ended it.
fn lived(handle: &Handle) -> (usize, Option<StoreError>) {
    for (at, next) in acts().iter().enumerate() {
        if let Err(error) = act(handle, next) {
            return (at, Some(error));
        }
    }
    (acts().len(), None)
}

/// How many operations a life takes.
fn operations() -> usize {
    let model = Model::default();
    live(&location(&model), &acts(), || {}).expect("nothing fails");
    model.operations().len()
}

/// The store has refused, at this act: it goes on refusing, and what was confirmed is there. Opened again it goes
/// on, and everything is there in the end, whether power is lost or not.
fn goes_on(model: &Model, handle: Handle, confirmed: usize, context: &str) {
    let before = model.operations().len();
    let refused = put(&handle, ("user", 9, Some("more")));
    assert!(matches!(refused, Err(StoreError::Halted | StoreError::Closed)), "{context}: {refused:?}");
    let refused = wait(handle.define("more".into()));
    assert!(matches!(refused, Err(StoreError::Halted | StoreError::Closed)), "{context}: {refused:?}");
    assert_eq!(model.operations().len(), before, "{context}: nothing is tried again");
    drop(handle);

    model.fail(None);
    let seen = look(&location(model)).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(judge(&seen, &acts(), confirmed), Verdict::default(), "{context}: {seen:?}");
    let handle = Worker::new(location(model));
    act(&handle, &Act::Open(vec![])).expect("it can be opened");
    for rest in &acts()[confirmed..] {
        act(&handle, rest).unwrap_or_else(|error| panic!("{context}: {error}"));
    }
    drop(handle);
    for left in images_after_loss(&model.image(), 20) {
        let seen = look(&location(&Model::of(left))).expect("it can be opened");
        assert_eq!(judge(&seen, &acts(), acts().len()), Verdict::default(), "{context}: {seen:?}");
    }
}

/// Lives with a fault at each operation, and says how often something was refused.
fn with_faults(fault: impl Fn(usize) -> Fault) -> usize {
    let mut refused = 0;
    for at in 0..operations() {
        let (model, fault) = (Model::default(), fault(at));
        model.fail(Some(fault));
        let handle = Worker::new(location(&model));
        let (confirmed, error) = lived(&handle);
        let context = format!("{fault:?} in {:?}", model.operations().get(at));
        match error {
            Some(StoreError::Io { operation, source }) => {
                assert_eq!(source.kind(), fault.kind, "{context}");
                assert!(operation.contains(" /"), "{context}: {operation}");
                goes_on(&model, handle, confirmed, &context);
                refused += 1;
            }
            Some(error) => panic!("{context}: {error}"),
            None => {
                assert_eq!(model.operations()[at].0, "remove", "{context}: it fails and nobody says so");
            }
        }
    }
    refused
}

#[test]
fn s4_a_full_disk_halts_the_store_until_there_is_room_and_nothing_is_lost() {
    for after in [false, true] {
        let refused = with_faults(|at| Fault { at, kind: ErrorKind::StorageFull, after, lasts: true });
        assert!(refused > 80, "{refused}");
    }
}

#[test]
fn s5_s8_after_a_failure_nothing_is_written_until_the_store_is_reopened() {
    for after in [false, true] {
        let refused = with_faults(|at| Fault { at, kind: ErrorKind::Other, after, lasts: false });
        assert!(refused > 80, "{refused}");
    }
}

#[test]
fn s5_a_store_that_writes_after_a_failure_is_caught() {
    // The same life on a handle that does not halt: what was written before the disk failed is never durable.
    let mut lost = 0;
    for at in 0..operations() {
        let model = Model::default();
        let mut store = FileBackend::open(&location(&model)).expect("it opens");
        let before = model.operations().len();
        model.fail(Some(Fault { at: before + at, kind: ErrorKind::Other, after: false, lasts: false }));
        let mut put = |step: usize| {
            let cell = NewCell { column: name("user"), step, entry: Entry::from("hi") };
            store.put(vec![cell]).is_ok()
        };
        let confirmed: Vec<usize> = (0..3).filter(|step| put(*step)).collect();
        drop(store);
        for left in images_after_loss(&model.image(), 20) {
            match FileBackend::open(&location(&Model::of(left))) {
                Ok(mut store) => {
                    let there = store.stored_steps(&name("user")).expect("it is open");
                    let there: Vec<usize> = (0..there.prefix).chain(there.beyond).collect();
                    lost += usize::from(confirmed.iter().any(|step| !there.contains(step)));
                }
                Err(_) => lost += 1,
            }
        }
    }
    assert!(lost > 0);
}

#[test]
fn c7_a_value_written_despite_an_error_is_there_when_the_store_is_reopened() {
    let model = Model::default();
    let handle = Worker::new(location(&model));
    wait(handle.open()).expect("it opens");
    let folder = model.operations().len();
    put(&handle, ("user", 0, Some("hi"))).expect("it is put");
    let synced = model.operations()[folder..]
        .iter()
        .rposition(|(reason, path)| *reason == "sync" && path.ends_with("user"));
    let a_put = model.operations().len() - folder;
    put(&handle, ("user", 1, Some("hi"))).expect("it is put");
    // The first put has made the folder, which the others need not.
    let later = model.operations().len() - folder - a_put;
    let at = folder + a_put + later + synced.expect("it is") - (a_put - later);
    model.fail(Some(Fault { at, kind: ErrorKind::Other, after: false, lasts: false }));
    let refused = put(&handle, ("user", 2, Some("hi"))).expect_err("the folder is not durable");
    assert!(refused.to_string().starts_with("writing /chats/today/user"), "{refused}");
    assert_eq!(model.operations()[at].0, "sync");

    wait(handle.open()).expect("it opens");
    let there = put(&handle, ("user", 2, Some("another"))).expect("it is known");
    assert_eq!(there, Put::Exists(Entry::from("hi")), "it was linked before that");
}

#[test]
fn s7_without_locks_the_store_cannot_be_opened() {
    let model = Model::default();
    wait(Handle::new(location(&model)).open()).expect("it opens");
    let at = model.operations().iter().position(|(reason, _)| *reason == "lock").expect("it locks");
    let model = Model::default();
    model.fail(Some(Fault { at, kind: ErrorKind::Unsupported, after: false, lasts: false }));
    let refused = wait(Handle::new(location(&model)).open()).expect_err("it cannot be locked");
    assert!(refused.to_string().starts_with("locking, which keeps other flows out, /chats"), "{refused}");
    assert_eq!(model.operations().len(), at + 1, "nothing is done after that");
}

#[test]
fn s8_an_interrupted_write_is_resumed() {
    let mut interrupted = 0;
    for at in 0..operations() {
        let model = Model::default();
        model.fail(Some(Fault { at, kind: ErrorKind::Interrupted, after: false, lasts: false }));
        let handle = Handle::new(location(&model));
        let (confirmed, _) = lived(&handle);
        if model.operations()[at].0 == "write" {
            assert_eq!(confirmed, acts().len(), "{:?}", model.operations()[at]);
            interrupted += 1;
        }
    }
    assert!(interrupted > 10);
}

#[test]
fn s9_staged_files_that_could_not_be_removed_are_removed_later() {
    let model = Model::default();
    let handle = Handle::new(location(&model));
    wait(handle.open()).expect("it opens");
    put(&handle, ("user", 0, Some("hi"))).expect("it is put");
    let removed = model.operations().len() - 1;
    assert_eq!(model.operations()[removed].0, "remove");
    let before = model.operations().len();
    put(&handle, ("user", 1, Some("hi"))).expect("it is put");
    let at = model.operations().len() * 2 - before - 1;
    model.fail(Some(Fault { at, kind: ErrorKind::Other, after: false, lasts: false }));
    assert_eq!(put(&handle, ("user", 2, Some("hi"))).expect("it is stored all the same"), Put::Stored);
    assert_eq!(model.operations()[at].0, "remove");
    assert_eq!(model.names("/chats/today/.columnar/staged").len(), 1);
    put(&handle, ("user", 3, Some("hi"))).expect("it does not get in the way");
    wait(handle.open()).expect("it opens");
    assert_eq!(model.names("/chats/today/.columnar/staged"), [""; 0]);
}

#[test]
fn a_file_added_meanwhile_is_never_replaced() {
    let life = |wrong: Option<Wrong>| {
        let model = Model::default();
        let handle = Handle::new(location(&model));
        wait(handle.open()).expect("it opens");
        let model = wrong.into_iter().fold(model, Model::wrong);
        model.write("/chats/today/user/0.txt", b"by hand");
        let put = put(&handle, ("user", 0, Some("computed")));
        drop(handle);
        (put, look(&location(&Model::of(model.image()))).expect("it opens"))
    };
    let (refused, seen) = life(None);
    assert!(
        matches!(refused, Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists)
    );
    let by_hand = [Act::Open(vec![("user", 0, Some("by hand"))])];
    assert_eq!(judge(&seen, &by_hand, 1), Verdict::default());

    let (stored, seen) = life(Some(Wrong::RenameOver));
    assert!(stored.is_ok());
    assert_eq!(judge(&seen, &by_hand, 1).torn, 1, "a store that renames is found out");
}
