//! The symbols of whole files.

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

use super::{Language, Parser, Symbols};

/// The smallest stack of a thread of these tests, in bytes.
const STACK: usize = 256 << 10;

/// A file of each language, and its symbols.
const SAMPLES: [(Language, &str, &str); 8] = [
    (Language::Rust, rust::TEXT, rust::SYMBOLS),
    (Language::Python, python::TEXT, python::SYMBOLS),
    (Language::JavaScript, javascript::TEXT, javascript::SYMBOLS),
    (Language::TypeScript, typescript::TEXT, typescript::SYMBOLS),
    (Language::Tsx, tsx::TEXT, tsx::SYMBOLS),
    (Language::C, c::TEXT, c::SYMBOLS),
    (Language::Cpp, cpp::TEXT, cpp::SYMBOLS),
    (Language::Go, go::TEXT, go::SYMBOLS),
];

/// The symbols of a file as text: a line for each import and each symbol.
fn shown(symbols: &Symbols) -> String {
    let mut text = String::from("\n");
    for import in &symbols.imports {
        let _ = writeln!(text, "import {import}");
    }
    for symbol in &symbols.defined {
        let _ = write!(text, "{:1$}{2:?} {3}", "", 2 * symbol.depth, symbol.kind, symbol.name);
        if !symbol.signature.is_empty() {
            let _ = write!(text, " {}", symbol.signature);
        }
        if !symbol.uses.is_empty() {
            let _ = write!(text, "  uses: {}", symbol.uses.join(" "));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "uses: {}", symbols.uses.join(" "));
    text
}

fn symbols(language: Language, text: &str) -> Option<String> {
    Parser::new(STACK).symbols(language, text).as_ref().map(shown)
}

#[test]
fn a_file_has_symbols() {
    for (language, text, expected) in SAMPLES {
        let shown = symbols(language, text).expect("it parses");
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
            parser.symbols(*language, broken);
            parser.symbols(*language, &broken.repeat(2000));
        }
        let found = parser.symbols(*language, text).expect("it parses");
        assert_eq!(shown(&found), *expected, "{language:?}");
    }
}

#[test]
fn ends_of_lines_change_no_symbols() {
    for (language, text, expected) in SAMPLES {
        let windows = text.replace('\n', "\r\n");
        assert_eq!(symbols(language, &windows).as_deref(), Some(expected), "{language:?}");
        let marked = format!("\u{feff}{}", text.trim_start());
        assert_eq!(symbols(language, &marked).as_deref(), Some(expected), "{language:?}");
    }
}
