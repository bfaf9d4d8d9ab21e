//! The languages whose symbols are known, one row each.
//!
//! A language needs a row, the file of its query, and the crate of its grammar.

use std::sync::LazyLock;

use super::query::SymbolQuery;

/// A language with a grammar.
#[derive(Debug)]
pub(in crate::repo) struct Language {
    /// The extensions of its files.
    pub(super) extensions: &'static [&'static str],
    pub(in crate::repo) family: LanguageFamily,
    pub(super) query: LazyLock<SymbolQuery>,
}

/// Languages whose files can refer to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::repo) enum LanguageFamily {
    Rust,
    Python,
    JavaScript,
    /// A file refers to the files in its folder, too. A text may have [macros](super::macros) around definitions.
    C,
    /// A file refers to the files in its folder, and an import names a folder.
    Go,
}

const RUST_NAMES: [&str; 11] =
    ["Box", "Err", "None", "Ok", "Option", "Self", "Some", "String", "Vec", "doc", "feature"];
const PYTHON_NAMES: [&str; 38] = [
    "Any", "False", "None", "OSError", "Optional", "True", "abs", "all", "any", "bool", "bytes", "callable",
    "dict", "filter", "float", "getattr", "hasattr", "int", "iter", "len", "list", "map", "max", "min",
    "next", "object", "open", "pow", "print", "property", "range", "repr", "reversed", "set", "sorted",
    "str", "sum", "super",
];
const C_NAMES: [&str; 12] = [
    "NULL", "bool", "int16_t", "int32_t", "int64_t", "int8_t", "size_t", "ssize_t", "uint16_t", "uint32_t",
    "uint64_t", "uint8_t",
];

impl LanguageFamily {
    /// Whether a line may end a statement.
    pub(super) const fn has_lines(self) -> bool {
        matches!(self, Self::Python | Self::JavaScript | Self::Go)
    }

    /// The sum of the depths of rounds that a text may have at once. An error costs as much time and memory as the text is
    /// [deep](super::nesting), and the parser does not report how many it met. An error of Rust costs the most.
    pub(super) const fn depths(self) -> usize {
        if matches!(self, Self::Rust) { 4000 } else { 12_000 }
    }

    /// Names that no repository defines.
    pub(super) const fn known(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &RUST_NAMES,
            Self::Python => &PYTHON_NAMES,
            Self::C => &C_NAMES,
            Self::JavaScript | Self::Go => &[],
        }
    }
}

/// Queries that several languages share.
const C: &str = include_str!("queries/c.scm");
const ECMASCRIPT: &str = include_str!("queries/ecmascript.scm");
const JSX: &str = include_str!("queries/jsx.scm");
const TYPESCRIPT: &str = include_str!("queries/typescript.scm");

/// All languages, each with the parts of its query.
pub(super) static LANGUAGES: [Language; 8] = [
    Language::new(&["rs"], LanguageFamily::Rust, || {
        SymbolQuery::new(tree_sitter_rust::LANGUAGE, &[include_str!("queries/rust.scm")])
    }),
    Language::new(&["py", "pyi"], LanguageFamily::Python, || {
        SymbolQuery::new(tree_sitter_python::LANGUAGE, &[include_str!("queries/python.scm")])
    }),
    Language::new(&["js", "cjs", "mjs", "jsx"], LanguageFamily::JavaScript, || {
        SymbolQuery::new(
            tree_sitter_javascript::LANGUAGE,
            &[ECMASCRIPT, JSX, include_str!("queries/javascript.scm")],
        )
    }),
    Language::new(&["ts", "cts", "mts"], LanguageFamily::JavaScript, || {
        SymbolQuery::new(tree_sitter_typescript::LANGUAGE_TYPESCRIPT, &[ECMASCRIPT, TYPESCRIPT])
    }),
    Language::new(&["tsx"], LanguageFamily::JavaScript, || {
        SymbolQuery::new(tree_sitter_typescript::LANGUAGE_TSX, &[ECMASCRIPT, JSX, TYPESCRIPT])
    }),
    Language::new(&["c"], LanguageFamily::C, || SymbolQuery::new(tree_sitter_c::LANGUAGE, &[C])),
    // Many headers of C++ are named like headers of C. The grammar of C++ reads nearly all of C.
    Language::new(&["h", "cc", "cpp", "cxx", "hh", "hpp", "hxx"], LanguageFamily::C, || {
        SymbolQuery::new(tree_sitter_cpp::LANGUAGE, &[C, include_str!("queries/cpp.scm")])
    }),
    Language::new(&["go"], LanguageFamily::Go, || {
        SymbolQuery::new(tree_sitter_go::LANGUAGE, &[include_str!("queries/go.scm")])
    }),
];

impl Language {
    const fn new(
        extensions: &'static [&'static str],
        family: LanguageFamily,
        query: fn() -> SymbolQuery,
    ) -> Self {
        Self { extensions, family, query: LazyLock::new(query) }
    }

    /// The language of a file, by the extension of its name.
    pub(in crate::repo) fn of(path: &str) -> Option<&'static Self> {
        let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
        LANGUAGES.iter().find(|language| language.extensions.contains(&extension))
    }
}
