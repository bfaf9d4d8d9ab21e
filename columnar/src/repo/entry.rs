//! The entry of a file in the map: its symbols, the files that they use, and the files that use them.
//!
//! ```text
//! ← 12 files, 3 tests
//! i std::fmt, crate::error::Printable +2
//! c Key
//! I Key
//!  f new(kind: Kind, path: &str) -> Result<Self, KeyError>
//! f checked_path(path: &str) -> Result<Arc<str>, KeyFault> → columnar/src/error/mod.rs ← set.rs, update.rs +4
//! ```
//!
//! No entry names a line of another file. Otherwise each edit would change the entries of its neighbours.

use std::fmt::Write as _;

use super::index::{File, FileId, Index, Referrers};
use super::paths::{folder, rounded, seen_from};
use super::syntax::{Kind, Symbol};

/// The longest lists.
const SYMBOLS: usize = 60;
const IMPORTS: usize = 8;
const FILES: usize = 3;

/// The entry of a file; `None` if there is nothing in it.
pub(super) fn entry(index: &Index, id: FileId, file: &File) -> Option<String> {
    let outline = &file.outline;
    if outline.symbols.is_empty() && outline.imports.is_empty() {
        return None;
    }
    let mut entry = String::new();
    let referrers = index.referrers(file);
    let counts = [(referrers.paths.len(), "file"), (referrers.tests, "test")].into_iter();
    let counts: Vec<_> =
        counts.filter(|(number, _)| *number > 0).map(|(number, noun)| counted(number, noun)).collect();
    if !counts.is_empty() {
        let _ = writeln!(entry, "← {}", counts.join(", "));
    }
    if !outline.imports.is_empty() {
        let _ = writeln!(entry, "i {}", cut(outline.imports.iter().map(AsRef::as_ref), IMPORTS));
    }
    let mut symbols = shown_symbols(&outline.symbols).peekable();
    for (symbol, inner) in symbols.by_ref().take(SYMBOLS) {
        push_symbol(&mut entry, index, (id, file), symbol, inner);
    }
    let more = symbols.count();
    if more > 0 {
        let _ = writeln!(entry, "+{more}");
    }
    entry.truncate(entry.trim_end().len());
    Some(entry)
}

/// The symbols that an entry shows, each with those inside it. The methods by which a type implements a trait are known
/// from the trait.
fn shown_symbols(symbols: &[Symbol]) -> impl Iterator<Item = (&Symbol, &[Symbol])> {
    let mut hidden = usize::MAX;
    symbols.iter().enumerate().filter_map(move |(at, symbol)| {
        if symbol.depth > hidden {
            return None;
        }
        let implements = symbol.kind == Kind::Impl && symbol.name.contains(" for ");
        hidden = if implements { symbol.depth } else { usize::MAX };
        let rest = symbols.get(at + 1..).unwrap_or_default();
        let inner = rest.iter().take_while(|inner| inner.depth > symbol.depth).count();
        Some((symbol, rest.get(..inner).unwrap_or_default()))
    })
}

fn push_symbol(
    entry: &mut String,
    index: &Index,
    (id, file): (FileId, &File),
    symbol: &Symbol,
    inner: &[Symbol],
) {
    let Symbol { kind, name, signature, depth, .. } = symbol;
    let indent = " ".repeat(*depth);
    let space =
        if signature.is_empty() || signature.starts_with(['(', '<', '[', ':', ',']) { "" } else { " " };
    let _ = write!(entry, "{indent}{} {name}{space}{signature}", letter(*kind));
    // The files that the methods use stand at their type, where one list serves all.
    if *depth == 0 {
        let all = [symbol].into_iter().chain(inner);
        let targets = index.targets(file, all.flat_map(|symbol| symbol.uses.iter().map(AsRef::as_ref)));
        push_files(entry, " → ", &file.path, &Referrers { paths: targets, tests: 0 });
    }
    push_files(entry, " ← ", &file.path, &index.referrers_by_name(id, name));
    entry.push('\n');
}

fn push_files(entry: &mut String, arrow: &str, from: &str, files: &Referrers<'_>) {
    let Referrers { paths, tests } = files;
    if paths.is_empty() && *tests == 0 {
        return;
    }
    let folder = folder(from);
    let shown = cut(paths.iter().map(|path| seen_from(folder, path)), FILES);
    let tests = if *tests > 0 { counted(*tests, "test") } else { String::new() };
    let comma = if shown.is_empty() || tests.is_empty() { "" } else { ", " };
    let _ = write!(entry, "{arrow}{shown}{comma}{tests}");
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

fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", rounded(number), if number == 1 { "" } else { "s" })
}

const fn letter(kind: Kind) -> char {
    match kind {
        Kind::Module => 'm',
        Kind::Class => 'c',
        Kind::Enum => 'e',
        Kind::Trait => 't',
        Kind::Impl => 'I',
        Kind::Type => 'y',
        Kind::Function => 'f',
        Kind::Macro => 'M',
        Kind::Constant => 'k',
    }
}

/// The legend of the map. `others` is the number of files that could have an entry and have none.
pub(super) fn legend(others: usize) -> String {
    let mut legend = "Each entry has the symbols of a file, in its order. Those of a selected file are in its text.\n\
        i: imports, m: module or namespace, c: class, struct or union, e: enum, t: trait or interface, I: implementation, \
        y: type alias, f: function or method, M: macro, k: constant or variable\n\
        →: files that a symbol uses, ←: files that use it, +N: N more. A name without a folder is a file in the same folder."
        .to_owned();
    if others > 0 {
        let _ = write!(legend, "\n{} files have no entry.", rounded(others));
    }
    legend
}
