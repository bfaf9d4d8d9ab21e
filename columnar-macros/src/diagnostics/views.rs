//! Errors in a list of views.

use proc_macro2::{Delimiter, Ident, TokenTree};
use syn::ext::IdentExt;

use super::declarations::NAME_RULE;
use super::errors::quote;
use crate::ident::{ident_text, nearest_name};
use crate::keywords::{MODIFIERS, nearest};

/// `&user`, `"user"` or another token where a view should be.
pub(crate) fn not_a_view(found: &TokenTree) -> String {
    const NOT_A_VIEW: &str = "expected a column name or `self`";
    match found {
        TokenTree::Punct(punct) if punct.as_char() == '&' => format!("{NOT_A_VIEW}\n\nhelp: drop the `&`"),
        _ => format!("{NOT_A_VIEW}\n\nhelp: as in `user.latest`"),
    }
}

/// `groups("debate", pro.latest)`
pub(crate) fn not_group(found: &Ident) -> String {
    format!("no view begins with {} and a text\n\nhelp: did you mean `group`?", quote(found))
}

/// `mut user`
pub(crate) fn modifier(found: &Ident) -> String {
    format!("a view takes no `{found}`\n\nhelp: drop it")
}

/// `self.topics`, where `topics` is a column.
pub(crate) fn column_of_self(column: &Ident) -> String {
    format!(
        "`self` is the history of this column, and has no columns\n\nhelp: write `{}` alone",
        column.unraw()
    )
}

pub(crate) const EMPTY_VIEW: &str = "expected a view before this comma";

pub(crate) const PATH_VIEW: &str =
    "a view names a column of this flow\n\nhelp: write its name without a path, as in `user`";

pub(crate) const PREV_OF_SELF: &str =
    "`self` already ends at the step before\n\nhelp: drop this, or write `self.latest`";

pub(crate) const LATE_PREV: &str = "`prev` comes right after the column\n\nhelp: as in `user.prev`, `user.prev.window(3)` or `user.prev.all()`";

/// `user.as("said").window(3)`, where `range` is `.window(3)` and `others` is `.as("said")`.
pub(crate) fn late_range(column: &str, word: &Ident, range: &str, others: &str) -> String {
    let help = format!("`{column}{range}{others}`");
    // A long one, such as that of a filter, would hide what to do.
    let help = if help.len() > 60 { format!("`{column}{range}`, and after it the others") } else { help };
    format!("{} comes right after the column\n\nhelp: write {help}", quote(word))
}

/// `user.latest()`, or `user.prev(2)`, where `better` is `prev.window(2)`
pub(crate) fn no_parentheses(modifier: &Ident, better: Option<&str>) -> String {
    let help = better.map_or_else(|| "drop them".to_owned(), |better| format!("write `{better}`"));
    format!("{} takes no parentheses\n\nhelp: {help}", quote(modifier))
}

/// `user.window(n)`, where `n` is a parameter of the flow. `constant` declares one that is a constant.
pub(crate) fn param_in_view(param: &str, constant: Option<&str>) -> String {
    let constant = constant.map_or_else(String::new, |constant| {
        format!(", or make it a constant parameter of the flow, `struct Chat<{constant}>`")
    });
    format!("views are constants, and the parameter `{param}` is none\n\nhelp: write a constant{constant}")
}

pub(crate) fn all_without_prev(column: &Ident) -> String {
    format!("{} already shows all of its history\n\nhelp: drop this", quote(column))
}

pub(crate) const EMPTY_WINDOW: &str =
    "a window of 0 shows nothing\n\nhelp: drop the view, or show at least 1 value";

pub(crate) const NO_COUNT: &str = "expected the number of values to show\n\nhelp: as in `window(3)`";

pub(crate) const SECOND_WINDOW: &str = "a view has one window\n\nhelp: drop this";

pub(crate) const SECOND_TAG: &str = "a view has one tag\n\nhelp: drop this";

pub(crate) const NO_TAG: &str = "expected a tag after this\n\nhelp: as in `as(\"digest\")`";

pub(crate) const TAG_LITERAL: &str = "a tag is a string literal\n\nhelp: as in `.as(\"digest\")`";

pub(crate) const NO_NOTE: &str =
    "expected the text of the note after this\n\nhelp: as in `note(\"what the person typed\")`";

/// `user.note("")`
pub(crate) const EMPTY_NOTE: &str = "a note has a text\n\nhelp: write it, or drop `note`";

pub(crate) const NOTE_LITERAL: &str =
    "a note is a string literal\n\nhelp: as in `.note(\"what the person typed\")`";

pub(crate) const SECOND_NOTE: &str = "a view has one note\n\nhelp: drop this";

pub(crate) const NOTED_SELF: &str =
    "`self` has no tag, so it has no note\n\nhelp: drop this, and explain it in the instruction";

pub(crate) const FILTERED_SELF: &str = "`self` has no filter\n\nhelp: drop this, or show less: `self.latest`";

pub(crate) const SECOND_FILTER: &str =
    "a view has one filter\n\nhelp: drop this, or combine both in one function";

pub(crate) fn no_filter(modifier: &Ident) -> String {
    format!(
        "expected a function that selects the values to show\n\nhelp: as in `{modifier}({})`",
        example_of_filter(modifier)
    )
}

fn example_of_filter(modifier: &Ident) -> &'static str {
    if ident_text(modifier) == "sample" { "|step| step % 10 == 0" } else { "|text| text.ends_with('?')" }
}

/// `filter(async |text| text.len() > 3)`
pub(crate) const ASYNC_FILTER: &str = "a filter is not async\n\nhelp: drop the `async`";

/// `filter(t => t.len() > 3)` or `window(n: 3)`. `None` for those that take nothing, which have their own errors.
pub(crate) fn one_argument(modifier: &Ident) -> Option<String> {
    let (kind, example) = match ident_text(modifier).as_str() {
        "window" => ("number", "3"),
        "target" => ("number", "1_536"),
        "filter" | "sample" => ("function", example_of_filter(modifier)),
        "as" | "named" | "note" => ("text", "\"...\""),
        _ => return None,
    };
    let modifier = ident_text(modifier);
    Some(format!("`{modifier}` takes one {kind}\n\nhelp: as in `{modifier}({example})`"))
}

pub(crate) const ELIDED_ARGUMENTS: &str =
    "`elided` counts the hidden values itself\n\nhelp: write `elided()`";

pub(crate) const SECOND_ELIDED: &str = "a view has one `elided()`\n\nhelp: drop this";

/// `user.elided()` or `user.prev.all().elided()`.
pub(crate) fn nothing_elided(name: &str, is_lagged: bool) -> String {
    let past = if is_lagged { ".prev" } else { "" };
    format!(
        "this view shows all of `{name}`, so it hides nothing\n\n\
         help: drop this, or show less: `{name}{past}.window(3).elided()`"
    )
}

// Purposes.

/// `self.context()`
pub(crate) const PURPOSE_OF_SELF: &str =
    "`self` is shown as assistant messages, so it has no purpose\n\nhelp: drop this";

/// `notes.context().instruction()`
pub(crate) const SECOND_PURPOSE: &str = "a view has one purpose\n\nhelp: drop this";

/// `notes.context(3)`
pub(crate) fn purpose_arguments(word: &Ident) -> String {
    let word = ident_text(word);
    format!("`{word}` takes no arguments\n\nhelp: write `{word}()`")
}

/// `notes.context`
pub(crate) fn no_purpose_parentheses(word: &Ident) -> String {
    format!("{}\n\nhelp: write `{}()`", not_parentheses(word), ident_text(word))
}

/// `rules.instruction().as("law")`
pub(crate) const LABELLED_INSTRUCTION: &str =
    "an instruction ends the system text as it is, so it has no tag, no note and no count\n\nhelp: drop this";

/// `rules.as("law").instruction()`
pub(crate) const LATE_INSTRUCTION: &str = "an instruction ends the system text as it is, so it has no tag, no note and no count\n\n\
     help: drop `as(...)`, `note(...)` and `elided()` before it, or write `context()`";

pub(crate) const GROUPED_INSTRUCTION: &str =
    "an instruction is in the system text, so it cannot be in a group\n\nhelp: put it after the group";

/// `files.tiered().context()`
pub(crate) const PURPOSE_OF_TIERS: &str =
    "a tiered view stands before the messages, so it has no purpose\n\nhelp: drop this";

// Documents.

/// `files.latest`, where `files` has documents.
pub(crate) fn part_of_documents(name: &str) -> String {
    format!("documents are a set, which has no window\n\nhelp: read `{name}` or `{name}.tiered()`")
}

/// `user.tiered()`, where `user` is a source of text.
pub(crate) fn tiered_text(name: &str) -> String {
    format!(
        "a tiered view shows documents, and `{name}` holds text\n\nhelp: drop this, or declare `source {name}: Documents;`"
    )
}

/// `summary.tiered()`, where `summary` is computed.
pub(crate) fn tiered_column(name: &str) -> String {
    format!("a tiered view shows documents, and `{name}` is computed, so it holds text\n\nhelp: drop this")
}

pub(crate) const TIERED_SELF: &str =
    "a tiered view shows documents, and `self` is the history of the column\n\nhelp: drop this";

pub(crate) const SECOND_TIERED: &str = "a view is tiered once\n\nhelp: drop this";

pub(crate) const TIERED_ARGUMENTS: &str =
    "`tiered` takes no arguments\n\nhelp: as in `.tiered().target(1_536)`, for tiers of so many tokens";

pub(crate) const TARGET_ALONE: &str =
    "only a tiered view has a target\n\nhelp: as in `files.tiered().target(1_536)`";

pub(crate) const SECOND_TARGET: &str = "a tiered view has one target\n\nhelp: drop this";

pub(crate) const NO_TARGET: &str = "expected the number of tokens that a tier should have\n\nhelp: as in `target(1_536)`; `target(0)` is for tiers of any size";

pub(crate) const TAGGED_TIERS: &str =
    "a tiered view stands before the messages, so it has no tag and no note\n\nhelp: drop this";

pub(crate) const GROUPED_TIERS: &str =
    "a tiered view stands before the messages, so it cannot be in a group\n\nhelp: put it before the group";

pub(crate) const NO_GROUP_TAG: &str =
    "expected the tag of the group\n\nhelp: as in `group(\"debate\", pro.latest, con.latest)`";

pub(crate) const EMPTY_GROUP: &str =
    "this group has no views\n\nhelp: add some, as in `group(\"debate\", pro.latest, con.latest)`";

pub(crate) const NESTED_GROUPS: &str =
    "this group is inside 32 others, which is the most\n\nhelp: put its views into one of those around it";

pub(crate) const AFTER_GROUP: &str = "a group takes no modifiers\n\nhelp: put this on the views inside";

pub(crate) const GROUPED_SELF: &str =
    "`self` is shown as assistant messages, so it cannot be in a group\n\nhelp: put it after the group";

pub(crate) fn no_comma(found: &TokenTree) -> String {
    format!("expected `,` before `{found}`")
}

pub(crate) const TAGGED_SELF: &str =
    "`self` is shown as assistant messages, so it has no tag\n\nhelp: drop this";

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

/// `column topics;`
pub(crate) fn no_views_and_no_step(name: &Ident) -> String {
    let text = name.unraw();
    format!(
        "expected the views that `{text}` reads, in parentheses\n\nhelp: as in `column {text}(...) = ...`; a source begins \
         with `source`"
    )
}

pub(crate) fn dangling_dot(column: &Ident) -> String {
    format!("expected a view of {} after the dot: `latest`, `window(n)` or `prev`", quote(column))
}

pub(crate) fn no_view_named(modifier: &Ident) -> String {
    let help = match nearest(&ident_text(modifier), MODIFIERS.into_iter()) {
        Some("window") => "did you mean `window(n)`?".to_owned(),
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            "the views are `latest`, `window(n)` and `prev`, and after them, in any order, `filter(...)`, \
                 `sample(...)`, `elided()`, `as(\"tag\")`, `note(\"...\")`, `context()` and `instruction()`"
                .to_owned()
        }
    };
    format!("no view is named `{modifier}`\n\nhelp: {help}")
}

pub(crate) fn not_parentheses(modifier: &Ident) -> String {
    format!("expected parentheses after {}", quote(modifier))
}

/// `user latest` or `user[3]`: `found` is after a view.
pub(crate) fn no_separator(found: &TokenTree) -> String {
    let help = match found {
        TokenTree::Group(list) if list.delimiter() == Delimiter::Parenthesis => {
            "a view begins with its column, as in `user.window(3)`"
        }
        TokenTree::Group(_) => "`.latest` shows the newest value, `.window(3)` the last three",
        TokenTree::Ident(modifier) if modifier == "as" => "write a tag as in `.as(\"digest\")`",
        TokenTree::Punct(colon) if colon.as_char() == ':' => {
            "a view has no type, and its tag comes after it, as in `user.as(\"said\")`"
        }
        _ => "as in `user, topics` or `user.latest`",
    };
    format!("expected `,` or `.` before `{found}`\n\nhelp: {help}")
}
