//! The layers of the library, the macro, the drawing and the formatter: an import points down.
//!
//! ```text
//! sources ──▶ modules ──▶ references ──▶ rules ──▶ violations
//! ```
//!
//! `small` shows that the checker finds each kind of violation.

mod modules;
mod references;
mod rules;
mod small;

use std::fs;
use std::path::{Path, PathBuf};

use modules::Sources;
pub(crate) use modules::{attributes, is_test};
use rules::{Report, Rules, check};

const LIBRARY: Rules<'_> = Rules {
    folder: "columnar/src",
    root: "lib.rs",
    layers: &[
        "history",
        "declare",
        "schedule",
        "context",
        "model",
        "store",
        "repo",
        "web",
        "compute",
        "loom",
        "run",
        "flow",
        "engine",
        "report",
        "terminal",
        "testing",
        "guide",
        "__private",
    ],
    // A request depends only on the declaration and on stored values.
    pure: &["history", "declare", "schedule", "context"],
    impure: &[
        "fastrand",
        "futures",
        "std::collections::HashMap",
        "std::collections::HashSet",
        "std::collections::hash_map",
        "std::collections::hash_set",
        "std::env",
        "std::fs",
        "std::hash::RandomState",
        "std::io",
        "std::net",
        "std::process",
        "std::thread",
        "std::time::Instant",
        "std::time::SystemTime",
        "std::time::UNIX_EPOCH",
        "tokio",
    ],
};

const MACROS: Rules<'_> = Rules {
    folder: "columnar-macros/src",
    root: "lib.rs",
    layers: &["graph", "ident", "keywords", "diagnostics", "syntax", "check", "expand"],
    pure: &["graph", "ident", "keywords", "diagnostics", "syntax", "check", "expand"],
    // Hash maps are used for lookups only; an order that got into the expansion would fail its snapshots.
    impure: &["std::env", "std::fs", "std::io", "std::net", "std::process", "std::thread", "std::time"],
};

/// The formatter, which reads flows with the parser of the macro.
const FORMATTER: Rules<'_> = Rules {
    folder: "columnar-macros/fmt",
    root: "main.rs",
    layers: &[
        "ident",
        "keywords",
        "diagnostics",
        "syntax",
        "source",
        "same",
        "rustfmt",
        "rust",
        "align",
        "list",
        "entries",
        "declaration",
        "flow",
        "examples",
        "document",
        "files",
    ],
    pure: &[],
    impure: &[],
};

/// The command, which is beside the library.
const COMMAND: Rules<'_> = Rules {
    folder: "columnar/src/bin/columnar",
    root: "main.rs",
    layers: &["output", "place", "shown", "copies", "serve"],
    pure: &[],
    impure: &[],
};

/// What the library and the macro share.
const DRAWING: Rules<'_> = Rules {
    folder: "columnar-macros/drawing/src",
    root: "lib.rs",
    layers: &["text", "column", "layout"],
    pure: &["text", "column", "layout"],
    impure: MACROS.impure,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(folder: &Path) -> Sources {
    let mut sources = Sources::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        // A program beside the library has rules of its own.
        if path.ends_with("src/bin") {
            continue;
        }
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
            sources.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
    sources
}

fn checked(rules: &Rules<'_>) -> Report {
    checked_with(rules, &sources(&root().join(rules.folder)))
}

fn checked_with(rules: &Rules<'_>, sources: &Sources) -> Report {
    let report = check(sources, rules);
    let violations: Vec<String> = report.violations.iter().map(ToString::to_string).collect();
    assert!(violations.is_empty(), "{} violations\n\n{}\n", violations.len(), violations.join("\n\n"));
    report
}

#[test]
fn imports_of_the_library_point_down() {
    let report = checked(&LIBRARY);
    assert!(report.files > 100, "{} files", report.files);
    assert!(report.checked > 1500, "{} references", report.checked);
}

#[test]
fn imports_of_the_macro_point_down() {
    let report = checked(&MACROS);
    assert!(report.files > 30, "{} files", report.files);
    assert!(report.checked > 200, "{} references", report.checked);
}

#[test]
fn imports_of_the_drawing_point_down() {
    assert!(checked(&DRAWING).checked > 3);
}

#[test]
fn imports_of_the_command_point_down() {
    assert!(checked(&COMMAND).checked > 10);
}

#[test]
fn imports_of_the_formatter_point_down() {
    let mut files = sources(&root().join(FORMATTER.folder));
    assert!(files.remove("program.rs").is_some(), "the test that starts the program is a crate of its own");
    let of_the_macro = sources(&root().join(MACROS.folder)).into_iter();
    let shared = of_the_macro.map(|(file, text)| (format!("../src/{file}"), text));
    files.extend(shared.filter(|(file, _)| {
        ["diagnostics", "ident.rs", "keywords.rs", "syntax/"].iter().any(|part| file.contains(part))
    }));
    let report = checked_with(&FORMATTER, &files);
    assert!(report.checked > 30, "{} references", report.checked);
}

#[test]
fn the_architecture_draws_and_lists_the_layers_in_this_order() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, text) = text.split_once("## Layers\n\n```text\n").expect("there is such a drawing");
    let (drawing, text) = text.split_once("```").unwrap();
    let rows = drawing.lines().rev().filter_map(|line| line.split_once('│'));
    let drawn: Vec<&str> = rows.flat_map(|(layers, _)| layers.split_whitespace()).collect();
    assert_eq!(drawn, LIBRARY.layers);

    let (table, _) = text.split_once("\n\n### ").unwrap();
    let mut listed: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(layer, _)| layer)
        .collect();
    let mut layers = LIBRARY.layers.to_vec();
    listed.sort_unstable();
    layers.sort_unstable();
    assert_eq!(listed, layers);
}
