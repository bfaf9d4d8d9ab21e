//! The names that a file uses: its imports, and the paths in its code and in the tokens of its macros.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Field, ImplItem, Item, ItemMod, ItemUse, Macro, PatIdent, Path, TraitItem, Variant};

use super::modules::{ModuleId, Modules, Segments, attributes, imports, is_reexport, is_test};

/// A name that a file uses.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub(super) module: ModuleId,
    pub(super) path: Segments,
    pub(super) line: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Import,
    /// `use …::*`; the names that come by it are references of their own.
    Glob,
    /// A name that is passed on, such as `pub use`.
    Reexport,
    /// A path in code.
    Path,
}

/// All references of a crate, those of tests excepted.
pub(super) fn references(modules: &Modules) -> Vec<Reference> {
    let mut found = Vec::new();
    for (module, file) in &modules.files {
        let mut visitor = Visitor { modules, module: *module, locals: Vec::new(), found: Vec::new() };
        visitor.visit_file(file);
        found.append(&mut visitor.found);
    }
    found
}

struct Visitor<'m> {
    modules: &'m Modules,
    module: ModuleId,
    /// The names that patterns bind, for each function around.
    locals: Vec<BTreeSet<String>>,
    found: Vec<Reference>,
}

impl Visitor<'_> {
    fn add(&mut self, path: Segments, line: usize, kind: Kind) {
        self.found.push(Reference { module: self.module, path, line, kind });
    }

    fn add_path(&mut self, path: Segments, line: usize) {
        let is_local = matches!(&*path, [name] if self.locals.iter().any(|locals| locals.contains(name)));
        if !is_local {
            self.add(path, line, Kind::Path);
        }
    }

    fn in_function(&mut self, bound: BTreeSet<String>, visit: impl FnOnce(&mut Self)) {
        self.locals.push(bound);
        visit(self);
        self.locals.pop();
    }

    /// Tokens of a macro are no syntax tree, so paths are found by their separators. A single name counts if it may
    /// be a type or is called.
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token {
                TokenTree::Group(group) => self.scan(group.stream()),
                TokenTree::Ident(ident) if !follows(&tokens, at, &['$', '.', '\'']) => {
                    let line = ident.span().start().line;
                    let mut path = vec![ident.to_string()];
                    while let Some(TokenTree::Ident(next)) = tokens.get(at + 3) {
                        if !is_separator(&tokens, at + 1) {
                            break;
                        }
                        path.push(next.to_string());
                        at += 3;
                    }
                    let is_called = matches!(tokens.get(at + 1),
                        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
                    let is_type = path.iter().all(|name| name.starts_with(char::is_uppercase));
                    if path.len() > 1 || is_type || is_called {
                        self.add_path(path, line);
                    }
                }
                TokenTree::Ident(_) => {
                    // `$crate::a::b` is resolved elsewhere, and `.method(…)` is no path.
                    while is_separator(&tokens, at + 1) {
                        at += 3;
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            at += 1;
        }
    }
}

/// Whether one of these characters is before a token, and no second one: `..name` is a path.
fn follows(tokens: &[TokenTree], at: usize, chars: &[char]) -> bool {
    let punct = |back: usize| match at.checked_sub(back).and_then(|at| tokens.get(at)) {
        Some(TokenTree::Punct(punct)) => Some(punct.as_char()),
        _ => None,
    };
    punct(1).is_some_and(|char| chars.contains(&char) && punct(2) != Some(char))
}

fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    [at, at + 1]
        .into_iter()
        .all(|at| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':'))
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let outer = self.module;
        if item.content.is_some() {
            self.module = self.modules.child(outer, &item.ident.to_string()).expect("an inline module");
            visit::visit_item_mod(self, item);
            self.module = outer;
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        for import in imports(&item.tree) {
            let kind = match () {
                () if is_reexport(&item.vis) => Kind::Reexport,
                () if import.is_glob => Kind::Glob,
                () => Kind::Import,
            };
            self.add(import.path, import.line, kind);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let bound = bound_by(|names| visit::visit_item_fn(names, item));
        self.in_function(bound, |visitor| visit::visit_item_fn(visitor, item));
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes: &[Attribute] = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            _ => &[],
        };
        if !is_test(attributes) {
            let bound = bound_by(|names| visit::visit_impl_item(names, item));
            self.in_function(bound, |visitor| visit::visit_impl_item(visitor, item));
        }
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let bound = bound_by(|names| visit::visit_trait_item(names, item));
        self.in_function(bound, |visitor| visit::visit_trait_item(visitor, item));
    }

    fn visit_field(&mut self, field: &'ast Field) {
        if !is_test(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        if !is_test(&variant.attrs) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.scan(list.tokens.clone());
        }
        visit::visit_attribute(self, attribute);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.scan(item.tokens.clone());
        visit::visit_macro(self, item);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        // A constant, by its spelling.
        let name = pattern.ident.to_string();
        if name.starts_with(char::is_uppercase) {
            self.add(vec![name], pattern.ident.span().start().line, Kind::Path);
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        if let Some(first) = path.segments.first() {
            let names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.add_path(names, first.ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    // `pub(crate)` has a path and is no import.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

/// The names that the patterns of a function bind.
fn bound_by(visit: impl FnOnce(&mut Bound)) -> BTreeSet<String> {
    let mut names = Bound::default();
    visit(&mut names);
    names.0
}

#[derive(Default)]
struct Bound(BTreeSet<String>);

impl<'ast> Visit<'ast> for Bound {
    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        let name = pattern.ident.to_string();
        if !name.starts_with(char::is_uppercase) {
            self.0.insert(name);
        }
        visit::visit_pat_ident(self, pattern);
    }
}
