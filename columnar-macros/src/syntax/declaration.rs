//! The declarations of a flow, one after the other. A broken one costs no other.

use proc_macro2::{Delimiter, Ident, Span, TokenTree};
use syn::Attribute;
use syn::parse::Parser;

use super::cursor::{Cursor, begins_declaration, is_punct};
use super::{Column, Flow, Form, column, denial, former, habit, module, tokens};
use crate::diagnostics::{Errors, columns, declarations, modules};
use crate::ident::{self, ident_text, replace, rust_ident, unmarked};
use crate::keywords::{is_misspelt_use, nearest_keyword};

/// Every declaration that can be made out, and the tokens of the others.
pub(super) fn parse_all(form: Form, trees: &[TokenTree], errors: &mut Errors) -> Flow {
    let flow = Flow::of(form, Vec::new());
    let mut declarations = Declarations { cursor: Cursor::new(trees), errors, flow };
    while !declarations.cursor.is_empty() {
        declarations.next();
    }
    declarations.flow
}

struct Declarations<'t, 'e> {
    cursor: Cursor<'t>,
    errors: &'e mut Errors,
    flow: Flow,
}

impl Declarations<'_, '_> {
    fn next(&mut self) {
        let (docs, denied) = self.attributes();
        habit::modifiers(&mut self.cursor, self.errors);
        let is_use = matches!(self.cursor.peek(), Some(TokenTree::Ident(word)) if ident::is(word, "use"));
        if !is_use && let Some(habit) = habit::declaration(&mut self.cursor, self.errors) {
            self.flow.lost.extend_from_slice(habit.lost);
            return self.flow.columns.extend(habit.column.map(|column| Column { docs, ..column }));
        }
        match self.cursor.next() {
            Some(TokenTree::Ident(word)) if self.is_use(word) => self.module(docs, denied, word),
            Some(TokenTree::Ident(word)) => {
                if let Some((keyword, name)) = self.keyword_and_name(word) {
                    let column = self.declared(docs, denied, keyword, name);
                    self.flow.columns.push(column);
                }
            }
            Some(other) if !is_punct(Some(other), ';') => {
                self.errors.at(other, declarations::NOT_A_DECLARATION);
                self.lose::<()>(other.clone());
            }
            _ => {
                if let Some(last) = docs.last() {
                    self.errors.at(last, declarations::DANGLING_DOC);
                }
            }
        }
    }

    /// What follows a `use`.
    fn module(&mut self, docs: Vec<Attribute>, denied: Vec<Attribute>, keyword: &Ident) {
        for attribute in denied {
            self.errors.at(attribute, modules::LINTED_MODULE);
        }
        match module::parse(docs, keyword, &mut self.cursor, self.errors) {
            Ok(module) => self.flow.modules.push(module),
            Err(lost) => self.flow.lost.extend_from_slice(lost),
        }
    }

    /// Whether the word is `use`, or was to be: what is behind it goes with nothing else.
    fn is_use(&mut self, word: &Ident) -> bool {
        let is_braces = |tree: &TokenTree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        let is_meant = || is_misspelt_use(word) && self.cursor.declaration().iter().any(is_braces);
        if !ident::is(word, "use") && is_meant() {
            self.errors.at(word, declarations::misspelt_use(word));
            return true;
        }
        ident::is(word, "use")
    }

    /// The comments, and what is denied.
    fn attributes(&mut self) -> (Vec<Attribute>, Vec<Attribute>) {
        let (mut docs, mut denied) = (Vec::new(), Vec::new());
        while let Some(trees) = self.cursor.attribute() {
            let written = tokens(trees);
            if trees.len() > 2 {
                self.errors.at(written, declarations::INNER_ATTRIBUTE);
                continue;
            }
            match Attribute::parse_outer.parse2(written.clone()) {
                Ok(parsed) if parsed.iter().all(|attribute| attribute.path().is_ident("doc")) => {
                    docs.extend(parsed);
                }
                Ok(parsed) if parsed.iter().all(|attribute| attribute.path().is_ident("deny")) => {
                    denied.extend(parsed);
                }
                Ok(parsed) if parsed.iter().any(is_cfg) => self.errors.at(written, declarations::CFG),
                Ok(_) => self.errors.at(written, declarations::ATTRIBUTE),
                Err(error) => self.errors.push(error),
            }
        }
        (docs, denied)
    }

    /// The keyword, as it was meant, and the name, of a declaration that begins with `word`.
    fn keyword_and_name(&mut self, word: &Ident) -> Option<(Ident, Ident)> {
        let written = ident_text(word);
        if written.is_empty() {
            // Nothing has been typed yet, and what follows is none of its business.
            self.flow.words.push(word.clone());
            return None;
        }
        let is_keyword = written == "source" || written == "column";
        if is_keyword && let Some(name) = habit::name(&mut self.cursor, self.errors) {
            return Some((word.clone(), name));
        }
        if let Some(keyword) = habit::keyword_behind(word, &mut self.cursor, self.errors) {
            return Some((keyword, self.name(word)?));
        }
        let rest = self.cursor.rest();
        match rest.first() {
            Some(TokenTree::Ident(name)) if !begins_declaration(rest) => {
                let meant = if is_keyword { written } else { self.meant(word).to_owned() };
                self.cursor.take(1);
                let name = self.name(name)?;
                Some((keyword(&meant, word), name))
            }
            next if !is_keyword => self.name_without_keyword(word, next),
            _ => {
                self.errors.at(word, declarations::no_name(word));
                self.flow.words.push(word.clone());
                self.lose(word.clone())
            }
        }
    }

    /// The keyword that `word` was to be: the nearest one, or the one that what follows goes with.
    fn meant(&mut self, word: &Ident) -> &'static str {
        self.errors.at(word, declarations::unknown_keyword(word));
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
        // It may become a keyword, too.
        self.flow.words.push(word.clone());
        match (meant, unmarked(word).and_then(|word| rust_ident(&word))) {
            (Some(meant), Some(mut name)) => {
                self.errors.at(word, declarations::no_keyword(word, meant));
                let place = Span::call_site().located_at(word.span());
                name.set_span(place);
                Some((Ident::new(meant, place), name))
            }
            _ => {
                self.errors.at(word, declarations::unknown_keyword(word));
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
        let (former, derived) = if ident_text(&keyword) == "column" {
            let (former, derived) = column::parse(&name, &mut self.cursor, self.errors);
            (former, Some(derived))
        } else {
            let former = former::parse(&name, &mut self.cursor, self.errors);
            self.source(&name);
            (former, None)
        };
        let mut denied = Vec::new();
        for attribute in denials {
            match derived {
                Some(_) => denied.extend(denial::parse(&attribute, self.errors)),
                None => self.errors.at(attribute, declarations::LINTED_SOURCE),
            }
        }
        Column { docs, denied, keyword, name, is_second: false, former, derived }
    }

    /// What follows the name of a source: nothing but `;`.
    fn source(&mut self, name: &Ident) {
        let rest = self.cursor.skip_declaration();
        let message = match rest.first() {
            None if self.cursor.took_semicolon() => return,
            None => return self.errors.at(name, declarations::NO_SEMICOLON),
            first if rest.len() == 1 && is_punct(first, ',') => declarations::COMMA,
            first if is_punct(first, '=') => &columns::source_step(name),
            first if is_punct(first, ':') => columns::TYPE_OF_SOURCE,
            _ => &columns::source_extra(name),
        };
        self.errors.at(tokens(rest), message);
        self.flow.lost.extend_from_slice(rest);
    }

    /// Gives up this declaration.
    fn lose<T>(&mut self, first: impl Into<TokenTree>) -> Option<T> {
        self.flow.lost.push(first.into());
        self.flow.lost.extend_from_slice(self.cursor.skip_declaration());
        None
    }
}

/// The name of a declaration, raw if it has to be.
pub(super) fn name(name: &Ident, errors: &mut Errors) -> Option<Ident> {
    let Some(identifier) = rust_ident(name).filter(|name| !ident_text(name).is_empty()) else {
        let message = if ident_text(name) == "self" {
            declarations::NAMED_SELF.to_owned()
        } else {
            declarations::bad_name(name)
        };
        errors.at(name, message);
        return None;
    };
    if identifier != *name {
        errors.at(name, declarations::rust_keyword(name));
    }
    Some(identifier)
}

/// The keyword that was meant, where it was written.
fn keyword(meant: &str, written: &Ident) -> Ident {
    replace(written, &Ident::new(meant, written.span()))
}

fn is_cfg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
}
