//! Definitions and imports as the functions of a language find them.

use std::ops::Range;

use tree_sitter::{Node, TreeCursor};

use super::line::{self, joined};
use super::symbols::Kind;

/// The longest value or default value that a signature shows, in bytes.
const SHORT: usize = 40;
/// The length of the text that a signature is made of, in bytes. More of it would be cut off.
const LOOKED_AT: usize = 2000;
/// The length of the names of variants that a signature shows, in bytes.
const VARIANTS: usize = 80;

/// A definition that was found.
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) name: Box<str>,
    pub(super) signature: String,
    pub(super) is_async: bool,
}

/// Collects the definitions and imports of one node.
pub(super) struct Finder<'t> {
    text: &'t str,
    /// Whether the node is inside of a function, so that definitions in it are local.
    pub(super) is_local: bool,
    pub(super) headers: Vec<Header>,
    pub(super) imports: Vec<Box<str>>,
}

impl<'t> Finder<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, is_local: false, headers: Vec::new(), imports: Vec::new() }
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    pub(super) fn text(&self, node: Node<'_>) -> &'t str {
        self.slice(node.byte_range())
    }

    /// Adds an import.
    pub(super) fn import<'a>(&mut self, pieces: impl IntoIterator<Item = &'a str>) {
        let line = joined(pieces, line::IMPORT);
        if !line.is_empty() {
            self.imports.push(line.into());
        }
    }

    /// Adds a definition, unless its name is missing.
    pub(super) fn define<'a>(&mut self, kind: Kind, name: &str, pieces: impl IntoIterator<Item = &'a str>) {
        let name = joined([name], line::SIGNATURE);
        if name.is_empty() {
            return;
        }
        let mut signature = joined(pieces, line::SIGNATURE);
        signature.truncate(signature.trim_end_matches([':', ';', ',', ' ']).len());
        self.headers.push(Header { kind, name: name.into(), signature, is_async: false });
    }

    /// Adds a definition with a field `name`. The text after that, up to the field `body`, is its signature.
    pub(super) fn named(&mut self, kind: Kind, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name") else { return };
        let end = node.child_by_field_name("body").map_or(node.end_byte(), |body| body.start_byte());
        let pieces = self.written(node, name.end_byte()..end);
        self.define(kind, unquoted(self.text(name)), pieces);
        self.mark_async(node);
    }

    /// Marks the last definition as that of an asynchronous function, if the node of it is one.
    pub(super) fn mark_async(&mut self, node: Node<'_>) {
        let is_async = |node: Node<'_>| node.kind() == "async";
        let has_async = node.children(&mut node.walk()).any(|child| {
            let is_list = child.kind() == "function_modifiers";
            is_async(child) || is_list && child.children(&mut child.walk()).any(is_async)
        });
        if let Some(header) = self.headers.last_mut() {
            header.is_async = has_async && header.kind == Kind::Function;
        }
    }

    /// Adds a definition of variants, with fields `name` and `body`.
    pub(super) fn variants(&mut self, node: Node<'_>) {
        let (Some(name), Some(body)) = (node.child_by_field_name("name"), node.child_by_field_name("body"))
        else {
            return self.named(Kind::Enum, node);
        };
        let variants = self.variants_of(body);
        let mut pieces = self.written(node, name.end_byte()..body.start_byte());
        pieces.extend([" ", &variants]);
        self.define(Kind::Enum, self.text(name), pieces);
    }

    /// The names of the variants in a body, as far as there is room.
    pub(super) fn variants_of(&self, body: Node<'_>) -> String {
        let mut shown = String::from("{ ");
        let mut cursor = body.walk();
        for variant in body.named_children(&mut cursor) {
            let name = variant
                .child_by_field_name("name")
                .or_else(|| variant.kind().ends_with("identifier").then_some(variant));
            let Some(name) = name else { continue };
            if shown.len() > 2 {
                shown.push_str(", ");
            }
            if shown.len() > VARIANTS {
                shown.push('…');
                break;
            }
            shown.push_str(&joined([self.text(name)], VARIANTS));
        }
        shown.push_str(" }");
        if shown.len() > 4 { shown } else { String::new() }
    }

    /// Adds a constant. Its signature is the text between its name and its value, and a short value.
    pub(super) fn constant(&mut self, name: Node<'_>, end: usize, value: Option<Node<'_>>) {
        let kind = self.slice(name.end_byte()..end).trim_end().trim_end_matches(['=', ':']);
        let mut pieces = vec![kind];
        if let Some(value) = self.value(value) {
            pieces.extend([" = ", value]);
        }
        self.define(Kind::Constant, self.text(name), pieces);
    }

    /// The text of a value that is short.
    pub(super) fn value(&self, value: Option<Node<'_>>) -> Option<&'t str> {
        let text = self.text(value?);
        (text.len() <= SHORT && !text.contains('\n')).then_some(text)
    }

    /// The pieces of a range in a node, without comments and long default values.
    pub(super) fn written(&self, node: Node<'_>, range: Range<usize>) -> Vec<&'t str> {
        let raw = self.slice(range.clone());
        if raw.len() <= SHORT && !raw.contains(['/', '#']) {
            return vec![raw];
        }
        let mut pieces = Vec::new();
        let mut end = range.end;
        if raw.len() > LOOKED_AT {
            end = self.text.floor_char_boundary(range.start + LOOKED_AT);
        }
        let mut from = range.start;
        let mut cursor = node.walk();
        loop {
            let node = cursor.node();
            if node.start_byte() >= end {
                break;
            }
            let is_before = node.end_byte() <= from;
            let replaced = if node.start_byte() < from { None } else { replacement(&cursor) };
            if let Some(replacement) = replaced {
                pieces.extend([self.slice(from..node.start_byte()), replacement]);
                from = node.end_byte().min(end);
            }
            if !next(&mut cursor, !is_before && replaced.is_none()) {
                break;
            }
        }
        pieces.push(self.slice(from..end));
        if end < range.end {
            pieces.push("…");
        }
        pieces
    }
}

/// The text of a string without its quotes.
pub(super) fn unquoted(text: &str) -> &str {
    let inner = text.get(1..text.len().saturating_sub(1));
    if text.starts_with(['"', '\'', '`']) { inner.unwrap_or(text) } else { text }
}

/// The children of a node in a field.
pub(super) fn in_field<'n>(node: Node<'n>, field: &str) -> Vec<Node<'n>> {
    node.children_by_field_name(field, &mut node.walk()).collect()
}

/// The text that a signature has instead of a node.
fn replacement(cursor: &TreeCursor<'_>) -> Option<&'static str> {
    let node = cursor.node();
    if node.kind().ends_with("comment") {
        return Some(" ");
    }
    // A value just below the definition belongs to it, such as the type that a type is an alias of.
    let is_long = node.end_byte() - node.start_byte() > SHORT && cursor.depth() > 1;
    (is_long && matches!(cursor.field_name(), Some("value" | "default_value" | "right"))).then_some("…")
}

/// Moves to the next node in the order of the text.
fn next(cursor: &mut TreeCursor<'_>, descends: bool) -> bool {
    if descends && cursor.goto_first_child() {
        return true;
    }
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}
