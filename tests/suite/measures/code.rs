//! The lines of code of a file, its types, and its tuples and closures that stand for something else.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, FnArg, ImplItem, Item, Local, Pat, Type};

use crate::layers::{attributes, is_test};

/// What counts in a file: all but tests.
#[derive(Debug)]
pub(super) struct Measured {
    /// The lines with a token, without documentation and attributes of documentation.
    pub(super) lines: usize,
    /// The names of its structs, enums, unions and traits.
    pub(super) types: Vec<String>,
    /// The lines of `let (a, b) = (x, y);`, and of parameters that are tuples.
    pub(super) tuples: Vec<usize>,
    /// The lines of `let name = |…| …;`.
    pub(super) closures: Vec<usize>,
}

impl Measured {
    pub(super) fn new(text: &str) -> Self {
        let mut file = syn::parse_file(text).expect("the file compiles");
        file.items = without_tests(file.items);
        let mut lines = BTreeSet::new();
        collect_lines(file.to_token_stream(), &mut lines);
        let mut found = Found::default();
        found.visit_file(&file);
        Self { lines: lines.len(), types: found.types, tuples: found.tuples, closures: found.closures }
    }
}

fn without_tests(items: Vec<Item>) -> Vec<Item> {
    let mut kept: Vec<Item> = items.into_iter().filter(|item| !is_test(attributes(item))).collect();
    for item in &mut kept {
        match item {
            Item::Mod(module) => {
                if let Some((_, items)) = &mut module.content {
                    *items = without_tests(std::mem::take(items));
                }
            }
            Item::Impl(block) => block.items.retain(|item| match item {
                ImplItem::Fn(function) => !is_test(&function.attrs),
                _ => true,
            }),
            _ => {}
        }
    }
    kept
}

fn collect_lines(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if is_documentation(&token, &mut tokens) {
            continue;
        }
        match token {
            TokenTree::Group(group) => {
                if group.delimiter() != Delimiter::None {
                    lines.extend([group.span_open().start().line, group.span_close().end().line]);
                }
                collect_lines(group.stream(), lines);
            }
            token => lines.extend(token.span().start().line..=token.span().end().line),
        }
    }
}

/// Takes the rest of `#[doc = …]` or `#![doc = …]`, if the `#` before it begins one.
fn is_documentation(
    token: &TokenTree,
    tokens: &mut std::iter::Peekable<proc_macro2::token_stream::IntoIter>,
) -> bool {
    if !matches!(token, TokenTree::Punct(hash) if hash.as_char() == '#') {
        return false;
    }
    let mut ahead = tokens.clone();
    let mut length = 1;
    let mut next = ahead.next();
    if matches!(&next, Some(TokenTree::Punct(bang)) if bang.as_char() == '!') {
        length = 2;
        next = ahead.next();
    }
    let Some(TokenTree::Group(list)) = next else { return false };
    let is_doc = matches!(list.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc");
    if is_doc {
        tokens.by_ref().take(length).for_each(drop);
    }
    is_doc
}

#[derive(Default)]
struct Found {
    types: Vec<String>,
    tuples: Vec<usize>,
    closures: Vec<usize>,
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item(&mut self, item: &'ast Item) {
        let name = match item {
            Item::Struct(item) => Some(&item.ident),
            Item::Enum(item) => Some(&item.ident),
            Item::Union(item) => Some(&item.ident),
            Item::Trait(item) => Some(&item.ident),
            _ => None,
        };
        self.types.extend(name.map(ToString::to_string));
        visit::visit_item(self, item);
    }

    fn visit_local(&mut self, local: &'ast Local) {
        // With an `else`, several conditions are one.
        let is_value = local
            .init
            .as_ref()
            .is_some_and(|init| init.diverge.is_none() && matches!(*init.expr, Expr::Tuple(_)));
        if matches!(local.pat, Pat::Tuple(_)) && is_value {
            self.tuples.push(local.span().start().line);
        }
        let is_closure = local.init.as_ref().is_some_and(|init| matches!(*init.expr, Expr::Closure(_)));
        if matches!(local.pat, Pat::Ident(_)) && is_closure {
            self.closures.push(local.span().start().line);
        }
        visit::visit_local(self, local);
    }

    fn visit_fn_arg(&mut self, argument: &'ast FnArg) {
        if let FnArg::Typed(argument) = argument
            && matches!(&*argument.ty, Type::Tuple(tuple) if !tuple.elems.is_empty())
        {
            self.tuples.push(argument.span().start().line);
        }
        visit::visit_fn_arg(self, argument);
    }
}

/// The files and folders of modules that are compiled for tests alone.
pub(super) fn files_of_tests(files: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    for (file, text) in files {
        let folder = match file.rsplit_once('/') {
            Some((folder, "lib.rs" | "main.rs" | "mod.rs")) => folder,
            _ => file.trim_end_matches(".rs"),
        };
        let items = syn::parse_file(text).expect("the file compiles").items;
        for item in items {
            if let Item::Mod(module) = &item
                && module.content.is_none()
                && is_test(&module.attrs)
            {
                found.extend([".rs", "/"].map(|end| format!("{folder}/{}{end}", module.ident)));
            }
        }
    }
    found
}
