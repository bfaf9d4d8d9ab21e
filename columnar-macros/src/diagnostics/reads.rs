//! Errors in the graph: which columns a column reads, under which tags, and in which cycles.

use std::fmt::Write;

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;

use super::errors::{line, quote};
use crate::ident::ident_text;
use crate::keywords::nearest;

pub(crate) fn unknown(name: &Ident, declared: &[String]) -> String {
    const MOST: usize = 8;
    let text = ident_text(name);
    let known = || declared.iter().map(String::as_str);
    let help = match nearest(&text, known().chain(["self"])) {
        // The run-time API names the self history `this()`.
        _ if text == "this" => "did you mean `self`?".to_owned(),
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let list: Vec<String> = known().take(MOST).map(|name| format!("`{name}`")).collect();
            let more = declared.len().saturating_sub(MOST);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("declared here: {}{more}", list.join(", "))
        }
    };
    format!("no column or source named `{text}` in this flow\n\nhelp: {help}")
}

pub(crate) fn self_by_name(name: &Ident) -> String {
    format!(
        "{} reads itself in the same step\n\nhelp: write `self` for its values at earlier steps",
        quote(name)
    )
}

pub(crate) fn prev_by_name(name: &Ident) -> String {
    format!("{} reads its own history by name\n\nhelp: write `self.latest`", quote(name))
}

pub(crate) fn only_self(name: &Ident) -> String {
    format!(
        "{} reads only itself, so no new value can reach it\n\nhelp: add a view, as in `(user, self)`",
        quote(name)
    )
}

pub(crate) fn reads_nothing(name: &Ident) -> String {
    let text = name.unraw();
    format!(
        "`{text}` reads nothing, so no value can reach it\n\nhelp: add a view, as in `column {text}(user.latest)`"
    )
}

pub(crate) fn self_twice(name: &Ident) -> String {
    format!("{} reads itself twice\n\nhelp: drop one of the two", quote(name))
}

pub(crate) fn same_view(view: &str, name: &Ident) -> String {
    format!("{} reads `{view}` twice\n\nhelp: drop one of the two", quote(name))
}

pub(crate) fn same_tag(tag: &str, name: &Ident) -> String {
    format!(
        "two inputs of {} have the tag `{tag}`\n\nhelp: give one of them another tag, as in `.as(\"...\")`",
        quote(name)
    )
}

// Purposes.

pub(crate) fn no_primary(name: &Ident) -> String {
    format!(
        "{} reads nothing but context and instructions\n\n\
         help: add a view of the column that it follows, as in `user.latest`",
        quote(name)
    )
}

/// `group("facts", user, notes.context())`
pub(crate) fn mixed_group(tag: &str) -> String {
    format!(
        "the group `{tag}` has views with and without `context()`, and context comes first in a message\n\n\
         help: make two groups of them"
    )
}

// Tiered views.

pub(crate) const OTHER_DOCUMENTS: &str = "a column with a tiered view can read no other documents\n\n\
     help: put all of them into one source, or drop this";

pub(crate) const TIERS_WITHOUT_SELF: &str = "a column with a tiered view must read all of `self`\n\n\
     help: add it, as in `(files.tiered(), user, self)`";

pub(crate) const TIERS_WITH_PART_OF_SELF: &str =
    "a column with a tiered view must read all of `self`\n\nhelp: write `self`";

pub(crate) const TIERS_WITHOUT_TEXT: &str = "a column with a tiered view must read text, too\n\n\
     help: add a view of text, as in `(files.tiered(), user, self)`";

/// One edge of a cycle: the reader, the column that it reads, and the span of the view.
pub(crate) struct Edge {
    pub(crate) reader: String,
    pub(crate) read: String,
    pub(crate) span: Span,
}

pub(crate) fn cycle(edges: &[Edge]) -> String {
    let read = edges.first().map_or("summary", |edge| &edge.read);
    let help = format!("drop one of these views, or read the value of the step before: `{read}.prev`");
    drawn_cycle(edges, &help)
}

/// `use Debate { topic: debate.critic } as debate;`
pub(crate) fn cycle_of_inputs(edges: &[Edge]) -> String {
    drawn_cycle(edges, "bind one of these inputs to another column")
}

fn drawn_cycle(edges: &[Edge], help: &str) -> String {
    let width = edges.iter().map(|edge| edge.reader.len()).max().unwrap_or(0);
    let mut drawing = String::new();
    for (at, Edge { reader, read, span }) in edges.iter().enumerate() {
        let arrow = if at == 0 { "┌→" } else { "│ " };
        let at = line(*span).map_or_else(String::new, |line| format!("  (line {line})"));
        // Writing to a `String` cannot fail.
        let _ = writeln!(drawing, "  {arrow} {reader:width$}  reads `{read}`{at}");
    }
    format!(
        "these columns wait for each other, so none of them can run first\n\n{drawing}  └─┘\n\nhelp: {help}"
    )
}

// Lints.

/// `purpose` is the word of one: `context` or `instruction`.
pub(crate) fn unbounded(read: &str, purpose: Option<&Ident>, name: &Ident) -> String {
    let purpose = purpose.map_or_else(String::new, |word| format!(".{}()", ident_text(word)));
    format!(
        "`{read}` grows with every step, and {} denies `unbounded`\n\n\
         help: write `{read}.latest{purpose}` or `{read}.window(3){purpose}`",
        quote(name)
    )
}

/// `self` of a column with a tiered view.
pub(crate) fn unbounded_self(name: &Ident) -> String {
    format!(
        "a tiered view needs all of `self`, which grows with every step, and {} denies `unbounded`\n\nhelp: drop the lint here",
        quote(name)
    )
}

/// `read` holds documents.
pub(crate) fn unbounded_documents(read: &str, name: &Ident) -> String {
    format!(
        "`{read}` shows each update of the documents, which grows with every step, and {} denies `unbounded`\n\n\
         help: drop this, or the lint",
        quote(name)
    )
}

pub(crate) fn unstable_prefix(read: &str, name: &Ident) -> String {
    format!(
        "{} shows no whole history, so its requests share only the instruction, and it denies \
         `unstable_prefix`\n\nhelp: write `{read}` for all values, or read a whole column before the others",
        quote(name)
    )
}

/// `read` is an instruction.
pub(crate) fn unstable_system(read: &str, name: &Ident) -> String {
    format!(
        "the instruction `{read}` changes the system text, so requests share nothing, and {} denies `unstable_prefix`\n\n\
         help: write `context()`, or drop the lint",
        quote(name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ident(text: &str) -> Ident {
        Ident::new(text, Span::call_site())
    }

    #[test]
    fn an_unknown_name_gets_a_suggestion_or_a_list() {
        let declared: Vec<String> = (0..10).map(|at| format!("topic_{at}")).collect();
        assert!(unknown(&ident("topc_3"), &declared).ends_with("did you mean `topic_3`?"));
        assert!(unknown(&ident("sefl"), &declared).ends_with("did you mean `self`?"));
        assert!(unknown(&ident("history"), &declared).ends_with("`topic_7` and 2 more"));
        assert!(unknown(&ident("history"), &declared[..8]).ends_with("`topic_6`, `topic_7`"));
    }

    #[test]
    fn a_cycle_is_drawn() {
        let edge = |reader: &str, read: &str| Edge {
            reader: reader.to_owned(),
            read: read.to_owned(),
            span: Span::call_site(),
        };
        let drawn = cycle(&[edge("topics", "summary"), edge("summary", "topics")]);
        assert!(drawn.contains("\n  ┌→ topics   reads `summary`\n  │  summary  reads `topics`\n  └─┘\n"));
    }
}
