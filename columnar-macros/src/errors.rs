//! Every mistake that is found, told together and in these words.

use std::fmt::{Display, Write};

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::Error;
use syn::ext::IdentExt;

use crate::nearest::nearest;

/// Collects errors; nothing is told until the expansion is complete.
#[derive(Default)]
pub(crate) struct Errors(Vec<Error>);

impl Errors {
    /// An error that underlines all of `at`.
    pub(crate) fn at(&mut self, at: impl ToTokens, message: impl Display) {
        self.0.push(Error::new_spanned(at, message));
    }

    /// An error at one place.
    pub(crate) fn on(&mut self, span: Span, message: impl Display) {
        self.0.push(Error::new(span, message));
    }

    pub(crate) fn push(&mut self, error: Error) {
        self.0.push(error);
    }

    /// As invocations of `compile_error!`.
    pub(crate) fn tokens(&self) -> TokenStream {
        self.0.iter().map(Error::to_compile_error).collect()
    }
}

/// A name as its user reads it.
pub(crate) fn shown(name: &Ident) -> String {
    format!("`{}`", name.unraw())
}

pub(crate) const NO_SEMICOLON: &str = "expected `;` after this";

pub(crate) const NOT_A_DECLARATION: &str = "expected `source` or `column`";

pub(crate) const LET_INSIDE: &str =
    "a flow holds declarations only\n\nhelp: put `let` before `flow!`; compute steps can use it";

pub(crate) const MODULE: &str = "a flow cannot be part of another one yet\n\nhelp: declare its columns here, or build it from functions with `source` and `column`";

pub(crate) const COMMA: &str = "declarations end with `;`";

pub(crate) const DANGLING_DOC: &str = "this comment documents nothing";

pub(crate) const ATTRIBUTE: &str = "a column takes doc comments only";

pub(crate) const CFG: &str = "a column cannot depend on `cfg`: the graph must be the same in every build";

pub(crate) const NAMED_SELF: &str =
    "a column cannot be named `self`: that is how a column reads its own past";

pub(crate) const SOURCE_STEP: &str = "a source has no compute step: its values come from outside\n\nhelp: `column name(...) = ...` computes one";

pub(crate) const SOURCE_EXTRA: &str = "a source is declared by its name alone";

pub(crate) const COLUMN_TYPE: &str = "a column holds text and takes no type";

pub(crate) const LITERAL_VIEW: &str = "expected a column name or `self`";

pub(crate) const PATH_VIEW: &str = "a view names a column of this flow";

pub(crate) const LATEST_CALLED: &str = "`latest` takes no parentheses";

pub(crate) const EMPTY_WINDOW: &str =
    "a window of 0 shows nothing\n\nhelp: drop the view, or show at least 1 value";

pub(crate) const TAG_LITERAL: &str = "a tag is written as text, as in `.as(\"digest\")`";

pub(crate) const TAGGED_SELF: &str =
    "the own past is shown as the assistant's words, so it has no tag\n\nhelp: drop this";

pub(crate) const NO_BODY: &str = "expected the declarations of the flow after this, in braces";

pub(crate) const EMPTY_FLOW: &str = "this flow is empty\n\nhelp: begin with a source, as in `source user;`";

pub(crate) fn keyword(found: &Ident) -> String {
    let help = nearest(&found.to_string(), ["source", "column"].into_iter())
        .map_or_else(String::new, |word| format!("\n\nhelp: did you mean `{word}`?"));
    format!("{NOT_A_DECLARATION}, found `{found}`{help}")
}

pub(crate) fn no_name(keyword: &Ident) -> String {
    format!("expected a name after `{keyword}`")
}

pub(crate) fn bad_name(name: &Ident) -> String {
    let text = name.unraw().to_string();
    let help = match lower(&text) {
        Some(better) => format!("\n\nhelp: as in `{better}`"),
        None => String::new(),
    };
    format!("{} cannot name a column: {NAME_RULE}{help}", shown(name))
}

pub(crate) fn bad_tag(tag: &str) -> String {
    let help = lower(tag).map_or_else(String::new, |better| format!("\n\nhelp: as in `{better:?}`"));
    format!("{tag:?} cannot be a tag: {NAME_RULE}{help}")
}

const NAME_RULE: &str = "write at most 64 lower case letters, digits and `_`, beginning with a letter";

/// The nearest good name, if there is one.
fn lower(text: &str) -> Option<String> {
    let mut better = String::new();
    for letter in text.chars().take(64) {
        if letter.is_ascii_uppercase() && better.ends_with(|last: char| last.is_ascii_lowercase()) {
            better.push('_');
        }
        better.push(if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' });
    }
    let better = better.trim_matches('_').to_owned();
    crate::name::is_name(&better).then_some(better)
}

pub(crate) fn no_views(name: &Ident) -> String {
    let text = name.unraw();
    format!(
        "expected the views that `{text}` reads, in parentheses\n\nhelp: as in `column {text}(user.latest) = ...`"
    )
}

pub(crate) fn no_step(name: &Ident) -> String {
    format!("column {} has no compute step\n\nhelp: add one: `= prompt(\"...\")`", shown(name))
}

pub(crate) fn empty_step(name: &Ident) -> String {
    format!("expected an expression that computes {}", shown(name))
}

pub(crate) fn no_equals(name: &Ident) -> String {
    format!("expected `=` and the compute step of {}", shown(name))
}

pub(crate) fn dangling_dot(column: &str) -> String {
    format!("expected a view of `{column}` after the dot: `latest` or `window(n)`")
}

pub(crate) fn no_separator(found: impl Display) -> String {
    format!("expected `,` or `.` before `{found}`")
}

pub(crate) fn unknown(name: &Ident, declared: &[String]) -> String {
    const MOST: usize = 8;
    let text = name.unraw().to_string();
    let known = declared.iter().map(String::as_str);
    let help = match nearest(&text, known.clone()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => {
            let list: Vec<String> = known.clone().take(MOST).map(|name| format!("`{name}`")).collect();
            let more = if declared.len() > MOST {
                format!(" and {} more", declared.len() - MOST)
            } else {
                String::new()
            };
            format!("declared here: {}{more}", list.join(", "))
        }
    };
    format!("no column or source named `{text}` in this flow\n\nhelp: {help}")
}

pub(crate) fn twice(name: &Ident, first: Span) -> String {
    let place = line(first).map_or_else(String::new, |line| format!("\n\nfirst declared at line {line}"));
    format!("{} is declared twice{place}", shown(name))
}

pub(crate) fn self_by_name(name: &Ident) -> String {
    format!("{} reads itself in the same step\n\nhelp: for its own past, write `self`", shown(name))
}

pub(crate) fn only_self(name: &Ident) -> String {
    format!(
        "{} reads only itself, so nothing new can reach it\n\nhelp: add what it follows, as in `(user, self)`",
        shown(name)
    )
}

pub(crate) fn reads_nothing(name: &Ident) -> String {
    let text = name.unraw();
    format!(
        "`{text}` reads nothing, so nothing can reach it\n\nhelp: name what it reads, as in `column {text}(user.latest)`"
    )
}

pub(crate) fn self_twice(name: &Ident) -> String {
    format!("{} reads its own past twice\n\nhelp: one `self` is enough", shown(name))
}

pub(crate) fn same_view(view: &str, name: &Ident) -> String {
    format!("`{view}` is read twice by {}", shown(name))
}

pub(crate) fn same_tag(tag: &str, name: &Ident) -> String {
    format!("two views reach {} as `{tag}`\n\nhelp: name one: `.as(\"...\")`", shown(name))
}

pub(crate) fn no_source() -> &'static str {
    "nothing enters this flow\n\nhelp: declare a source, as in `source user;`"
}

/// One edge of a cycle: who reads whom, and where.
pub(crate) struct Edge {
    pub(crate) reader: String,
    pub(crate) read: String,
    pub(crate) span: Span,
}

pub(crate) fn cycle(edges: &[Edge]) -> String {
    let width = edges.iter().map(|edge| edge.reader.len()).max().unwrap_or(0);
    let mut drawing = String::new();
    for (at, Edge { reader, read, span }) in edges.iter().enumerate() {
        let arrow = if at == 0 { "┌→" } else { "│ " };
        let place = line(*span).map_or_else(String::new, |line| format!("  (line {line})"));
        let _ = writeln!(drawing, "  {arrow} {reader:width$}  reads `{read}`{place}");
    }
    format!(
        "these columns wait for each other, so none of them can run first\n\n{drawing}  └─┘\n\n\
         help: drop one of these reads; what a column said in earlier steps it can read as `self`"
    )
}

/// The line of a place, where the compiler tells.
fn line(span: Span) -> Option<usize> {
    proc_macro::is_available().then(|| span.unwrap().line())
}
