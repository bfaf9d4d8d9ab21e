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
        let length = length(text, rest);
        let (taken, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        rest = after;
        end = taken.last().map(|last| last.range.end);
        match (entries.last_mut(), first.is_comment()) {
            (Some(before), true) if newlines == 0 => before.trailing.push(first),
            _ => {
                let is_apart = newlines > 1;
                entries.push(FlowEntry { part: part(text, taken), is_apart, trailing: Vec::new() });
            }
        }
    }
    entries
}

/// The number of nodes of the part that comes first.
fn length(text: &str, nodes: &[SyntaxNode]) -> usize {
    let Some(first) = nodes.first() else { return 0 };
    if first.is_comment() || matches!(first.kind, NodeKind::Doc) {
        return 1;
    }
    let last = nodes.iter().position(|node| match first.is(text, "#") {
        true => node.group(Delimiter::Bracket).is_some(),
        // Only a header has `struct` before the `;`, and it ends with the braces.
        false if is_header(text, nodes) => is_body(nodes, node),
        false => node.is(text, ";"),
    });
    last.map_or(nodes.len(), |at| at + 1)
}

/// Whether the nodes begin with the header of an item: `pub(crate) struct`.
fn is_header(text: &str, nodes: &[SyntaxNode]) -> bool {
    let mut nodes = nodes.iter().filter(|node| !node.is_comment());
    match nodes.next() {
        Some(first) if first.is(text, "pub") => true,
        Some(first) => first.is(text, "struct"),
        None => false,
    }
}

/// The braces of an item are the last ones: other braces may be in the generics.
fn is_body(nodes: &[SyntaxNode], node: &SyntaxNode) -> bool {
    let last = nodes.iter().rfind(|node| node.group(Delimiter::Brace).is_some());
    last.is_some_and(|last| last.range == node.range)
}

fn part<'n>(text: &str, nodes: &'n [SyntaxNode]) -> EntryPart<'n> {
    match nodes {
        [comment] if comment.is_comment() => EntryPart::Comment(comment),
        [first, ..] if matches!(first.kind, NodeKind::Doc) || first.is(text, "#") => {
            EntryPart::Attribute(nodes)
        }
        [header @ .., body] if is_header(text, nodes) => EntryPart::Item(header, body),
        _ => EntryPart::Declaration(nodes),
    }
}
