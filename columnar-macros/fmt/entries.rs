//! The parts of a flow that have separate lines: comments, attributes and declarations.

use proc_macro2::Delimiter;

use crate::source::{Kind, Node};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'n> {
    Comment(&'n Node),
    /// A doc comment, or a `#` and the brackets behind.
    Attribute(&'n [Node]),
    /// Everything up to the `;`.
    Declaration(&'n [Node]),
    /// The header of an item, and the braces behind.
    Item(&'n [Node], &'n Node),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry<'n> {
    pub(crate) part: Part<'n>,
    /// Whether a blank line is before the part, and another part before that line.
    pub(crate) is_apart: bool,
    /// The comments behind the part on the same line.
    pub(crate) trailing: Vec<&'n Node>,
}

/// The entries of the declarations of a flow, or of a flow with a header.
pub(crate) fn entries<'n>(text: &str, nodes: &'n [Node]) -> Vec<Entry<'n>> {
    let (mut entries, mut rest, mut end) = (Vec::<Entry<'n>>::new(), nodes, None);
    while let Some(first) = rest.first() {
        let between = end.and_then(|end| text.get(end..first.range.start));
        let newlines = between.map_or(0, |between| between.matches('\n').count());
        let length = length(text, rest);
        let (taken, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        (rest, end) = (after, taken.last().map(|last| last.range.end));
        match (entries.last_mut(), first.is_comment()) {
            (Some(before), true) if newlines == 0 => before.trailing.push(first),
            _ => {
                let is_apart = newlines > 1;
                entries.push(Entry { part: part(text, taken), is_apart, trailing: Vec::new() });
            }
        }
    }
    entries
}

/// The number of nodes of the part that comes first.
fn length(text: &str, nodes: &[Node]) -> usize {
    let Some(first) = nodes.first() else { return 0 };
    if first.is_comment() || matches!(first.kind, Kind::Doc) {
        return 1;
    }
    let is_last = |node: &Node| match first.is(text, "#") {
        true => node.group(Delimiter::Bracket).is_some(),
        // Only a header has `struct` before the `;`, and it ends with the braces.
        false if is_header(text, nodes) => is_body(nodes, node),
        false => node.is(text, ";"),
    };
    nodes.iter().position(is_last).map_or(nodes.len(), |at| at + 1)
}

/// Whether the nodes begin with the header of an item: `pub(crate) struct`.
fn is_header(text: &str, nodes: &[Node]) -> bool {
    let mut nodes = nodes.iter().filter(|node| !node.is_comment());
    match nodes.next() {
        Some(first) if first.is(text, "pub") => true,
        Some(first) => first.is(text, "struct"),
        None => false,
    }
}

/// The braces of an item are the last ones: other braces may be in the generics.
fn is_body(nodes: &[Node], node: &Node) -> bool {
    let last = nodes.iter().rfind(|node| node.group(Delimiter::Brace).is_some());
    last.is_some_and(|last| last.range == node.range)
}

fn part<'n>(text: &str, nodes: &'n [Node]) -> Part<'n> {
    match nodes {
        [comment] if comment.is_comment() => Part::Comment(comment),
        [first, ..] if matches!(first.kind, Kind::Doc) || first.is(text, "#") => Part::Attribute(nodes),
        [header @ .., body] if is_header(text, nodes) => Part::Item(header, body),
        _ => Part::Declaration(nodes),
    }
}
