//! Errors after the name of a source or column: its compute step, its type, its earlier name.

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt;

use super::declarations::NAME_RULE;
use super::errors::quote;

pub(crate) fn source_step(name: &Ident) -> String {
    format!(
        "a source has no compute step: your program pushes its values\n\nhelp: to compute them, write `column {}(...) = ...;`",
        name.unraw()
    )
}

pub(crate) fn no_step(name: &Ident) -> String {
    format!("column {} has no compute step\n\nhelp: add one, as in `= prompt(\"...\")`", quote(name))
}

pub(crate) fn empty_step(name: &Ident) -> String {
    format!("expected the compute step of {} after this\n\nhelp: as in `= prompt(\"...\")`", quote(name))
}

pub(crate) fn no_equals(name: &Ident) -> String {
    let text = name.unraw();
    format!(
        "expected `=` and the compute step of `{text}`\n\nhelp: as in `column {text}(...) = prompt(\"...\");`"
    )
}

pub(crate) fn not_equals(found: &str) -> String {
    format!("expected `=`, found `{found}`\n\nhelp: write `=`")
}

// Types.

pub(crate) const TYPE_OF_TEXT: &str = "a column without a type holds text\n\nhelp: drop this";

pub(crate) const SOURCE_OF_TEXT: &str = "a source without a type holds text\n\nhelp: drop this";

pub(crate) const SOURCE_OF_PARAM: &str = "a source holds text or documents, so its type has no parameters of the flow\n\nhelp: write `: Documents`, or drop this";

/// `source user: usize;`
pub(crate) fn source_of_other(name: &Ident, ty: &str) -> String {
    let name = name.unraw();
    format!(
        "a source holds text or documents, and `{ty}` is neither\n\nhelp: write `source {name};` for text, or \
         `source {name}: Documents;`"
    )
}

/// `source user: Text;`, where a column reads `user.latest`.
pub(crate) fn source_read_as_text(name: &Ident, reader: &Ident) -> String {
    format!(
        "{} reads {} as text, and a source of text has no type\n\nhelp: write `source {};`",
        quote(reader),
        quote(name),
        name.unraw()
    )
}

pub(crate) fn no_type(name: &Ident) -> String {
    format!("expected the type of {} after this\n\nhelp: as in `: Vec<String>`, or drop this", quote(name))
}

pub(crate) fn type_after_arrow(name: &Ident, ty: &TokenStream) -> String {
    format!("the type of {} comes after `:`\n\nhelp: write `: {ty}`", quote(name))
}

pub(crate) fn not_a_type(name: &Ident, ty: &TokenStream) -> String {
    format!("expected the type of {}, found `{ty}`\n\nhelp: as in `: Vec<String>`", quote(name))
}

/// `column tags(review): [String] = ...`
pub(crate) fn slice(ty: &TokenStream) -> String {
    let inner = ty.to_string();
    let inner = inner.trim_matches(['[', ']']).trim();
    format!("a value has no type of unknown size\n\nhelp: write `Vec<{inner}>`")
}

// Earlier names.

pub(crate) fn no_earlier_name(column: &Ident) -> String {
    format!(
        "expected the earlier name of {}, in quotes\n\nhelp: as in `was \"subjects\"`; without an earlier name, drop `was`",
        quote(column)
    )
}

pub(crate) fn bad_earlier_name(name: &str) -> String {
    // The literal may be a whole text, and its beginning is enough to find it.
    let name: String = name.chars().take(40).collect();
    format!("`{name}` cannot be the earlier name of a column\n\nhelp: {NAME_RULE}")
}

/// `column topics(user) was "topics" = ...;`
pub(crate) fn renamed_from_itself(column: &Ident) -> String {
    format!(
        "{} is the current name of this column\n\nhelp: write its earlier name, or drop `was`",
        quote(column)
    )
}

/// `column topics(user) was "summary" = ...;` beside a column `summary`.
pub(crate) fn renamed_from_existing(name: &str) -> String {
    format!(
        "`{name}` is another column of this flow, so the values stored as `{name}` belong to it\n\nhelp: drop `was`, or the other column"
    )
}

/// Two columns with `was "summary"`.
pub(crate) fn renamed_from_twice(name: &str) -> String {
    format!(
        "two columns have the earlier name `{name}`\n\nhelp: drop one `was`: one column alone can have the values stored as `{name}`"
    )
}
