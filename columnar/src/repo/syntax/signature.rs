//! The texts of definitions and imports.

use std::ops::Range;

use tree_sitter::Node;

use super::declarator::{Declared, plain_name};
use super::line::{self, is_word, joined, slice};
use super::matches::{DefinitionMatch, ImportMatch, Matches};
use super::symbols::{Symbol, SymbolKind};

/// The longest value or default value that a signature shows, in bytes.
const SHORT: usize = 40;
/// The length of the text that a signature is made of, in bytes. More of it would be cut off.
const LOOKED_AT: usize = 2000;
/// The length of the names of variants that a signature shows, in bytes.
const VARIANTS: usize = 80;

impl Matches<'_> {
    /// The symbol of a definition; `None` if the definition has no name.
    pub(super) fn symbol(&self, found: &DefinitionMatch<'_>, depth: usize) -> Option<Symbol> {
        let text = self.text;
        let kind = found.kind?;
        let (kind, name, is_async, mut signature) = match found.part("declarator").map(Declared::of) {
            Some(declared) => {
                let kind = match kind {
                    SymbolKind::Constant if declared.is_function => SymbolKind::Function,
                    SymbolKind::Function if !declared.is_function => return None,
                    SymbolKind::Constant if declared.is_misread(found.node, text) => return None,
                    kind => kind,
                };
                let name = plain_name(slice(text, declared.name.byte_range()));
                (kind, name, false, self.declared(kind, found.node, &declared))
            }
            None => {
                let name = found.part("name")?;
                let range = signature_range(found, name);
                let around = [found.node.start_byte()..name.start_byte(), name.end_byte()..range.start];
                let words = around.into_iter().flat_map(|range| slice(text, range).split(|c| !is_word(c)));
                let is_async = kind == SymbolKind::Function && words.into_iter().any(|word| word == "async");
                let signature = self.signature(kind, found, range);
                (kind, unquoted(slice(text, name.byte_range())).to_owned(), is_async, signature)
            }
        };
        if let Some(on) = found.part("on") {
            signature = format!("{signature} on {}", slice(text, on.byte_range()));
        }
        let prefix = self.around.get(&found.node.id()).and_then(|(_, prefix)| short(text, *prefix));
        if let Some(prefix) = prefix {
            let gap = if signature.starts_with('(') { "" } else { " " };
            signature = format!("{prefix}{gap}{signature}");
        }
        let name = joined([&*name], line::SIGNATURE);
        let mut signature = joined([&*signature], line::SIGNATURE);
        signature.truncate(signature.trim_end_matches([':', ';', ',', ' ']).len());
        // An implementation without arguments and traits is known by the name.
        if kind == SymbolKind::Impl && signature == name {
            signature.clear();
        }
        let name = name.into_boxed_str();
        let signature = signature.into();
        (!name.is_empty()).then_some(Symbol { kind, name, signature, is_async, depth, uses: Vec::new() })
    }

    /// The line of an import: a path, and after a colon the imported names.
    pub(super) fn import(&self, import: &ImportMatch<'_>) -> String {
        let names: Vec<_> = import.texts.iter().map(|node| self.written(node.byte_range())).collect();
        let names = names.join(", ");
        let source = import.source.map(|source| unquoted(slice(self.text, source.byte_range())));
        match source {
            Some(source) if names.is_empty() => joined([source], line::IMPORT),
            Some(source) => joined([source, ": ", &names], line::IMPORT),
            None => joined([&*names], line::IMPORT),
        }
    }

    fn signature(&self, kind: SymbolKind, found: &DefinitionMatch<'_>, range: Range<usize>) -> String {
        let written = self.written(range);
        match kind {
            SymbolKind::Constant => constant(self.text, found.node, written),
            SymbolKind::Enum => {
                let body = found.part("body").or_else(|| found.node.child_by_field_name("body"));
                written + " " + &body.map(|body| variants(self.text, body)).unwrap_or_default()
            }
            // The lines of a macro of C end with this sign.
            SymbolKind::Macro => written.replace('\\', ""),
            SymbolKind::Function if found.part("value").is_some() => {
                let parameters = written.trim_end().trim_end_matches("=>");
                if parameters.starts_with(['(', '<']) {
                    parameters.into()
                } else {
                    format!("({})", parameters.trim())
                }
            }
            _ => written,
        }
    }

    /// The signature of what a declarator declares: `(int n) -> const char *`, as a return type stands in C++ if it stands
    /// after the parameters.
    fn declared(&self, kind: SymbolKind, definition: Node<'_>, declared: &Declared<'_>) -> String {
        let rest = self.written(declared.rest()).replace(") (", ")(");
        let of = declared.type_in(definition, self.text);
        match kind {
            SymbolKind::Type => format!("= {of}{rest}"),
            SymbolKind::Function if of.is_empty() || of == "void" || of == "auto" && rest.contains("->") => {
                rest
            }
            SymbolKind::Function => format!("{rest} -> {of}"),
            _ => {
                let value = declared.value.or_else(|| definition.child_by_field_name("default_value"));
                let value = short(self.text, value).map(|value| format!(" = {value}"));
                format!(": {of}{rest}{}", value.unwrap_or_default())
            }
        }
    }

    /// The text of a range, without comments and long values.
    fn written(&self, range: Range<usize>) -> String {
        let text = self.text;
        let mut from = range.start;
        let mut end = range.end;
        let mut written = String::new();
        if range.len() > LOOKED_AT {
            end = text.floor_char_boundary(range.start + LOOKED_AT);
        }
        let first = self.gaps.partition_point(|(gap, _)| gap.start < from);
        let gaps = self.gaps.iter().skip(first).take_while(|(gap, _)| gap.start < end);
        for (gap, is_comment) in gaps.filter(|(gap, is_comment)| *is_comment || gap.len() > SHORT) {
            if gap.start >= from {
                written.push_str(slice(text, from..gap.start));
                written.push(if *is_comment { ' ' } else { '…' });
                from = gap.end.min(end);
            }
        }
        written.push_str(slice(text, from..end));
        if end < range.end {
            written.push('…');
        }
        written
    }
}

/// The range of a signature.
fn signature_range(found: &DefinitionMatch<'_>, name: Node<'_>) -> Range<usize> {
    let node = found.node;
    let value = found.part("value");
    let from = found.part("from").or_else(|| {
        let mut fields = ["type_parameters", "parameters", "parameter"].into_iter();
        fields.find_map(|field| value?.child_by_field_name(field))
    });
    let from = from.map(|from| from.start_byte()).or_else(|| {
        // `class View extends Base {`
        Some(value?.child_by_field_name("name").or(value?.child(0))?.end_byte())
    });
    if found.kind == Some(SymbolKind::Constant) {
        // Several constants may have one type behind the last name.
        let last = node.children_by_field_name("name", &mut node.walk()).last().unwrap_or(name);
        let end = node.child_by_field_name("type").map_or(last.end_byte(), |of| of.end_byte());
        return last.end_byte()..end;
    }
    let body = found.part("body").or_else(|| value.unwrap_or(node).child_by_field_name("body"));
    let end = found.part("to").map(|to| to.end_byte()).or(body.map(|body| body.start_byte()));
    from.unwrap_or(name.end_byte())..end.unwrap_or(node.end_byte())
}

/// The signature of a constant: the type, and a short value.
fn constant(text: &str, node: Node<'_>, of: String) -> String {
    let value = node.child_by_field_name("value").or_else(|| node.child_by_field_name("right"));
    // One of several values would belong to another name.
    let is_one = node.children_by_field_name("name", &mut node.walk()).nth(1).is_none();
    let mut shown = short(text, value.filter(|_| is_one)).unwrap_or_default();
    if value.is_some_and(|value| value.kind() == "preproc_arg") {
        // The grammar counts a comment on the line to the value.
        shown = shown.split("//").next().unwrap_or_default().split("/*").next().unwrap_or_default().trim();
    }
    if shown.is_empty() { of } else { format!("{of} = {shown}") }
}

/// The names of the variants in a body, as far as there is room.
fn variants(text: &str, body: Node<'_>) -> String {
    let mut shown = String::new();
    let mut cursor = body.walk();
    for variant in body.named_children(&mut cursor) {
        let name = variant.child_by_field_name("name");
        let Some(name) = name.or_else(|| variant.kind().ends_with("identifier").then_some(variant)) else {
            continue;
        };
        shown.push_str(if shown.is_empty() { "{ " } else { ", " });
        if shown.len() > VARIANTS {
            shown.push('…');
            break;
        }
        shown.push_str(&joined([slice(text, name.byte_range())], VARIANTS));
    }
    if shown.is_empty() { shown } else { shown + " }" }
}

/// The text of a node that is short.
fn short<'t>(text: &'t str, node: Option<Node<'_>>) -> Option<&'t str> {
    let text = slice(text, node?.byte_range());
    (text.len() <= SHORT && !text.contains('\n')).then_some(text)
}

/// The text of a string without its quotes.
fn unquoted(text: &str) -> &str {
    let inner = text.get(1..text.len().saturating_sub(1));
    if text.starts_with(['"', '\'', '`']) { inner.unwrap_or(text) } else { text }
}
