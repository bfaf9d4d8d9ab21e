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

use super::language::LANGUAGES;
use super::query::Visit;
use super::{Language, SymbolKind, SymbolParser, Symbols};
use crate::repo::life::ScanLife;

/// The smallest stack of a thread of these tests, in bytes.
const STACK: usize = 256 << 10;

/// The extension of each language, a file, and its symbols.
const SAMPLES: [(&str, &str, &str); 8] = [
    ("rs", rust::TEXT, rust::SYMBOLS),
    ("py", python::TEXT, python::SYMBOLS),
    ("js", javascript::TEXT, javascript::SYMBOLS),
    ("ts", typescript::TEXT, typescript::SYMBOLS),
    ("tsx", tsx::TEXT, tsx::SYMBOLS),
    ("c", c::TEXT, c::SYMBOLS),
    ("hpp", cpp::TEXT, cpp::SYMBOLS),
    ("go", go::TEXT, go::SYMBOLS),
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
        text.push('\n');
    }
    text
}

fn symbols(extension: &str, text: &str) -> Option<String> {
    parsed(&mut parser(), extension, text).as_ref().map(shown)
}

fn language(extension: &str) -> &'static Language {
    Language::of(&format!("file.{extension}")).expect("a language")
}

/// A parser for a thread with a small stack.
fn parser() -> SymbolParser {
    SymbolParser::new(STACK, ScanLife::default())
}

/// The symbols of a file with an extension.
fn parsed(parser: &mut SymbolParser, extension: &str, text: &str) -> Option<Symbols> {
    parser.symbols(language(extension), text).ok().flatten()
}

#[test]
fn a_file_has_symbols() {
    for (extension, text, expected) in SAMPLES {
        let shown = symbols(extension, text).expect("it parses");
        let same = shown.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count();
        let first = |text: &str| text.lines().nth(same).map(str::to_owned);
        assert_eq!(first(&shown), first(expected), "{extension}, line {same}, of\n{shown}");
    }
}

/// Capture names without a meaning would do nothing, and a pattern without a kind at its beginning would never run: it is one
/// of the kind 0, which no node has.
#[test]
fn queries_compile_and_their_captures_are_described() {
    let known = include_str!("../query.rs");
    for language in &LANGUAGES {
        let Visit { capture, is_root } = language.query.visit(0);
        assert!(capture.is_none() && !is_root, "{:?}", language.extensions);
        for name in language.query.query.capture_names() {
            let is_kind = SymbolKind::named(name).is_some();
            assert!(is_kind || name.starts_with('_') || known.contains(&format!("`@{name}`")), "@{name}");
        }
    }
}

#[test]
fn a_definition_uses_the_names_that_it_does_not_bind() {
    for (extension, text, uses) in [
        (
            "rs",
            "fn f(view: View) -> u8 { let parts = parts(view); show(parts.len, Self::of(EMPTY)) }",
            &["EMPTY", "View", "of", "parts", "show"][..],
        ),
        (
            "py",
            "def f(view):\n    size = view.size\n    return render(view.part(), models.Shown, size, key=1)\n",
            &["Shown", "models", "part", "render"],
        ),
        (
            "js",
            "function f({ view }) { const size = measure(view); return <Box a={size}>{view.name}</Box>; }",
            &["Box", "measure"],
        ),
        (
            "go",
            "package p\nfunc f(view *View) error { part := part(view); return check(part.Name) }",
            &["Name", "View", "check", "error", "part"],
        ),
        (
            "c",
            "int f(view_t *view) { int size = size_of(view->name); view->show(size); }",
            &["show", "size_of", "view_t"],
        ),
    ] {
        let symbols = parsed(&mut parser(), extension, text).expect("it parses");
        let [symbol] = symbols.defined.as_slice() else { panic!("{extension}: one function") };
        assert_eq!(symbol.uses.iter().map(|name| &**name).collect::<Vec<_>>(), uses, "{extension}");
    }
}

/// A test of flask has a class `Config` in a function, which hid `flask.Config`: the file of that class had no referrer.
#[test]
fn a_local_name_hides_no_member() {
    for (extension, text) in [
        ("py", "def f():\n    class Config(flask.Config):\n        size = 1\n    return Config()\n"),
        ("js", "function f(Config) { return flask.Config(Config); }"),
        ("go", "package p\nfunc f(Config int) { flask.Config(Config) }"),
        ("c", "void f(int Config) { flask->Config(Config); }"),
    ] {
        let symbols = parsed(&mut parser(), extension, text).expect("it parses");
        let [symbol] = symbols.defined.as_slice() else { panic!("{extension}: one function") };
        assert!(symbol.uses.contains(&"Config".into()), "{extension}: {symbol:?}");
        let hidden = text.replace("flask.", "").replace("flask->", "");
        let symbols = parsed(&mut parser(), extension, &hidden).expect("it parses");
        assert!(!symbols.defined[0].uses.contains(&"Config".into()), "{extension}: {symbols:?}");
    }
}

/// The text between a type and a name was put together as it was written: `Iterator * (*) (int)`, `rb_tree ()`.
#[test]
fn the_parts_of_a_declarator_have_the_same_spaces_everywhere() {
    let text = "typedef Iterator* (*first) (int n);\ntypedef Iterator *(* next)(int n);\ntypedef rb_tree(tree);\n\
        typedef char *text;\n";
    let types = "\nType first = Iterator *(*)(int n)\nType next = Iterator *(*)(int n)\nType tree = rb_tree()\n\
        Type text = char *\n";
    assert_eq!(symbols("c", text).as_deref(), Some(types));
}

/// The branches of `#if` define the same names, and an entry had each of them.
#[test]
fn definitions_that_look_the_same_are_one() {
    let text = "#ifdef A\n#define API one\n#else\n#define API two\n#endif\nint f(int);\nint f(int) { return inner(); }\n\
        int f(char);\nstruct a { int f(int); };\n";
    let cpp = "\nConstant API = one\nFunction f (int) -> int\nFunction f (char) -> int\nClass a\n  \
        Function f (int) -> int\n";
    assert_eq!(symbols("hpp", text).as_deref(), Some(cpp));
}

/// The walk takes the text after a name, so the word before it was lost.
#[test]
fn an_asynchronous_function_is_marked() {
    for (extension, text) in [
        ("rs", "pub async unsafe fn load(n: u8) {}"),
        ("py", "async def load(n): pass"),
        ("js", "export default async function load(n) {}"),
        ("ts", "export const load = async (n) => 1;"),
    ] {
        let symbols = symbols(extension, text);
        assert!(symbols.is_some_and(|symbols| symbols.contains("Function async load (n")), "{extension}");
    }
}

/// A macro that the grammar does not know made a constant of the next words: `char_type: using`.
#[test]
fn words_of_the_language_are_no_names() {
    let symbols = symbols("hpp", "class View {\n static using char_type = Char;\n};").expect("it parses");
    assert!(!symbols.contains("Constant"), "{symbols}");
}

#[test]
fn a_parser_has_no_memory() {
    let mut parser = SymbolParser::new(STACK, ScanLife::default());
    let broken = ["fn f( {", "def f(:\n  '''", "\"", "`${", "/*", "{[(", "R\"x(", "f\"{", "template<"];
    for (extension, text, expected) in SAMPLES.iter().chain(SAMPLES.iter().rev()) {
        for broken in broken {
            parsed(&mut parser, extension, broken);
            parsed(&mut parser, extension, &broken.repeat(100));
        }
        // The parser gives up in the middle of this text.
        let endless = if *extension == "rs" { "r#\"a " } else { "/* a " };
        if !matches!(*extension, "py" | "go") {
            assert_eq!(parsed(&mut parser, extension, &endless.repeat(1000)), None, "{extension}");
        }
        let found = parsed(&mut parser, extension, text).expect("it parses");
        assert_eq!(shown(&found), *expected, "{extension}");
    }
}

#[test]
fn ends_of_lines_change_no_symbols() {
    for (extension, text, expected) in SAMPLES {
        let windows = text.replace('\n', "\r\n");
        assert_eq!(symbols(extension, &windows).as_deref(), Some(expected), "{extension}");
        let marked = format!("\u{feff}{}", text.trim_start());
        assert_eq!(symbols(extension, &marked).as_deref(), Some(expected), "{extension}");
    }
}
