//! Files that cannot be shown: each fault has its own name, and all of them are one error.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use columnar::documents::{KeyFault, Kind};
use columnar::repo::{FileFault, MAX_FILE_BYTES, Repository};

use super::folder::Folder;

const HUGE: usize = 1_000_001;

#[test]
fn t22_all_faulty_files_are_one_error() {
    let mut folder = Folder::of(&[("empty.txt", ""), ("good.rs", "fn good() {}"), ("dir/inner.rs", "")]);
    folder.write("binary.rs", b"fn a() {}\0");
    folder.write("latin.rs", b"// \xe9");
    folder.write("huge.rs", " ".repeat(HUGE));
    folder.repo.select([
        "empty.txt",
        "good.rs",
        "missing.rs",
        "binary.rs",
        "latin.rs",
        "huge.rs",
        "dir",
        "../outside.rs",
        "good.rs/inner",
        "/etc/passwd",
        "a\nb.rs",
        "",
    ]);
    let faults = folder.faults();
    let fault = |path: &str| faults.iter().find(|(named, _)| named == path).map(|(_, fault)| *fault);
    assert_eq!(fault("missing.rs"), Some(FileFault::Missing));
    assert_eq!(fault("binary.rs"), Some(FileFault::Binary));
    assert_eq!(fault("latin.rs"), Some(FileFault::Encoding));
    assert_eq!(fault("huge.rs"), Some(FileFault::TooLarge));
    assert_eq!(fault("dir"), Some(FileFault::Folder));
    assert_eq!(fault("../outside.rs"), Some(FileFault::Outside));
    assert_eq!(fault("/etc/passwd"), Some(FileFault::Outside));
    assert_eq!(fault("good.rs/inner"), Some(FileFault::Missing));
    assert_eq!(fault("a\nb.rs"), Some(FileFault::Name(KeyFault::Control)));
    assert_eq!(fault(""), Some(FileFault::Name(KeyFault::Empty)));
    assert_eq!(faults.len(), 10);
    assert_eq!(MAX_FILE_BYTES, HUGE as u64 - 1);

    // Nothing was shown, and the next scan shows everything.
    assert!(folder.documents.is_empty());
    folder.repo.select(["empty.txt", "good.rs"]);
    let keys = folder.scan();
    assert_eq!(keys, ["file:empty.txt", "file:good.rs", "symbol:good.rs"]);
    assert_eq!(folder.of_kind(Kind::File), [("empty.txt", ""), ("good.rs", "fn good() {}")].into());
}

#[test]
fn t22_an_error_names_the_first_files_and_never_their_text() {
    let mut folder = Folder::of(&[]);
    folder.repo.select((0..30).map(|n| format!("{n:02}\u{1b}[2J.rs")));
    let error = folder.repo.scan().unwrap_err().to_string();
    assert!(
        error.contains("has a name that no document can have") && error.ends_with("and 10 more"),
        "{error}"
    );
    assert!(!error.contains('\u{1b}'));
    folder.repo.select(["missing.rs"]);
    let error = folder.repo.scan().unwrap_err().to_string();
    assert_eq!(error, "`missing.rs` is missing: create it, or do not select it");
}

#[test]
fn a_root_that_is_no_folder_is_an_error() {
    let folder = Folder::of(&[("file", "")]);
    for (name, fault, shown) in [
        ("missing", FileFault::Missing, "is missing"),
        ("file", FileFault::NoFolder, "is no folder"),
        ("file/inner", FileFault::Missing, "is missing"),
    ] {
        let path = folder.path().join(name);
        let error = Repository::open(&path).unwrap_err();
        let path = path.display().to_string();
        assert_eq!(
            error.to_string(),
            format!("`{path}` {shown}: name a folder that exists and that you may read")
        );
        assert_eq!(error.faults(), [(path, fault)]);
    }
}

/// The folder was removed under a program, or its disk was gone. The update removed the whole map, and the next push stored
/// that.
#[test]
fn a_root_that_goes_is_an_error_and_changes_nothing() {
    let mut folder = Folder::of(&[("in/a.rs", "fn a() {}")]);
    let (root, aside) = (folder.path().canonicalize().unwrap(), tempfile::tempdir().unwrap());
    folder.scan();
    let check = |folder: &mut Folder, fault: FileFault| {
        let expected = [(root.display().to_string(), fault)];
        assert_eq!(folder.faults(), expected);
        assert_eq!(folder.repo.changed(["in/a.rs"]).unwrap_err().faults(), expected);
        assert_eq!(folder.repo.changed(["in"]).unwrap_err().faults(), expected);
        assert_eq!(folder.repo.paths().collect::<Vec<_>>(), ["in/a.rs"]);
        assert_eq!(folder.repo.skipped().count(), 0);
    };
    fs::rename(&root, aside.path().join("root")).unwrap();
    check(&mut folder, FileFault::Missing);
    fs::write(&root, "A file.").unwrap();
    check(&mut folder, FileFault::NoFolder);
    fs::remove_file(&root).unwrap();
    fs::rename(aside.path().join("root"), &root).unwrap();
    assert!(folder.scan().is_empty());
}

/// An unreadable or binary file somewhere in a repository made every scan fail.
#[test]
fn files_that_nobody_selected_are_skipped_and_named() {
    let mut folder = Folder::of(&[("a.rs", "fn a() {}"), ("logo.png", "\0")]);
    folder.write("binary.rs", b"\0");
    folder.write("latin.py", b"# \xe9");
    folder.write("huge.c", " ".repeat(HUGE));
    let keys = folder.scan();
    assert_eq!(keys, ["symbol:a.rs"]);
    let skipped: Vec<_> = folder.repo.skipped().collect();
    assert_eq!(
        skipped,
        [
            ("binary.rs", FileFault::Binary),
            ("huge.c", FileFault::TooLarge),
            ("latin.py", FileFault::Encoding),
        ]
    );
    assert_eq!(&**folder.documents.tree().unwrap(), "a.rs, binary.rs, huge.c, latin.py, logo.png");
    // They are named again by the next scan, which does not read them.
    folder.scan();
    assert_eq!(folder.repo.skipped().count(), 3);
}

#[test]
fn a_file_of_50_mb_is_not_read() {
    let mut folder = Folder::of(&[]);
    let file = fs::File::create(folder.path().join("data.rs")).unwrap();
    file.set_len(50_000_000).unwrap();
    folder.scan();
    assert_eq!(folder.repo.skipped().collect::<Vec<_>>(), [("data.rs", FileFault::TooLarge)]);
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::process::Command;

    use super::*;

    #[test]
    fn links_are_not_followed() {
        let mut folder = Folder::of(&[("src/a.rs", "fn a() {}")]);
        let root = folder.path().to_owned();
        symlink("a.rs", root.join("src/link.rs")).unwrap();
        symlink("/etc/passwd", root.join("passwd.rs")).unwrap();
        symlink(".", root.join("src/loop")).unwrap();
        symlink("nowhere", root.join("broken.rs")).unwrap();
        assert_eq!(folder.scan(), ["symbol:src/a.rs"]);
        let skipped: Vec<_> = folder.repo.skipped().collect();
        let link = |path| (path, FileFault::Link);
        let links = ["broken.rs", "passwd.rs", "src/link.rs", "src/loop"];
        assert_eq!(skipped, links.map(link));
        let inside = ["src/loop/src/a.rs", "src/loop/src/link.rs", "src/a.rs/"];
        assert!(folder.repo.changed(links.into_iter().chain(inside)).unwrap().is_empty());
        assert_eq!(folder.repo.skipped().collect::<Vec<_>>(), links.map(link));
        assert_eq!(folder.repo.paths().collect::<Vec<_>>(), ["src/a.rs"]);

        folder.repo.select(["src/link.rs", "passwd.rs", "src/loop/a.rs", "broken.rs"]);
        let faults: Vec<_> = folder.faults().into_iter().map(|(_, fault)| fault).collect();
        assert_eq!(faults, [FileFault::Link; 4]);
    }

    /// Opening a pipe waits for its writer.
    #[test]
    fn a_pipe_is_no_file() {
        let mut folder = Folder::of(&[]);
        assert!(Command::new("mkfifo").arg(folder.path().join("pipe.rs")).status().unwrap().success());
        folder.scan();
        assert_eq!(folder.repo.skipped().collect::<Vec<_>>(), [("pipe.rs", FileFault::Special)]);
        folder.repo.select(["pipe.rs"]);
        assert_eq!(folder.faults(), [("pipe.rs".to_owned(), FileFault::Special)]);
    }

    #[test]
    fn names_that_are_no_paths_of_documents_are_skipped() {
        let mut folder = Folder::of(&[("a.rs", "")]);
        let root = folder.path().to_owned();
        let bytes = OsStr::from_bytes(b"\xff.rs");
        for name in [bytes, OsStr::new("new\nline.rs"), OsStr::new("back\\slash.rs"), OsStr::new("```.rs")] {
            fs::write(root.join(name), "fn a() {}").unwrap();
        }
        assert_eq!(folder.scan(), Vec::<String>::new());
        let skipped: Vec<_> = folder.repo.skipped().map(|(_, fault)| fault).collect();
        assert_eq!(skipped.len(), 4, "{skipped:?}");
        assert_eq!(folder.repo.paths().collect::<Vec<_>>(), ["a.rs"]);
        folder.repo.select([bytes]);
        assert_eq!(folder.faults()[0].1, FileFault::NameEncoding);
        // The name is UTF-8, and the fault said that it is not.
        folder.repo.select(["back\\slash.rs"]);
        let error = folder.repo.scan().unwrap_err().to_string();
        assert_eq!(error, "`back\\slash.rs` has a `\\` in its name: rename it, or write `/` between folders");
    }

    #[test]
    fn files_and_folders_without_permission_are_named() {
        let mut folder =
            Folder::of(&[("a.rs", "fn a() {}"), ("closed/b.rs", "fn b() {}"), ("c.rs", "fn c() {}")]);
        let root = folder.path().to_owned();
        let permit = |path: &str, mode| {
            fs::set_permissions(root.join(path), fs::Permissions::from_mode(mode)).unwrap();
        };
        permit("closed", 0o000);
        permit("c.rs", 0o000);
        if fs::read(root.join("c.rs")).is_ok() {
            permit("closed", 0o755);
            eprintln!("SKIPPED: permissions do not stop this user, who may be root");
            return;
        }
        assert_eq!(folder.scan(), ["symbol:a.rs"]);
        let skipped: Vec<_> = folder.repo.skipped().map(|(path, _)| path.to_owned()).collect();
        permit("closed", 0o755);
        assert_eq!(skipped, ["c.rs", "closed"]);
        folder.repo.select(["c.rs"]);
        assert!(matches!(folder.faults()[0].1, FileFault::Unreadable(_)));

        permit("closed", 0o000);
        let error = Repository::open(root.join("closed")).unwrap_err().to_string();
        permit("closed", 0o755);
        let fault = "cannot be read (permission denied): name a folder that exists and that you may read";
        assert!(error.ends_with(fault), "{error}");
    }
}

/// A text was read while its writer was at work: the beginning of one and the end of another.
#[test]
fn a_file_that_changes_while_it_is_read_is_a_fault() {
    let mut folder = Folder::of(&[("log.txt", "")]);
    let (path, stop) = (folder.path().join("log.txt"), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let file = fs::OpenOptions::new().write(true).open(path).unwrap();
            let lengths = (500_000..501_000).cycle().take_while(|_| !stop.load(Ordering::Relaxed));
            lengths.for_each(|length| file.set_len(length).unwrap());
        });
        let mut errors = (0..5_000).filter_map(|_| folder.repo.select(["log.txt"]).scan().err());
        let is_noticed = errors.any(|error| matches!(error.faults(), [(_, FileFault::Changing)]));
        stop.store(true, Ordering::Relaxed);
        assert!(is_noticed);
    });
    // The zero bytes are binary, and not changing any more.
    assert_eq!(folder.faults()[0].1, FileFault::Binary);
}

/// An error of syntax at each token, in more and more open brackets, took all memory and the process with it.
#[test]
fn i9_a_file_that_is_too_tangled_to_parse_has_no_entry_and_is_named() {
    let mut folder = Folder::of(&[("plain.c", "int plain(void) { return 1; }\n")]);
    folder.write("tangled.c", "(<a".repeat(5_000));
    folder.write("tangled.js", "->".repeat(250_000));
    folder.scan();
    let tangled = [("tangled.c", FileFault::Tangled), ("tangled.js", FileFault::Tangled)];
    assert_eq!(folder.repo.skipped().collect::<Vec<_>>(), tangled);
    assert_eq!((folder.entry("tangled.c"), folder.entry("tangled.js")), (None, None));
    assert!(folder.entry("plain.c").is_some());
    assert!(folder.documents.legend().is_some_and(|legend| legend.ends_with("2 files have no entry.")));
    assert!(folder.documents.tree().is_some_and(|tree| tree.contains("tangled.c")));
    // A scan that reads nothing again still says so, and an edit ends the fault.
    folder.scan();
    assert_eq!(folder.repo.skipped().collect::<Vec<_>>(), tangled);
    folder.write("tangled.c", "int loose(void) { return 1; }\n");
    folder.changed(&["tangled.c"]);
    assert_eq!(folder.repo.skipped().collect::<Vec<_>>(), tangled[1..]);
    assert!(folder.entry("tangled.c").is_some());
    // A selected file is shown in full.
    folder.repo.select(["tangled.js"]);
    folder.scan();
    assert_eq!(folder.repo.selected().collect::<Vec<_>>(), ["tangled.js"]);
}

/// A scan went on for nobody when the task that waited for it was gone.
#[test]
fn a_scan_ends_with_its_handle_and_the_next_one_reads_the_rest() {
    let mut folder = Folder::of(&[("a.rs", "fn a() {}"), ("b.rs", "fn b() {}")]);
    drop(folder.repo.handle());
    let faults = folder.faults();
    assert!(matches!(&faults[..], [(_, FileFault::Stopped)]), "{faults:?}");
    assert!(folder.documents.is_empty());
    folder.scan();
    assert!(folder.entry("a.rs").is_some() && folder.entry("b.rs").is_some());
    folder.write("a.rs", "fn c() {}");
    drop(folder.repo.handle());
    assert!(folder.repo.changed(["a.rs"]).is_err());
    folder.scan();
    assert!(folder.entry("a.rs").is_some_and(|entry| entry.contains("f c(")));
    // A handle that lives stops nothing, and it is for one scan.
    folder.remove("b.rs");
    let handle = folder.repo.handle();
    folder.scan();
    drop(handle);
    assert_eq!((folder.scan().len(), folder.entry("b.rs")), (0, None));
}
