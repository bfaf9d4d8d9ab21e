//! A disk that is full, fails, or lacks an operation, at any operation of a store.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::super::backend::FileBackend;
use super::super::layout::FolderLocation;
use super::super::listing;
use super::model::{Fault, Misbehaviour, Model};
use super::power::{STAGING, states_after_loss};
use super::script::{
    Action, Cell, Contents, Violations, attached, check, deletion, entry, read_store, run_script, script,
};
use super::{location, name, wait};
use crate::store::thread::NewCell;
use crate::store::worker::{Backend, Worker};
use crate::store::{Entry, Put, StoreError};

type Handle = Worker<FileBackend<Model>>;

/// The script, one cell at a time.
fn actions() -> Vec<Action> {
    let one_by_one = |action| match action {
        Action::Put(cells) => cells.into_iter().map(|cell| Action::Put(vec![cell])).collect(),
        action => vec![action],
    };
    script().into_iter().flat_map(one_by_one).collect()
}

fn put(handle: &Handle, cell: Cell) -> Result<Put, StoreError> {
    if let Some(attachment) = attached(cell) {
        wait(handle.put_blob(attachment.digest().to_owned(), attachment.shared_bytes()))?;
    }
    wait(handle.put(name(cell.0), cell.1, entry(cell)))
}

fn action(handle: &Handle, action: &Action) -> Result<(), StoreError> {
    match action {
        Action::Open(_) => wait(handle.open()).map(|_| ()),
        Action::Define(text) => wait(handle.define((*text).to_owned())),
        Action::Put(cells) => cells.iter().try_for_each(|cell| put(handle, *cell).map(|_| ())),
        Action::Delete => wait(handle.delete()),
    }
}

/// The number of confirmed actions, and the error that ended the script.
fn run_until_error(handle: &Handle) -> (usize, Option<StoreError>) {
    for (at, next) in actions().iter().enumerate() {
        if let Err(error) = action(handle, next) {
            return (at, Some(error));
        }
    }
    (actions().len(), None)
}

/// The operations of the script without a fault, including the closing of the store.
fn expected_operations() -> Vec<(&'static str, PathBuf)> {
    let model = Model::default();
    let (confirmed, error) = run_until_error(&Worker::new(location(&model)));
    assert!(confirmed == actions().len() && error.is_none(), "{error:?}");
    model.operations()
}

/// The number of operations of the script.
fn operations() -> usize {
    expected_operations().len()
}

/// Whether nothing depends on an operation: the removal of a staged file, and writing what is known.
fn is_dispensable(operations: &[(&'static str, PathBuf)], at: usize) -> bool {
    let (reason, path) = &operations[at];
    let is_known = |path: &Path| path.ends_with(".columnar/known");
    // A file `known` is staged first.
    let later = operations[at..].iter().find(|(_, later)| later != path);
    let is_staged = path.starts_with(STAGING) && later.is_some_and(|(_, later)| is_known(later));
    *reason == "remove" || *reason == "rename" && is_known(path) || is_staged
}

/// The store failed at this action: the store must refuse further writes and keep confirmed entries. Opened again, the
/// store completes the script, and everything is durable.
fn check_recovery(model: &Model, handle: Handle, confirmed: usize, context: &str) {
    let before = model.operations().len();
    let refused = put(&handle, ("user", 9, Some("more")));
    assert!(matches!(refused, Err(StoreError::Halted | StoreError::Closed)), "{context}: {refused:?}");
    let refused = wait(handle.define("more".into()));
    assert!(matches!(refused, Err(StoreError::Halted | StoreError::Closed)), "{context}: {refused:?}");
    assert_eq!(model.operations().len(), before, "{context}: no operation is repeated");
    drop(handle);

    model.fail(None);
    let contents = read_store(&location(model)).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(check(&contents, &actions(), confirmed), Violations::default(), "{context}: {contents:?}");
    let handle = Worker::new(location(model));
    action(&handle, &Action::Open(vec![])).expect("it can be opened");
    for rest in &actions()[confirmed..] {
        action(&handle, rest).unwrap_or_else(|error| panic!("{context}: {error}"));
    }
    drop(handle);
    for left in states_after_loss(&model.image(), 20) {
        let contents = read_store(&location(&Model::of(left))).expect("it can be opened");
        assert_eq!(
            check(&contents, &actions(), actions().len()),
            Violations::default(),
            "{context}: {contents:?}"
        );
    }
}

/// Runs the script with a fault at each operation. Returns the number of runs that failed.
fn with_faults(fault: impl Fn(usize) -> Fault) -> usize {
    let mut refused = 0;
    let operations = expected_operations();
    for at in 0..operations.len() {
        let model = Model::default();
        let fault = fault(at);
        model.fail(Some(fault));
        let handle = Worker::new(location(&model));
        let (confirmed, error) = run_until_error(&handle);
        let context = format!("{fault:?} in {:?}", model.operations().get(at));
        match error {
            Some(StoreError::Io { operation, source }) => {
                assert_eq!(source.kind(), fault.kind, "{context}");
                assert!(operation.contains(" /"), "{context}: {operation}");
                check_recovery(&model, handle, confirmed, &context);
                refused += 1;
            }
            Some(error) => panic!("{context}: {error}"),
            None => {
                // The last operations close the store.
                let is_open = at < model.operations().len();
                assert!(!is_open || is_dispensable(&operations, at), "{context}: a fault without an error");
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
    // The same script on a backend that does not halt: entries that were written before the fault are never durable.
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
        for left in states_after_loss(&model.image(), 20) {
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
    // Only the first put creates the folder.
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

/// A disk that is mounted for the flows has a folder `lost+found`, which the user may not enter. No flow was listed.
#[test]
fn a_folder_that_may_not_be_entered_is_left_out_of_the_list() {
    let model = Model::default();
    let at = |path: &str| FolderLocation { disk: model.clone(), path: path.into() };
    for folder in ["/chats/lost", "/chats/monday"] {
        wait(Handle::new(at(folder)).open()).expect("it opens");
    }
    let flows = |kind: Option<ErrorKind>| {
        // The folders are listed, and then `monday` and `lost` are looked at, each before its format is read.
        let next = model.operations().len() + 3;
        model.fail(kind.map(|kind| Fault { at: next, kind, after: false, lasts: false }));
        listing::flows(&at("/chats")).map_err(|error| error.to_string())
    };
    assert_eq!(flows(None), Ok(vec!["/chats/lost".into(), "/chats/monday".into()]));
    assert_eq!(flows(Some(ErrorKind::PermissionDenied)), Ok(vec!["/chats/monday".into()]));
    assert!(flows(Some(ErrorKind::Other)).is_err_and(|error| error.contains("/chats/lost")));
}

#[test]
fn s8_an_interrupted_write_is_resumed() {
    let mut interrupted = 0;
    for at in 0..operations() {
        let model = Model::default();
        model.fail(Some(Fault { at, kind: ErrorKind::Interrupted, after: false, lasts: false }));
        let handle = Handle::new(location(&model));
        let (confirmed, _) = run_until_error(&handle);
        if model.operations().get(at).is_some_and(|(reason, _)| *reason == "write") {
            assert_eq!(confirmed, actions().len(), "{:?}", model.operations()[at]);
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
fn s16_a_deletion_that_fails_is_whole_or_not_at_all_and_can_be_repeated() {
    let stored = || {
        let model = Model::default();
        run_script(&location(&model), &deletion()[..3], || {}).expect("nothing fails");
        model
    };
    let first = stored().operations().len();
    let last = {
        let model = stored();
        FileBackend::delete(&location(&model)).expect("nothing fails");
        assert_eq!(model.names("/chats"), [""; 0]);
        model.operations().len()
    };
    let mut refused = 0;
    for (at, after, lasts) in (first..last)
        .flat_map(|at| [(at, false, false), (at, true, false), (at, false, true), (at, true, true)])
    {
        let model = stored();
        model.fail(Some(Fault { at, kind: ErrorKind::Other, after, lasts }));
        let deleted = FileBackend::delete(&location(&model));
        model.fail(None);
        refused += usize::from(deleted.is_err());
        let confirmed = if deleted.is_ok() { 4 } else { 3 };
        for left in states_after_loss(&model.image(), 20) {
            let contents = read_store(&location(&Model::of(left))).expect("it can be opened");
            assert_eq!(check(&contents, &deletion(), confirmed), Violations::default(), "{at}: {contents:?}");
        }
        FileBackend::delete(&location(&model)).expect("nothing fails any more");
        assert_eq!(read_store(&location(&model)).expect("it opens"), Contents::default(), "{at}");
    }
    assert!(refused > 60, "{refused}");
}

#[test]
fn a_file_added_meanwhile_is_never_replaced() {
    let script = |misbehaving: Option<Misbehaviour>| {
        let model = Model::default();
        let handle = Handle::new(location(&model));
        wait(handle.open()).expect("it opens");
        let model = misbehaving.into_iter().fold(model, Model::misbehaving);
        model.write("/chats/today/user/0.txt", b"by hand");
        let put = put(&handle, ("user", 0, Some("computed")));
        drop(handle);
        (put, read_store(&location(&Model::of(model.image()))).expect("it opens"))
    };
    let (refused, contents) = script(None);
    assert!(
        matches!(refused, Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists)
    );
    let by_hand = [Action::Open(vec![("user", 0, Some("by hand"))])];
    assert_eq!(check(&contents, &by_hand, 1), Violations::default());

    let (stored, contents) = script(Some(Misbehaviour::RenameOver));
    assert!(stored.is_ok());
    assert_eq!(check(&contents, &by_hand, 1).torn, 1, "a store that renames is caught");
}
