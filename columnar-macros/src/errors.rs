//! Every mistake, in the words that its maker reads.
//!
//! A headline in lower case, then the way out after `help:`. The headline says what is wrong at the
//! place that is underlined; the help says what to write there.

pub(crate) mod column_type;
pub(crate) mod former;
pub(crate) mod module;

use std::fmt::Write;

use proc_macro2::{Ident, Span, TokenTree};
use syn::ext::IdentExt;

use crate::ident::{ident_text, nearest_name, quoted_name};
use crate::keywords::{LINTS, MODIFIERS, nearest, nearest_keyword};
use crate::report::place;

/// A name as its user reads it.
fn shown(name: &Ident) -> String {
    format!("`{}`", ident_text(name))
}

// The flow as a whole.

pub(crate) const EMPTY_FLOW: &str = "this flow is empty\n\nhelp: begin with a source, as in `source user;`";

/// `name` is read and not declared, if there is such a name.
pub(crate) fn no_source(name: Option<&Ident>) -> String {
    let name = name.map_or_else(|| "user".to_owned(), ident_text);
    format!("nothing enters this flow\n\nhelp: declare a source, as in `source {name};`")
}

pub(crate) const NO_STRUCT: &str = "expected `struct` and the name of the flow after this";

pub(crate) const NO_FLOW_NAME: &str =
    "expected the name of the flow after this\n\nhelp: as in `pub struct Chat { ... }`";

pub(crate) const NO_BODY: &str = "expected the declarations of the flow, in braces, after this";

pub(crate) const BODY_IN_PARENTHESES: &str =
    "the declarations of a flow stand in braces\n\nhelp: as in `pub struct Chat { source user; ... }`";

pub(crate) const AFTER_BODY: &str = "expected the end of the flow: one `flow!` declares one";

pub(crate) const FLOW_CFG: &str =
    "a flow cannot depend on `cfg` from the inside\n\nhelp: put this before `flow!`";

pub(crate) const NO_PARAM: &str =
    "expected a parameter of the flow\n\nhelp: as in `pub struct Chat(model: Model)`";

pub(crate) const PARAM_COMMA: &str = "expected `,` before this";

/// `found` stands where `struct` should.
pub(crate) fn no_struct(found: &Ident) -> String {
    format!(
        "expected `struct`, found {}\n\nhelp: a flow is declared as a struct: `pub struct Chat {{ ... }}`",
        shown(found)
    )
}

pub(crate) fn no_param_type(name: &Ident) -> String {
    let text = name.unraw();
    format!("expected `:` and the type of {}\n\nhelp: as in `{text}: String`", shown(name))
}

pub(crate) fn param_twice(name: &Ident) -> String {
    format!("two parameters are named {}", shown(name))
}

// The flow that another extends.

/// How a flow that extends another is declared.
fn extension(name: &Ident, base: &str) -> String {
    format!("`struct {}: {base} {{ ... }}`", name.unraw())
}

pub(crate) fn no_base(name: &Ident) -> String {
    format!(
        "expected the flow that {} extends after this\n\nhelp: as in {}",
        shown(name),
        extension(name, "Chat")
    )
}

pub(crate) fn no_colon(name: &Ident, base: &str) -> String {
    format!("expected `:` before this\n\nhelp: a flow extends another as in {}", extension(name, base))
}

pub(crate) fn not_colon(found: &str, name: &Ident, base: &str) -> String {
    format!("expected `:`, found `{found}`\n\nhelp: a flow extends another as in {}", extension(name, base))
}

pub(crate) fn not_a_base(name: &Ident) -> String {
    format!("expected the name of a flow\n\nhelp: as in {}", extension(name, "Chat"))
}

pub(crate) fn own_base(name: &Ident) -> String {
    format!("{} extends itself", shown(name))
}

pub(crate) const SECOND_BASE: &str =
    "a flow extends one other\n\nhelp: drop this, or extend a flow that extends the other";

pub(crate) const LATE_PARAMS: &str =
    "the parameters of a flow stand behind its name\n\nhelp: as in `struct Felt(model: Model): Chat { ... }`";

/// Nothing is declared in the extension of `base`.
pub(crate) fn empty_extension(base: Option<&Ident>) -> String {
    let base = base.map_or_else(|| "the flow that it extends".to_owned(), shown);
    format!("this adds nothing to {base}\n\nhelp: add a column, as in `column topics(user.latest) = ...;`")
}

/// The source `name` is declared in the extension of `base`.
pub(crate) fn late_source(name: &Ident, base: Option<&Ident>) -> String {
    let (text, base) = (name.unraw(), base.map_or_else(|| "the flow that is extended".to_owned(), shown));
    format!(
        "a source cannot join a flow that has begun: the steps of {base} have no value for it\n\n\
         help: declare {} in {base}, or compute it: `column {text}(...) = ...`",
        shown(name)
    )
}

/// The column `name` is declared in an extension of `base`, which has such a column.
pub(crate) fn inherited_twice(name: &Ident, base: &Ident) -> String {
    format!("{} is a column of {} already\n\nhelp: give this one another name", shown(name), shown(base))
}

pub(crate) fn bug(message: &str) -> String {
    format!(
        "`flow!` panicked, which is a bug in columnar: {message}\n\n\
         help: please report it, together with this flow, to the issue tracker of columnar"
    )
}

// Declarations.

pub(crate) const NO_SEMICOLON: &str = "expected `;` after this";

pub(crate) const COMMA: &str = "declarations end with `;`";

pub(crate) const NOT_A_DECLARATION: &str = "expected `source`, `column` or `use`";

pub(crate) const BRACES: &str = "a flow without a header needs no braces of its own\n\nhelp: drop them";

pub(crate) const FLOW_INSIDE: &str =
    "a flow holds declarations only\n\nhelp: put the other `flow!` beside this one";

/// A statement or an item of Rust that begins with `word`.
pub(crate) fn inside(word: &str) -> String {
    let help = match word {
        "if" | "for" | "while" | "loop" | "match" => {
            "columns that are known only at run time are declared with `source`, `column` and `flow`"
                .to_owned()
        }
        _ => format!("put `{word}` before `flow!`; compute steps can use it"),
    };
    format!("a flow holds declarations only\n\nhelp: {help}")
}

/// The function `name` stands where a column should.
pub(crate) fn function(name: &Ident) -> String {
    let text = name.unraw();
    format!("a flow has columns in place of functions\n\nhelp: as in `column {text}(user.latest) = ...;`")
}

/// `word` stands before a declaration or a name, as it can in Rust.
pub(crate) fn modifier(word: &Ident) -> String {
    format!("a declaration takes no `{word}`\n\nhelp: drop it")
}

pub(crate) const DANGLING_DOC: &str = "this comment documents nothing";

pub(crate) const INNER_ATTRIBUTE: &str =
    "a comment stands before what it documents\n\nhelp: write `///` before a declaration";

pub(crate) const ATTRIBUTE: &str = "a column takes doc comments and `#[deny(...)]` only";

const DENIALS: &str = "`unbounded` is a context that grows with every step, `unstable_prefix` a request that has nothing but \
                       its instruction in common with the next";

pub(crate) const EMPTY_DENIAL: &str =
    "this denies nothing\n\nhelp: write `#[deny(unbounded)]`, `#[deny(unstable_prefix)]` or both";

pub(crate) const SOURCE_DENIAL: &str = "a source reads nothing, so there is nothing to deny";

pub(crate) fn denial(name: &Ident) -> String {
    let help = match nearest(&name.to_string(), LINTS.into_iter()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => DENIALS.to_owned(),
    };
    format!("a column cannot deny `{name}`\n\nhelp: {help}")
}

pub(crate) fn unbounded(read: &str, name: &Ident) -> String {
    format!(
        "`{read}` grows with every step, and {} denies that its context does\n\n\
         help: write `{read}.latest` or `{read}.window(3)`",
        shown(name)
    )
}

pub(crate) fn unstable_prefix(read: &str, name: &Ident) -> String {
    format!(
        "{} shows no history as a whole, so its requests have nothing but the instruction in common, which it \
         denies\n\nhelp: write `{read}` for all of it, or read a column as a whole before the others",
        shown(name)
    )
}

pub(crate) const CFG: &str = "a column cannot depend on `cfg`: the graph must be the same in every build";

pub(crate) const PUB: &str = "the columns of a flow are as public as the flow\n\nhelp: drop `pub`";

const KEYWORDS: &str = "a `source` comes from outside, a `column` is computed, `use` takes in another flow";

/// `word` stands where a keyword should, before a name.
pub(crate) fn keyword(word: &Ident) -> String {
    let meant = nearest_keyword(word).or((word == "fn").then_some("column"));
    let help = meant.map_or_else(|| KEYWORDS.to_owned(), |meant| format!("did you mean `{meant}`?"));
    format!("{NOT_A_DECLARATION}, found {}\n\nhelp: {help}", shown(word))
}

/// `word` stands where `use` should, before a flow and its inputs.
pub(crate) fn misspelt_use(word: &Ident) -> String {
    format!("{NOT_A_DECLARATION}, found {}\n\nhelp: did you mean `use`?", shown(word))
}

/// `name` has no keyword before it.
pub(crate) fn no_keyword(name: &Ident, meant: &str) -> String {
    format!("{NOT_A_DECLARATION}, found {}\n\nhelp: write `{meant} {}`", shown(name), ident_text(name))
}

pub(crate) fn keyword_behind(keyword: &Ident, name: &Ident) -> String {
    format!("the keyword stands before the name\n\nhelp: write `{keyword} {}`", name.unraw())
}

/// A name in quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("a column is named without quotes\n\nhelp: write `{name}`")
}

/// A name with hyphens; `better` has `_` for each.
pub(crate) fn hyphens(better: &str) -> String {
    format!("a hyphen cannot stand in the name of a column\n\nhelp: as in `{better}`")
}

pub(crate) fn no_name(keyword: &Ident) -> String {
    format!("expected a name after `{keyword}`")
}

// Names.

const NAME_RULE: &str = "write at most 64 lower case letters, digits and `_`, beginning with a letter";

pub(crate) const NAMED_SELF: &str =
    "a column cannot be named `self`: that is how a column reads its own past";

pub(crate) fn bad_name(name: &Ident) -> String {
    let help = nearest_name(&ident_text(name));
    let help = help.map_or_else(String::new, |better| format!("\n\nhelp: as in `{better}`"));
    format!("{} cannot name a column: {NAME_RULE}{help}", shown(name))
}

pub(crate) fn rust_keyword(name: &Ident) -> String {
    format!("`{name}` is a keyword of Rust\n\nhelp: write `r#{name}`; its tag stays `{name}`")
}

pub(crate) fn twice(name: &Ident, first: Span) -> String {
    let at = line(first).map_or_else(String::new, |line| format!("\n\nfirst declared at line {line}"));
    format!("{} is declared twice{at}", shown(name))
}

pub(crate) fn unknown(name: &Ident, declared: &[String]) -> String {
    const MOST: usize = 8;
    let text = ident_text(name);
    let known = || declared.iter().map(String::as_str);
    let help = match nearest(&text, known().chain(["self"])) {
        _ if text == "this" => "the own past is `self`".to_owned(),
        Some(meant) => format!("did you mean `{meant}`?"),
        None => {
            let list: Vec<String> = known().take(MOST).map(|name| format!("`{name}`")).collect();
            let more = declared.len().saturating_sub(MOST);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("declared here: {}{more}", list.join(", "))
        }
    };
    format!("no column or source named `{text}` in this flow\n\nhelp: {help}")
}

// Sources and compute steps.

pub(crate) fn source_step(name: &Ident) -> String {
    format!(
        "a source has no compute step: its values come from outside\n\nhelp: `column {}(...) = ...` computes one",
        name.unraw()
    )
}

pub(crate) fn source_extra(name: &Ident) -> String {
    format!("a source is declared by its name alone\n\nhelp: write `source {name};`")
}

pub(crate) fn no_step(name: &Ident) -> String {
    format!("column {} has no compute step\n\nhelp: add one, as in `= prompt(\"...\")`", shown(name))
}

pub(crate) fn empty_step(name: &Ident) -> String {
    format!(
        "expected an expression that computes {} after this\n\nhelp: as in `= prompt(\"...\")`",
        shown(name)
    )
}

pub(crate) fn no_equals(name: &Ident) -> String {
    format!("expected `=` and the compute step of {}", shown(name))
}

pub(crate) fn not_equals(found: &str) -> String {
    format!("expected `=`, found `{found}`")
}

// Views.

/// `found` stands where a view should.
pub(crate) fn not_a_view(found: &[TokenTree]) -> String {
    const NOT_A_VIEW: &str = "expected a column name or `self`";
    let help = match found {
        [TokenTree::Punct(punct), ..] if punct.as_char() == '&' => "drop the `&`".to_owned(),
        [TokenTree::Group(_)] => "drop the inner brackets".to_owned(),
        [literal] => match quoted_name(literal.clone()) {
            Some(name) => format!("write `{name}`"),
            None => return NOT_A_VIEW.to_owned(),
        },
        _ => return NOT_A_VIEW.to_owned(),
    };
    format!("{NOT_A_VIEW}\n\nhelp: {help}")
}

/// `window(user, 3)`
pub(crate) const VIEW_BEFORE: &str =
    "a view stands behind what it shows\n\nhelp: as in `user.latest` or `user.window(3)`";

/// `tag = user`
pub(crate) const TAG_BEFORE: &str =
    "a tag stands behind what it is for\n\nhelp: as in `summary.as(\"digest\")`";

/// `self.topics`, where `column` is that one.
pub(crate) fn column_of_self(column: &Ident) -> String {
    format!(
        "`self` is what a column said in earlier steps, and has no columns\n\nhelp: write `{}` alone",
        column.unraw()
    )
}

pub(crate) const EMPTY_VIEW: &str = "expected a view before this comma";

pub(crate) const PATH_VIEW: &str =
    "a view names a column of this flow\n\nhelp: write the column's name alone, as in `user`";

pub(crate) const PREV_OF_SELF: &str =
    "the own past ends with the step before as it is\n\nhelp: drop this, or write `self.latest`";

pub(crate) const LATE_PREV: &str = "`prev` stands right behind the column\n\nhelp: as in `user.prev`, `user.prev.window(3)` or `user.prev.all()`";

pub(crate) fn no_parentheses(word: &Ident) -> String {
    format!("`{word}` takes no parentheses")
}

pub(crate) fn all_said(column: &Ident) -> String {
    format!("{} alone shows all of its history\n\nhelp: drop this", shown(column))
}

pub(crate) const EMPTY_WINDOW: &str =
    "a window of 0 shows nothing\n\nhelp: drop the view, or show at least 1 value";

pub(crate) const NO_COUNT: &str = "expected how many values to show\n\nhelp: as in `window(3)`";

pub(crate) const SECOND_WINDOW: &str = "a view shows one window\n\nhelp: drop this";

pub(crate) const SECOND_TAG: &str = "a view has one tag\n\nhelp: drop this";

pub(crate) const NO_TAG: &str = "expected a tag after this\n\nhelp: as in `as(\"digest\")`";

pub(crate) const TAG_LITERAL: &str =
    "a tag is text written out\n\nhelp: a string in quotes, as in `.as(\"digest\")`";

pub(crate) const NO_NOTE: &str =
    "expected what the model is told of this after this\n\nhelp: as in `note(\"what the person typed\")`";

pub(crate) const NOTE_LITERAL: &str =
    "a note is text written out\n\nhelp: a string in quotes, as in `.note(\"what the person typed\")`";

pub(crate) const SECOND_NOTE: &str = "a view has one note\n\nhelp: drop this";

pub(crate) const NOTED_SELF: &str =
    "the own past has no tag that a note could explain\n\nhelp: drop this, and say it in the instruction";

pub(crate) const FILTERED_SELF: &str =
    "the own past is shown as it was said\n\nhelp: drop this, or show less: `self.latest`";

pub(crate) const SECOND_FILTER: &str =
    "a view has one filter\n\nhelp: drop this, or say both in one function";

pub(crate) fn no_filter(word: &Ident) -> String {
    let example = if word == "sample" { "|step| step % 10 == 0" } else { "|text| text.ends_with('?')" };
    format!("expected a function that says what to show\n\nhelp: as in `{word}({example})`")
}

pub(crate) const ELIDED_ARGUMENTS: &str = "how many values are hidden is counted\n\nhelp: write `elided()`";

pub(crate) const SECOND_ELIDED: &str = "a view tells once how much it hides\n\nhelp: drop this";

/// `.elided()` stands behind a view that shows all of a history, with `prev` or without.
pub(crate) fn nothing_elided(name: &str, delayed: bool) -> String {
    let past = if delayed { ".prev" } else { "" };
    format!(
        "all of `{name}` is shown here, so nothing is hidden\n\n\
         help: drop this, or show less: `{name}{past}.window(3).elided()`"
    )
}

pub(crate) const NO_GROUP_TAG: &str =
    "expected the tag of the group\n\nhelp: as in `group(\"debate\", pro.latest, con.latest)`";

pub(crate) const EMPTY_GROUP: &str =
    "this group shows nothing\n\nhelp: add views, as in `group(\"debate\", pro.latest, con.latest)`";

pub(crate) const BEHIND_GROUP: &str =
    "a group shows its views as they are\n\nhelp: say this of the views inside";

pub(crate) const GROUPED_SELF: &str = "the own past is shown as the assistant's words, so it stands in no group\n\nhelp: put it behind the group";

pub(crate) fn no_comma(found: &TokenTree) -> String {
    format!("expected `,` before `{found}`")
}

pub(crate) const TAGGED_SELF: &str =
    "the own past is shown as the assistant's words, so it has no tag\n\nhelp: drop this";

pub(crate) fn bad_tag(tag: &str) -> String {
    let help = nearest_name(tag).map_or_else(String::new, |better| format!("\n\nhelp: as in `{better:?}`"));
    format!("{tag:?} cannot be a tag: {NAME_RULE}{help}")
}

pub(crate) fn no_views(name: &Ident) -> String {
    let text = name.unraw();
    format!(
        "expected the views that `{text}` reads, in parentheses\n\nhelp: as in `column {text}(user.latest) = ...`"
    )
}

pub(crate) fn dangling_dot(column: &Ident) -> String {
    format!("expected a view of {} after the dot: `latest`, `window(n)` or `prev`", shown(column))
}

pub(crate) fn no_view_named(word: &Ident) -> String {
    let help = match ident_text(word).as_str() {
        "last" | "tail" | "take" => "did you mean `window(n)`?".to_owned(),
        text => match nearest(text, MODIFIERS.into_iter()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "the views are `latest`, `window(n)` and `prev`, and behind them `filter(...)`, \
                     `sample(...)`, `elided()`, `as(\"tag\")` and `note(\"...\")`"
                .to_owned(),
        },
    };
    format!("no view is named `{word}`\n\nhelp: {help}")
}

pub(crate) fn not_parentheses(word: &Ident) -> String {
    format!("expected parentheses after {}", shown(word))
}

/// `found` stands behind a view.
pub(crate) fn no_separator(found: &TokenTree) -> String {
    let help = match found {
        TokenTree::Group(_) => "\n\nhelp: `.latest` shows the newest value, `.window(3)` the last three",
        TokenTree::Ident(word) if word == "as" => "\n\nhelp: a tag is given as in `.as(\"digest\")`",
        _ => "",
    };
    format!("expected `,` or `.` before `{found}`{help}")
}

// What a column reads.

pub(crate) fn self_by_name(name: &Ident) -> String {
    format!("{} reads itself in the same step\n\nhelp: for its own past, write `self`", shown(name))
}

pub(crate) fn prev_by_name(name: &Ident) -> String {
    format!("{} reads its own past by name\n\nhelp: write `self.latest`", shown(name))
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
    format!("`{view}` is read twice by {}\n\nhelp: drop one of the two", shown(name))
}

pub(crate) fn same_tag(tag: &str, name: &Ident) -> String {
    format!(
        "two views reach {} as `{tag}`\n\nhelp: give one of them another tag, as in `.as(\"...\")`",
        shown(name)
    )
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
        let at = line(*span).map_or_else(String::new, |line| format!("  (line {line})"));
        let _ = writeln!(drawing, "  {arrow} {reader:width$}  reads `{read}`{at}");
    }
    let read = edges.first().map_or("summary", |edge| &edge.read);
    format!(
        "these columns wait for each other, so none of them can run first\n\n{drawing}  └─┘\n\n\
         help: drop one of these reads, or read what was said a step before: `{read}.prev`"
    )
}

fn line(span: Span) -> Option<usize> {
    place(span).map(|(line, _)| line)
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
    fn a_bad_name_gets_a_better_one_if_there_is_one() {
        assert!(bad_name(&ident("RunningSummary")).ends_with("help: as in `running_summary`"));
        assert!(!bad_name(&ident("__")).contains("help"));
        assert!(bad_tag("my tag").ends_with("help: as in `\"my_tag\"`"));
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
