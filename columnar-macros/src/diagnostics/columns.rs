//! Errors after the name of a source or column: its compute step, its type, its earlier name.

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt;

use super::declarations::NAME_RULE;
use super::errors::quote;
use crate::ident::ident_text;

pub(crate) fn source_step(name: &Ident) -> String {
    format!(
        "a source has no compute step: your program pushes its values\n\nhelp: to compute them, write `column {}(...) = ...;`",
        name.unraw()
    )
}

/// `written` is the source without the other tokens.
pub(crate) fn source_extra(written: &str) -> String {
    format!("a source has only a name\n\nhelp: write `{written}`")
}

/// A source with its type and its earlier name, as users write it.
pub(crate) fn source(name: &Ident, ty: Option<TokenStream>, earlier: Option<&str>) -> String {
    let ty = ty
        .filter(|ty| !ty.is_empty())
        .map_or_else(String::new, |ty| format!(": {}", ty.to_string().replace(" :: ", "::")));
    let earlier = earlier.map_or_else(String::new, |earlier| format!(" was {earlier:?}"));
    format!("source {name}{ty}{earlier};")
}

/// `source user, room;`, where `written` is a declaration of each.
pub(crate) fn several_sources(written: &str) -> String {
    format!("each source has a declaration of its own\n\nhelp: write `{written}`")
}

/// `source files: Documents = ...;`
pub(crate) const DOCUMENTS_STEP: &str =
    "documents have no compute step: your program pushes their changes\n\nhelp: drop this";

/// Tokens after `source files: Documents`.
pub(crate) const AFTER_SOURCE_TYPE: &str = "expected `;` before this";

pub(crate) fn no_step(name: &Ident) -> String {
    format!("column {} has no compute step\n\nhelp: add one, as in `= prompt(\"...\")`", quote(name))
}

pub(crate) fn empty_step(name: &Ident) -> String {
    format!("expected the compute step of {} after this\n\nhelp: as in `= prompt(\"...\")`", quote(name))
}

pub(crate) fn no_equals(name: &Ident) -> String {
    format!("expected `=` and the compute step of {}", quote(name))
}

pub(crate) fn not_equals(found: &str) -> String {
    format!("expected `=`, found `{found}`")
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
    format!("expected the type of {} after this", quote(name))
}

pub(crate) fn type_after_arrow(name: &Ident, ty: &TokenStream) -> String {
    format!("the type of {} comes after `:`\n\nhelp: write `: {ty}`", quote(name))
}

/// `source files(Documents);`
pub(crate) fn source_type_without_colon(name: &Ident, ty: &str) -> String {
    format!("the type of {} comes after `:`\n\nhelp: write `source {}: {ty};`", quote(name), name.unraw())
}

pub(crate) fn type_before_views(name: &Ident, ty: &TokenStream) -> String {
    let text = name.unraw();
    format!(
        "the type of {} comes after its views\n\nhelp: write `column {text}(...): {ty} = ...`",
        quote(name)
    )
}

pub(crate) fn type_after_was(name: &Ident) -> String {
    format!("the type of {} comes before `was`", quote(name))
}

pub(crate) fn not_a_type(name: &Ident, ty: &TokenStream) -> String {
    format!("expected the type of {}, found `{ty}`", quote(name))
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

/// `column topics was "subjects" (user) = ...;` or `source was "person" user;`
pub(crate) fn early_was(name: &Ident, earlier: &str, is_computed: bool) -> String {
    let (keyword, views, end) = if is_computed { ("column", "(...)", " = ...") } else { ("source", "", "") };
    let name = name.unraw();
    format!(
        "`was` comes after the name and the views\n\nhelp: write `{keyword} {name}{views} was \"{earlier}\"{end};`"
    )
}

/// `was "subjects", "points"`
pub(crate) const SECOND_EARLIER_NAME: &str = "a column has one earlier name\n\nhelp: drop this";

pub(crate) fn earlier_name_not_quoted(name: &Ident) -> String {
    format!("expected the earlier name in quotes\n\nhelp: write `was \"{}\"`", ident_text(name))
}

/// `column topics(user) was("subjects") = ...;`
pub(crate) fn earlier_name_in_brackets(name: &str) -> String {
    format!("the earlier name comes right after `was`\n\nhelp: write `was \"{name}\"`")
}

/// `column topics(user) from "subjects" = ...;`
pub(crate) fn not_was(found: &Ident, name: &str) -> String {
    format!("expected `was`, found {}\n\nhelp: write `was \"{name}\"`", quote(found))
}

/// `column topics(user) as "subjects" = ...;`
pub(crate) fn as_for_was(column: &Ident, name: &str) -> String {
    let column = ident_text(column);
    format!(
        "expected `was`, found `as`\n\nhelp: an earlier name is written `was \"{name}\"`, and a tag where the column is \
         read: `{column}.as(\"{name}\")`"
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
