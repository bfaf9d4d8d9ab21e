//! The path of a flow among tokens.

use proc_macro2::TokenTree;
use syn::Path;

use super::cursor::is_punct;
use crate::ident::{ident_text, rust_ident};

/// Whether a path ends as that of a struct does, and not with `crate` or `Self`.
pub(super) fn has_a_name(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| {
        rust_ident(&last.ident).as_ref() == Some(&last.ident) && !ident_text(&last.ident).is_empty()
    })
}

/// The `<` that wait for their `>`.
#[derive(Default)]
pub(super) struct Angles {
    pub(super) open: usize,
    /// Whether a `-` stands before, which makes an arrow of a `>`.
    after_minus: bool,
}

impl Angles {
    pub(super) fn pass(&mut self, tree: &TokenTree) {
        if is_punct(Some(tree), '<') {
            self.open += 1;
        } else if is_punct(Some(tree), '>') && !self.after_minus {
            self.open = self.open.saturating_sub(1);
        }
        self.after_minus = is_punct(Some(tree), '-');
    }
}
