//! The checker, on sources that break one rule each.

use super::modules::Sources;
use super::rules::{Rules, check};

const RULES: Rules<'_> = Rules {
    folder: "src",
    root: "lib.rs",
    layers: &["low", "middle", "high"],
    pure: &["low"],
    impure: &["std::time", "std::collections::HashMap", "tokio"],
};

fn sources(files: &[(&str, &str)]) -> Sources {
    files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect()
}

/// The violations of a crate whose three layers have these sources.
fn found(low: &str, middle: &str, high: &str) -> Vec<String> {
    found_in(&[("low.rs", low), ("middle.rs", middle), ("high.rs", high)], &RULES)
}

/// The violations of a crate of these files, without the advice.
fn found_in(files: &[(&str, &str)], rules: &Rules<'_>) -> Vec<String> {
    let root = (
        "lib.rs",
        "mod low; mod middle; mod high; pub use high::High; pub mod prelude { pub use crate::low; }",
    );
    let report = check(&sources(&[files, &[root]].concat()), rules);
    report
        .violations
        .iter()
        .map(ToString::to_string)
        .map(|text| text.split(';').next().unwrap_or_default().to_owned())
        .collect()
}

const HIGH: &str = "pub struct High;";

#[test]
fn imports_that_point_down_are_accepted() {
    let middle = "use crate::low::Low; pub fn f(_: Low) -> crate::low::Low { super::low::Low }";
    assert_eq!(found("pub struct Low;", middle, HIGH), [""; 0]);
}

#[test]
fn an_upward_import_is_found_in_every_syntax() {
    let upward = [
        "use crate::high::High;",
        "use super::high::High;",
        "use crate::{high::{High as Other}};",
        "use crate::high;",
        "use crate::high::*;",
        "pub(crate) use crate::high::High;",
        "fn f() { let _ = crate::high::High; }",
        "fn f() { use crate::high::High; }",
        "fn f(_: &dyn Fn(crate::high::High)) {}",
        "struct S<T: Into<crate::high::High>>(T);",
        "fn f() -> String { format!(\"{:?}\", crate::high::High) }",
        "macro_rules! m { () => { crate::high::High }; }",
        "#[error(\"{0}\", f = crate::high::High)] struct S;",
        "mod inner { use super::super::high::High; }",
        // By the name that the root passes on.
        "use crate::High;",
    ];
    for line in upward {
        let text = format!("\n{line}");
        let expected = |violations: &[String]| match violations {
            [one] => {
                one.starts_with("src/low.rs:2: `")
                    && one.ends_with("points up, from the layer `low` to `high`")
            }
            _ => false,
        };
        let violations = found(&text, "", HIGH);
        assert!(expected(&violations), "{line}: {violations:?}");
    }
}

#[test]
fn a_reexported_name_points_to_the_file_that_defines_it() {
    let middle = "pub use crate::high::High;";
    assert_eq!(
        found("use crate::middle::High;", middle, HIGH),
        [
            "src/low.rs:1: `crate::middle::High` points up, from the layer `low` to `high`",
            "src/middle.rs:1: `crate::high::High` points up, from the layer `middle` to `high`",
        ]
    );
}

#[test]
fn tests_and_comments_are_not_imports() {
    let low = "/// See [`crate::high::High`].\n\
               #[cfg(test)] use crate::high::High;\n\
               #[cfg(test)] mod tests { use crate::high::High; }\n\
               #[cfg(all(test, unix))] fn f() { crate::high::High; }\n\
               pub(crate) struct Low; impl Low { #[cfg(test)] fn f() { crate::high::High; } }\n\
               macro_rules! m { () => { $crate::high::High }; }";
    assert_eq!(found(low, "", HIGH), [""; 0]);
    let used = "#[cfg(any(test, unix))] use crate::high::High; #[cfg(not(test))] use crate::high::High as H;";
    assert_eq!(found(used, "", HIGH).len(), 1);
}

#[test]
fn a_clock_and_a_hash_map_are_violations_in_a_pure_layer_only() {
    let impure = [
        ("use std::time::Instant;", "std::time::Instant"),
        ("use std::{sync::Arc, time};", "std::time"),
        ("use core::time::Duration;", "std::time::Duration"),
        ("use std as other; fn f() { other::time::Instant::now(); }", "std::time::Instant::now"),
        ("fn f() { let _ = std::collections::HashMap::<u8, u8>::new(); }", "std::collections::HashMap::new"),
        ("fn f() { tokio::select! {} }", "tokio::select"),
        ("fn f() { vec![std::time::Instant::now()]; }", "std::time::Instant::now"),
    ];
    for (text, path) in impure {
        let violation = format!(
            "src/low.rs:1: `{path}` is in the layer `low`, which is pure: time, randomness, I/O and the order of hash maps are not"
        );
        assert_eq!(found(text, "", HIGH), [violation], "{text}");
        assert_eq!(found("", text, HIGH), [""; 0], "{text}");
    }
    assert_eq!(found("use std::collections::BTreeMap; use tokio_like::Time;", "", HIGH), [""; 0]);
}

#[test]
fn a_cycle_of_files_is_found_through_reexported_names() {
    let both = [
        ("middle/a.rs", "use super::B;\npub struct A(B);"),
        ("middle/b.rs", "pub struct B; impl B { fn f() { super::a::A; } }"),
        ("middle/mod.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
        ("low.rs", ""),
        ("high.rs", HIGH),
    ];
    let circle = ["these files depend on each other in a circle: middle/a.rs, middle/b.rs"];
    assert_eq!(found_in(&both, &RULES), circle);

    let parent = [
        ("middle/mod.rs", "mod a; pub use a::A; pub struct M(A);"),
        ("middle/a.rs", "pub struct A; impl A { fn f(_: super::M) {} }"),
        ("low.rs", ""),
        ("high.rs", HIGH),
    ];
    let circle = ["these files depend on each other in a circle: middle/a.rs, middle/mod.rs"];
    assert_eq!(found_in(&parent, &RULES), circle);
}

#[test]
fn reexports_and_locals_close_no_cycle() {
    let files = [
        ("middle/mod.rs", "mod a; pub use a::{A, a}; pub struct M; pub fn f(a: u8) -> u8 { a + g!(a) }"),
        ("middle/a.rs", "use super::M; pub struct A(M); pub fn a() {}"),
        ("low.rs", ""),
        ("high.rs", HIGH),
    ];
    assert_eq!(found_in(&files, &RULES), [""; 0]);
}

#[test]
fn a_file_without_a_module_is_found_and_files_of_tests_are_not() {
    let files = [
        ("low.rs", "#[cfg(test)] mod checks;"),
        ("low/checks/mod.rs", "mod more;"),
        ("low/checks/more.rs", ""),
        ("low/left.rs", ""),
        ("middle.rs", ""),
        ("high.rs", HIGH),
    ];
    assert_eq!(found_in(&files, &RULES), ["no module has the file low/left.rs"]);
}

#[test]
fn every_module_has_a_layer_and_every_path_is_found() {
    let rules = Rules { layers: &["low", "high", "gone"], ..RULES };
    let files = [("low.rs", ""), ("middle.rs", ""), ("high.rs", HIGH)];
    assert_eq!(
        found_in(&files, &rules),
        ["the module `middle` has no layer", "the layer `gone` is no module"]
    );
    assert_eq!(
        found("use crate::middle::Nothing;", "", HIGH),
        ["src/low.rs:1: `crate::middle::Nothing` is not found, so it is not checked"]
    );
}
