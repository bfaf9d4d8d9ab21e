//! The Rust examples in doc comments and in Markdown.

use std::ops::Range;

use crate::source::{NodeKind, SyntaxNode};

/// The code between two fences.
pub(crate) struct Example {
    /// The lines of the code, with the line end of the last one.
    pub(crate) range: Range<usize>,
    /// The code without what is before each line.
    pub(crate) code: String,
    prefix: String,
}

impl Example {
    /// The lines of this code in the comment.
    pub(crate) fn text(&self, code: &str) -> String {
        let mut text = String::new();
        for line in code.lines() {
            text.push_str(format!("{}{line}", self.prefix).trim_end());
            text.push('\n');
        }
        text
    }
}

/// The examples in all `///` and `//!` comments among these nodes.
pub(crate) fn of(text: &str, nodes: &[SyntaxNode]) -> Vec<Example> {
    let mut lines = Vec::new();
    doc_lines(text, nodes, &mut lines);
    // Without a word after the fence, examples are Rust.
    in_lines(text, &lines, is_rust)
}

/// The examples in a Markdown file that are marked as Rust.
pub(crate) fn of_markdown(text: &str) -> Vec<Example> {
    let mut end = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let begin = end;
        end += line.len();
        ExampleLine { range: begin..end, start: "", markdown: line.trim_end_matches('\n') }
    });
    let lines: Vec<ExampleLine<'_>> = lines.collect();
    in_lines(text, &lines, |words| is_rust(words) && words.contains("rust"))
}

fn in_lines(text: &str, lines: &[ExampleLine<'_>], is_rust: impl Fn(&str) -> bool) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut rest = lines;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let Some(fence) = first.fence() else { continue };
        let end = rest.iter().position(|line| line.closes(fence));
        let Some((inside, after)) = end.and_then(|end| rest.split_at_checked(end)) else { continue };
        rest = after.split_first().map_or(after, |(_, after)| after);
        if is_rust(first.markdown.trim_start_matches([' ', '`', '~'])) {
            examples.extend(example(text, first, inside));
        }
    }
    examples
}

/// A line of a doc comment.
struct ExampleLine<'t> {
    /// The line with the spaces before the comment, and with the line end.
    range: Range<usize>,
    /// The spaces and the slashes.
    start: &'t str,
    markdown: &'t str,
}

impl ExampleLine<'_> {
    /// The fence that begins here.
    fn fence(&self) -> Option<&str> {
        let text = self.markdown.trim_start();
        let marker = text.chars().next().filter(|marker| matches!(marker, '`' | '~'))?;
        let fence = text.get(..text.len() - text.trim_start_matches(marker).len())?;
        (fence.len() >= 3).then_some(fence)
    }

    fn closes(&self, fence: &str) -> bool {
        let text = self.markdown.trim();
        text.starts_with(fence) && text.chars().all(|character| fence.starts_with(character))
    }
}

fn doc_lines<'t>(text: &'t str, nodes: &[SyntaxNode], lines: &mut Vec<ExampleLine<'t>>) {
    for node in nodes {
        match &node.kind {
            NodeKind::Group(_, nodes) => doc_lines(text, nodes, lines),
            NodeKind::Doc => lines.extend(doc_line(text, node)),
            _ => {}
        }
    }
}

/// The line of a doc comment, `///` or `//!`, if no other token is on that line.
fn doc_line<'t>(text: &'t str, node: &SyntaxNode) -> Option<ExampleLine<'t>> {
    let comment = node.text(text);
    let slashes = ["///", "//!"].into_iter().find(|slashes| comment.starts_with(slashes))?;
    let before = text.get(..node.range.start)?;
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    let is_alone = text.get(begin..node.range.start)?.trim().is_empty();
    let end = text.get(node.range.end..)?.find('\n').map_or(text.len(), |at| node.range.end + at + 1);
    let start = text.get(begin..node.range.start + slashes.len())?;
    is_alone.then(|| ExampleLine {
        range: begin..end,
        start,
        markdown: comment.get(slashes.len()..).unwrap_or_default(),
    })
}

/// Whether the words after a fence say that the code is a flow that may be formatted.
fn is_rust(words: &str) -> bool {
    let mut words = words.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty());
    words.all(|word| {
        matches!(word, "rust" | "no_run" | "should_panic" | "compile_fail" | "ignore")
            || word.starts_with("edition")
            || word.starts_with("ignore-")
    })
}

fn example(text: &str, first: &ExampleLine<'_>, inside: &[ExampleLine<'_>]) -> Option<Example> {
    let begin = inside.first()?.range.start;
    let end = inside.last()?.range.end;
    let spaces = first.markdown.get(..first.markdown.len() - first.markdown.trim_start().len())?;
    let mut code = String::new();
    let mut at = begin;
    for line in inside {
        let is_next = line.range.start == at && line.start == first.start;
        at = line.range.end;
        let text = match line.markdown.strip_prefix(spaces) {
            Some(text) if is_next => text,
            None if is_next && line.markdown.trim().is_empty() => "",
            _ => return None,
        };
        code.push_str(text);
        code.push('\n');
    }
    // Without a line end, the last line of a file would get one.
    let is_whole = text.get(begin..end)?.ends_with('\n') && code.contains("flow!");
    is_whole.then(|| Example { range: begin..end, code, prefix: format!("{}{spaces}", first.start) })
}
