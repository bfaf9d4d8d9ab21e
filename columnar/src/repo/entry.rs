//! The entry of a file in the map: its symbols, the files that they use, and the files that use them.
//!
//! ```text
//! ← 4 files, 3 tests
//! i std::fmt, crate::error::Printable
//! c Key ← set.rs, update.rs +2
//! I Key
//!  f new(kind: SymbolKind, path: &str) -> Result<Self, KeyError>
//! I Display for Key
//! f checked_path(path: &str) -> Result<Arc<str>, KeyFault> → error/mod.rs
//! ```
//!
//! No entry names a line of another file. Otherwise each edit would change the entries of its neighbours.

use std::fmt::Write as _;

use super::index::{File, Index};
use super::paths::{rounded, seen_from};
use super::syntax::{Symbol, SymbolKind};

/// The longest lists.
const SYMBOLS: usize = 40;
const IMPORTS: usize = 8;
const FILES: usize = 2;

/// The entry of a file; `None` if there is nothing in it.
pub(super) fn entry(index: &Index, file: &File) -> Option<String> {
    let symbols = &file.symbols;
    if symbols.defined.is_empty() && symbols.imports.is_empty() {
        return None;
    }
    let mut entry = String::new();
    let referrers = index.referrers(file);
    let counts = [counted(referrers.paths.len(), "file"), counted(referrers.tests, "test")];
    let counts: Vec<_> = counts.into_iter().flatten().collect();
    if !counts.is_empty() {
        let _ = writeln!(entry, "← {}", counts.join(", "));
    }
    if !symbols.imports.is_empty() {
        let _ = writeln!(entry, "i {}", cut(symbols.imports.iter().map(AsRef::as_ref), IMPORTS));
    }
    let mut symbols = shown_symbols(index, file);
    for (symbol, inner) in symbols.by_ref().take(SYMBOLS) {
        push_symbol(&mut entry, index, file, symbol, inner);
    }
    let more = symbols.count();
    if more > 0 {
        let _ = writeln!(entry, "+{more}");
    }
    entry.truncate(entry.trim_end().len());
    Some(entry)
}

/// The symbols that an entry shows, each with those inside it. The methods by which a type implements a trait are known
/// from the trait, nobody calls tests, and a name that begins with `_` is private if no other file uses it.
fn shown_symbols<'f>(index: &Index, file: &'f File) -> impl Iterator<Item = (&'f Symbol, &'f [Symbol])> {
    let symbols = &file.symbols.defined;
    let mut hidden = usize::MAX;
    symbols.iter().enumerate().filter_map(move |(at, symbol)| {
        if symbol.depth > hidden {
            return None;
        }
        let implements = symbol.kind == SymbolKind::Impl && symbol.signature.contains(" for ");
        let is_tests = symbol.kind == SymbolKind::Module && matches!(&*symbol.name, "test" | "tests");
        let is_private = symbol.name.starts_with('_')
            && &*symbol.name != "__init__"
            && index.referrers_by_name(file, &symbol.name).is_empty();
        hidden = if implements || is_tests || is_private { symbol.depth } else { usize::MAX };
        if is_tests || is_private {
            return None;
        }
        let rest = symbols.get(at + 1..).unwrap_or_default();
        let inner = rest.iter().take_while(|inner| inner.depth > symbol.depth).count();
        Some((symbol, rest.get(..inner).unwrap_or_default()))
    })
}

fn push_symbol(entry: &mut String, index: &Index, file: &File, symbol: &Symbol, inner: &[Symbol]) {
    let Symbol { kind, name, signature, depth, is_async, .. } = symbol;
    let indent = " ".repeat(*depth);
    let letter = letter(*kind);
    let word = if *is_async { "async " } else { "" };
    let _ = match kind {
        // The signature of an implementation has the name.
        SymbolKind::Impl if !signature.is_empty() => write!(entry, "{indent}{letter} {signature}"),
        _ if signature.is_empty() || signature.starts_with(['(', '<', '[', ':', ',']) => {
            write!(entry, "{indent}{letter} {word}{name}{signature}")
        }
        _ => write!(entry, "{indent}{letter} {word}{name} {signature}"),
    };
    // The files that the methods use stand at their type, where one list serves all.
    if *depth == 0 {
        let all = [symbol].into_iter().chain(inner);
        let targets = index.targets(file, all.flat_map(|symbol| symbol.uses.iter().map(AsRef::as_ref)));
        push_files(entry, " → ", &file.path, &targets);
    }
    if *kind != SymbolKind::Impl {
        push_files(entry, " ← ", &file.path, &index.referrers_by_name(file, name));
    }
    entry.push('\n');
}

fn push_files(entry: &mut String, arrow: &str, from: &str, paths: &[&str]) {
    if !paths.is_empty() {
        let shown = cut(paths.iter().map(|path| seen_from(from, path)), FILES);
        let _ = write!(entry, "{arrow}{shown}");
    }
}

/// The first texts of a list, and the number of the others.
fn cut<'t>(texts: impl Iterator<Item = &'t str>, most: usize) -> String {
    let mut texts = texts.peekable();
    let shown: Vec<&str> = texts.by_ref().take(most).collect();
    match texts.count() {
        0 => shown.join(", "),
        more => format!("{} +{}", shown.join(", "), rounded(more)),
    }
}

/// The number of some things, if there are any.
fn counted(number: usize, noun: &str) -> Option<String> {
    let end = if number == 1 { "" } else { "s" };
    (number > 0).then(|| format!("{} {noun}{end}", rounded(number)))
}

const fn letter(kind: SymbolKind) -> char {
    match kind {
        SymbolKind::Module => 'm',
        SymbolKind::Class => 'c',
        SymbolKind::Enum => 'e',
        SymbolKind::Trait => 't',
        SymbolKind::Impl => 'I',
        SymbolKind::Type => 'y',
        SymbolKind::Function => 'f',
        SymbolKind::Macro => 'M',
        SymbolKind::Constant => 'k',
    }
}

/// The legend of the map. `others` is the number of files that could have an entry and have none.
pub(super) fn legend(others: usize) -> String {
    let mut legend = "Each entry has the symbols of a file, in its order. Those of a selected file are in its text.\n\
        i: imports, m: module or namespace, c: class, struct or union, e: enum, t: trait or interface, I: implementation, \
        y: type alias, f: function or method, M: macro, k: constant or variable\n\
        →: files that a symbol uses, ←: files that use it, +N: N more. A path begins in the deepest folder of both files."
        .to_owned();
    if others > 0 {
        let _ = write!(legend, "\n{} files have no entry.", rounded(others));
    }
    legend
}
