//! What the compiler says to mistakes in `flow!`: a file for each, named for it. Nearly every file
//! goes on to use the flow, which must cause no further error.
//!
//! `TRYBUILD=overwrite cargo test -p columnar-tests --test compiler ui` writes down what the compiler says now.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The compiler whose own words are in `ui/rustc`.
const BLESSED: &str = "rustc 1.95.0 ";

/// Files with more than one mistake, and how many they have.
const MANY: [(&str, usize); 8] = [
    ("many-at-once", 29),
    ("many-at-once-by-habit", 23),
    ("many-at-once-extension", 12),
    ("many-at-once-inline", 8),
    ("module-many-at-once", 19),
    ("two-cycles", 2),
    ("was-what-is-there", 3),
    ("was-without-a-name", 5),
];

/// Our words.
#[test]
fn mistakes_are_told_by_flow() {
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}

/// What the compiler finds by itself in what `flow!` passes on, in its words, which change from one
/// release to the next.
#[test]
fn mistakes_are_told_by_rustc() {
    let version = version_of_rustc();
    if version.starts_with(BLESSED) {
        trybuild::TestCases::new().compile_fail("ui/rustc/*.rs");
    } else {
        eprintln!("SKIPPED ui/rustc: it holds the words of {BLESSED}, and this is {version}");
    }
}

/// One mistake is one error: none for its consequences, inside the flow or where it is used.
#[test]
fn each_mistake_is_one_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let files = fs::read_dir(folder).expect("the folder is there");
    let paths = files.map(|file| file.expect("it can be read").path());
    let mut checked = 0;
    for path in paths.filter(|path| path.extension() == Some(OsStr::new("stderr"))) {
        let said = fs::read_to_string(&path).expect("it can be read");
        let mistakes = MANY.iter().find(|(name, _)| path.file_stem() == Some(OsStr::new(name)));
        let starting = |start| said.lines().filter(|line| line.starts_with(start)).count();
        assert_eq!(starting("error"), mistakes.map_or(1, |(_, count)| *count), "in {}", path.display());
        assert_eq!(starting("warning"), 0, "in {}", path.display());
        checked += 1;
    }
    assert!(checked > 80, "there are {checked}");
}

fn version_of_rustc() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("rustc is there");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
