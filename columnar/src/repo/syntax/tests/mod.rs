//! Outlines of whole files.

mod c;
mod cpp;
mod go;
mod javascript;
mod python;
mod robust;
mod rust;
mod tsx;
mod typescript;

use std::fmt::Write as _;

use super::{Language, Outline, Parser};

/// The smallest stack of a thread of these tests, in bytes.
const STACK: usize = 256 << 10;

/// A file of each language, and its outline.
const SAMPLES: [(Language, &str, &str); 8] = [
    (Language::Rust, rust::TEXT, rust::OUTLINE),
    (Language::Python, python::TEXT, python::OUTLINE),
    (Language::JavaScript, javascript::TEXT, javascript::OUTLINE),
    (Language::TypeScript, typescript::TEXT, typescript::OUTLINE),
    (Language::Tsx, tsx::TEXT, tsx::OUTLINE),
    (Language::C, c::TEXT, c::OUTLINE),
    (Language::Cpp, cpp::TEXT, cpp::OUTLINE),
    (Language::Go, go::TEXT, go::OUTLINE),
];

/// An outline as text: a line for each import and each symbol.
fn shown(outline: &Outline) -> String {
    let mut text = String::from("\n");
    for import in &outline.imports {
        let _ = writeln!(text, "import {import}");
    }
    for symbol in &outline.symbols {
        let _ = write!(text, "{:1$}{2:?} {3}", "", 2 * symbol.depth, symbol.kind, symbol.name);
        if !symbol.signature.is_empty() {
            let _ = write!(text, " {}", symbol.signature);
        }
        if !symbol.uses.is_empty() {
            let _ = write!(text, "  uses: {}", symbol.uses.join(" "));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "uses: {}", outline.uses.join(" "));
    text
}

fn outline(language: Language, text: &str) -> Option<String> {
    Parser::new(STACK).outline(language, text).as_ref().map(shown)
}

#[test]
fn a_file_has_an_outline() {
    for (language, text, expected) in SAMPLES {
        let shown = outline(language, text).expect("an outline");
        let same = shown.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count();
        let first = |text: &str| text.lines().nth(same).map(str::to_owned);
        assert_eq!(first(&shown), first(expected), "{language:?}, line {same}, of\n{shown}");
    }
}

#[test]
fn a_parser_has_no_memory() {
    let mut parser = Parser::new(STACK);
    let broken = ["fn f( {", "def f(:\n  '''", "\"", "`${", "/*", "{[(", "R\"x(", "f\"{", "template<"];
    for (language, text, expected) in SAMPLES.iter().chain(SAMPLES.iter().rev()) {
        for broken in broken {
            parser.outline(*language, broken);
            parser.outline(*language, &broken.repeat(2000));
        }
        let found = parser.outline(*language, text).expect("an outline");
        assert_eq!(shown(&found), *expected, "{language:?}");
    }
}

#[test]
fn ends_of_lines_change_no_outline() {
    for (language, text, expected) in SAMPLES {
        let windows = text.replace('\n', "\r\n");
        assert_eq!(outline(language, &windows).as_deref(), Some(expected), "{language:?}");
        let marked = format!("\u{feff}{}", text.trim_start());
        assert_eq!(outline(language, &marked).as_deref(), Some(expected), "{language:?}");
    }
}
