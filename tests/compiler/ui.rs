//! The messages of `flow!`: each file in `ui` has a mistake, and the file `.stderr` beside it has the errors of the
//! compiler. Where a file has more than one, a line with a mistake ends with `//~`. Nearly every file also uses the flow,
//! which must cause no further error.
//!
//! Where `flow!` words the message, all files are modules of one crate, so rustc runs once and not for each file. Where
//! rustc words it, in `ui/rustc`, each file is a crate, because rustc suggests other items of the same crate. So is each
//! file that needs another crate beside `columnar`.
//!
//! `TRYBUILD=overwrite cargo test -p columnar-compiler-tests ui` accepts all messages as they are now.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use columnar_compiler_tests::rustc::{Diagnostic, Rustc};

/// The compiler whose messages are in `ui/rustc`.
const BLESSED: &str = "rustc 1.95.0 ";

/// A module with a mistake in a flow, and after it two mistakes that only rustc finds.
const PROBE: &str = r#"
use columnar::prelude::*;
flow! {
    pub struct Chat { source user; colum topics(user) = prompt("List the topics."); }
}
fn uses() -> u8 {
    drop(Chat::new().nonesuch);
    "not a number"
}
"#;

/// Programs with several errors of rustc.
const SEVERAL: [(&str, &str); 4] = [
    (
        "in_impl",
        "struct A; impl A { flow! { struct Chat { source user; column a(user) = prompt(\"A.\"); } } }",
    ),
    ("in_trait", "trait A { flow! { struct Chat { source user; column a(user) = prompt(\"A.\"); } } }"),
    ("named_twice", "flow! { struct Chat { source user; } } flow! { struct Chat { source topic; } }"),
    (
        "column_enum",
        "struct ChatColumn; flow! { struct Chat { source user; column a(user) = prompt(\"A.\"); } }",
    ),
];

/// The errors of one file.
#[derive(Default)]
struct Printed {
    errors: usize,
    text: String,
}

#[test]
fn each_mistake_has_its_message_and_no_other_error() {
    let files: Vec<PathBuf> = inputs().into_iter().filter(|path| !needs_other_crates(path)).collect();
    assert!(files.len() > 150, "there are {}", files.len());
    let printed = compiled(&files);

    let is_accepted = env::var_os("TRYBUILD").is_some_and(|value| value == "overwrite");
    let mut wrong = String::new();
    for file in &files {
        let printed = &printed[file];
        let golden = file.with_extension("stderr");
        let mistakes = mistakes_in(&read(file));
        if printed.errors != mistakes {
            writeln!(wrong, "{}: {} errors, not {mistakes}", file.display(), printed.errors).expect("text");
        }
        if is_accepted {
            fs::write(&golden, &printed.text).expect("it can be written");
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        if expected != printed.text {
            writeln!(wrong, "{}\nexpected:\n{expected}\nprinted:\n{}", golden.display(), printed.text)
                .expect("text");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The messages of rustc change from one release to the next.
#[test]
fn mistakes_that_rustc_words() {
    let version = version_of_rustc();
    if version.starts_with(BLESSED) {
        trybuild::TestCases::new().compile_fail("ui/rustc/*.rs");
    } else {
        eprintln!("SKIPPED ui/rustc: it has the messages of {BLESSED}, and this is {version}");
    }
}

#[test]
fn mistakes_in_files_that_need_other_crates() {
    let cases = trybuild::TestCases::new();
    let files: Vec<PathBuf> = inputs().into_iter().filter(|path| needs_other_crates(path)).collect();
    assert!(!files.is_empty());
    for file in files {
        assert_eq!(errors_in(&read(&file.with_extension("stderr"))), 1, "in {}", file.display());
        cases.compile_fail(file);
    }
}

#[test]
fn each_error_is_in_the_file_of_the_user() {
    let rustc = Rustc::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("several"));
    for (name, text) in SEVERAL {
        let file = rustc.write(name, &format!("use columnar::prelude::*;\n{text}"));
        let diagnostics = rustc.diagnostics(&file);
        let files: Vec<PathBuf> = diagnostics.iter().filter_map(|error| first_file(&error.text)).collect();
        assert!(files.len() > 1 && files.iter().all(|found| *found == file), "{name}: {files:?}");
    }
}

/// Compiles files as modules of one crate.
fn compiled(files: &[PathBuf]) -> BTreeMap<PathBuf, Printed> {
    let rustc = Rustc::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui"));
    let probe = rustc.write("probe", PROBE);
    let mut modules = "#![allow(dead_code)]\n".to_owned();
    for (number, file) in files.iter().chain([&probe]).enumerate() {
        writeln!(modules, "#[path = \"{}\"]\nmod case{number};", file.display()).expect("text");
    }
    let diagnostics = rustc.diagnostics(&rustc.write("mistakes", &modules));
    let mut printed: BTreeMap<PathBuf, Printed> =
        files.iter().map(|file| (file.clone(), Printed::default())).collect();
    let mut probed = Vec::new();
    for Diagnostic { level, text } in diagnostics {
        match first_file(&text) {
            // The summary at the end: the number of errors, and their codes.
            None => assert!(text.starts_with("error: aborting") || level == "failure-note", "{text}"),
            Some(file) if file == probe => probed.push(text),
            Some(file) => {
                assert_eq!(level, "error", "{text}");
                let of_file = printed.get_mut(&file).expect("only these files are compiled");
                if of_file.errors > 0 {
                    of_file.text.push('\n');
                }
                of_file.errors += 1;
                of_file.text.push_str(&relative(&text));
            }
        }
    }
    // If rustc stopped at the first kind of error, consequences of a mistake would be missed.
    let first_lines: Vec<&str> = probed.iter().filter_map(|text| text.lines().next()).collect();
    assert!(
        matches!(&*first_lines, [flow, field, number]
            if flow.starts_with("error: expected `source`")
                && field.starts_with("error[E0609]")
                && number.starts_with("error[E0308]")),
        "{first_lines:?}"
    );
    printed
}

/// The file of the first line that begins with an arrow.
fn first_file(text: &str) -> Option<PathBuf> {
    let arrow = text.lines().find_map(|line| line.trim_start().strip_prefix("--> "))?;
    arrow.rsplitn(3, ':').nth(2).map(PathBuf::from)
}

/// The text with paths from the folder of this package on, without spaces at the ends of lines.
fn relative(text: &str) -> String {
    let text = text.replace(concat!(env!("CARGO_MANIFEST_DIR"), "/"), "");
    let lines = text.trim_end().lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}

/// The files whose messages `flow!` words.
fn inputs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let files = fs::read_dir(folder).expect("the folder is there");
    let paths = files.map(|file| file.expect("it can be read").path());
    let mut inputs: Vec<_> = paths.filter(|path| path.extension() == Some(OsStr::new("rs"))).collect();
    inputs.sort();
    inputs
}

/// The number of mistakes that the lines of a file are marked with: one for each `~`.
fn mistakes_in(text: &str) -> usize {
    let marks = text.lines().filter_map(|line| line.split_once(" //~"));
    marks.map(|(_, more)| 1 + more.len()).sum::<usize>().max(1)
}

fn needs_other_crates(file: &Path) -> bool {
    read(file).contains("schemars::")
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).expect("it can be read")
}

fn errors_in(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with("error") || line.starts_with("warning")).count()
}

fn version_of_rustc() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("rustc is there");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
