//! The tokens of a source text with the place of each, and the comments in between.
//!
//! The tokens come from proc-macro2, which drops comments. The comments are read again from the text between two
//! tokens, where nothing else but spaces can be.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A token with all that is inside, or a comment.
#[derive(Clone, Debug)]
pub(crate) struct SyntaxNode {
    pub(crate) kind: NodeKind,
    pub(crate) range: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    /// An identifier, a literal or one character of punctuation.
    Token,
    /// A doc comment, which is an attribute for the compiler.
    Doc,
    /// A comment up to the end of the line.
    LineComment,
    BlockComment,
    Group(Delimiter, Vec<SyntaxNode>),
}

impl SyntaxNode {
    pub(crate) fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.range.clone()).unwrap_or_default()
    }

    pub(crate) fn is_comment(&self) -> bool {
        matches!(self.kind, NodeKind::LineComment | NodeKind::BlockComment)
    }

    /// The nodes in these delimiters.
    pub(crate) fn group(&self, expected: Delimiter) -> Option<&[SyntaxNode]> {
        match &self.kind {
            NodeKind::Group(delimiter, nodes) if *delimiter == expected => Some(nodes),
            _ => None,
        }
    }

    /// Whether the node is this token.
    pub(crate) fn is(&self, text: &str, token: &str) -> bool {
        matches!(self.kind, NodeKind::Token) && self.text(text) == token
    }

    /// Whether the node is a comment or contains one.
    pub(crate) fn has_comment(&self) -> bool {
        match &self.kind {
            NodeKind::Group(_, nodes) => nodes.iter().any(SyntaxNode::has_comment),
            _ => self.is_comment(),
        }
    }
}

/// The tokens of a part of a text, with the comments.
pub(crate) fn nodes(text: &str, tokens: TokenStream, part: Range<usize>) -> Vec<SyntaxNode> {
    let mut nodes = Vec::new();
    let mut end = part.start;
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let range = range(&tree);
        comments(text, end..range.start, &mut nodes);
        end = range.end.max(end);
        let kind = match &tree {
            TokenTree::Group(group) => {
                let inner = group.span_open().byte_range().end..group.span_close().byte_range().start;
                NodeKind::Group(group.delimiter(), self::nodes(text, group.stream(), inner))
            }
            _ if is_comment(text.get(range.clone()).unwrap_or_default()) => {
                // The other tokens of a doc comment: perhaps a `!`, and the brackets.
                while trees.next_if(|next| next.span().byte_range().end <= range.end).is_some() {}
                NodeKind::Doc
            }
            _ => NodeKind::Token,
        };
        nodes.push(SyntaxNode { kind, range });
    }
    comments(text, end..part.end, &mut nodes);
    nodes
}

/// The nodes of a whole text.
pub(crate) fn nodes_of(text: &str) -> Option<Vec<SyntaxNode>> {
    Some(nodes(text, text.parse().ok()?, 0..text.len()))
}

/// The place of a token, from the first to the last delimiter.
pub(crate) fn range(tree: &TokenTree) -> Range<usize> {
    match tree {
        TokenTree::Group(group) => group.span_open().byte_range().start..group.span_close().byte_range().end,
        other => other.span().byte_range(),
    }
}

fn is_comment(text: &str) -> bool {
    text.starts_with("//") || text.starts_with("/*")
}

/// The comments between two tokens.
fn comments(text: &str, part: Range<usize>, nodes: &mut Vec<SyntaxNode>) {
    let mut start = part.start;
    while let Some(rest) = text.get(start..part.end) {
        let skipped = rest.len() - rest.trim_start().len();
        start += skipped;
        let rest = rest.get(skipped..).unwrap_or_default();
        let (kind, length) = if rest.starts_with("//") {
            (NodeKind::LineComment, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (NodeKind::BlockComment, block_length(rest))
        } else {
            break;
        };
        let length = rest.get(..length).map_or(length, |comment| comment.trim_end().len());
        nodes.push(SyntaxNode { kind, range: start..start + length });
        start += length;
    }
}

/// The length of a block comment, which may contain others.
fn block_length(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth = depth.saturating_sub(1);
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}
