//! The errors of a flow, and the messages that several files report. Any other message stands in the file that reports it.
//!
//! A message is a headline in lower case, then a fix after `help:`. The headline is about the tokens that are
//! underlined; the help shows the tokens to write there.

pub(crate) mod columns;
mod errors;
pub(crate) mod flow;
pub(crate) mod inputs;
pub(crate) mod steps;

use proc_macro2::{Delimiter, Ident, TokenTree};

pub(crate) use errors::{Errors, line, quote};

use crate::ident::{ident_text, nearest_name};
use crate::keywords::{MODIFIERS, nearest};

pub(crate) const EMPTY_FLOW: &str = "this flow is empty\n\nhelp: begin with a source, as in `source user;`";

pub(crate) const SOURCE_FORM: &str = "as in `source user;` or `source files: Documents;`";

/// Tokens after a complete declaration of this form.
pub(crate) fn no_end(form: &str) -> String {
    format!("expected `;` before this\n\nhelp: {form}")
}

pub(crate) const NAME_RULE: &str =
    "use at most 64 lowercase letters, digits and `_`, beginning with a letter";

pub(crate) fn bad_name(name: &Ident) -> String {
    let help = nearest_name(&ident_text(name));
    let help = help.map_or_else(String::new, |better| format!("\n\nhelp: as in `{better}`"));
    format!("{} cannot name a column: {NAME_RULE}{help}", quote(name))
}

pub(crate) fn rust_keyword(name: &Ident) -> String {
    format!("`{name}` is a keyword of Rust\n\nhelp: write `r#{name}`; its tag stays `{name}`")
}

/// `self.context()`
pub(crate) const PURPOSE_OF_SELF: &str =
    "`self` is shown as assistant messages, so it has no purpose\n\nhelp: drop this";

/// `notes.context`
pub(crate) fn no_purpose_parentheses(word: &Ident) -> String {
    format!("{}\n\nhelp: write `{}()`", not_parentheses(word), ident_text(word))
}

pub(crate) const TARGET_ALONE: &str =
    "only a tiered view has a target\n\nhelp: as in `files.tiered().target(1_536)`";

pub(crate) fn bad_tag(tag: &str) -> String {
    let help = nearest_name(tag).map_or_else(String::new, |better| format!("\n\nhelp: as in `{better:?}`"));
    format!("{tag:?} cannot be a tag: {NAME_RULE}{help}")
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

/// An example of the use of a module.
pub(crate) const EXAMPLE: &str = "as in `use Debate { topic: user } as debate;`";

/// `use Debate { topic: user, model: model.clone() } as debate;`
pub(crate) const INPUT_IS_VALUE: &str = "an input is a column, not a value\n\nhelp: arguments come before the inputs, \
     as in `use Debate(model) { topic: user } as debate;`";

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    fn ident(text: &str) -> Ident {
        Ident::new(text, Span::call_site())
    }

    #[test]
    fn a_bad_name_gets_a_better_one_if_there_is_one() {
        assert!(bad_name(&ident("RunningSummary")).ends_with("help: as in `running_summary`"));
        assert!(!bad_name(&ident("__")).contains("help"));
        assert!(bad_tag("my tag").ends_with("help: as in `\"my_tag\"`"));
    }
}
