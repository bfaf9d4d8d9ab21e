//! The size of the code, its names and its prose, held below ceilings.
//!
//! `cargo test -p columnar-tests --test suite measures -- --nocapture` prints the figures.

mod code;
mod prose;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use code::Measured;

/// The folders of the product.
const PRODUCT: [&str; 4] =
    ["columnar/src", "columnar-macros/src", "columnar-macros/drawing", "columnar-macros/fmt"];

/// The most lines of code of the product. A change that needs more says in the changelog why.
const MOST_CODE: usize = 67_900;

/// The most names of types that several types of the product have.
const MOST_SHARED_NAMES: usize = 8;

/// The most pronouns in 1,000 words of documentation and comments. Each one sends the reader to the sentence before.
const MOST_PRONOUNS: usize = 20;

/// The most tuples in place of two statements or of a struct.
const MOST_TUPLES: usize = 0;

/// The most closures with a name of their own. A function, or the loop itself, is often plainer.
const MOST_NAMED_CLOSURES: usize = 36;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Rust files below a folder, by their paths from the root.
fn files(folder: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut open = vec![root().join(folder)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
            files.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
    files
}

/// The files of the product that are not compiled for tests alone.
fn product() -> Vec<(String, Measured)> {
    let files: BTreeMap<String, String> = PRODUCT.iter().flat_map(|folder| files(folder)).collect();
    let tests = code::files_of_tests(&files);
    let is_test = |file: &str| tests.iter().any(|test| file.starts_with(test.as_str()));
    let kept = files.into_iter().filter(|(file, _)| !is_test(file) && !file.ends_with("fmt/program.rs"));
    kept.map(|(file, text)| (file, Measured::new(&text))).collect()
}

/// The room of a file: its folder on the ground floor, or the file itself there.
fn room(file: &str) -> String {
    let parts: Vec<&str> = file.split('/').take(3).collect();
    parts.join("/")
}

#[test]
fn the_code_stays_below_its_ceiling() {
    let product = product();
    let mut rooms = BTreeMap::<String, Vec<usize>>::new();
    for (file, measured) in &product {
        rooms.entry(room(file)).or_default().push(measured.lines);
    }
    println!("{:40} {:>6} {:>8} {:>8}", "room", "files", "median", "lines");
    for (room, lines) in &mut rooms {
        lines.sort_unstable();
        println!(
            "{room:40} {:>6} {:>8} {:>8}",
            lines.len(),
            lines[lines.len() / 2],
            lines.iter().sum::<usize>()
        );
    }
    let lines: usize = product.iter().map(|(_, measured)| measured.lines).sum();
    println!("{} files, {lines} lines of code", product.len());
    assert!(lines <= MOST_CODE, "{lines} lines of code, and the ceiling is {MOST_CODE}");
    assert!(lines > MOST_CODE / 2, "{lines} lines of code were found");
}

#[test]
fn a_type_has_a_name_of_its_own() {
    let product = product();
    let mut types = BTreeMap::<&str, Vec<&str>>::new();
    for (file, measured) in &product {
        for name in &measured.types {
            types.entry(name).or_default().push(file);
        }
    }
    let shared: Vec<_> = types.iter().filter(|(_, files)| files.len() > 1).collect();
    for (name, files) in &shared {
        println!("{name}: {}", files.join(", "));
    }
    let all: usize = types.values().map(Vec::len).sum();
    println!("{all} types, {} names, {} of several types", types.len(), shared.len());
    assert!(shared.len() <= MOST_SHARED_NAMES, "{} names have several types", shared.len());
}

/// Lists the lines of all files that have something, and fails if there are more than this number.
fn at_most(most: usize, what: &str, lines: impl Fn(&Measured) -> &[usize]) {
    let mut found = Vec::new();
    for (file, measured) in product() {
        found.extend(lines(&measured).iter().map(|line| format!("{file}:{line}")));
    }
    println!("{} {what}\n{}", found.len(), found.join("\n"));
    assert!(found.len() <= most, "{} {what}", found.len());
}

/// Each of these reads as one statement or one value, and is two.
#[test]
fn no_tuple_stands_for_two_statements_or_for_a_missing_struct() {
    at_most(MOST_TUPLES, "tuples", |measured| &measured.tuples);
}

#[test]
fn few_closures_have_a_name() {
    at_most(MOST_NAMED_CLOSURES, "named closures", |measured| &measured.closures);
}

#[test]
fn the_prose_names_its_nouns() {
    let (mut words, mut pronouns, mut vague) = (0, 0, Vec::new());
    for folder in PRODUCT {
        for (file, text) in files(folder) {
            let prose = prose::Prose::new(&text);
            words += prose.words;
            pronouns += prose.pronouns;
            vague.extend(prose.vague.into_iter().map(|line| format!("{file}:{line}")));
        }
    }
    println!("{words} words, {pronouns} pronouns, {} vague words", vague.len());
    assert_eq!(vague, [""; 0], "have a word in place of a noun");
    assert!(pronouns * 1000 <= words * MOST_PRONOUNS, "{pronouns} pronouns in {words} words");
}
