//! Folders from elsewhere, with links, pipes, devices and sockets in the places of the store's own files.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use columnar::store::{FileStore, Store, StoreError};

use super::folder::{ADOPT, files, name, opened, put, talk, value};

/// Long enough for every test on a busy machine: it only ends one that hangs.
const GUARD: Duration = Duration::from_mins(1);

/// Runs a request on a thread of its own, with the drop of its handle.
fn request<T: Send + 'static>(request: impl FnOnce(&tokio::runtime::Runtime) -> T + Send + 'static) -> T {
    let (answer, answered) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let _ = answer.send(request(&runtime));
    });
    answered.recv_timeout(GUARD).expect("it ends, and so does the drop of its handle")
}

/// The errors of opening, verifying and deleting the store in a folder.
fn outcomes(folder: &Path) -> [Result<(), StoreError>; 3] {
    let folder = folder.to_owned();
    request(move |runtime| {
        let opened = runtime.block_on(FileStore::new(&folder).open()).map(drop);
        let verified = runtime.block_on(FileStore::new(&folder).verify()).map(drop);
        let deleted = runtime.block_on(FileStore::new(&folder).delete());
        [opened, verified, deleted]
    })
}

/// The error is about this path.
fn assert_refused(outcome: &Result<(), StoreError>, path: &Path, context: &str) {
    match outcome {
        Err(StoreError::Damaged { location, reason }) => {
            assert_eq!(Path::new(location), path, "{context}: {reason}");
            assert!(reason.contains("link"), "{context}: {reason}");
        }
        other => panic!("{context}: {other:?}"),
    }
}

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("`mkfifo` is there");
    assert!(made.success(), "{}", path.display());
}

/// All that may be in the place of a file.
const KINDS: [&str; 5] = ["link", "dangling link", "pipe", "device", "socket"];

/// Puts something of this kind at a path. `elsewhere` is a folder outside of the store.
fn replace(path: &Path, kind: &str, elsewhere: &Path) {
    let is_folder = path.is_dir();
    match kind {
        "link" | "dangling link" => {
            let target = elsewhere.join("target");
            if kind == "link" {
                fs::rename(path, &target).expect("it can be moved");
            } else if is_folder {
                fs::remove_dir_all(path).expect("it is there");
            } else {
                fs::remove_file(path).expect("it is there");
            }
            symlink(target, path).expect("it can be linked");
        }
        _ => {
            fs::rename(path, elsewhere.join("aside")).expect("it can be moved");
            match kind {
                "pipe" => pipe(path),
                "device" => symlink("/dev/zero", path).expect("it can be linked"),
                _ => drop(UnixListener::bind(path).expect("it can be made")),
            }
        }
    }
}

/// A chat, and a folder outside of it.
async fn hostile() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let (scratch, folder) = talk().await;
    let elsewhere = scratch.path().canonicalize().expect("it is there").join("elsewhere");
    fs::create_dir(&elsewhere).expect("it can be made");
    (scratch, folder, elsewhere)
}

/// Somebody sends a folder whose `.columnar/lock` is a link to a file that is not there: opening it made that file.
/// With `.columnar/cells` as a link to `/dev/zero`, opening it took all memory, and with a pipe in any of these places
/// it hung, and so did the drop of the future.
#[tokio::test]
async fn s18_the_own_files_of_a_folder_are_never_links_pipes_devices_or_sockets() {
    for file in ["format", "lock", "cells", "definition"] {
        for kind in KINDS {
            let (_scratch, folder, elsewhere) = hostile().await;
            let (context, path) = (format!("{file} is a {kind}"), folder.join(".columnar").join(file));
            replace(&path, kind, &elsewhere);
            let before = files(&elsewhere);
            let [opened, verified, deleted] = outcomes(&folder);
            assert_refused(&opened, &path, &context);
            match file {
                "format" | "cells" => assert_refused(&verified, &path, &context),
                // Looking takes no lock, and compares no definition.
                _ => assert!(verified.is_ok(), "{context}: {verified:?}"),
            }
            match file {
                "format" | "lock" => assert_refused(&deleted, &path, &context),
                // The name is removed, and not the file that it leads to.
                _ => assert!(deleted.is_ok(), "{context}: {deleted:?}"),
            }
            assert_eq!(files(&elsewhere), before, "{context}: nothing else is touched");
        }
    }
}

/// With `.columnar/staged` as a link to another folder, opening the store deleted files with numbers as their names
/// there.
#[tokio::test]
async fn s18_the_own_folders_of_a_folder_are_never_links() {
    for (inside, kind) in
        [".columnar", ".columnar/staged"].into_iter().flat_map(|inside| KINDS.map(|kind| (inside, kind)))
    {
        let (_scratch, folder, elsewhere) = hostile().await;
        let path = folder.join(inside);
        fs::create_dir_all(&path).expect("it can be made");
        fs::write(path.join("7"), "somebody else's").expect("it can be written");
        replace(&path, kind, &elsewhere);
        let (before, context) = (files(&elsewhere), format!("{inside} is a {kind}"));
        let [opened, verified, deleted] = outcomes(&folder);
        assert_refused(&opened, &path, &context);
        if inside == ".columnar" {
            assert_refused(&verified, &path, &context);
        }
        assert_refused(&deleted, &path, &context);
        assert_eq!(files(&elsewhere), before, "{context}: nothing else is touched");
        assert_eq!(files(&folder).iter().filter(|file| file.ends_with("0.txt")).count(), 2, "{context}");
    }
}

/// A pipe or a device as the file of a value made the reader wait for ever.
#[tokio::test]
async fn s18_a_value_is_never_read_from_a_link_pipe_device_or_socket() {
    for kind in KINDS {
        let (_scratch, folder, elsewhere) = hostile().await;
        let path = folder.join("user/1.txt");
        replace(&path, kind, &elsewhere);
        let (of, context) = (folder.clone(), kind.to_owned());
        request(move |runtime| {
            let store = FileStore::new(&of);
            runtime.block_on(store.open()).expect("the others are sound");
            for step in 0..3 {
                match runtime.block_on(store.load(name("user"), step..step + 1)) {
                    Ok(_) => assert_ne!(step, 1, "{context}"),
                    Err(StoreError::Corrupt { column, step: 1, reason }) => {
                        assert_eq!(column, "user");
                        assert!(reason.contains("link"), "{context}: {reason}");
                    }
                    Err(error) => panic!("{context}: {error}"),
                }
            }
            let defects = runtime.block_on(store.verify()).expect("it can be read");
            assert_eq!(defects.iter().map(|defect| defect.step).collect::<Vec<_>>(), [1], "{context}");
        });
    }
    // A value that was added by hand.
    for kind in ["pipe", "device"] {
        let (_scratch, folder, elsewhere) = hostile().await;
        let path = folder.join("user/3.txt");
        fs::write(&path, "by hand").expect("it can be written");
        replace(&path, kind, &elsewhere);
        let [opened, ..] = outcomes(&folder);
        let expected = format!("{} is damaged: it is not a file; move it away", path.display());
        assert_eq!(opened.expect_err("it is no file").to_string(), expected);
    }
}

/// The values of a column were read through a link, from a folder that is not the store's.
#[tokio::test]
async fn s18_no_value_is_read_through_a_link_to_the_folder_of_a_column() {
    let (_scratch, folder, elsewhere) = hostile().await;
    replace(&folder.join("user"), "link", &elsewhere);
    let store = opened(&folder).await;
    let error = store.load(name("user"), 1..3).await.expect_err("it is a link");
    let reason =
        format!("{} is not a folder, or is a link to one; restore it", folder.join("user").display());
    assert_eq!(error.to_string(), format!("`user` at step 1 is damaged: {reason}"));
    assert_eq!(store.load(name("assistant"), 0..9).await.expect("it is another column").len(), 2);
    let defects = store.verify().await.expect("it can be read");
    assert_eq!(
        defects.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [format!("`user` at step 0: {reason}")]
    );
}

/// A log that is a second name of a file elsewhere, as tools that save space by linking equal files make it: cells were
/// appended to that file, too.
#[tokio::test]
async fn s18_nothing_is_appended_to_a_log_that_has_a_second_name() {
    let (_scratch, folder, elsewhere) = hostile().await;
    let (path, other) = (folder.join(".columnar/cells"), elsewhere.join("cells"));
    fs::hard_link(&path, &other).expect("it can be linked");
    let before = fs::read(&other).expect("it is there");
    assert_refused(&FileStore::new(&folder).open().await.map(drop), &path, "a second name");
    assert_eq!(fs::read(&other).expect("it is there"), before);
    // A copy in its place is the store's own.
    fs::remove_file(&path).expect("it is there");
    fs::copy(&other, &path).expect("it can be copied");
    put(&opened(&folder).await, "user", 3, value("more")).await;
    assert_eq!(fs::read(&other).expect("it is there"), before);
}

/// A definition of any length was read, and a sparse file of a terabyte takes no room.
#[tokio::test]
async fn s18_a_definition_of_absurd_length_is_an_error() {
    let (_scratch, folder, _) = hostile().await;
    let path = folder.join(".columnar/definition");
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .expect("it is there")
        .set_len(1 << 40)
        .expect("it is sparse");
    let [opened, ..] = outcomes(&folder);
    let error = opened.expect_err("it is too long");
    assert!(matches!(&error, StoreError::Damaged { location, .. } if Path::new(location) == path), "{error}");
}

/// The log, and files that were added by hand, were read as a whole, whatever their length: a sparse file of a terabyte took
/// all memory, or hung.
#[tokio::test]
async fn s18_a_log_or_a_next_value_of_absurd_length_is_an_error() {
    let grow = |path: &Path| {
        let file = fs::OpenOptions::new().create(true).append(true).open(path).expect("it can be opened");
        file.set_len(1 << 40).expect("it is sparse");
    };
    for (is_new, reason) in
        [(false, "line 14 is not as it was written"), (true, "it does not begin as it should")]
    {
        let (_scratch, folder, _) = hostile().await;
        let path = folder.join(".columnar/cells");
        if is_new {
            fs::remove_file(&path).expect("it is there");
        }
        grow(&path);
        let [opened, verified, deleted] = outcomes(&folder);
        let expected = format!("{} is damaged: {reason}; {ADOPT}", path.display());
        assert_eq!(opened.expect_err("it is no log").to_string(), expected);
        assert_eq!(verified.expect_err("it is no log").to_string(), expected);
        assert!(deleted.is_ok(), "{deleted:?}");
    }
    let (_scratch, folder, _) = hostile().await;
    let path = folder.join("user/3.txt");
    grow(&path);
    let of = folder.clone();
    let (error, verified) = request(move |runtime| {
        let store = FileStore::new(&of);
        let error = runtime.block_on(store.open()).expect_err("it is too long").to_string();
        (error, runtime.block_on(store.verify()))
    });
    let reason = "has more than 64 MiB, and a file that is added by hand has at most that; move it away";
    assert_eq!(error, format!("`user` at step 3 is damaged: {} {reason}", path.display()));
    assert!(verified.is_ok(), "{verified:?}");
    fs::remove_file(&path).expect("it is there");
    opened(&folder).await;
}

/// One folder of many was enough to list none of them.
#[tokio::test]
async fn s18_a_hostile_folder_is_listed_beside_the_others_and_says_its_defect_when_it_is_opened() {
    let (scratch, folder, _) = hostile().await;
    let chats = scratch.path().canonicalize().expect("it is there");
    drop(opened(&chats.join("other")).await);
    fs::remove_file(folder.join(".columnar/format")).expect("it is there");
    pipe(&folder.join(".columnar/format"));
    let flows = FileStore::flows(&chats);
    let flows = request(move |runtime| runtime.block_on(flows).expect("the others can be listed"));
    assert_eq!(flows, [chats.join("other"), folder.clone()]);
    assert_refused(&outcomes(&folder)[0], &folder.join(".columnar/format"), "a pipe");
}
