//! The walk over the tree of a file.
//!
//! It visits each node once, in the order of the text. A frame for each node around the current one says how the node is to
//! be read. Memory on the heap holds the frames, so that the depth of a tree is no matter.

use tree_sitter::{Node, Tree, TreeCursor};

use super::finder::Finder;
use super::grammar::{Grammar, Resolved};
use super::repeats::without_repeats;
use super::rules::{Mode, Role};
use super::scope::{Mark, Scope};
use super::symbols::{Kind, Symbol, Symbols};

/// A node around the current one.
#[derive(Clone, Copy)]
struct Frame<'g> {
    rule: &'g Resolved,
    mode: Mode,
    /// The place from which on names are bound.
    bound_from: usize,
    start: usize,
    end: usize,
    is_local: bool,
    is_import: bool,
    /// Whether the node is a definition.
    is_defined: bool,
}

/// A definition around the current node. A node may define several symbols.
struct Open {
    first: usize,
    count: usize,
    mark: Mark,
}

struct Walk<'g, 't> {
    grammar: &'g Grammar,
    text: &'t str,
    finder: Finder<'t>,
    scope: Scope<'t>,
    symbols: Symbols,
    frames: Vec<Frame<'g>>,
    open: Vec<Open>,
    /// The number of bytes that the grammar does not know, and the end of the last ones.
    stray: usize,
    stray_end: usize,
}

/// The symbols of a text by its tree; `None` if the tree is of errors only.
pub(super) fn symbols(grammar: &Grammar, tree: &Tree, text: &str) -> Option<Symbols> {
    let mut walk = Walk {
        grammar,
        text,
        finder: Finder::new(text),
        scope: Scope::default(),
        symbols: Symbols::default(),
        frames: Vec::new(),
        open: Vec::new(),
        stray: 0,
        stray_end: 0,
    };
    walk.visit(&mut tree.walk());
    walk.finish(tree.root_node().is_error())
}

impl<'g, 't> Walk<'g, 't> {
    fn visit(&mut self, cursor: &mut TreeCursor<'_>) {
        loop {
            if let Some(frame) = self.enter(cursor) {
                self.frames.push(frame);
                if cursor.goto_first_child() {
                    continue;
                }
                self.leave();
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                self.leave();
            }
        }
    }

    /// Reads a node. Its frame is for the nodes in it, if they matter.
    fn enter(&mut self, cursor: &TreeCursor<'_>) -> Option<Frame<'g>> {
        let node = cursor.node();
        let grammar = self.grammar;
        let rule = grammar.rule(node);
        let outer = self.frames.last();
        let end = node.end_byte();
        let mut frame = Frame {
            rule,
            mode: Mode::Use,
            bound_from: end,
            start: node.start_byte(),
            end,
            is_local: outer.is_some_and(|outer| outer.is_local),
            is_import: outer.is_some_and(|outer| outer.is_import),
            is_defined: false,
        };
        if let Some(outer) = outer {
            frame.place(outer, || cursor.field_id().map(std::num::NonZero::get));
        }
        if node.is_error() {
            self.count_stray(node);
        }
        let is_found = frame.mode == Mode::Defined;
        match rule.role {
            _ if frame.mode == Mode::Skip => return None,
            Role::Skip => return None,
            Role::Name | Role::Type | Role::Member | Role::Binding => {
                self.name(node, &frame);
                return None;
            }
            Role::Closure => frame.is_local = true,
            Role::Define(find) if !frame.is_local && !is_found => {
                find(&mut self.finder, node);
                self.define(&mut frame);
            }
            Role::Import(find) | Role::Declare(find) => {
                self.finder.is_local = frame.is_local;
                find(&mut self.finder, node);
                self.import(&mut frame);
                self.define(&mut frame);
            }
            Role::Plain | Role::Define(_) => {}
        }
        Some(frame)
    }

    fn count_stray(&mut self, node: Node<'_>) {
        if node.start_byte() >= self.stray_end {
            self.stray += node.end_byte() - node.start_byte();
            self.stray_end = node.end_byte();
        }
    }

    fn import(&mut self, frame: &mut Frame<'_>) {
        frame.is_import |= !self.finder.imports.is_empty();
        self.symbols.imports.append(&mut self.finder.imports);
    }

    /// Adds the symbols that were found.
    fn define(&mut self, frame: &mut Frame<'_>) {
        let (first, count) = (self.symbols.defined.len(), self.finder.headers.len());
        if count == 0 {
            return;
        }
        let depth = self.open.len();
        for header in self.finder.headers.drain(..) {
            frame.is_local |= matches!(header.kind, Kind::Function | Kind::Macro | Kind::Constant);
            self.symbols.defined.push(Symbol {
                kind: header.kind,
                name: header.name,
                signature: header.signature.into(),
                is_async: header.is_async,
                depth,
                uses: Vec::new(),
            });
        }
        frame.is_defined = true;
        self.open.push(Open { first, count, mark: self.scope.mark() });
    }

    /// Ends the innermost node.
    fn leave(&mut self) {
        let is_defined = self.frames.pop().is_some_and(|frame| frame.is_defined);
        let Some(open) = self.open.pop_if(|_| is_defined) else { return };
        let symbols = self.symbols.defined.get_mut(open.first..).unwrap_or_default();
        let symbols = symbols.get_mut(..open.count).unwrap_or_default();
        let uses = self.scope.end(open.mark, |name| {
            // An implementation does use its type.
            let is_own = |symbol: &Symbol| symbol.kind != Kind::Impl && *symbol.name == *name;
            self.grammar.is_known(name) || symbols.iter().any(is_own)
        });
        for symbol in symbols {
            symbol.uses.clone_from(&uses);
        }
    }

    /// Reads a name by its place.
    fn name(&mut self, node: Node<'_>, frame: &Frame<'_>) {
        let Some(name) = self.text.get(node.byte_range()) else { return };
        let is_small = || !name.starts_with(char::is_uppercase);
        let role = frame.rule.role;
        if frame.is_import {
            return self.scope.import(name);
        }
        let mode = match frame.mode {
            Mode::Uncalled if self.is_exported(node) => Mode::Called,
            mode => mode,
        };
        match (mode, role) {
            (_, Role::Binding) => self.bind(name, frame),
            (Mode::Called, _) => self.scope.use_other(name),
            // Other members are fields.
            (Mode::Uncalled | Mode::Stray, _) | (_, Role::Member) => {}
            (Mode::Bind | Mode::BindAfter | Mode::BindType, Role::Type) | (Mode::BindType, _) => {
                self.scope.bind_type(name);
            }
            (_, Role::Type) => self.scope.use_other(name),
            (Mode::Bind | Mode::BindAfter, _) => self.bind(name, frame),
            (Mode::Match | Mode::MatchAfter, _) if is_small() => self.bind(name, frame),
            (Mode::Tag, _) if is_small() => {}
            (Mode::Token, _) if self.is_field(node) => {}
            _ => self.scope.use_value(name, node.start_byte()),
        }
    }

    fn bind(&mut self, name: &'t str, frame: &Frame<'_>) {
        let from = if self.grammar.is_hoisted { 0 } else { frame.bound_from };
        self.scope.bind(name, from);
    }

    /// Whether a member that is not called may be defined by a module: a capital after the name of one.
    fn is_exported(&self, node: Node<'_>) -> bool {
        let start = self.frames.last().map_or(0, |outer| outer.start);
        let member = self.text.get(node.byte_range()).unwrap_or_default();
        let before = self.text.get(start..node.start_byte()).unwrap_or_default();
        let Some(object) = before.strip_suffix('.') else { return false };
        let is_name = object.chars().all(|c| c.is_alphanumeric() || c == '_');
        member.starts_with(char::is_uppercase) && is_name && !matches!(object, "self" | "this" | "cls")
    }

    /// Whether a name between tokens is that of a field: after a dot, and not called.
    fn is_field(&self, node: Node<'_>) -> bool {
        let before = self.text.get(..node.start_byte()).unwrap_or_default();
        let after = self.text.get(node.end_byte()..).unwrap_or_default();
        before.ends_with('.') && !before.ends_with("..") && !after.starts_with(['(', ':'])
    }

    fn finish(mut self, is_stray: bool) -> Option<Symbols> {
        let mut symbols = self.symbols;
        let is_mostly_stray = is_stray || self.stray > self.text.len() / 2;
        // Two words of prose are a declaration of C.
        let is_code = |symbol: &Symbol| symbol.kind != Kind::Constant;
        if is_mostly_stray && symbols.imports.is_empty() && !symbols.defined.iter().any(is_code) {
            return None;
        }
        symbols.defined = without_repeats(symbols.defined);
        symbols.uses = self.scope.end_file(|name| self.grammar.is_known(name));
        let mut seen = std::collections::HashSet::new();
        symbols.imports.retain(|import| seen.insert(import.clone()));
        Some(symbols)
    }
}

impl Frame<'_> {
    /// Sets the mode of a node by the one around it.
    fn place(&mut self, outer: &Frame<'_>, field: impl FnOnce() -> Option<u16>) {
        self.mode = outer.rule.mode(field);
        match self.mode {
            Mode::Inherit => {
                self.mode = outer.mode;
                self.bound_from = outer.bound_from;
            }
            Mode::Member => {
                self.mode = if outer.mode == Mode::Callee { Mode::Called } else { Mode::Uncalled }
            }
            Mode::Path => self.mode = if self.is_import { Mode::Skip } else { Mode::Use },
            Mode::BindAfter | Mode::MatchAfter => self.bound_from = outer.end,
            _ => {}
        }
    }
}
