//! Several sources in one declaration, `source user, files: Documents;`, which is an error.

use proc_macro2::{Ident, TokenTree};

use super::cursor::{Angles, is_ident, is_punct, tokens};
use crate::diagnostics::columns;

/// A source of the list.
pub(super) struct Listed<'t> {
    pub(super) name: &'t Ident,
    /// The tokens from the `:` on.
    pub(super) ty: &'t [TokenTree],
}

impl Listed<'_> {
    /// The declaration of its own that it should have.
    pub(super) fn text(&self) -> String {
        columns::source(self.name, self.ty.get(1..).map(tokens), None)
    }
}

/// The sources that these tokens name, as in `, room, files: Documents`. `None` if there are other tokens, or none.
pub(super) fn sources(trees: &[TokenTree]) -> Option<Vec<Listed<'_>>> {
    let is_separator = |tree: &TokenTree| is_punct(Some(tree), ',') || is_ident(Some(tree), "and");
    let parts = trees.split(is_separator).filter(|part| !part.is_empty());
    let sources: Option<Vec<_>> = parts.map(listed).collect();
    sources.filter(|sources| !sources.is_empty())
}

fn listed(part: &[TokenTree]) -> Option<Listed<'_>> {
    match part {
        [TokenTree::Ident(name), ty @ ..] if ty.is_empty() || is_punct(ty.first(), ':') => {
            Some(Listed { name, ty })
        }
        _ => None,
    }
}

/// The position of the first comma outside angle brackets, if at most sources are after it.
pub(super) fn comma_before_sources(trees: &[TokenTree]) -> Option<usize> {
    let mut angles = Angles::default();
    let comma = trees.iter().position(|tree| {
        angles.pass(tree);
        angles.open == 0 && is_punct(Some(tree), ',')
    })?;
    let after = trees.get(comma + 1..)?;
    (after.is_empty() || sources(after).is_some()).then_some(comma)
}
