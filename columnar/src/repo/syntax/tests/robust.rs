//! Texts of other languages than their names say, and texts with errors.

use super::super::{Language, SymbolParser, Symbols, Tangled};
use super::{SAMPLES, STACK, language, parsed, parser, symbols};
use crate::repo::life::ScanHandle;

/// Runs a test on a small stack, as small as a stack of a runtime.
fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(test).expect("a thread");
    thread.join().expect("the test passes");
}

/// The properties of the symbols of all files.
fn check(symbols: &Symbols) {
    let texts = symbols
        .defined
        .iter()
        .flat_map(|symbol| [&symbol.name, &symbol.signature].into_iter().chain(&symbol.uses));
    for text in symbols.imports.iter().chain(&symbols.uses).chain(texts) {
        assert!(!text.contains(char::is_control), "{text:?}");
        assert!(text.chars().count() <= 161 && text.trim() == &**text, "{text:?}");
    }
    let mut limit = 0;
    for symbol in &symbols.defined {
        assert!(symbol.depth <= limit, "{symbol:?}");
        assert!(!symbol.name.is_empty(), "{symbol:?}");
        assert!(symbol.uses.is_sorted_by(|a, b| a < b), "{symbol:?}");
        limit = symbol.depth + 1;
    }
    assert!(symbols.uses.is_sorted_by(|a, b| a < b), "{:?}", symbols.uses);
}

#[test]
fn a_file_without_code_has_no_symbols() {
    let empty = Some(Symbols::default());
    for (language, ..) in SAMPLES {
        let comment = if language == "py" { "# nothing\n" } else { "// nothing\n" };
        for text in ["", "\n", " \r\n\t", "\u{feff}", comment] {
            assert_eq!(parsed(&mut parser(), language, text), empty, "{language:?} {text:?}");
        }
    }
}

#[test]
fn a_text_of_no_language_does_not_parse() {
    let prose = "Dear reader, this file isn't code: it is only named so. Yours (truly) — the author.\n";
    for (language, ..) in SAMPLES {
        for text in [prose, "\0\u{1}\u{2}\u{3}\0", "}}} ))) ]]]", "«»«»"] {
            let found = parsed(&mut parser(), language, text);
            assert!(
                found.as_ref().is_none_or(|symbols| symbols.defined.is_empty()),
                "{language:?} {text:?} {found:?}"
            );
        }
        assert_eq!(symbols(language, &prose.repeat(20)), None, "{language:?}");
    }
}

#[test]
fn an_error_leaves_the_rest() {
    for (language, text, names) in [
        ("rs", "fn a() { let = ; }\nfn b( {\nfn c() {}\nstruct D;", &["a", "c", "D"][..]),
        ("py", "def a():\n    x = = 1\n\ndef (b):\n    pass\n\nclass C:\n    pass\n", &["a", "C"]),
        ("js", "function a() { x = ; }\nlet = 1;\nclass C { m() {} }", &["a", "C", "m"]),
        ("ts", "type A = ;\ninterface B { x: ; }\nfunction c(): void {}", &["B", "c"]),
        ("tsx", "const A = () => <div;\nfunction b() {}", &["b"]),
        ("c", "int a(void) { = ; }\nint b(void) { return ; }\nstruct c { int };", &["b", "c"]),
        ("hpp", "class A { void f(; };\nint g() { return 1 }\n", &["A", "g"]),
        ("go", "package p\nfunc a( {\n}\nfunc b() {}\ntype C struct {}\n", &["b", "C"]),
    ] {
        let symbols = parsed(&mut parser(), language, text).unwrap_or_else(|| panic!("{language:?}"));
        check(&symbols);
        for name in names {
            let is_found = symbols.defined.iter().any(|symbol| *symbol.name == **name);
            assert!(is_found, "{language:?} {name} {symbols:?}");
        }
    }
}

#[test]
fn names_are_of_all_scripts() {
    for (language, text, line) in [
        ("rs", "fn größe(höhe: Länge) {}", "Function größe (höhe: Länge)"),
        ("py", "class 视图(基础): pass", "Class 视图 (基础)"),
        ("js", "function été($a) { naïve() }", "Function été ($a)"),
        ("go", "package p\nfunc Größe() {}", "Function Größe ()"),
    ] {
        let shown = symbols(language, text).expect("it parses");
        assert_eq!(shown.lines().nth(1), Some(line), "{language:?}");
    }
}

#[test]
fn a_signature_is_one_short_line() {
    let parameter = |n| format!("\n    parameter_{n}: Type{n}, // the next\u{202e}\n");
    let parameters = (0..100).map(parameter).collect::<Vec<_>>().concat();
    let text = format!("fn long({parameters}) {{}}\nfn after() {{}}");
    let symbols = parsed(&mut parser(), "rs", &text).expect("it parses");
    check(&symbols);
    let [long, after] = symbols.defined.as_slice() else { panic!("two functions") };
    assert!(long.signature.starts_with("(parameter_0: Type0, parameter_1: Type1, "), "{}", long.signature);
    assert!(long.signature.ends_with('…') && long.signature.chars().count() == 121, "{}", long.signature);
    assert_eq!(&*after.signature, "()");
}

/// The trees of some of these texts are as deep, and some grammars do not follow them.
#[test]
fn depth_is_no_matter() {
    on_small_stack(|| {
        let mut parser = parser();
        for (language, ..) in SAMPLES {
            for (depth, before, open, close, after) in [
                (10_000, "", "(", "", ""),
                (3_000, "", "{", "", ""),
                (3_000, "", "[", "", ""),
                (10_000, "x = ", "(", ")", ""),
                (3_000, "fn f() ", "{", "}", ""),
                (3_000, "", "{a:", "", ""),
                (3_000, "", "mod a {", "}", ""),
                (3_000, "", "class A { a() {", "}}", ""),
                (3_000, "x = ", "a.b(c).", "", "d"),
                (3_000, "x = ", "- ", "", "a"),
                (3_000, "int x = ", "(a)* ", "", "a"),
                (3_000, "", "a<", "", ""),
            ] {
                let text = format!("{before}{}{}{after}", open.repeat(depth), close.repeat(depth));
                if let Some(symbols) = parsed(&mut parser, language, &text) {
                    check(&symbols);
                }
            }
        }
    });
}

/// Each of these makes the lexer or the parser read the rest of the text over and over.
#[test]
fn work_is_bounded() {
    let mut parser = parser();
    for (language, unit) in [
        ("rs", "'a "),
        ("rs", "r#\"a "),
        ("py", "f\"{a "),
        ("hpp", "a<b<c "),
        ("c", "(a)* "),
        ("js", "/* a "),
        ("ts", "a<b<c>( "),
        ("go", "a[b](c){ "),
    ] {
        let text = unit.repeat(5_000);
        let first = parsed(&mut parser, language, &text);
        assert_eq!(parsed(&mut parser, language, &text), first, "{language:?}");
    }
    let large = "fn f() {}\n".repeat(1 << 17);
    assert_eq!(parser.symbols(language("rs"), &large), Err(Tangled));
}

/// An error of syntax at each token, in more and more open operators, took minutes for 16 kB and all memory of the machine.
#[test]
fn i9_storms_of_errors_are_given_up() {
    let mut parser = parser();
    for (extension, unit) in [
        ("rs", "(;"),
        ("py", ",-"),
        ("js", "->"),
        ("js", "->delete ;extends const "),
        ("ts", "->"),
        ("tsx", "(a."),
        ("c", "(<a"),
        ("c", "?a:"),
        ("hpp", "(a::"),
        ("go", "{~"),
        ("go", "|range \n chan<- "),
    ] {
        for len in [16_000, 500_000] {
            let found = parser.symbols(language(extension), &unit.repeat(len / unit.len()));
            assert_eq!(found, Err(Tangled), "{extension} {unit:?}");
        }
    }
}

/// A lexer that asked for the rest of a character, and got nothing, read memory that was not there.
#[test]
fn i9_a_text_that_is_given_up_in_a_character_is_no_crash() {
    let text = format!("&{}", "else a[go /* é".repeat(4_000));
    assert_eq!(parser().symbols(language("go"), &text), Err(Tangled));
}

#[test]
fn a_parse_ends_when_nobody_waits_for_it() {
    let (handle, life) = ScanHandle::new();
    let mut parser = SymbolParser::new(STACK, life);
    let text = "fn f() {}\n".repeat(1000);
    assert!(parser.symbols(language("rs"), &text).is_ok_and(|found| found.is_some()));
    drop(handle);
    assert_eq!(parser.symbols(language("rs"), &text), Err(Tangled));
}

/// Any change of a file leaves symbols with the same properties.
#[test]
fn a_changed_file_is_read() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(limit.max(1)).expect("a small number")).expect("a small number")
    };
    let pieces = [
        "(", ")", "{", "}", "\"", "'", "\n", "\0", "é", "\u{2028}", "/*", "#", "<", ";", "`", "\u{202e}",
        "\\",
    ];
    let mut parser = parser();
    for (language, text, _) in SAMPLES {
        let chars: Vec<char> = text.chars().collect();
        for _ in 0..50 {
            let mut changed = chars.clone();
            for _ in 0..=random(8) {
                let from = random(changed.len());
                let to = random(changed.len());
                match random(3) {
                    0 => drop(changed.drain(from..changed.len().min(from + random(30)))),
                    1 => drop(changed.splice(from..from, pieces[random(pieces.len())].chars())),
                    _ => {
                        let copied = changed[to..changed.len().min(to + random(80))].to_vec();
                        changed.splice(from..from, copied);
                    }
                }
            }
            let changed: String = changed.into_iter().collect();
            // The file of another language may have the same name.
            let (other, ..) = SAMPLES[random(SAMPLES.len())];
            for language in [language, other] {
                if let Some(symbols) = parsed(&mut parser, language, &changed) {
                    check(&symbols);
                    assert_eq!(parsed(&mut super::parser(), language, &changed).as_ref(), Some(&symbols));
                }
            }
        }
    }
}

/// The sources of this library.
#[test]
fn the_library_is_read() {
    let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    let mut parser = parser();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            let language = path.to_str().and_then(Language::of);
            let Some(language) = language else { continue };
            let symbols = parser.symbols(language, &text).expect("it is plain");
            let symbols = symbols.unwrap_or_else(|| panic!("{path:?}"));
            check(&symbols);
        }
    }
}
