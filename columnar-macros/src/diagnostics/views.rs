//! Errors in a list of views.

use proc_macro2::{Ident, TokenTree};
use syn::ext::IdentExt;

use super::declarations::NAME_RULE;
use super::errors::quote;
use crate::ident::{ident_text, nearest_name, quoted_name};
use crate::keywords::{MODIFIERS, nearest};

/// `&user`, `"user"` or other tokens where a view should be.
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
pub(crate) const VIEW_AS_FUNCTION: &str =
    "a view stands behind what it shows\n\nhelp: as in `user.latest` or `user.window(3)`";

/// `tag = user`
pub(crate) const TAG_BEFORE: &str =
    "a tag stands behind what it is for\n\nhelp: as in `summary.as(\"digest\")`";

/// `self.topics`, where `topics` is a column.
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

pub(crate) fn no_parentheses(modifier: &Ident) -> String {
    format!("`{modifier}` takes no parentheses")
}

pub(crate) fn all_without_prev(column: &Ident) -> String {
    format!("{} alone shows all of its history\n\nhelp: drop this", quote(column))
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

pub(crate) fn no_filter(modifier: &Ident) -> String {
    let example = if modifier == "sample" { "|step| step % 10 == 0" } else { "|text| text.ends_with('?')" };
    format!("expected a function that says what to show\n\nhelp: as in `{modifier}({example})`")
}

pub(crate) const ELIDED_ARGUMENTS: &str = "how many values are hidden is counted\n\nhelp: write `elided()`";

pub(crate) const SECOND_ELIDED: &str = "a view tells once how much it hides\n\nhelp: drop this";

/// `user.elided()` or `user.prev.all().elided()`.
pub(crate) fn nothing_elided(name: &str, is_lagged: bool) -> String {
    let past = if is_lagged { ".prev" } else { "" };
    format!(
        "all of `{name}` is shown here, so nothing is hidden\n\n\
         help: drop this, or show less: `{name}{past}.window(3).elided()`"
    )
}

pub(crate) const NO_GROUP_TAG: &str =
    "expected the tag of the group\n\nhelp: as in `group(\"debate\", pro.latest, con.latest)`";

pub(crate) const EMPTY_GROUP: &str =
    "this group shows nothing\n\nhelp: add views, as in `group(\"debate\", pro.latest, con.latest)`";

pub(crate) const AFTER_GROUP: &str =
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
    format!("expected a view of {} after the dot: `latest`, `window(n)` or `prev`", quote(column))
}

pub(crate) fn no_view_named(modifier: &Ident) -> String {
    let help = match ident_text(modifier).as_str() {
        "last" | "tail" | "take" => "did you mean `window(n)`?".to_owned(),
        text => match nearest(text, MODIFIERS.into_iter()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "the views are `latest`, `window(n)` and `prev`, and behind them `filter(...)`, \
                     `sample(...)`, `elided()`, `as(\"tag\")` and `note(\"...\")`"
                .to_owned(),
        },
    };
    format!("no view is named `{modifier}`\n\nhelp: {help}")
}

pub(crate) fn not_parentheses(modifier: &Ident) -> String {
    format!("expected parentheses after {}", quote(modifier))
}

/// `user latest` or `user[3]`: `found` is behind a view.
pub(crate) fn no_separator(found: &TokenTree) -> String {
    let help = match found {
        TokenTree::Group(_) => "\n\nhelp: `.latest` shows the newest value, `.window(3)` the last three",
        TokenTree::Ident(modifier) if modifier == "as" => "\n\nhelp: a tag is given as in `.as(\"digest\")`",
        _ => "",
    };
    format!("expected `,` or `.` before `{found}`{help}")
}
