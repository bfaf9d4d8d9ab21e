//! Lists of views, of groups and of the inputs of modules: on one line, or with one item a line.

use proc_macro2::Delimiter;

use crate::align::width;
use crate::rust::{LayoutResult, Rust};
use crate::source::{NodeKind, SyntaxNode};

/// A list without the brackets.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListText {
    /// The list on one line, if possible.
    pub(crate) inline: Option<String>,
    /// The list with one item a line, each with indentation and comma.
    pub(crate) vertical: String,
}

/// An item of a list, with the comments before and after.
#[derive(Default)]
struct ListItem<'n> {
    before: Vec<&'n SyntaxNode>,
    nodes: Vec<&'n SyntaxNode>,
    after: Vec<&'n SyntaxNode>,
}

/// A text that begins a line where an item is broken, and the comments before the text.
struct Segment<'n> {
    comments: Vec<&'n SyntaxNode>,
    text: String,
}

/// The list, whose items are at this level.
pub(crate) fn list(rust: Rust<'_>, level: usize, nodes: &[SyntaxNode]) -> LayoutResult<ListText> {
    let items = items(rust.text, nodes);
    let mut inline = Some(Vec::new());
    let mut vertical = String::new();
    let indent = rust.snippets.config.indent(level);
    for item in &items {
        comment_lines(rust.text, &indent, &item.before, &mut vertical);
        if !item.before.is_empty() || !item.after.is_empty() {
            inline = None;
        }
        if item.nodes.is_empty() {
            continue;
        }
        let ItemText { one_line, lines } = self::item(rust, level, &item.nodes)?;
        inline = inline.zip(one_line).map(|(mut inline, item)| {
            inline.push(item);
            inline
        });
        vertical.extend([&indent, lines.as_str(), ","]);
        comments_after(rust.text, &indent, &item.after, &mut vertical);
        vertical.push('\n');
    }
    Ok(ListText { inline: inline.map(|items| items.join(", ")), vertical })
}

fn comment_lines(text: &str, indent: &str, comments: &[&SyntaxNode], lines: &mut String) {
    comments.iter().for_each(|comment| lines.extend([indent, comment.text(text), "\n"]));
}

/// Comments on the line of an item. Nothing can follow a comment up to the end of the line, so all further comments are
/// below.
fn comments_after(text: &str, indent: &str, comments: &[&SyntaxNode], lines: &mut String) {
    let mut is_ended = false;
    for comment in comments {
        lines.extend(if is_ended { ["\n", indent] } else { [" ", ""] });
        lines.push_str(comment.text(text));
        is_ended |= matches!(comment.kind, NodeKind::LineComment);
    }
}

fn items<'n>(text: &str, nodes: &'n [SyntaxNode]) -> Vec<ListItem<'n>> {
    let mut items = Vec::<ListItem<'n>>::new();
    let mut item = ListItem::default();
    let mut end = None;
    for (at, node) in nodes.iter().enumerate() {
        let between = end.and_then(|end| text.get(end..node.range.start)).unwrap_or("\n");
        end = Some(node.range.end);
        let next = nodes.get(at..).unwrap_or_default().iter().find(|node| !node.is_comment());
        let is_last = next.is_none_or(|next| next.is(text, ","));
        match (node.is_comment(), items.last_mut()) {
            (true, Some(before)) if item.is_empty() && !between.contains('\n') => before.after.push(node),
            (true, _) if item.nodes.is_empty() => item.before.push(node),
            (true, _) if is_last => item.after.push(node),
            _ if node.is(text, ",") => items.push(std::mem::take(&mut item)),
            _ => item.nodes.push(node),
        }
    }
    if !item.is_empty() {
        items.push(item);
    }
    items
}

impl ListItem<'_> {
    fn is_empty(&self) -> bool {
        self.before.is_empty() && self.nodes.is_empty()
    }
}

/// The text of an item.
struct ItemText {
    /// The item on one line, if possible.
    one_line: Option<String>,
    /// The item on separate lines where it has no room.
    lines: String,
}

fn item(rust: Rust<'_>, level: usize, nodes: &[&SyntaxNode]) -> LayoutResult<ItemText> {
    if let [word, list] = nodes
        && word.is(rust.text, "group")
        && let Some(inner) = list.group(Delimiter::Parenthesis)
    {
        return group(rust, level, inner);
    }
    let segments = segments(rust, level, nodes)?;
    let one_line: String = segments.iter().map(|segment| segment.text.as_str()).collect();
    let has_comments = segments.iter().any(|segment| !segment.comments.is_empty());
    let is_one_line = !has_comments && !one_line.contains('\n');
    let config = &rust.snippets.config;
    // The comma follows the item.
    let fits = config.width(level) + width(&one_line) < config.max_width;
    if !has_comments && (fits || !is_one_line) {
        return Ok(ItemText { one_line: is_one_line.then(|| one_line.clone()), lines: one_line });
    }
    let mut lines = String::new();
    let indent = config.indent(level + 1);
    for (at, segment) in segments.iter().enumerate() {
        if at > 0 {
            lines.push('\n');
            comment_lines(rust.text, &indent, &segment.comments, &mut lines);
            lines.push_str(&indent);
        }
        lines.push_str(&segment.text);
    }
    Ok(ItemText { one_line: is_one_line.then_some(one_line), lines })
}

fn group(rust: Rust<'_>, level: usize, nodes: &[SyntaxNode]) -> LayoutResult<ItemText> {
    let ListText { inline, vertical } = list(rust, level + 1, nodes)?;
    let config = &rust.snippets.config;
    let inline = inline.map(|inline| format!("group({inline})"));
    let fits = inline.as_ref().filter(|inline| config.width(level) + width(inline) < config.max_width);
    let lines = match fits {
        Some(inline) => inline.clone(),
        None => format!("group(\n{vertical}{})", config.indent(level)),
    };
    Ok(ItemText { one_line: inline, lines })
}

/// The base of a view and all modifiers, or an input and the column of the input.
fn segments<'n>(rust: Rust<'_>, level: usize, nodes: &[&'n SyntaxNode]) -> LayoutResult<Vec<Segment<'n>>> {
    let mut segments = vec![Segment { comments: Vec::new(), text: String::new() }];
    let mut comments = Vec::new();
    for node in nodes {
        if node.is_comment() {
            comments.push(*node);
            continue;
        }
        // Comments elsewhere than before a `.` begin a line, too.
        if node.is(rust.text, ".") || !comments.is_empty() {
            segments.push(Segment { comments: std::mem::take(&mut comments), text: String::new() });
        }
        let text = match node.group(Delimiter::Parenthesis) {
            Some(_) => rust.arguments(level, node)?,
            None => node.text(rust.text).to_owned(),
        };
        if let Some(segment) = segments.last_mut() {
            segment.text.push_str(&text);
            segment.text.push_str(if text == ":" { " " } else { "" });
        }
    }
    Ok(segments)
}
