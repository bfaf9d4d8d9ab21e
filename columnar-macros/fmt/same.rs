//! Compares texts by tokens and comments, so that no formatting loses or changes one of them.

use proc_macro2::Delimiter;

use crate::source::{NodeKind, SyntaxNode, nodes_of};

/// The differences that are allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// The comma at the end of a list.
    Commas,
    /// The tokens that rustfmt adds and removes in Rust: braces, parentheses, commas and semicolons.
    Rust,
}

/// Whether both texts have the same tokens and the same comments, in the same order.
pub(crate) fn same(before: &str, after: &str, strictness: Strictness) -> bool {
    let before = words(before, strictness);
    before.is_some() && before == words(after, strictness)
}

/// The tokens and the comments of a text.
#[derive(Default, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) tokens: Vec<String>,
    pub(crate) comments: Vec<String>,
}

pub(crate) fn words(text: &str, strictness: Strictness) -> Option<Words> {
    let mut words = Words::default();
    collect(text, &nodes_of(text)?, strictness, &mut words);
    Some(words)
}

fn collect(text: &str, nodes: &[SyntaxNode], strictness: Strictness, words: &mut Words) {
    let last = nodes.iter().rposition(|node| !node.is_comment());
    for (at, node) in nodes.iter().enumerate() {
        let word = node.text(text);
        match &node.kind {
            // rustfmt moves all lines of a comment with it.
            NodeKind::LineComment | NodeKind::BlockComment => {
                words.comments.push(word.lines().map(str::trim).collect::<Vec<_>>().join("\n"));
            }
            NodeKind::Token if word == "," && (Some(at) == last || strictness == Strictness::Rust) => {}
            NodeKind::Token if word == ";" && strictness == Strictness::Rust => {}
            NodeKind::Doc | NodeKind::Token => words.tokens.push(word.to_owned()),
            NodeKind::Group(delimiter, nodes) => {
                let is_kept = strictness == Strictness::Commas || *delimiter == Delimiter::Bracket;
                let (open, close) = brackets(*delimiter);
                words.tokens.extend(is_kept.then(|| open.to_owned()));
                collect(text, nodes, strictness, words);
                words.tokens.extend(is_kept.then(|| close.to_owned()));
            }
        }
    }
}

/// The opening and the closing bracket.
pub(crate) fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::None => ("", ""),
    }
}
