//! A Rust file: finds the flows, also in the examples of doc comments, and formats them.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::diagnostics::Errors;
use crate::examples::Example;
use crate::flow::flow;
use crate::rust::{Problem, Rust};
use crate::rustfmt::Snippets;
use crate::same::{Strictness, same};
use crate::source::{nodes, range};
use crate::syntax::{has_token, is_punct};
use crate::{examples, syntax};

/// A text with formatted flows, as far as all snippets are known; or the problems that prevent the formatting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Formatted {
    pub(crate) text: String,
    pub(crate) flows: usize,
    pub(crate) problems: Vec<Problem>,
}

/// Formats a whole file. Lines that end with CR and LF keep these ends.
pub(crate) fn file(text: &str, snippets: &Snippets, source: SourceText) -> Formatted {
    let unix = text.replace("\r\n", "\n");
    let is_dos = unix.len() < text.len();
    // A byte order mark and a `#!` line are no tokens.
    let start = if source == SourceText::File { skipped(&unix) } else { 0 };
    let (before, code) = unix.split_at_checked(start).unwrap_or(("", &unix));
    let mut formatted = match source {
        SourceText::Markdown => {
            let mut edits = Vec::new();
            let flows = example_edits(examples::of_markdown(code), snippets, &mut edits);
            Formatted { text: edited(code, edits), flows, problems: Vec::new() }
        }
        _ => self::code(code, snippets, source),
    };
    formatted.text.insert_str(0, before);
    formatted.problems.iter_mut().for_each(|problem| problem.at += start);
    if is_dos {
        formatted.text = formatted.text.replace('\n', "\r\n");
    }
    formatted
}

fn skipped(text: &str) -> usize {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let code = text.get(mark..).unwrap_or_default();
    // `#![…]` is an attribute.
    let is_script =
        code.starts_with("#!") && !code.get(2..).unwrap_or_default().trim_start().starts_with('[');
    if is_script { mark + code.find('\n').unwrap_or(code.len()) } else { mark }
}

/// The origin of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceText {
    File,
    Markdown,
    /// An example in the documentation. An example may be wrong on purpose, so mistakes in examples are no problems.
    Example,
}

pub(crate) fn code(text: &str, snippets: &Snippets, source: SourceText) -> Formatted {
    let mut formatted = Formatted { text: text.to_owned(), ..Formatted::default() };
    let tokens = match text.parse::<TokenStream>() {
        Ok(tokens) => tokens,
        Err(error) => {
            let at = error.span().byte_range().start;
            formatted.problems.push(Problem { at, message: error.to_string() });
            return formatted;
        }
    };
    let mut edits = Vec::new();
    let flows = flows(tokens.clone());
    for found in &flows {
        match edit(text, snippets, found) {
            Ok(edit) => edits.extend(edit),
            Err(_) if source == SourceText::Example || found.is_in_macro => {}
            Err(mut problems) => formatted.problems.append(&mut problems),
        }
    }
    formatted.flows = flows.len();
    if source == SourceText::File {
        let nodes = nodes(text, tokens, 0..text.len());
        let mut examples = examples::of(text, &nodes);
        examples.retain(|example| !flows.iter().any(|flow| flow.range().contains(&example.range.start)));
        formatted.flows += example_edits(examples, snippets, &mut edits);
    }
    formatted.text = edited(text, edits);
    formatted
}

/// Formats the flows in examples, and returns the number of flows.
fn example_edits(examples: Vec<Example>, snippets: &Snippets, edits: &mut Vec<Edit>) -> usize {
    let mut flows = 0;
    for example in examples {
        let formatted = code(&example.code, snippets, SourceText::Example);
        flows += formatted.flows;
        // Only changed ones: the prefixes of lines are made again.
        if formatted.problems.is_empty() && formatted.text != example.code {
            edits.push((example.range.clone(), example.text(&formatted.text)));
        }
    }
    flows
}

/// A part of a text, and its new text.
type Edit = (Range<usize>, String);

fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    let mut text = text.to_owned();
    edits.sort_by_key(|(range, _)| range.start);
    // From the end on, so that the places before stay right.
    edits.into_iter().rev().for_each(|(range, edit)| text.replace_range(range, &edit));
    text
}

/// A `flow!`, with the brackets of the body.
struct FoundFlow {
    body: Group,
    /// The place of `flow`, at the beginning of a line or inside.
    at: usize,
    /// Whether the flow is among the tokens of another macro, which may not be Rust.
    is_in_macro: bool,
}

impl FoundFlow {
    fn range(&self) -> Range<usize> {
        range(&TokenTree::from(self.body.clone()))
    }
}

/// The invocations of `flow!` in a text, outside of each other.
fn flows(tokens: TokenStream) -> Vec<FoundFlow> {
    let mut found = Vec::new();
    find(tokens, false, &mut found);
    found
}

fn find(tokens: TokenStream, is_in_macro: bool, found: &mut Vec<FoundFlow>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, tree) in trees.iter().enumerate() {
        let TokenTree::Group(group) = tree else { continue };
        let before = trees.get(..at).unwrap_or_default();
        match before {
            [path @ .., TokenTree::Ident(name), bang] if name == "flow" && is_punct(bang, '!') => {
                // With a `$`, the flow is part of a `macro_rules!`.
                if !has_token(group.stream(), &|tree| is_punct(tree, '$')) && !is_skipped(path) {
                    let at = name.span().byte_range().start;
                    found.push(FoundFlow { body: group.clone(), at, is_in_macro });
                }
            }
            [.., TokenTree::Ident(_), bang] if is_punct(bang, '!') => find(group.stream(), true, found),
            // `macro_rules! name { … }`
            [.., TokenTree::Ident(_), bang, TokenTree::Ident(_)] if is_punct(bang, '!') => {
                find(group.stream(), true, found);
            }
            _ => find(group.stream(), is_in_macro, found),
        }
    }
}

/// Whether `#[rustfmt::skip]` is before the path of a macro.
fn is_skipped(path: &[TokenTree]) -> bool {
    let other = path.iter().rposition(|tree| !is_punct(tree, ':') && !matches!(tree, TokenTree::Ident(_)));
    let end = other.map_or(0, |at| at + 1);
    match path.get(..end) {
        Some([.., hash, TokenTree::Group(list)]) if is_punct(hash, '#') => {
            list.delimiter() == Delimiter::Bracket
                && list.stream().to_string().replace(' ', "") == "rustfmt::skip"
        }
        _ => false,
    }
}

/// The body of a flow and the new text of the body, if that text is known.
fn edit(text: &str, snippets: &Snippets, found: &FoundFlow) -> Result<Option<Edit>, Vec<Problem>> {
    let problems = mistakes(found);
    if !problems.is_empty() {
        return Err(problems);
    }
    let range = found.range();
    let inner = range.start + 1..range.end.saturating_sub(1);
    let body = nodes(text, found.body.stream(), inner);
    let line = text.get(..found.at).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
    let spaces = line.get(..line.len() - line.trim_start().len()).unwrap_or_default();
    let level = snippets.config.level(spaces);
    let delimiter = found.body.delimiter();
    let after = flow(Rust { text, snippets }, level, delimiter, &body).map_err(|problem| vec![problem])?;
    if snippets.is_missing() {
        return Ok(None);
    }
    let before = text.get(range.clone()).unwrap_or_default();
    if !same(before, &after, Strictness::Rust) {
        let message = "this flow would lose a token or a comment, so it is left as it is. \
                       That is a bug of `cargo columnar fmt`: please report it with this flow";
        return Err(vec![Problem { at: found.at, message: message.to_owned() }]);
    }
    Ok((before != after).then_some((range, after)))
}

/// The errors of the parser.
fn mistakes(found: &FoundFlow) -> Vec<Problem> {
    let mut errors = Errors::default();
    syntax::parse(found.body.stream(), &mut errors);
    let mut problems = Vec::new();
    // Each error is a `::core::compile_error! { "…" }`.
    for tree in errors.tokens() {
        if let TokenTree::Group(group) = &tree
            && let Ok(message) = syn::parse2::<syn::LitStr>(group.stream())
        {
            let place = group.span().byte_range().start;
            // An error at the call itself has no place.
            let at = if place == 0 { found.at } else { place };
            let message = message.value();
            let headline = message.lines().next().unwrap_or_default();
            problems.push(Problem { at, message: headline.to_owned() });
        }
    }
    problems
}
