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
    /// Files whose languages have the same family can refer to each other.
    pub(in crate::repo) family: &'static str,
    pub(in crate::repo) reach: Reach,
    /// Names that no repository defines.
    pub(super) known: &'static [&'static str],
    /// Whether a text may have [macros](super::macros) around definitions.
    pub(super) has_macros: bool,
    pub(super) query: LazyLock<SymbolQuery>,
}

/// The files that a name in a file may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::repo) enum Reach {
    /// The files that the file imports.
    Imports,
    /// The files that the file imports, and the files in its folder.
    Folder,
    /// The files of the packages that the file imports, and the files in its folder.
    Packages,
}

const RUST_NAMES: [&str; 9] = ["Box", "Err", "None", "Ok", "Option", "Self", "Some", "String", "Vec"];
const C_NAMES: [&str; 12] = [
    "NULL", "bool", "int16_t", "int32_t", "int64_t", "int8_t", "size_t", "ssize_t", "uint16_t", "uint32_t",
    "uint64_t", "uint8_t",
];

/// All languages. Queries that several languages share come first in their text.
pub(super) static LANGUAGES: [Language; 8] = [
    Language {
        extensions: &["rs"],
        family: "Rust",
        reach: Reach::Imports,
        known: &RUST_NAMES,
        has_macros: false,
        query: LazyLock::new(|| {
            SymbolQuery::new(&tree_sitter_rust::LANGUAGE.into(), include_str!("queries/rust.scm"))
        }),
    },
    Language {
        extensions: &["py", "pyi"],
        family: "Python",
        reach: Reach::Imports,
        known: &[],
        has_macros: false,
        query: LazyLock::new(|| {
            SymbolQuery::new(&tree_sitter_python::LANGUAGE.into(), include_str!("queries/python.scm"))
        }),
    },
    Language {
        extensions: &["js", "cjs", "mjs", "jsx"],
        family: "JavaScript",
        reach: Reach::Imports,
        known: &[],
        has_macros: false,
        query: LazyLock::new(|| {
            SymbolQuery::new(
                &tree_sitter_javascript::LANGUAGE.into(),
                concat!(
                    include_str!("queries/ecmascript.scm"),
                    include_str!("queries/jsx.scm"),
                    include_str!("queries/javascript.scm")
                ),
            )
        }),
    },
    Language {
        extensions: &["ts", "cts", "mts"],
        family: "JavaScript",
        reach: Reach::Imports,
        known: &[],
        has_macros: false,
        query: LazyLock::new(|| {
            SymbolQuery::new(
                &tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
                concat!(include_str!("queries/ecmascript.scm"), include_str!("queries/typescript.scm")),
            )
        }),
    },
    Language {
        extensions: &["tsx"],
        family: "JavaScript",
        reach: Reach::Imports,
        known: &[],
        has_macros: false,
        query: LazyLock::new(|| {
            SymbolQuery::new(
                &tree_sitter_typescript::LANGUAGE_TSX.into(),
                concat!(
                    include_str!("queries/ecmascript.scm"),
                    include_str!("queries/jsx.scm"),
                    include_str!("queries/typescript.scm")
                ),
            )
        }),
    },
    Language {
        extensions: &["c"],
        family: "C",
        reach: Reach::Folder,
        known: &C_NAMES,
        has_macros: true,
        query: LazyLock::new(|| {
            SymbolQuery::new(&tree_sitter_c::LANGUAGE.into(), include_str!("queries/c.scm"))
        }),
    },
    // Many headers of C++ are named like headers of C. The grammar of C++ reads nearly all of C.
    Language {
        extensions: &["h", "cc", "cpp", "cxx", "hh", "hpp", "hxx"],
        family: "C",
        reach: Reach::Folder,
        known: &C_NAMES,
        has_macros: true,
        query: LazyLock::new(|| {
            SymbolQuery::new(
                &tree_sitter_cpp::LANGUAGE.into(),
                concat!(include_str!("queries/c.scm"), include_str!("queries/cpp.scm")),
            )
        }),
    },
    Language {
        extensions: &["go"],
        family: "Go",
        reach: Reach::Packages,
        known: &[],
        has_macros: false,
        query: LazyLock::new(|| {
            SymbolQuery::new(&tree_sitter_go::LANGUAGE.into(), include_str!("queries/go.scm"))
        }),
    },
];

impl Language {
    /// The language of a file, by the extension of its name.
    pub(in crate::repo) fn of(path: &str) -> Option<&'static Self> {
        let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
        LANGUAGES.iter().find(|language| language.extensions.contains(&extension))
    }
}
