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
        let word = if symbol.is_async { "async " } else { "" };
        let _ = write!(text, "{:1$}{2:?} {word}{3}", "", 2 * symbol.depth, symbol.kind, symbol.name);
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

/// The branches of `#if` define the same names, and an entry had each of them.
#[test]
fn definitions_that_look_the_same_are_one() {
    let text = "#ifdef A\n#define API one\n#else\n#define API two\n#endif\nint f(int);\nint f(int) { return inner(); }\n\
        int f(char);\nstruct a { int f(int); };\n";
    let cpp = "\nConstant API = one\nFunction f (int) -> int  uses: inner\nFunction f (char) -> int\nClass a\n  \
        Function f (int) -> int\nuses: \n";
    assert_eq!(symbols(Language::Cpp, text).as_deref(), Some(cpp));
}

/// The walk takes the text after a name, so the word before it was lost.
#[test]
fn an_asynchronous_function_is_marked() {
    for (language, text) in [
        (Language::Rust, "pub async unsafe fn load(n: u8) {}"),
        (Language::Python, "async def load(n): pass"),
        (Language::JavaScript, "export default async function load(n) {}"),
        (Language::TypeScript, "export const load = async (n) => 1;"),
    ] {
        let symbols = symbols(language, text);
        assert!(symbols.is_some_and(|symbols| symbols.contains("Function async load (n")), "{language:?}");
    }
}

/// A macro that the grammar does not know made a constant of the next words: `char_type: using`.
#[test]
fn words_of_the_language_are_no_names() {
    let symbols =
        symbols(Language::Cpp, "class View {\n static using char_type = Char;\n};").expect("it parses");
    assert!(!symbols.contains("Constant"), "{symbols}");
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
