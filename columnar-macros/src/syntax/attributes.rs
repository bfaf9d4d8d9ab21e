//! The attributes of a declaration: doc comments, and the lints of `#[deny(unbounded)]`.

use proc_macro2::{Ident, TokenTree};
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::token::Comma;
use syn::{AttrStyle, Attribute, Meta, Path};

use super::cursor::{Cursor, shown, tokens};
use super::tree::Lint;
use crate::diagnostics::{Errors, declarations, flow};
use crate::keywords::{LINTS, nearest};

/// The traits of Rust that a flow, which is a handle, does not derive.
const UNDERIVABLE: [&str; 7] = ["Copy", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

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
        attribute(trees, &mut attributes, errors);
    }
    attributes
}

fn attribute(trees: &[TokenTree], attributes: &mut Attributes, errors: &mut Errors) {
    let written = tokens(trees);
    // The third token is the `!` of an inner attribute.
    let is_inner = trees.len() > 2;
    let parser = if is_inner { Attribute::parse_inner } else { Attribute::parse_outer };
    let are =
        |parsed: &[Attribute], name: &str| parsed.iter().all(|attribute| attribute.path().is_ident(name));
    match parser.parse2(written.clone()) {
        Ok(parsed) if is_inner && (are(&parsed, "doc") || are(&parsed, "deny")) => {
            without_bang(parsed, errors);
        }
        Ok(parsed) if are(&parsed, "doc") => attributes.docs.extend(parsed),
        Ok(parsed) if are(&parsed, "deny") => attributes.denies.extend(parsed),
        Ok(parsed) if parsed.iter().any(is_cfg) => errors.at(written, declarations::CFG),
        Ok(_) => errors.at(written, declarations::ATTRIBUTE),
        Err(error) => errors.push(error),
    }
}

/// Makes outer attributes of inner ones, which are errors.
fn without_bang(attributes: Vec<Attribute>, errors: &mut Errors) -> Vec<Attribute> {
    let outer = attributes.into_iter().map(|attribute| {
        if attribute.path().is_ident("doc") {
            errors.at(&attribute, declarations::INNER_DOC);
        } else {
            errors.at(&attribute, declarations::inner_attribute(&shown(&attribute.meta)));
        }
        Attribute { style: AttrStyle::Outer, ..attribute }
    });
    outer.collect()
}

/// Takes the attributes of the flow. Its lints are apart from those that the struct gets.
pub(super) fn of_flow(
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<(Vec<Attribute>, Vec<Lint>)> {
    let mut attrs = without_bang(input.call(Attribute::parse_inner)?, errors);
    attrs.extend(input.call(Attribute::parse_outer)?);
    let mut lints = Vec::new();
    for attribute in &mut attrs {
        take_underivable(attribute, errors);
    }
    attrs.retain(|attribute| {
        let is_cfg = attribute.path().is_ident("cfg");
        let is_lint = denies_our_lint(attribute);
        // Only the struct gets the attributes: a `cfg` would remove it and leave its impls.
        if is_cfg {
            errors.at(attribute, flow::FLOW_CFG);
        }
        if is_lint {
            lints.extend(self::lints(attribute, errors));
        }
        let has_other_level = has_other_level(attribute);
        if has_other_level {
            errors.at(attribute, flow::LINT_LEVEL);
        }
        !is_cfg && !is_lint && !has_other_level
    });
    Ok((attrs, lints))
}

/// Takes the traits out of a `#[derive(…)]` that a flow cannot derive, which is an error.
fn take_underivable(attribute: &mut Attribute, errors: &mut Errors) {
    let Meta::List(list) = &mut attribute.meta else { return };
    if !list.path.is_ident("derive") {
        return;
    }
    let Ok(traits) = list.parse_args_with(Punctuated::<Path, Comma>::parse_terminated) else { return };
    let is_refused = |path: &&Path| {
        path.segments.last().is_some_and(|last| UNDERIVABLE.contains(&&*last.ident.to_string()))
    };
    for refused in traits.iter().filter(is_refused) {
        errors.at(refused, flow::underivable(&shown(refused)));
    }
    let kept = traits.iter().filter(|path| !is_refused(path));
    list.tokens = quote!(#(#kept),*);
}

/// Whether the attribute denies a lint of ours, even a misspelt one. Any other `deny` is about lints of Rust.
fn denies_our_lint(attribute: &Attribute) -> bool {
    let is_ours = |name: &Ident| nearest(&name.to_string(), LINTS.into_iter()).is_some();
    attribute.path().is_ident("deny") && names(attribute).is_ok_and(|names| names.iter().any(is_ours))
}

/// Whether the attribute has a lint of ours at another level than `deny`.
fn has_other_level(attribute: &Attribute) -> bool {
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
