//! The layout of a flow: one declaration a line, the `=` of columns below each other.

use proc_macro2::Delimiter;

use crate::align::{Laid, align};
use crate::declaration::declaration;
use crate::entries::{EntryPart, FlowEntry, entries};
use crate::rust::{LayoutResult, Rust};
use crate::same::brackets;
use crate::source::SyntaxNode;

/// The braces of a flow, and all between them, where the line of the flow is at this level.
pub(crate) fn flow(rust: Rust<'_>, level: usize, delimiter: Delimiter, nodes: &[SyntaxNode]) -> LayoutResult {
    let (open, close) = brackets(delimiter);
    let lines = declarations(rust, level + 1, nodes)?;
    Ok(format!("{open}\n{lines}{}{close}", rust.snippets.config.indent(level)))
}

/// The declarations at this level, each with its indentation and its line end.
fn declarations(rust: Rust<'_>, level: usize, nodes: &[SyntaxNode]) -> LayoutResult {
    let entries = entries(rust.text, nodes);
    let laid = entries.iter().map(|entry| entry_text(rust, level, entry)).collect::<Result<Vec<_>, _>>()?;
    let config = &rust.snippets.config;
    let texts = aligned(&entries, &laid, config.max_width.saturating_sub(config.width(level)));
    let mut lines = String::new();
    let indent = config.indent(level);
    for (entry, text) in entries.iter().zip(texts) {
        lines.push_str(if entry.is_apart { "\n" } else { "" });
        lines.extend([&indent, text.as_str()]);
        entry.trailing.iter().for_each(|comment| lines.extend([" ", comment.text(rust.text)]));
        lines.push('\n');
    }
    Ok(lines)
}

/// The texts, with the `=` of consecutive columns below each other.
fn aligned(entries: &[FlowEntry<'_>], laid: &[Laid], room: usize) -> Vec<String> {
    let mut texts = Vec::new();
    let mut run = Vec::new();
    for (entry, laid) in entries.iter().zip(laid) {
        if entry.is_apart || matches!(laid, Laid::Fixed(_)) {
            texts.extend(align(&std::mem::take(&mut run), room));
        }
        match laid {
            Laid::Fixed(text) => texts.push(text.clone()),
            Laid::Line(line) => run.push(line.clone()),
        }
    }
    texts.extend(align(&run, room));
    texts
}

fn entry_text(rust: Rust<'_>, level: usize, entry: &FlowEntry<'_>) -> LayoutResult<Laid> {
    let text = match entry.part {
        EntryPart::Comment(comment) => comment.text(rust.text).to_owned(),
        EntryPart::Attribute(nodes) => rust.attribute(level, nodes)?,
        EntryPart::Declaration(nodes) => return declaration(rust, level, nodes),
        EntryPart::Item(header, body) => item(rust, level, header, body)?,
    };
    Ok(Laid::Fixed(text))
}

/// A flow with a header.
fn item(rust: Rust<'_>, level: usize, header: &[SyntaxNode], body: &SyntaxNode) -> LayoutResult {
    let header = rust.header(level, header)?;
    let nodes = body.group(Delimiter::Brace).unwrap_or_default();
    let lines = declarations(rust, level + 1, nodes)?;
    let indent = rust.snippets.config.indent(level);
    Ok(match lines.as_str() {
        "" => format!("{header}}}"),
        _ => format!("{header}\n{lines}{indent}}}"),
    })
}
