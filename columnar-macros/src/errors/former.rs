//! Mistakes about what a column was named before.

use proc_macro2::Ident;

use super::shown;
use crate::ident::ident_text;

pub(crate) fn no_name(column: &Ident) -> String {
    format!(
        "expected what {} was named before, in quotes\n\nhelp: as in `was \"subjects\"`; to keep its values under the name that it has, say nothing",
        shown(column)
    )
}

pub(crate) fn not_quoted(name: &Ident) -> String {
    format!("a name that is no more stands in quotes\n\nhelp: write `was \"{}\"`", ident_text(name))
}

pub(crate) fn bad_name(name: &str) -> String {
    let name: String = name.chars().take(40).collect();
    format!(
        "no column was ever named `{name}`\n\nhelp: a name is lower case letters, digits and `_`, a letter first"
    )
}

/// It is the name that the column has.
pub(crate) fn own_name(column: &Ident) -> String {
    format!("{} is named so now\n\nhelp: drop this, or write what it was named before", shown(column))
}

/// Another column has that name.
pub(crate) fn still_there(name: &str) -> String {
    format!(
        "`{name}` is a column of this flow, so what is stored under that name is its own\n\nhelp: drop this, or the other column"
    )
}

/// Another column says that it was that.
pub(crate) fn twice(name: &str) -> String {
    format!(
        "two columns say that they were `{name}`\n\nhelp: what is stored under that name can be one column's only"
    )
}
