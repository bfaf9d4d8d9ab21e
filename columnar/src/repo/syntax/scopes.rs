//! The symbols of a file: definitions inside of each other, and the names that each uses.
//!
//! One pass over the places that the query found, in the order of the text. Definitions around a place are on a stack.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use tree_sitter::{QueryCursor, Tree};

use super::language::Language;
use super::line::{is_word, slice};
use super::matches::{Matches, Place};
use super::repeats::without_repeats;
use super::symbols::{SymbolKind, Symbols};

/// The longest name of a definition, in bytes. A longer one is data.
const MAX_NAME: usize = 120;

/// A definition around a place, or the file.
struct NameScope<'t> {
    range: Range<usize>,
    /// The numbers of the symbols that are defined here.
    symbols: Range<usize>,
    /// The names, and where they stand.
    used: Vec<(&'t str, usize)>,
    /// The names after a dot, which no local name hides.
    members: Vec<&'t str>,
    /// The names that are bound, and the place from which on.
    bound: HashMap<&'t str, usize>,
}

impl<'t> NameScope<'t> {
    fn new(range: Range<usize>, symbols: Range<usize>) -> Self {
        Self { range, symbols, used: Vec::new(), members: Vec::new(), bound: HashMap::new() }
    }

    /// The names that are not bound here.
    fn unbound(&self) -> impl Iterator<Item = &'t str> {
        let used = self.used.iter().filter(|(name, at)| self.bound.get(name).is_none_or(|from| from > at));
        used.map(|(name, _)| *name).chain(self.members.iter().copied())
    }
}

/// The symbols of a text by its tree; `None` if there is nothing of the language in it.
pub(super) fn symbols(
    language: &'static Language,
    cursor: &mut QueryCursor,
    tree: &Tree,
    text: &str,
) -> Option<Symbols> {
    let found = Matches::of(&language.query, cursor, tree, text);
    let mut symbols = Symbols::default();
    let mut seen = HashSet::new();
    let imports = found.imports.iter().map(|import| found.import(import).into_boxed_str());
    symbols.imports = imports.filter(|import| !import.is_empty() && seen.insert(import.clone())).collect();
    add_definitions(&found, &mut symbols);
    let is_mostly_stray = tree.root_node().is_error() || found.stray > text.len() / 2;
    // Two words of prose are a declaration of C.
    let has_code = symbols.defined.iter().any(|symbol| symbol.kind != SymbolKind::Constant);
    if is_mostly_stray && symbols.imports.is_empty() && !has_code {
        return None;
    }
    symbols.defined = without_repeats(symbols.defined);
    let uses = symbols.defined.iter_mut().map(|symbol| &mut symbol.uses).chain([&mut symbols.uses]);
    uses.for_each(|names| names.retain(|name| !language.family.known().contains(&&**name)));
    Some(symbols)
}

fn add_definitions(found: &Matches<'_>, symbols: &mut Symbols) {
    let text = found.text;
    let mut imported = BTreeSet::new();
    // The ends of the last places in which names are skipped, names are imported, and definitions are local.
    let mut skipped = 0;
    let mut importing = 0;
    let mut local = 0;
    let mut open = vec![NameScope::new(0..usize::MAX, 0..0)];
    for (range, place) in &found.places {
        let at = range.start;
        while let Some(inner) = open.pop_if(|inner| inner.range.end <= at) {
            close(&inner, symbols);
        }
        let depth = open.len() - 1;
        let Some(scope) = open.last_mut() else { break };
        let name = slice(text, range.clone());
        match place {
            _ if at < skipped => {}
            Place::Skip => skipped = range.end,
            Place::Import => importing = range.end,
            Place::Closure => local = local.max(range.end),
            Place::Definition(number) => {
                let Some(definition) = found.definitions.get(*number) else { continue };
                // A node may define several symbols.
                let is_same = scope.range == *range;
                if at < local && !is_same {
                    let name = definition.part("name");
                    scope.bound.extend(name.map(|name| (slice(text, name.byte_range()), 0)));
                    continue;
                }
                let depth = depth - usize::from(is_same);
                let Some(symbol) = found.symbol(definition, depth) else { continue };
                if matches!(symbol.kind, SymbolKind::Function | SymbolKind::Macro | SymbolKind::Constant) {
                    local = local.max(range.end);
                }
                let number = symbols.defined.len();
                symbols.defined.push(symbol);
                if is_same {
                    scope.symbols.end = number + 1;
                } else {
                    open.push(NameScope::new(range.clone(), number..number + 1));
                }
            }
            Place::Local(from) => {
                // The name itself is no use.
                skipped = range.end;
                let bound = scope.bound.entry(name).or_insert(*from);
                *bound = (*bound).min(*from);
            }
            Place::Use | Place::Member if at < importing => drop(imported.insert(name)),
            Place::Use | Place::Member => match object_before(text, at) {
                _ if !is_name(name) => {}
                Some(object) if is_called(text, range.end) || is_of_module(name, object) => {
                    scope.members.push(name);
                }
                None if *place == Place::Use => scope.used.push((name, at)),
                _ => {}
            },
        }
    }
    while let Some(scope) = open.pop_if(|scope| scope.range.end < usize::MAX) {
        close(&scope, symbols);
    }
    let rest = open.iter().flat_map(NameScope::unbound);
    let uses: BTreeSet<_> = imported.into_iter().filter(|name| is_name(name)).chain(rest).collect();
    symbols.uses = uses.into_iter().map(Box::from).collect();
}

/// Ends a definition: it uses the names that it does not bind.
fn close(scope: &NameScope<'_>, symbols: &mut Symbols) {
    let defined = symbols.defined.get_mut(scope.symbols.clone()).unwrap_or_default();
    let uses: BTreeSet<_> = scope
        .unbound()
        // An implementation does use its type.
        .filter(|name| defined.iter().all(|symbol| symbol.kind == SymbolKind::Impl || *symbol.name != **name))
        .collect();
    let uses: Vec<Box<str>> = uses.into_iter().map(Box::from).collect();
    for symbol in defined {
        symbol.uses.clone_from(&uses);
    }
}

/// The text before the dot or the arrow before a name, if the name is a member. Dots before variadic parameters are none.
fn object_before(text: &str, at: usize) -> Option<&str> {
    let before = slice(text, 0..at);
    let object = before.strip_suffix('.').filter(|object| !object.ends_with('.'));
    object.or_else(|| before.strip_suffix("->"))
}

/// Whether a name that ends at a position is called, or has arguments for types.
fn is_called(text: &str, end: usize) -> bool {
    slice(text, end..text.len()).starts_with(['(', '<', ':', '`'])
}

/// Whether a member may belong to a definition in another file although nobody calls it: as a type or a constant of a
/// module, `module.Name`. Other members are fields.
fn is_of_module(name: &str, object: &str) -> bool {
    let path = object.trim_end_matches(is_word);
    let module = slice(object, path.len()..object.len());
    // A module may stand behind the dots of variadic parameters: `...gin.HandlerFunc`.
    let is_path = path.ends_with('.') && !path.ends_with("..") || path.ends_with([')', ']']);
    !is_path && !matches!(module, "" | "self" | "this" | "cls") && name.starts_with(char::is_uppercase)
}

/// Whether a text can be the name of a definition. A name of one character says nothing.
fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME && text.chars().nth(1).is_some()
}
