//! The attributes of a declaration: doc comments, and the lints of `#[deny(unbounded)]`.

use proc_macro2::Ident;
use syn::Attribute;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::token::Comma;

use super::cursor::{Cursor, tokens};
use super::tree::Lint;
use crate::diagnostics::{Errors, declarations};
use crate::keywords::{LINTS, nearest};

/// The attributes before a declaration, by kind.
#[derive(Default)]
pub(super) struct Attributes {
    pub(super) docs: Vec<Attribute>,
    pub(super) denies: Vec<Attribute>,
}

/// Takes the attributes that come next. Any other kind is an error.
pub(super) fn parse(cursor: &mut Cursor<'_>, errors: &mut Errors) -> Attributes {
    let mut attributes = Attributes::default();
    while let Some(trees) = cursor.attribute() {
        let written = tokens(trees);
        // The third token is the `!` of an inner attribute.
        if trees.len() > 2 {
            errors.at(written, declarations::INNER_ATTRIBUTE);
            continue;
        }
        match Attribute::parse_outer.parse2(written.clone()) {
            Ok(parsed) if parsed.iter().all(|attribute| attribute.path().is_ident("doc")) => {
                attributes.docs.extend(parsed);
            }
            Ok(parsed) if parsed.iter().all(|attribute| attribute.path().is_ident("deny")) => {
                attributes.denies.extend(parsed);
            }
            Ok(parsed) if parsed.iter().any(is_cfg) => errors.at(written, declarations::CFG),
            Ok(_) => errors.at(written, declarations::ATTRIBUTE),
            Err(error) => errors.push(error),
        }
    }
    attributes
}

/// Whether the attribute denies a lint of ours, even a misspelt one. Any other `deny` is about lints of Rust.
pub(super) fn denies_our_lint(attribute: &Attribute) -> bool {
    let is_ours = |name: &Ident| nearest(&name.to_string(), LINTS.into_iter()).is_some();
    attribute.path().is_ident("deny") && names(attribute).is_ok_and(|names| names.iter().any(is_ours))
}

/// Whether the attribute has a lint of ours at another level than `deny`.
pub(super) fn has_other_level(attribute: &Attribute) -> bool {
    let is_level = ["allow", "expect", "warn", "forbid"].iter().any(|level| attribute.path().is_ident(level));
    is_level && names(attribute).is_ok_and(|names| names.iter().any(|name| lint(name).is_some()))
}

/// The lints that a `#[deny(...)]` lists.
pub(super) fn lints(attribute: &Attribute, errors: &mut Errors) -> Vec<Lint> {
    let names = match names(attribute) {
        Ok(names) if !names.is_empty() => names,
        _ => {
            errors.at(attribute, declarations::EMPTY_LINTS);
            return Vec::new();
        }
    };
    let mut lints = Vec::new();
    for name in &names {
        match lint(name) {
            Some(lint) => lints.push(lint),
            None => errors.at(name, declarations::unknown_lint(name)),
        }
    }
    lints
}

fn lint(name: &Ident) -> Option<Lint> {
    // Both lists are in the same order.
    let known = LINTS.into_iter().zip([Lint::Unbounded, Lint::UnstablePrefix]);
    known.into_iter().find_map(|(text, lint)| (name == text).then_some(lint))
}

fn names(attribute: &Attribute) -> syn::Result<Punctuated<Ident, Comma>> {
    attribute.parse_args_with(Punctuated::parse_terminated)
}

fn is_cfg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
}
