//! The parts of a flow that have separate lines: comments, attributes and declarations.

use proc_macro2::Delimiter;

use crate::source::{NodeKind, SyntaxNode};

#[derive(Clone, Copy, Debug)]
pub(crate) enum EntryPart<'n> {
    Comment(&'n SyntaxNode),
    /// A doc comment, or a `#` and the brackets behind.
    Attribute(&'n [SyntaxNode]),
    /// Everything up to the `;`.
    Declaration(&'n [SyntaxNode]),
    /// The header of an item, and the braces behind.
    Item(&'n [SyntaxNode], &'n SyntaxNode),
}

#[derive(Clone, Debug)]
pub(crate) struct FlowEntry<'n> {
    pub(crate) part: EntryPart<'n>,
    /// Whether a blank line is before the part, and another part before that line.
    pub(crate) is_apart: bool,
    /// The comments behind the part on the same line.
    pub(crate) trailing: Vec<&'n SyntaxNode>,
}

/// The entries of the declarations of a flow, or of a flow with a header.
pub(crate) fn entries<'n>(text: &str, nodes: &'n [SyntaxNode]) -> Vec<FlowEntry<'n>> {
    let mut entries = Vec::<FlowEntry<'n>>::new();
    let mut rest = nodes;
    let mut end = None;
    while let Some(first) = rest.first() {
        let between = end.and_then(|end| text.get(end..first.range.start));
        let newlines = between.map_or(0, |between| between.matches('\n').count());
        let (part, taken) = part(text, first, rest);
        rest = rest.get(taken.len()..).unwrap_or_default();
        end = taken.last().map(|last| last.range.end);
        match (entries.last_mut(), first.is_comment()) {
            (Some(before), true) if newlines == 0 => before.trailing.push(first),
            _ => entries.push(FlowEntry { part, is_apart: newlines > 1, trailing: Vec::new() }),
        }
    }
    entries
}

/// The part that comes first, and its nodes.
fn part<'n>(text: &str, first: &SyntaxNode, nodes: &'n [SyntaxNode]) -> (EntryPart<'n>, &'n [SyntaxNode]) {
    let is_attribute = matches!(first.kind, NodeKind::Doc) || first.is(text, "#");
    let is_header = is_header(text, nodes);
    let last = match first.kind {
        NodeKind::LineComment | NodeKind::BlockComment | NodeKind::Doc => Some(0),
        _ if is_attribute => nodes.iter().position(|node| node.group(Delimiter::Bracket).is_some()),
        // Only a header has `struct` before the `;`, and ends with the last braces: other braces may be in the generics.
        _ if is_header => nodes.iter().rposition(|node| node.group(Delimiter::Brace).is_some()),
        _ => nodes.iter().position(|node| node.is(text, ";")),
    };
    let taken = last.and_then(|last| nodes.get(..=last)).unwrap_or(nodes);
    let part = match taken {
        [comment] if comment.is_comment() => EntryPart::Comment(comment),
        _ if is_attribute => EntryPart::Attribute(taken),
        [header @ .., body] if is_header => EntryPart::Item(header, body),
        _ => EntryPart::Declaration(taken),
    };
    (part, taken)
}

/// Whether the nodes begin with the header of an item: `pub(crate) struct`.
fn is_header(text: &str, nodes: &[SyntaxNode]) -> bool {
    let first = nodes.iter().find(|node| !node.is_comment());
    first.is_some_and(|first| first.is(text, "pub") || first.is(text, "struct"))
}
