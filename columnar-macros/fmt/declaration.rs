//! The layout of one declaration: a source, a column or a module.
//!
//! A declaration stays as written if it has a comment where the form has no place for one.

use proc_macro2::Delimiter;

use crate::align::{AlignedLine, Laid, width};
use crate::list::{ListText, list};
use crate::rust::{LayoutResult, Rust, equals, written};
use crate::source::SyntaxNode;

pub(crate) fn declaration(rust: Rust<'_>, level: usize, nodes: &[SyntaxNode]) -> LayoutResult<Laid> {
    match nodes {
        [keyword, name, suffix @ .., end]
            if keyword.is(rust.text, "source") && !name.has_comment() && is_plain(suffix) =>
        {
            let suffix = self::suffix(rust, level, suffix)?;
            let name = name.text(rust.text);
            Ok(Laid::Fixed(format!("source {name}{suffix}{}", end.text(rust.text))))
        }
        [keyword, name, views, rest @ ..] if keyword.is(rust.text, "column") && !name.is_comment() => {
            match ColumnLayout::new(rust, name, views, rest) {
                Some(column) => column.lay(rust, level),
                None => Ok(verbatim(rust, nodes)),
            }
        }
        [keyword, rest @ ..] if keyword.is(rust.text, "use") => match ModuleLayout::new(rust, rest) {
            Some(module) => module.lay(rust, level),
            None => Ok(verbatim(rust, nodes)),
        },
        _ => Ok(verbatim(rust, nodes)),
    }
}

fn verbatim(rust: Rust<'_>, nodes: &[SyntaxNode]) -> Laid {
    Laid::Fixed(written(rust.text, nodes).to_owned())
}

fn is_plain(nodes: &[SyntaxNode]) -> bool {
    !nodes.iter().any(SyntaxNode::has_comment)
}

/// The type and the earlier name: `: Documents was "earlier"`.
fn suffix(rust: Rust<'_>, level: usize, nodes: &[SyntaxNode]) -> LayoutResult {
    let (ty, was) = match nodes {
        [ty @ .., was, name] if was.is(rust.text, "was") => (ty, format!(" was {}", name.text(rust.text))),
        _ => (nodes, String::new()),
    };
    match ty.split_first() {
        None => Ok(was),
        Some((_colon, ty)) => Ok(format!(": {}{was}", rust.type_of(level, ty)?)),
    }
}

/// `column name(views): Type was "earlier" = step;`
struct ColumnLayout<'n> {
    name: &'n SyntaxNode,
    views: &'n [SyntaxNode],
    suffix: &'n [SyntaxNode],
    equals: &'n SyntaxNode,
    end: &'n SyntaxNode,
}

impl<'n> ColumnLayout<'n> {
    fn new(
        rust: Rust<'_>,
        name: &'n SyntaxNode,
        views: &'n SyntaxNode,
        rest: &'n [SyntaxNode],
    ) -> Option<Self> {
        let at = equals(rust.text, rest)?;
        let (suffix, step) = rest.split_at_checked(at)?;
        let (equals, end) = step.first().zip(step.last())?;
        let is_formed = is_plain(suffix) && end.is(rust.text, ";");
        let views = views.group(Delimiter::Parenthesis)?;
        is_formed.then_some(Self { name, views, suffix, equals, end })
    }

    fn lay(&self, rust: Rust<'_>, level: usize) -> LayoutResult<Laid> {
        let config = &rust.snippets.config;
        let ListText { inline, vertical } = list(rust, level + 1, self.views)?;
        let suffix = suffix(rust, level, self.suffix)?;
        let start = format!("column {}(", self.name.text(rust.text));
        let inline = inline.map(|views| format!("{start}{views}){suffix}"));
        let fits = inline.filter(|head| config.width(level) + width(head) + " =".len() <= config.max_width);
        let head = fits.unwrap_or_else(|| format!("{start}\n{vertical}{}){suffix}", config.indent(level)));
        let step = rust.step(level, width_of_last(&head), self.equals, self.end)?;
        let is_line = !head.contains('\n') && !step.contains('\n');
        Ok(if is_line {
            Laid::Line(AlignedLine { head, step })
        } else {
            Laid::Fixed(format!("{head} {step}"))
        })
    }
}

/// The width of the last line, without indentation.
fn width_of_last(text: &str) -> usize {
    text.lines().last().map_or(0, |line| width(line.trim_start()))
}

/// `use Debate<M>(arguments) { topic: user } as debate;`, after the `use`.
struct ModuleLayout<'n> {
    path: &'n [SyntaxNode],
    arguments: Option<&'n SyntaxNode>,
    inputs: &'n [SyntaxNode],
    name: &'n [SyntaxNode],
}

impl<'n> ModuleLayout<'n> {
    fn new(rust: Rust<'_>, nodes: &'n [SyntaxNode]) -> Option<Self> {
        // Braces in the generics come before the braces of the inputs.
        let at = nodes.iter().rposition(|node| node.group(Delimiter::Brace).is_some())?;
        let (path, rest) = nodes.split_at_checked(at)?;
        let (inputs, name) = rest.split_first()?;
        let (path, arguments) = match path {
            [path @ .., last] if last.group(Delimiter::Parenthesis).is_some() => (path, Some(last)),
            _ => (path, None),
        };
        let [word, _, end] = name else { return None };
        let is_formed = word.is(rust.text, "as") && end.is(rust.text, ";");
        let inputs = inputs.group(Delimiter::Brace)?;
        (is_formed && is_plain(path) && is_plain(name)).then_some(Self { path, arguments, inputs, name })
    }

    fn lay(&self, rust: Rust<'_>, level: usize) -> LayoutResult<Laid> {
        let config = &rust.snippets.config;
        let path = rust.type_of(level, self.path)?;
        let arguments = match self.arguments {
            Some(arguments) => rust.arguments(level, arguments)?,
            None => String::new(),
        };
        let ListText { inline, vertical } = list(rust, level + 1, self.inputs)?;
        let name = self.name.get(1).map_or("", |name| name.text(rust.text));
        let start = format!("use {path}{arguments} {{");
        let inline = inline.map(|inputs| match inputs.as_str() {
            "" => format!("{start}}} as {name};"),
            _ => format!("{start} {inputs} }} as {name};"),
        });
        // Of arguments with several lines, the last one is the line of the inputs.
        let fits = inline.filter(|line| config.width(level) + width_of_last(line) <= config.max_width);
        Ok(Laid::Fixed(
            fits.unwrap_or_else(|| format!("{start}\n{vertical}{}}} as {name};", config.indent(level))),
        ))
    }
}
