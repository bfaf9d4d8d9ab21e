//! The layout of a flow: one declaration a line, the `=` of columns below each other.

use proc_macro2::Delimiter;

use crate::align::{Laid, align};
use crate::declaration::declaration;
use crate::entries::{EntryPart, FlowEntry, entries};
use crate::rust::{Known, Rust};
use crate::same::brackets;
use crate::source::{NodeKind, SyntaxNode};

/// The braces of a flow, and all between them, where the line of the flow is at this level.
pub(crate) fn flow(rust: Rust<'_>, level: usize, braces: &SyntaxNode) -> Known<String> {
    let NodeKind::Group(delimiter, nodes) = &braces.kind else { return Ok(None) };
    let (open, close) = brackets(*delimiter);
    let Some(lines) = declarations(rust, level + 1, nodes)? else { return Ok(None) };
    Ok(Some(format!("{open}\n{lines}{}{close}", rust.snippets.config.indent(level))))
}

/// The declarations at this level, each with its indentation and its line end.
fn declarations(rust: Rust<'_>, level: usize, nodes: &[SyntaxNode]) -> Known<String> {
    let entries = entries(rust.text, nodes);
    let mut laid = Vec::new();
    let mut is_known = true;
    for entry in &entries {
        match entry_text(rust, level, entry)? {
            Some(text) => laid.push(text),
            None => is_known = false,
        }
    }
    if !is_known {
        return Ok(None);
    }
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
    Ok(Some(lines))
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

fn entry_text(rust: Rust<'_>, level: usize, entry: &FlowEntry<'_>) -> Known<Laid> {
    let text = match entry.part {
        EntryPart::Comment(comment) => Some(comment.text(rust.text).to_owned()),
        EntryPart::Attribute(nodes) => rust.attribute(level, nodes)?,
        EntryPart::Declaration(nodes) => return declaration(rust, level, nodes),
        EntryPart::Item(header, body) => item(rust, level, header, body)?,
    };
    Ok(text.map(Laid::Fixed))
}

/// A flow with a header.
fn item(rust: Rust<'_>, level: usize, header: &[SyntaxNode], body: &SyntaxNode) -> Known<String> {
    let header = rust.header(level, header)?;
    let nodes = body.group(Delimiter::Brace).unwrap_or_default();
    let lines = declarations(rust, level + 1, nodes)?;
    let indent = rust.snippets.config.indent(level);
    Ok(header.zip(lines).map(|(header, lines)| match lines.as_str() {
        "" => format!("{header}}}"),
        _ => format!("{header}\n{lines}{indent}}}"),
    }))
}
