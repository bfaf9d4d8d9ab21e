//! The declarations of a flow, one after the other. A broken one costs no other.

use proc_macro2::{Delimiter, Ident, TokenTree};
use syn::Attribute;
use syn::parse::Parser;

use super::cursor::{Cursor, begins_declaration, is_punct};
use super::{Column, Declared, column, denial, habit, module, tokens};
use crate::errors;
use crate::name::identifier;
use crate::nearest::{is_misspelt_use, nearest_keyword};
use crate::report::Errors;

/// Every declaration that can be made out, and the tokens of the others.
pub(super) fn parse_all(trees: &[TokenTree], errors: &mut Errors) -> (Vec<Declared>, Vec<TokenTree>) {
    let mut declarations = Declarations { cursor: Cursor::new(trees), errors, lost: Vec::new() };
    let mut declared = Vec::new();
    while !declarations.cursor.is_empty() {
        declared.extend(declarations.next());
    }
    (declared, declarations.lost)
}

struct Declarations<'t, 'e> {
    cursor: Cursor<'t>,
    errors: &'e mut Errors,
    lost: Vec<TokenTree>,
}

impl Declarations<'_, '_> {
    fn next(&mut self) -> Option<Declared> {
        let (docs, denied) = self.attributes();
        habit::modifiers(&mut self.cursor, self.errors);
        let is_use = matches!(self.cursor.peek(), Some(TokenTree::Ident(word)) if word == "use");
        if !is_use && let Some(habit) = habit::declaration(&mut self.cursor, self.errors) {
            self.lost.extend_from_slice(habit.lost);
            return habit.column.map(|column| Declared::Column(Column { docs, ..column }));
        }
        match self.cursor.next() {
            Some(TokenTree::Ident(word)) if self.is_use(word) => {
                for attribute in denied {
                    self.errors.at(attribute, errors::module::DENIAL);
                }
                let module = module::parse(docs, word, &mut self.cursor, self.errors);
                module.map_err(|lost| self.lost.extend_from_slice(lost)).ok().map(Declared::Module)
            }
            Some(TokenTree::Ident(word)) => {
                let (keyword, name) = self.keyword_and_name(word)?;
                Some(Declared::Column(self.declared(docs, denied, keyword, name)))
            }
            Some(other) if !is_punct(Some(other), ';') => {
                self.errors.at(other, errors::NOT_A_DECLARATION);
                self.lose(other.clone())
            }
            _ => {
                if let Some(last) = docs.last() {
                    self.errors.at(last, errors::DANGLING_DOC);
                }
                None
            }
        }
    }

    /// Whether the word is `use`, or was to be: what is behind it goes with nothing else.
    fn is_use(&mut self, word: &Ident) -> bool {
        let is_braces = |tree: &TokenTree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        let is_meant = || is_misspelt_use(word) && self.cursor.declaration().iter().any(is_braces);
        if word != "use" && is_meant() {
            self.errors.at(word, errors::misspelt_use(word));
            return true;
        }
        word == "use"
    }

    /// The comments, and what is denied.
    fn attributes(&mut self) -> (Vec<Attribute>, Vec<Attribute>) {
        let (mut docs, mut denied) = (Vec::new(), Vec::new());
        while let Some(trees) = self.cursor.attribute() {
            let written = tokens(trees);
            if trees.len() > 2 {
                self.errors.at(written, errors::INNER_ATTRIBUTE);
                continue;
            }
            match Attribute::parse_outer.parse2(written.clone()) {
                Ok(parsed) if parsed.iter().all(|attribute| attribute.path().is_ident("doc")) => {
                    docs.extend(parsed);
                }
                Ok(parsed) if parsed.iter().all(|attribute| attribute.path().is_ident("deny")) => {
                    denied.extend(parsed);
                }
                Ok(parsed) if parsed.iter().any(is_cfg) => self.errors.at(written, errors::CFG),
                Ok(_) => self.errors.at(written, errors::ATTRIBUTE),
                Err(error) => self.errors.push(error),
            }
        }
        (docs, denied)
    }

    /// The keyword, as it was meant, and the name, of a declaration that begins with `word`.
    fn keyword_and_name(&mut self, word: &Ident) -> Option<(Ident, Ident)> {
        let is_keyword = word == "source" || word == "column";
        if is_keyword && let Some(name) = habit::name(&mut self.cursor, self.errors) {
            return Some((word.clone(), name));
        }
        if let Some(keyword) = habit::keyword_behind(word, &mut self.cursor, self.errors) {
            return Some((keyword, self.name(word)?));
        }
        let rest = self.cursor.rest();
        match rest.first() {
            Some(TokenTree::Ident(name)) if !begins_declaration(rest) => {
                let meant = if is_keyword { word.to_string() } else { self.meant(word).to_owned() };
                self.cursor.take(1);
                let name = self.name(name)?;
                Some((Ident::new(&meant, word.span()), name))
            }
            next if !is_keyword => self.name_without_keyword(word, next),
            _ => {
                self.errors.at(word, errors::no_name(word));
                self.lose(word.clone())
            }
        }
    }

    /// The keyword that `word` was to be: the nearest one, or the one that what follows goes with.
    fn meant(&mut self, word: &Ident) -> &'static str {
        self.errors.at(word, errors::keyword(word));
        nearest_keyword(word).unwrap_or_else(|| {
            let after_name = self.cursor.rest().get(1);
            let is_source = after_name.is_none() || [';', ','].iter().any(|&end| is_punct(after_name, end));
            if is_source { "source" } else { "column" }
        })
    }

    fn name_without_keyword(&mut self, word: &Ident, next: Option<&TokenTree>) -> Option<(Ident, Ident)> {
        let meant = match next {
            _ if nearest_keyword(word).is_some() => None,
            Some(TokenTree::Group(views)) if views.delimiter() == Delimiter::Parenthesis => Some("column"),
            None => Some("source"),
            _ => is_punct(next, ';').then_some("source"),
        };
        match (meant, identifier(word)) {
            (Some(meant), Some(name)) => {
                self.errors.at(word, errors::no_keyword(word, meant));
                Some((Ident::new(meant, word.span()), name))
            }
            _ => {
                self.errors.at(word, errors::keyword(word));
                self.lose(word.clone())
            }
        }
    }

    fn name(&mut self, name: &Ident) -> Option<Ident> {
        self::name(name, self.errors).or_else(|| self.lose(name.clone()))
    }

    /// What follows a name.
    fn declared(
        &mut self,
        docs: Vec<Attribute>,
        denials: Vec<Attribute>,
        keyword: Ident,
        name: Ident,
    ) -> Column {
        let derived = if keyword == "column" {
            Some(column::parse(&name, &mut self.cursor, self.errors))
        } else {
            self.source(&name);
            None
        };
        let mut denied = Vec::new();
        for attribute in denials {
            match derived {
                Some(_) => denied.extend(denial::parse(&attribute, self.errors)),
                None => self.errors.at(attribute, errors::SOURCE_DENIAL),
            }
        }
        Column { docs, denied, keyword, name, derived }
    }

    /// What follows the name of a source: nothing but `;`.
    fn source(&mut self, name: &Ident) {
        let rest = self.cursor.skip_declaration();
        let message = match rest.first() {
            None if self.cursor.took_semicolon() => return,
            None => return self.errors.at(name, errors::NO_SEMICOLON),
            first if rest.len() == 1 && is_punct(first, ',') => errors::COMMA,
            first if is_punct(first, '=') => &errors::source_step(name),
            first if is_punct(first, ':') => errors::TYPE,
            _ => &errors::source_extra(name),
        };
        self.errors.at(tokens(rest), message);
        self.lost.extend_from_slice(rest);
    }

    /// Gives up this declaration.
    fn lose<T>(&mut self, first: impl Into<TokenTree>) -> Option<T> {
        self.lost.push(first.into());
        self.lost.extend_from_slice(self.cursor.skip_declaration());
        None
    }
}

/// The name of a declaration, raw if it has to be.
pub(super) fn name(name: &Ident, errors: &mut Errors) -> Option<Ident> {
    let Some(identifier) = identifier(name) else {
        let message = if name == "self" { errors::NAMED_SELF.to_owned() } else { errors::bad_name(name) };
        errors.at(name, message);
        return None;
    };
    if identifier != *name {
        errors.at(name, errors::rust_keyword(name));
    }
    Some(identifier)
}

fn is_cfg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
}
