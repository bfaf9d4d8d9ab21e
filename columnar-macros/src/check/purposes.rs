//! The rules of purposes: context comes first in a message, and instructions end the system text.

use proc_macro2::Ident;

use crate::diagnostics::{Errors, PURPOSE_OF_SELF, no_purpose_parentheses, quote};
use crate::ident::ident_text;
use crate::syntax::{Column, Purpose, State, View};

/// `context` and `instruction` are methods, since columns of modules may have these names. Wrong, where `notes` is a column
/// of this flow:
///
/// ```text
/// column topics(user, notes.context) = prompt("...");
/// column topics(user, self.context) = prompt("...");
/// ```
pub(super) fn check_parentheses(view: &mut View, errors: &mut Errors) {
    let is_purpose = |word: &&_| ["context", "instruction"].contains(&&*ident_text(word));
    if let Some(word) = view.path.first().filter(is_purpose) {
        if view.is_self() {
            errors.at(word, PURPOSE_OF_SELF);
        } else {
            errors.at(word, no_purpose_parentheses(word));
        }
        view.state = State::Invalid;
    }
}

/// Documents in tiers have places of their own. Wrong: `column coder(files.tiered().context(), user, self) = prompt("...");`.
pub(super) fn check_tiers(view: &mut View, errors: &mut Errors) {
    if view.state == State::Valid
        && view.is_tiered()
        && let Some(purpose) = view.purpose()
    {
        errors.at(purpose.word(), PURPOSE_OF_TIERS);
        view.state = State::Invalid;
    }
}

/// A column reads something that is neither context nor an instruction, and the views of a group have one purpose. Wrong:
///
/// ```text
/// column topics(notes.context(), self) = prompt("...");
/// column topics(user, group("facts", notes.context(), rules)) = prompt("...");
/// ```
pub(super) fn check_column(column: &Column, errors: &mut Errors) {
    check_groups(column, errors);
    let Some(derived) = &column.derived else { return };
    // A view that is wrong may be the one that is missing.
    if !derived.is_complete || derived.reads().any(|view| view.state != State::Valid) {
        return;
    }
    // Tiered views have a rule of their own.
    let mut inputs = derived.reads().filter(|view| !view.is_self() && !view.is_tiered()).peekable();
    if inputs.peek().is_some() && inputs.all(|view| view.purpose().is_some()) {
        errors.on(derived.list, no_primary(&column.name));
    }
}

/// Reports the first view with another purpose than those before it in its outermost group.
fn check_groups(column: &Column, errors: &mut Errors) {
    let is_valid = |view: &&View| view.state == State::Valid;
    let views: Vec<&View> = column.reads().filter(is_valid).collect();
    let is_same_group = |one: &&View, other: &&View| match (one.groups.first(), other.groups.first()) {
        (Some(one), Some(other)) => one.is_same_group(other),
        _ => false,
    };
    for group in views.chunk_by(is_same_group) {
        let is_context = |view: &&View| matches!(view.purpose(), Some(Purpose::Context(_)));
        let mixed = group.windows(2).find_map(|pair| match pair {
            [one, other] if is_context(one) != is_context(other) => Some(*other),
            _ => None,
        });
        if let Some(view) = mixed
            && let Some(tag) = view.groups.first()
        {
            errors.at(&view.written, mixed_group(tag.text()));
        }
    }
}

// Messages.

/// `files.tiered().context()`
const PURPOSE_OF_TIERS: &str =
    "a tiered view stands before the messages, so it has no purpose\n\nhelp: drop this";

fn no_primary(name: &Ident) -> String {
    format!(
        "{} reads nothing but context and instructions\n\n\
         help: add a view of the column that it follows, as in `user.latest`",
        quote(name)
    )
}

/// `group("facts", user, notes.context())`
fn mixed_group(tag: &str) -> String {
    format!(
        "the group `{tag}` has views with and without `context()`, and context comes first in a message\n\n\
         help: make two groups of them"
    )
}
