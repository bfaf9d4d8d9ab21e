//! Tests of the program, started in the way of cargo.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::{Command, Output};

const FORMATTED: &str = "flow! {\n    source user;\n}\n";
const OTHER: &str = "fn f() {}\nflow! { source user; }\n";

/// `cargo columnar fmt` in a folder.
fn fmt(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-columnar"));
    // With this variable, the target folder is elsewhere, and `target` in the folder of the test would count as a
    // folder with sources.
    command
        .env_remove("CARGO_TARGET_DIR")
        .current_dir(folder)
        .args(["columnar", "fmt"])
        .args(arguments)
        .output()
        .unwrap()
}

/// The exit code, standard output and standard error.
fn result(output: &Output) -> (i32, String, String) {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8(text.clone()).unwrap());
    (output.status.code().unwrap(), out, err)
}

fn files(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn check_changes_nothing_and_tells_by_its_exit_code() {
    let folder = files(&[("a.rs", OTHER), ("b.rs", FORMATTED)]);
    let (code, out, err) = result(&fmt(folder.path(), &["--check", "."]));
    assert_eq!((code, out.as_str(), err.as_str()), (1, "a.rs:2: a flow is not formatted\n", ""));
    assert_eq!(std::fs::read_to_string(folder.path().join("a.rs")).unwrap(), OTHER);

    let (code, out, _) = result(&fmt(folder.path(), &["."]));
    assert_eq!((code, out.as_str()), (0, "a.rs\n"));
    let expected = format!("fn f() {{}}\n{FORMATTED}");
    assert_eq!(std::fs::read_to_string(folder.path().join("a.rs")).unwrap(), expected);
    assert_eq!(result(&fmt(folder.path(), &["--check", "."])), (0, String::new(), String::new()));
}

#[test]
fn a_file_with_a_mistake_stays_as_it_is() {
    let wrong = "flow! { source   user; }\nflow! { sorce user; }\n";
    let folder = files(&[("a.rs", wrong), ("b.rs", OTHER), ("c.rs", "flow!{}\nfn f( {\n")]);
    let (code, out, err) = result(&fmt(folder.path(), &["."]));
    // The other files are formatted all the same.
    assert_eq!((code, out.as_str()), (1, "b.rs\n"));
    assert!(err.contains("a.rs:2:9: "), "{err}");
    assert!(err.contains("c.rs:"), "{err}");
    assert_eq!(std::fs::read_to_string(folder.path().join("a.rs")).unwrap(), wrong);
}

/// The files after it were not formatted, and the exit code said why for none.
#[test]
fn a_file_that_is_no_text_is_named_and_the_others_are_formatted() {
    let folder = files(&[("a.rs", OTHER), ("c.rs", OTHER)]);
    std::fs::write(folder.path().join("b.rs"), b"flow! { source user; } // \xff\n").unwrap();
    let (code, out, err) = result(&fmt(folder.path(), &["."]));
    assert_eq!((code, out.as_str()), (1, "a.rs\nc.rs\n"));
    assert!(err.starts_with("error: ") && err.contains("b.rs: stream did not contain valid UTF-8"), "{err}");
}

/// A process that was killed in the middle left a part of the file.
#[cfg(unix)]
#[test]
fn a_file_is_replaced_as_a_whole_and_keeps_its_permissions() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    let folder = files(&[("real/a.rs", OTHER)]);
    let path = folder.path().join("real/a.rs");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    symlink(&path, folder.path().join("link.rs")).unwrap();
    let before = std::fs::metadata(&path).unwrap().ino();
    let reader = std::fs::File::open(&path).unwrap();
    assert_eq!(result(&fmt(folder.path(), &["link.rs"])).0, 0);
    let after = std::fs::metadata(&path).unwrap();
    assert_ne!(after.ino(), before, "it was written in place");
    assert_eq!(after.mode() & 0o777, 0o640);
    assert_eq!(std::io::read_to_string(reader).unwrap(), OTHER);
    assert!(folder.path().join("link.rs").is_symlink());
    assert!(std::fs::read_to_string(&path).unwrap().ends_with(FORMATTED));
    assert_eq!(std::fs::read_dir(folder.path().join("real")).unwrap().count(), 1, "nothing is left");
}

#[test]
fn without_paths_it_formats_the_packages_of_the_workspace() {
    let package = "[package]\nname = \"a\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n";
    let other = "[package]\nname = \"b\"\n[workspace]\n";
    let folder = files(&[
        ("Cargo.toml", package),
        ("lib.rs", OTHER),
        ("module/more.rs", OTHER),
        ("target/made.rs", OTHER),
        // As cargo marks a target folder that is elsewhere.
        ("built/CACHEDIR.TAG", ""),
        ("built/made.rs", OTHER),
        ("other/Cargo.toml", other),
        ("other/src/lib.rs", OTHER),
        ("left_out/more.rs", OTHER),
        ("rustfmt.toml", "tab_spaces = 2\n"),
    ]);
    let (code, out, err) = result(&fmt(folder.path(), &["--exclude", "left_out"]));
    assert_eq!((code, out.as_str()), (0, "lib.rs\nmodule/more.rs\n"), "{err}");
    let text = std::fs::read_to_string(folder.path().join("lib.rs")).unwrap();
    assert_eq!(text, "fn f() {}\nflow! {\n  source user;\n}\n");
}

#[test]
fn wrong_arguments_are_refused() {
    let folder = files(&[]);
    for (arguments, message) in [
        (&["--chekc"][..], "`--chekc` is no option"),
        (&["--exclude"][..], "needs a path"),
        (&["nonesuch.rs"][..], "there is no such file"),
    ] {
        let (code, _, err) = result(&fmt(folder.path(), arguments));
        assert!(code == 1 && err.contains(message), "{err}");
    }
    let (code, out, _) = result(&fmt(folder.path(), &["--help"]));
    assert!(code == 0 && out.contains("usage: cargo columnar fmt"), "{out}");
}
