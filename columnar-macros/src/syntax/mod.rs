//! The tree of a flow, and a parser that goes on after a mistake.
//!
//! Compute steps and the arguments of views stay tokens: they are Rust, and rustc says best what is
//! wrong with them.

mod column;
mod cursor;
mod header;
mod view;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::Attribute;
use syn::parse::Parser;

use crate::errors::{self, Errors};
use cursor::Cursor;

pub(crate) use header::{Header, Param};
pub(crate) use view::View;

/// What the macro is given: the path of the runtime crate in brackets, then the declarations.
pub(crate) struct Input {
    pub(crate) krate: TokenStream,
    pub(crate) declarations: TokenStream,
}

pub(crate) fn input(tokens: TokenStream) -> Input {
    let mut tokens = tokens.into_iter();
    let krate = match tokens.next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => group.stream(),
        other => other.into_iter().collect(),
    };
    Input { krate, declarations: tokens.collect() }
}

pub(crate) struct Flow {
    /// `None` in the inline form.
    pub(crate) header: Option<Header>,
    /// Whether it is the item form, even if its header cannot be read.
    pub(crate) is_item: bool,
    pub(crate) columns: Vec<Column>,
}

pub(crate) struct Column {
    pub(crate) docs: Vec<Attribute>,
    /// `source` or `column`, as it was meant, where it was written.
    pub(crate) keyword: Ident,
    pub(crate) name: Ident,
    /// `None` for a source.
    pub(crate) derived: Option<Derived>,
}

pub(crate) struct Derived {
    /// The parentheses, or what stands in their place.
    pub(crate) list: Span,
    pub(crate) views: Vec<View>,
    /// Whether every view could be read; if not, too few of them is no mistake of its own.
    pub(crate) whole: bool,
    /// Empty where the step is missing.
    pub(crate) step: TokenStream,
}

impl Flow {
    pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        if !header::is_item(&trees) {
            let columns = declarations(&trees, errors);
            if trees.is_empty() {
                errors.on(Span::call_site(), errors::EMPTY_FLOW);
            }
            return Self { header: None, is_item: false, columns };
        }
        let (header, body) = header::split(&trees, errors);
        let columns = body.map_or_else(Vec::new, |body| declarations(&trees_of(&body), errors));
        Self { header, is_item: true, columns }
    }
}

fn trees_of(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

/// Every declaration that can be made out. A broken one costs no other.
fn declarations(trees: &[TokenTree], errors: &mut Errors) -> Vec<Column> {
    let mut cursor = Cursor::new(trees);
    let mut columns = Vec::new();
    while !cursor.is_empty() {
        let docs = docs(&mut cursor, errors);
        match cursor.next() {
            Some(TokenTree::Ident(word)) => columns.extend(declaration(word, docs, &mut cursor, errors)),
            Some(TokenTree::Punct(punct)) if punct.as_char() == ';' => {}
            Some(other) => {
                cursor.skip_declaration();
                errors.at(other, errors::NOT_A_DECLARATION);
            }
            None => {
                if let Some(last) = docs.last() {
                    errors.at(last, errors::DANGLING_DOC);
                }
            }
        }
    }
    columns
}

fn docs(cursor: &mut Cursor<'_>, errors: &mut Errors) -> Vec<Attribute> {
    let mut docs = Vec::new();
    while let Some(tokens) = cursor.attribute() {
        let tokens: TokenStream = tokens.iter().cloned().collect();
        for attribute in Attribute::parse_outer.parse2(tokens.clone()).unwrap_or_default() {
            if attribute.path().is_ident("doc") {
                docs.push(attribute);
            } else if attribute.path().is_ident("cfg") {
                errors.at(&tokens, errors::CFG);
            } else {
                errors.at(&tokens, errors::ATTRIBUTE);
            }
        }
    }
    docs
}

/// A declaration, after its first word.
fn declaration(
    word: &Ident,
    docs: Vec<Attribute>,
    cursor: &mut Cursor<'_>,
    errors: &mut Errors,
) -> Option<Column> {
    let meant = if word == "source" || word == "column" {
        word.clone()
    } else if word == "let" || word == "use" {
        cursor.skip_declaration();
        errors.at(word, if word == "let" { errors::LET_INSIDE } else { errors::MODULE });
        return None;
    } else {
        errors.at(word, errors::keyword(word));
        let meant = match cursor.rest() {
            [TokenTree::Ident(_), TokenTree::Group(_), ..] => "column",
            [TokenTree::Ident(_), ..] => "source",
            _ => {
                cursor.skip_declaration();
                return None;
            }
        };
        Ident::new(meant, word.span())
    };
    let Some(TokenTree::Ident(name)) = cursor.peek() else {
        errors.at(word, errors::no_name(&meant));
        cursor.skip_declaration();
        return None;
    };
    cursor.next();
    if name == "self" {
        errors.at(name, errors::NAMED_SELF);
        cursor.skip_declaration();
        return None;
    }
    let (keyword, name) = (meant, name.clone());
    if keyword == "source" {
        source(&name, cursor, errors);
        return Some(Column { docs, keyword, name, derived: None });
    }
    let derived = Some(column::parse(&name, cursor, errors));
    Some(Column { docs, keyword, name, derived })
}

/// What follows the name of a source: nothing but `;`.
fn source(name: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) {
    let rest = cursor.skip_declaration();
    let rest_tokens: TokenStream = rest.iter().cloned().collect();
    match rest {
        [] if cursor.took_semicolon() => {}
        [] => errors.at(name, errors::NO_SEMICOLON),
        [TokenTree::Punct(comma)] if comma.as_char() == ',' => errors.at(rest_tokens, errors::COMMA),
        [TokenTree::Punct(equals), ..] if equals.as_char() == '=' => {
            errors.at(rest_tokens, errors::SOURCE_STEP);
        }
        _ => errors.at(rest_tokens, errors::SOURCE_EXTRA),
    }
}
