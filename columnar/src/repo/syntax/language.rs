//! The languages whose symbols are known.

/// A language with a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::repo) enum Language {
    Rust,
    Python,
    JavaScript,
    TypeScript,
    Tsx,
    C,
    Cpp,
    Go,
}

impl Language {
    /// The language of a file, by the extension of its name.
    pub(in crate::repo) fn of(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
        Some(match extension {
            "rs" => Self::Rust,
            "py" | "pyi" => Self::Python,
            "js" | "cjs" | "mjs" | "jsx" => Self::JavaScript,
            "ts" | "cts" | "mts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            // Many headers of C++ are named so. The grammar of C++ reads nearly all of C.
            "c" => Self::C,
            "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => Self::Cpp,
            "go" => Self::Go,
            _ => return None,
        })
    }
}
