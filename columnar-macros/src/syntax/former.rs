//! What a column was named before: `was "subjects"`.

use proc_macro2::{Ident, TokenTree};
use quote::ToTokens;
use syn::LitStr;

use super::cursor::Cursor;
use crate::diagnostics::{Errors, columns};
use crate::ident::{self, ident_text, is_name};

/// A name that a column had.
pub(crate) struct Former {
    /// `was`.
    pub(crate) word: Ident,
    pub(crate) name: LitStr,
}

/// Takes it, if it stands next. Something else behind `was` is told, and read as it was meant where that can be
/// known.
pub(super) fn parse(column: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<Former> {
    let Some(TokenTree::Ident(word)) = cursor.peek() else { return None };
    if !ident::is(word, "was") {
        return None;
    }
    let word = word.clone();
    cursor.next();
    let name = match cursor.declaration().first() {
        Some(TokenTree::Literal(literal)) => {
            cursor.next();
            syn::parse2::<LitStr>(literal.clone().into_token_stream()).ok().or_else(|| {
                errors.at(literal, columns::no_earlier_name(column));
                None
            })?
        }
        Some(TokenTree::Ident(name)) => {
            cursor.next();
            errors.at(name, columns::earlier_name_not_quoted(name));
            LitStr::new(&ident_text(name), name.span())
        }
        _ => {
            errors.at(&word, columns::no_earlier_name(column));
            return None;
        }
    };
    let text = name.value();
    if !text.split('.').all(is_name) {
        errors.at(&name, columns::bad_earlier_name(&text));
        return None;
    }
    Some(Former { word, name })
}
