//! What a declaration does not want to be: `#[deny(unbounded)]`, `#[deny(unstable_prefix)]`.

use proc_macro2::Ident;
use syn::Attribute;
use syn::punctuated::Punctuated;
use syn::token::Comma;

use crate::diagnostics::{Errors, declarations};
use crate::keywords::LINTS;

/// What is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denial {
    /// Contexts that grow with every step.
    Unbounded,
    /// Requests that have nothing in common with the ones before.
    UnstablePrefix,
}

impl Denial {
    fn of(name: &Ident) -> Option<Self> {
        [Self::Unbounded, Self::UnstablePrefix]
            .into_iter()
            .zip(LINTS)
            .find_map(|(denial, known)| (name == known).then_some(denial))
    }
}

/// Whether the attribute is a `deny` of ours; others are lints of Rust.
pub(super) fn is_ours(attribute: &Attribute) -> bool {
    attribute.path().is_ident("deny")
        && names(attribute).is_ok_and(|names| names.iter().any(|name| Denial::of(name).is_some()))
}

/// What a `deny` refuses.
pub(super) fn parse(attribute: &Attribute, errors: &mut Errors) -> Vec<Denial> {
    let names = match names(attribute) {
        Ok(names) if !names.is_empty() => names,
        _ => {
            errors.at(attribute, declarations::EMPTY_LINTS);
            return Vec::new();
        }
    };
    let mut denied = Vec::new();
    for name in &names {
        match Denial::of(name) {
            Some(denial) => denied.push(denial),
            None => errors.at(name, declarations::unknown_lint(name)),
        }
    }
    denied
}

fn names(attribute: &Attribute) -> syn::Result<Punctuated<Ident, Comma>> {
    attribute.parse_args_with(Punctuated::parse_terminated)
}
