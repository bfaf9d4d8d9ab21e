//! What is wrong with the type of a column.

use proc_macro2::{Ident, TokenStream};

use super::shown;

pub(crate) const OF_TEXT: &str = "a column of text takes no type";

pub(crate) const OF_A_SOURCE: &str = "a source holds text and takes no type";

pub(crate) fn missing(name: &Ident) -> String {
    format!("expected the type of {} after this", shown(name))
}

pub(crate) fn arrow(name: &Ident, ty: &TokenStream) -> String {
    format!("the type of {} stands behind `:`\n\nhelp: `: {ty}`", shown(name))
}

pub(crate) fn before_views(name: &Ident) -> String {
    format!("the type of {} stands behind its views", shown(name))
}

pub(crate) fn behind_was(name: &Ident) -> String {
    format!("the type of {} stands before `was`", shown(name))
}

pub(crate) fn none(name: &Ident, ty: &TokenStream) -> String {
    format!("expected the type of {}, found `{ty}`", shown(name))
}
