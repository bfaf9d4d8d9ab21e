//! The rules about lifetimes in the types of parameters.

use std::collections::HashSet;
use std::{mem, slice};

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Lifetime, Type, TypeReference};

use super::steps::conditions;
use crate::diagnostics::{Errors, flow};
use crate::ident::ident_text;
use crate::syntax::{Closure, Derived, Flow, Form, Param, is_punct, shown, sized, trees};

/// Each lifetime in a parameter is a lifetime of the flow. Wrong:
///
/// ```text
/// pub struct Chat<'a>(style: &'a str, tone: &'b str) { ... }
/// ```
///
/// rustc would report the lifetime at each function that has the parameter.
pub(super) fn check_lifetimes(flow: &mut Flow, errors: &mut Errors) {
    let Form::Item(header) = &mut flow.form else { return };
    // The lifetimes of generics that could not be read are unknown.
    if !header.is_complete {
        return;
    }
    let of_flow = header.generics.lifetimes().map(|param| ident_text(&param.lifetime.ident));
    let of_rust = ["static", "_"].into_iter().map(str::to_owned);
    let declared: HashSet<String> = of_flow.chain(of_rust).collect();
    let first = header.generics.lifetimes().next().map(|param| param.lifetime.clone());
    let mut reported = HashSet::new();
    for param in &mut header.params {
        let ty = param.ty.to_token_stream();
        let of_binders = binders(&trees(&ty));
        let mut unknown = Vec::new();
        // A type with `'_` instead is valid, so calls of `new` are no further errors.
        let elided = map_lifetimes(ty, &mut |lifetime| {
            let text = ident_text(&lifetime.ident);
            let is_known = declared.contains(&text) || of_binders.contains(&text);
            if !is_known {
                unknown.push(lifetime);
            }
            is_known
        });
        if !unknown.is_empty() {
            (param.ty, header.is_complete) = (syn::parse2(elided).ok(), false);
        }
        for lifetime in unknown.into_iter().filter(|lifetime| reported.insert(ident_text(&lifetime.ident))) {
            errors.at(&lifetime, flow::no_lifetime(&header.name, &lifetime, first.as_ref()));
        }
    }
}

/// The tokens with `'_` for each lifetime that is not kept.
fn map_lifetimes(tokens: TokenStream, is_kept: &mut dyn FnMut(Lifetime) -> bool) -> TokenStream {
    let (mut apostrophe, mut is_after_bang) = (None, false);
    let map = |tree: TokenTree| {
        let before = apostrophe.take();
        let is_macro = mem::replace(&mut is_after_bang, is_punct(Some(&tree), '!'));
        apostrophe = is_punct(Some(&tree), '\'').then(|| tree.span());
        match (tree, before) {
            (TokenTree::Ident(ident), Some(apostrophe)) => {
                let name = Ident::new("_", ident.span());
                let is_kept = is_kept(Lifetime { apostrophe, ident: ident.clone() });
                TokenTree::from(if is_kept { ident } else { name })
            }
            // Only a macro knows what its tokens mean, and a block has labels.
            (TokenTree::Group(group), _) if is_macro || group.delimiter() == Delimiter::Brace => group.into(),
            (TokenTree::Group(group), _) => {
                let mut mapped = Group::new(group.delimiter(), map_lifetimes(group.stream(), is_kept));
                mapped.set_span(group.span());
                mapped.into()
            }
            (tree, _) => tree,
        }
    };
    tokens.into_iter().map(map).collect()
}

/// The lifetimes that a type declares itself: `for<'a> Fn(&'a str)`.
fn binders(trees: &[TokenTree]) -> HashSet<String> {
    let mut binders = HashSet::new();
    for (at, tree) in trees.iter().enumerate() {
        let after = trees.get(at + 1..).unwrap_or_default();
        match tree {
            TokenTree::Group(group) => binders.extend(self::binders(&self::trees(&group.stream()))),
            TokenTree::Ident(word) if word == "for" && is_punct(after.first(), '<') => {
                let list = after.iter().take_while(|tree| !is_punct(Some(tree), '>')).cloned();
                map_lifetimes(list.collect(), &mut |lifetime| binders.insert(ident_text(&lifetime.ident)));
            }
            _ => {}
        }
    }
    binders
}

/// A closure keeps only references with a lifetime. Wrong:
///
/// ```text
/// pub struct Chat(style: &str) { source user; column shout(user.latest) = async |user| format!("{style}: {user}"); }
/// ```
///
/// Any other step may use such a parameter, as in `prompt(*style)`, since such a step copies the text before `new`
/// returns. rustc would report the whole flow.
pub(super) fn check_closures(flow: &mut Flow, errors: &mut Errors) {
    let Form::Item(header) = &flow.form else { return };
    for param in &header.params {
        let Some(reference) = without_lifetime(&trees(&param.ty.to_token_stream())) else { continue };
        let columns = flow.columns.iter_mut().filter_map(|column| column.derived.as_mut());
        let mut is_kept = false;
        for derived in columns.filter(|derived| keeps(derived, param)) {
            derived.is_step_for_editors = true;
            is_kept = true;
        }
        if is_kept {
            let lifetime = header.generics.lifetimes().next().map(|param| &param.lifetime);
            let borrowed = shown(&reference.elem);
            let owned = sized(&reference.elem).unwrap_or_else(|| borrowed.clone());
            errors
                .at(&reference, flow::kept_reference(&header.name, &param.name, &owned, &borrowed, lifetime));
        }
    }
}

/// The first reference whose lifetime rustc does not infer from the place, as in `Fn(&str) -> &str`.
fn without_lifetime(trees: &[TokenTree]) -> Option<TypeReference> {
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        let before = at.checked_sub(1).and_then(|before| trees.get(before));
        match tree {
            // The result of a call may borrow from the arguments.
            TokenTree::Group(list)
                if list.delimiter() == Delimiter::Parenthesis
                    && matches!(before, Some(TokenTree::Ident(_))) =>
            {
                let rest = trees.get(at + 1..).unwrap_or_default();
                if is_punct(rest.first(), '-') {
                    at += result(rest.get(2..).unwrap_or_default()) + 2;
                }
            }
            // Only the macro knows what its tokens mean, and a length is no type.
            TokenTree::Group(_) if is_punct(before, '!') => {}
            TokenTree::Group(list) if list.delimiter() != Delimiter::Brace => {
                let inside = self::trees(&list.stream());
                let length = inside.iter().position(|tree| is_punct(Some(tree), ';')).unwrap_or(inside.len());
                if let Some(found) = without_lifetime(inside.get(..length).unwrap_or_default()) {
                    return Some(found);
                }
            }
            and if is_punct(Some(and), '&') => {
                let first = |input: ParseStream<'_>| {
                    let reference: TypeReference = input.parse()?;
                    input.parse::<TokenStream>().map(|_| reference)
                };
                let rest = trees.get(at..).unwrap_or_default().iter().cloned().collect();
                let reference: Option<TypeReference> = first.parse2(rest).ok();
                let is_elided = |reference: &TypeReference| {
                    reference.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident == "_")
                };
                let found =
                    reference.filter(|reference| is_elided(reference) && reference.mutability.is_none());
                if found.is_some() {
                    return found;
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The number of tokens of the type that comes first.
fn result(trees: &[TokenTree]) -> usize {
    let rest = |input: ParseStream<'_>| {
        input.call(Type::without_plus)?;
        input.parse::<TokenStream>()
    };
    let after = rest.parse2(trees.iter().cloned().collect()).map(|after| after.into_iter().count());
    after.map_or(trees.len(), |after| trees.len() - after)
}

/// Whether a closure of a compute step keeps a parameter: a step that is async, or a condition.
fn keeps(derived: &Derived, param: &Param) -> bool {
    let mut step = derived.closure.iter().filter(|closure| closure.as_async().is_some());
    let keeps = |closure: &Closure| !closure.captures(slice::from_ref(param)).is_empty();
    step.any(keeps) || conditions(&derived.step).any(|condition| keeps(&condition))
}
