//! Errors behind the name of a source or column: its compute step, its type, its earlier name.

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt;

use super::errors::quote;
use crate::ident::ident_text;

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
    format!("column {} has no compute step\n\nhelp: add one, as in `= prompt(\"...\")`", quote(name))
}

pub(crate) fn empty_step(name: &Ident) -> String {
    format!(
        "expected an expression that computes {} after this\n\nhelp: as in `= prompt(\"...\")`",
        quote(name)
    )
}

pub(crate) fn no_equals(name: &Ident) -> String {
    format!("expected `=` and the compute step of {}", quote(name))
}

pub(crate) fn not_equals(found: &str) -> String {
    format!("expected `=`, found `{found}`")
}

// Types.

pub(crate) const TYPE_OF_TEXT: &str = "a column of text takes no type";

pub(crate) const TYPE_OF_SOURCE: &str = "a source holds text and takes no type";

pub(crate) fn no_type(name: &Ident) -> String {
    format!("expected the type of {} after this", quote(name))
}

pub(crate) fn type_after_arrow(name: &Ident, ty: &TokenStream) -> String {
    format!("the type of {} stands behind `:`\n\nhelp: `: {ty}`", quote(name))
}

pub(crate) fn type_before_views(name: &Ident) -> String {
    format!("the type of {} stands behind its views", quote(name))
}

pub(crate) fn type_after_was(name: &Ident) -> String {
    format!("the type of {} stands before `was`", quote(name))
}

pub(crate) fn not_a_type(name: &Ident, ty: &TokenStream) -> String {
    format!("expected the type of {}, found `{ty}`", quote(name))
}

// Earlier names.

pub(crate) fn no_earlier_name(column: &Ident) -> String {
    format!(
        "expected what {} was named before, in quotes\n\nhelp: as in `was \"subjects\"`; to keep its values under the name that it has, say nothing",
        quote(column)
    )
}

pub(crate) fn earlier_name_not_quoted(name: &Ident) -> String {
    format!("a name that is no more stands in quotes\n\nhelp: write `was \"{}\"`", ident_text(name))
}

pub(crate) fn bad_earlier_name(name: &str) -> String {
    let name: String = name.chars().take(40).collect();
    format!(
        "no column was ever named `{name}`\n\nhelp: a name is lower case letters, digits and `_`, a letter first"
    )
}

/// `column topics(user) was "topics" = ...;`
pub(crate) fn renamed_from_itself(column: &Ident) -> String {
    format!("{} is named so now\n\nhelp: drop this, or write what it was named before", quote(column))
}

/// `column topics(user) was "summary" = ...;` beside a column `summary`.
pub(crate) fn renamed_from_existing(name: &str) -> String {
    format!(
        "`{name}` is a column of this flow, so what is stored under that name is its own\n\nhelp: drop this, or the other column"
    )
}

/// Two columns with `was "summary"`.
pub(crate) fn renamed_from_twice(name: &str) -> String {
    format!(
        "two columns say that they were `{name}`\n\nhelp: what is stored under that name can be one column's only"
    )
}
