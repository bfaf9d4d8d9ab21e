//! The attributes of a declaration: doc comments, and the lints of `#[deny(unbounded)]`.

use proc_macro2::{Ident, TokenTree};
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::token::Comma;
use syn::{AttrStyle, Attribute, Meta, Path};

use super::cursor::{Cursor, shown, tokens};
use super::tree::Lint;
use crate::diagnostics::Errors;
use crate::keywords::{LINTS, nearest};

/// The traits of Rust that a flow, which is a handle, does not derive.
const UNDERIVABLE: [&str; 7] = ["Copy", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

/// The attributes before a declaration, by kind.
#[derive(Default)]
pub(super) struct Attributes {
    pub(super) docs: Vec<Attribute>,
    pub(super) lints: Vec<Attribute>,
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
    match parser.parse2(written.clone()) {
        Ok(parsed) if is_inner && (are(&parsed, "doc") || parsed.iter().all(sets_lint)) => {
            without_bang(parsed, errors);
        }
        Ok(parsed) if are(&parsed, "doc") => attributes.docs.extend(parsed),
        Ok(parsed) if parsed.iter().all(sets_lint) => attributes.lints.extend(parsed),
        Ok(parsed) if parsed.iter().any(is_cfg) => errors.at(written, CFG),
        Ok(_) => errors.at(written, NO_ATTRIBUTE),
        Err(error) => errors.push(error),
    }
}

/// Whether all attributes have this name.
fn are(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().all(|attribute| attribute.path().is_ident(name))
}

/// Makes outer attributes of inner ones, which are errors.
fn without_bang(attributes: Vec<Attribute>, errors: &mut Errors) -> Vec<Attribute> {
    let outer = attributes.into_iter().map(|attribute| {
        if attribute.path().is_ident("doc") {
            errors.at(&attribute, "a doc comment comes before its declaration\n\nhelp: write `///` there");
        } else {
            errors.at(&attribute, inner_attribute(&shown(&attribute.meta)));
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
        if attribute.path().is_ident("cfg") {
            // Only the struct gets the attributes: a `cfg` would remove it and leave its impls.
            errors.at(attribute, "`#[cfg(...)]` cannot be inside `flow!`\n\nhelp: put this before `flow!`");
        } else if names_our_lint(attribute) {
            lints.extend(self::lints(attribute, errors));
        } else {
            return true;
        }
        false
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
    let (refused, kept): (Vec<&Path>, Vec<&Path>) = traits.iter().partition(|path| {
        path.segments.last().is_some_and(|last| UNDERIVABLE.contains(&&*last.ident.to_string()))
    });
    for refused in refused {
        errors.at(refused, underivable(&shown(refused)));
    }
    list.tokens = quote!(#(#kept),*);
}

/// Whether the attribute of a column sets lints. Columns have no lints of Rust, which someone may allow out of habit.
fn sets_lint(attribute: &Attribute) -> bool {
    attribute.path().is_ident("deny") || names_our_lint(attribute)
}

/// Whether the attribute sets the level of a lint of ours, even a misspelt one. Any other is about lints of Rust.
fn names_our_lint(attribute: &Attribute) -> bool {
    let levels = ["deny", "allow", "expect", "warn", "forbid"];
    levels.iter().any(|level| attribute.path().is_ident(level))
        && names(attribute).is_ok_and(|names| names.iter().any(|name| nearest_lint(name).is_some()))
}

/// The lints that an attribute lists.
pub(super) fn lints(attribute: &Attribute, errors: &mut Errors) -> Vec<Lint> {
    let names = names(attribute).unwrap_or_default();
    if names.is_empty() {
        errors.at(attribute, EMPTY_LINTS);
    }
    let lints = names.iter().filter_map(|name| match lint(name) {
        Some(lint) if attribute.path().is_ident(lint.level()) => Some(lint),
        Some(lint) => errors.stop(name, other_level(name, lint)),
        None => errors.stop(name, unknown_lint(name)),
    });
    lints.collect()
}

fn lint(name: &Ident) -> Option<Lint> {
    // Both lists are in the same order.
    let lints = [Lint::Unbounded, Lint::UnstablePrefix, Lint::LiteralBraces, Lint::Unshared];
    let mut known = LINTS.into_iter().zip(lints);
    known.find_map(|(text, lint)| (name == text).then_some(lint))
}

fn nearest_lint(name: &Ident) -> Option<&'static str> {
    nearest(&name.to_string(), LINTS.into_iter())
}

fn names(attribute: &Attribute) -> syn::Result<Punctuated<Ident, Comma>> {
    attribute.parse_args_with(Punctuated::parse_terminated)
}

fn is_cfg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
}

// Messages.

/// `#[derive(PartialEq)] pub struct Chat { ... }`
fn underivable(name: &str) -> String {
    let help = match name {
        "Default" => "drop it: a flow without parameters has a `Default`",
        _ => "drop it: a flow is a handle, which has no value to compare or to copy",
    };
    format!("a flow cannot derive `{name}`\n\nhelp: {help}")
}

const NO_ATTRIBUTE: &str = "a column has no attributes except doc comments and the lints of columnar";

/// `#[warn(unbounded)] pub struct Chat { ... }`
fn other_level(name: &Ident, lint: Lint) -> String {
    let level = lint.level();
    format!("`{name}` has no other level than `{level}`\n\nhelp: write `#[{level}({name})]`, or drop this")
}

/// `#![deny(unbounded)]`, where `meta` is `deny(unbounded)`.
fn inner_attribute(meta: &str) -> String {
    format!(
        "an attribute comes before its declaration, without `!`\n\nhelp: write `#[{meta}]`; an attribute before \
         `pub struct` is about the whole flow"
    )
}

const LINT_MEANINGS: &str = "`unbounded` is a context that grows with every step, `unstable_prefix` a request that shares only its \
                       instruction with the next one, `literal_braces` the name of a column in the braces of a prompt, \
                       `unshared` a thread that another model, effort or type continues";

const EMPTY_LINTS: &str = "expected a lint in `#[deny(...)]`\n\nhelp: write `#[deny(unbounded)]`, `#[deny(unstable_prefix)]` or both";

fn unknown_lint(name: &Ident) -> String {
    let help =
        nearest_lint(name).map_or_else(|| LINT_MEANINGS.to_owned(), |near| format!("did you mean `{near}`?"));
    format!("no lint is named `{name}`\n\nhelp: {help}")
}

const CFG: &str = "a column cannot depend on `cfg`: the graph must be the same in every build";
