//! Errors after the name of a source or column: its compute step, its type, its earlier name.

use proc_macro2::Ident;

use super::errors::quote;

pub(crate) const TYPE_OF_TEXT: &str = "a column without a type holds text\n\nhelp: drop this";

pub(crate) fn no_type(name: &Ident) -> String {
    format!("expected the type of {} after this\n\nhelp: as in `: Vec<String>`, or drop this", quote(name))
}
