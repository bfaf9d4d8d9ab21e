//! The Rust in a flow: compute steps, types, arguments, attributes and headers.
//!
//! A statement or an item is put around each piece, rustfmt formats the whole, and the frame is taken off again. Where
//! rustfmt would lose a comment or change a token, the text stays as written.

use proc_macro2::Delimiter;

use crate::rustfmt::Snippets;
use crate::same::{Strictness, same};
use crate::source::{SyntaxNode, nodes_of};

/// A mistake, or a limit of the formatter, at a place of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// The most times that rustfmt may format its own result. A text that still changes after that stays as written.
const MOST_ROUNDS: usize = 3;

/// A layout. While snippets are missing, texts as written stand in for them.
pub(crate) type LayoutResult<T = String> = Result<T, Problem>;

/// Formats Rust of one text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rust<'r> {
    pub(crate) text: &'r str,
    pub(crate) snippets: &'r Snippets,
}

impl<'r> Rust<'r> {
    /// The `=` and the compute step after a head that ends at this width, up to and with the `;`.
    pub(crate) fn step(
        &self,
        level: usize,
        head: usize,
        equals: &SyntaxNode,
        end: &SyntaxNode,
    ) -> LayoutResult {
        let written = self.text.get(equals.range.end..end.range.start).unwrap_or_default().trim();
        // A name as wide as the head, so that rustfmt breaks the lines where it would with the head.
        let head = format!("let {} =", "h".repeat(head.saturating_sub(4).max(1)));
        let at = equals.range.end;
        let step = self.between(level, &head, &format!(" {written}"), ";", Strictness::Rust, at)?;
        Ok(format!("={};", closed(&step)))
    }

    pub(crate) fn type_of(&self, level: usize, nodes: &[SyntaxNode]) -> LayoutResult {
        let written = written(self.text, nodes);
        match nodes {
            [first, _, ..] => {
                self.between(level, "type Z = ", written, ";", Strictness::Commas, first.range.start)
            }
            _ => Ok(written.to_owned()),
        }
    }

    /// Arguments with the parentheses.
    pub(crate) fn arguments(&self, level: usize, list: &SyntaxNode) -> LayoutResult {
        match list.group(Delimiter::Parenthesis).unwrap_or_default() {
            [] => Ok("()".to_owned()),
            [only] if !only.is_comment() && only.group(Delimiter::Brace).is_none() => {
                Ok(format!("({})", only.text(self.text)))
            }
            _ => self.between(level, "z", list.text(self.text), ";", Strictness::Rust, list.range.start),
        }
    }

    /// An attribute on separate lines.
    pub(crate) fn attribute(&self, level: usize, nodes: &[SyntaxNode]) -> LayoutResult {
        let written = written(self.text, nodes);
        match nodes {
            [first, _, ..] => {
                let at = first.range.start;
                let item = format!("\n{}fn z() {{}}", self.snippets.config.indent(level));
                self.between(level, "", written, &item, Strictness::Commas, at)
            }
            // A doc comment.
            _ => Ok(written.to_owned()),
        }
    }

    /// The text in the middle, formatted between the two others.
    fn between(
        &self,
        level: usize,
        before: &str,
        written: &str,
        after: &str,
        strictness: Strictness,
        at: usize,
    ) -> LayoutResult {
        let has_comment = nodes_of(written).is_some_and(|nodes| nodes.iter().any(SyntaxNode::has_comment));
        let mut text = written.to_owned();
        for _ in 0..MOST_ROUNDS {
            let formatted = self.get(level, format!("{before}{}{after}", closed(&text)), at)?;
            let inner = formatted.strip_prefix(before).and_then(|formatted| formatted.strip_suffix(after));
            let Some(inner) = inner.filter(|inner| same(written, inner, strictness)) else { break };
            // With comments, rustfmt may format its own result in another way.
            if !has_comment || inner == text {
                return Ok(inner.to_owned());
            }
            inner.clone_into(&mut text);
        }
        Ok(written.to_owned())
    }

    /// The header of an item and the opening brace. The header is formatted as the header of a function.
    pub(crate) fn header(&self, level: usize, nodes: &[SyntaxNode]) -> LayoutResult {
        let written = written(self.text, nodes);
        let mut again = None;
        if let Some(header) = HeaderText::new(self.text, nodes) {
            let at = nodes.first().map_or(0, |first| first.range.start);
            let has_comment = nodes.iter().any(SyntaxNode::has_comment);
            let mut function = header.function();
            for _ in 0..MOST_ROUNDS {
                let formatted = self.get(level, function.clone(), at)?;
                let found = header.of_function(formatted).filter(|found| {
                    same(&format!("{written} {{}}"), &format!("{found}}}"), Strictness::Rust)
                });
                // As above, with comments the result is formatted again.
                if found.is_none() || !has_comment || formatted == function {
                    again = found;
                    break;
                }
                formatted.clone_into(&mut function);
            }
        }
        Ok(again.unwrap_or_else(|| format!("{} {{", closed(written))))
    }

    fn get(&self, level: usize, code: String, at: usize) -> LayoutResult<&'r str> {
        let formatted = self.snippets.get(level, code);
        formatted.map_err(|message| Problem { at, message: format!("rustfmt: {message}") })
    }
}

/// The text of these nodes, with everything between them.
pub(crate) fn written<'t>(text: &'t str, nodes: &[SyntaxNode]) -> &'t str {
    match (nodes.first(), nodes.last()) {
        (Some(first), Some(last)) => text.get(first.range.start..last.range.end).unwrap_or_default(),
        _ => "",
    }
}

/// The text, followed by a line end if a comment at the end would go on.
fn closed(text: &str) -> String {
    let nodes = nodes_of(text).unwrap_or_default();
    let is_open = nodes.last().is_some_and(|last| last.is_comment() && last.text(text).starts_with("//"));
    if is_open { format!("{text}\n") } else { text.to_owned() }
}

/// The parts of `pub struct Felt<M: Model>(model: M): Chat<M> where …`.
struct HeaderText<'h> {
    visibility: &'h str,
    name: &'h str,
    generics: &'h str,
    parameters: Option<&'h str>,
    base: Option<&'h str>,
    bounds: &'h str,
}

impl<'h> HeaderText<'h> {
    fn new(text: &'h str, nodes: &[SyntaxNode]) -> Option<Self> {
        let keyword = nodes.iter().position(|node| node.is(text, "struct"))?;
        let (name, rest) = nodes.get(keyword + 1..)?.split_first()?;
        // The text of a comment would get into the middle of lines.
        if nodes.iter().any(SyntaxNode::is_comment) {
            return None;
        }
        let parameters = outside_angles(text, rest, |node| node.group(Delimiter::Parenthesis).is_some());
        let colon = outside_angles(text, rest, |node| node.is(text, ":"));
        let bounds = outside_angles(text, rest, |node| node.is(text, "where"));
        // A `:` or parentheses after the `where` belong to a bound.
        let bounds = bounds.unwrap_or(rest.len());
        let colon = colon.filter(|colon| *colon < bounds);
        let parameters = parameters.filter(|at| *at < colon.unwrap_or(bounds));
        let first = parameters.or(colon).unwrap_or(bounds);
        Some(Self {
            visibility: text.get(nodes.first()?.range.start..nodes.get(keyword)?.range.start)?.trim(),
            name: name.text(text),
            generics: written(text, rest.get(..first)?),
            parameters: parameters.and_then(|at| Some(rest.get(at)?.text(text))),
            base: colon.and_then(|colon| Some(written(text, rest.get(colon + 1..bounds)?))),
            bounds: written(text, rest.get(bounds..)?),
        })
    }

    /// The name of the function: the name of the flow, with `_` to make up for `struct` and the arrow.
    fn padded(&self) -> String {
        let wider = if self.base.is_some() { 2 } else { 4 };
        format!("{}{}", self.name.replace("r#", "r_"), "_".repeat(wider))
    }

    fn function(&self) -> String {
        let arrow = self.base.map(|base| format!(" -> {base}")).unwrap_or_default();
        let parameters = self.parameters.unwrap_or("()");
        let name = self.padded();
        format!("{} fn {name}{}{parameters}{arrow} {} {{}}", self.visibility, self.generics, self.bounds)
    }

    /// The header of the item from the header of the function.
    fn of_function(&self, function: &str) -> Option<String> {
        let start = format!("fn {}", self.padded());
        let (visibility, rest) = function.split_once(&start)?;
        let nodes = nodes_of(rest)?;
        let parameters = outside_angles(rest, &nodes, |node| node.group(Delimiter::Parenthesis).is_some())?;
        let list = nodes.get(parameters)?;
        let generics = rest.get(..list.range.start)?;
        let shown = if self.parameters.is_some() { list.text(rest) } else { "" };
        let after = rest.get(list.range.end..)?.trim_end().strip_suffix('}')?.trim_end();
        let after = match self.base {
            Some(_) => format!(": {}", after.trim_start().strip_prefix("->")?.trim_start()),
            None => after.to_owned(),
        };
        Some(format!("{visibility}struct {}{generics}{shown}{after}", self.name))
    }
}

/// The place of the first such node that is outside of angle brackets.
fn outside_angles(text: &str, nodes: &[SyntaxNode], is_it: impl Fn(&SyntaxNode) -> bool) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = "";
    for (at, node) in nodes.iter().enumerate() {
        let token = node.text(text);
        if depth == 0 && is_it(node) && !(token == ":" && is_path(text, nodes, at)) {
            return Some(at);
        }
        match token {
            "<" => depth += 1,
            ">" if before != "-" => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = token;
    }
    None
}

/// Whether the `:` is half of a `::`.
fn is_path(text: &str, nodes: &[SyntaxNode], at: usize) -> bool {
    // The pairs with the token before and with the token after.
    let mut pairs = nodes.get(at.saturating_sub(1)..).unwrap_or_default().windows(2).take(1 + at.min(1));
    pairs.any(|pair| {
        let is_joined = matches!(pair, [one, other] if one.range.end == other.range.start);
        is_joined && pair.iter().all(|node| node.is(text, ":"))
    })
}

/// The place of the `=` before a compute step: the first one outside of the angle brackets of a type.
pub(crate) fn equals(text: &str, nodes: &[SyntaxNode]) -> Option<usize> {
    outside_angles(text, nodes, |node| node.is(text, "="))
}
