//! Parses the declarations of a flow, one after the other. An invalid one does not affect the others.

use proc_macro2::{Delimiter, Ident, Span, TokenTree};
use quote::ToTokens;

use super::attributes::{self, Attributes};
use super::cursor::{Cursor, begins_declaration, is_group, is_ident, is_punct, tokens, trees_of};
use super::recovery::declared_name;
use super::source_list::{self, Listed};
use super::tree::{Column, ColumnType, Flow, Form};
use super::{column, module, module_forms, recovery};
use crate::diagnostics::{Errors, columns, declarations, modules};
use crate::ident::{self, ident_text, replace, rust_ident, unmarked};
use crate::keywords::{is_misspelt_use, nearest_keyword};

/// Parses every declaration, and keeps the tokens of those that cannot be read.
pub(super) fn parse(form: Form, trees: &[TokenTree], errors: &mut Errors) -> Flow {
    let flow = Flow::empty(form, Vec::new());
    let is_source =
        |tree: &TokenTree| matches!(tree, TokenTree::Ident(word) if nearest_keyword(word) == Some("source"));
    let lacks_source = flow.base().is_none() && !trees.iter().any(is_source);
    let mut parser = Parser { cursor: Cursor::new(trees), errors, flow, lacks_source };
    while !parser.cursor.is_empty() {
        parser.declaration();
    }
    parser.flow
}

struct Parser<'t, 'e> {
    cursor: Cursor<'t>,
    errors: &'e mut Errors,
    flow: Flow,
    /// Whether no declaration begins with `source`, and one should.
    lacks_source: bool,
}

impl Parser<'_, '_> {
    fn declaration(&mut self) {
        let attributes = attributes::parse(&mut self.cursor, self.errors);
        recovery::modifiers(&mut self.cursor, self.errors);
        match module_forms::take(&mut self.cursor, self.errors) {
            Some(module_forms::Form::Keyword(keyword)) => return self.module(attributes, &keyword),
            Some(module_forms::Form::Rewritten(keyword, written)) => {
                return self.module_of(attributes, &keyword, &mut Cursor::new(&written));
            }
            None => {}
        }
        let is_use = is_ident(self.cursor.peek(), "use");
        if !is_use && let Some(recovered) = recovery::declaration(&mut self.cursor, self.errors) {
            self.flow.unparsed.extend_from_slice(recovered.unparsed);
            let column = recovered.column.map(|column| Column { docs: attributes.docs, ..column });
            return self.flow.columns.extend(column);
        }
        match self.cursor.next() {
            Some(TokenTree::Ident(keyword)) if self.is_use(keyword) => self.module(attributes, keyword),
            Some(TokenTree::Ident(first)) => {
                if let Some((keyword, name)) = self.keyword_and_name(first) {
                    self.column(attributes, keyword, name);
                }
            }
            Some(other) if !is_punct(Some(other), ';') => {
                self.errors.at(other, declarations::NOT_A_DECLARATION);
                self.give_up::<()>(other.clone());
            }
            _ => {
                // A `;` alone does no harm; a doc comment or a lint before it has no declaration.
                if let Some(last) = attributes.denies.last() {
                    self.errors.at(last, declarations::DANGLING_LINT);
                } else if let Some(last) = attributes.docs.last() {
                    self.errors.at(last, declarations::DANGLING_DOC);
                }
            }
        }
    }

    /// Whether the identifier is `use`, or a misspelt one: then a flow and braces follow.
    fn is_use(&mut self, keyword: &Ident) -> bool {
        let is_braces = |tree: &TokenTree| is_group(tree, Delimiter::Brace);
        let is_use = ident::is(keyword, "use");
        if !is_use && self.cursor.declaration().iter().any(is_braces) && is_misspelt_use(keyword) {
            self.errors.at(keyword, declarations::misspelt_use(keyword));
            return true;
        }
        is_use
    }

    fn module(&mut self, attributes: Attributes, keyword: &Ident) {
        let mut cursor = self.cursor;
        self.module_of(attributes, keyword, &mut cursor);
        self.cursor = cursor;
    }

    fn module_of(&mut self, attributes: Attributes, keyword: &Ident, cursor: &mut Cursor<'_>) {
        for attribute in attributes.denies {
            self.errors.at(attribute, modules::LINTED_MODULE);
        }
        match module::parse(attributes.docs, keyword, cursor, self.errors) {
            Ok(module) => self.flow.modules.push(module),
            Err(unparsed) => self.flow.unparsed.extend_from_slice(unparsed),
        }
    }

    /// The intended keyword and the name of a declaration that begins with `first`.
    fn keyword_and_name(&mut self, first: &Ident) -> Option<(Ident, Ident)> {
        let text = ident_text(first);
        if text.is_empty() {
            // Nothing is typed yet, and the following tokens are another declaration.
            self.flow.partial_keywords.push(first.clone());
            return None;
        }
        let is_keyword = text == "source" || text == "column";
        // Before the general case, which would take the `mut` of `source mut user` for the name.
        if is_keyword && let Some(name) = recovery::name(&mut self.cursor, self.errors) {
            return Some((first.clone(), name));
        }
        if is_keyword {
            recovery::second_keyword(first, &mut self.cursor, self.errors);
        }
        if let Some(keyword) = recovery::keyword_after_name(first, &mut self.cursor, self.errors) {
            return Some((keyword, self.name(first)?));
        }
        let rest = self.cursor.rest();
        match rest.first() {
            // Where another declaration begins, the identifier is its keyword and no name.
            Some(TokenTree::Ident(name)) if !begins_declaration(rest) => {
                let intended = if is_keyword { text } else { self.intended_keyword(first).to_owned() };
                self.cursor.take(1);
                let name = self.name(name)?;
                Some((replace(first, &Ident::new(&intended, first.span())), name))
            }
            next if !is_keyword => self.name_without_keyword(first, next),
            // `source (user, room);`
            Some(TokenTree::Group(list)) if ident::is(first, "source") => {
                let trees = trees_of(list);
                match source_list::sources(&trees) {
                    Some(listed) => {
                        self.cursor.skip_declaration();
                        let sources = self.sources(list, None, &listed);
                        self.flow.columns.extend(sources);
                        None
                    }
                    None => self.no_name(first),
                }
            }
            _ => self.no_name(first),
        }
    }

    fn no_name<T>(&mut self, keyword: &Ident) -> Option<T> {
        self.errors.at(keyword, declarations::no_name(keyword));
        // An editor completes the keyword before there is a name.
        self.flow.partial_keywords.push(keyword.clone());
        self.give_up(keyword.clone())
    }

    /// The intended keyword in place of `found`: the nearest one, or the one that fits the following tokens.
    fn intended_keyword(&mut self, found: &Ident) -> &'static str {
        self.errors.at(found, declarations::unknown_keyword(found));
        nearest_keyword(found).unwrap_or_else(|| {
            let after_name = self.cursor.rest().get(1);
            let is_typed = is_punct(after_name, ':')
                && !self.cursor.declaration().iter().any(|tree| is_punct(Some(tree), '='));
            let is_source =
                after_name.is_none() || is_typed || [';', ','].iter().any(|&end| is_punct(after_name, end));
            if is_source { "source" } else { "column" }
        })
    }

    fn name_without_keyword(&mut self, first: &Ident, next: Option<&TokenTree>) -> Option<(Ident, Ident)> {
        if next.is_some() && recovery::is_step(first, self.cursor.rest()) {
            self.flow.partial_keywords.push(first.clone());
            self.errors.at(first, declarations::step_alone(first));
            return self.give_up(first.clone());
        }
        let intended = match next {
            _ if nearest_keyword(first).is_some() => None,
            Some(views) if is_group(views, Delimiter::Parenthesis) => Some("column"),
            None => Some("source"),
            _ => is_punct(next, ';').then_some("source"),
        };
        // It may become a keyword, too.
        self.flow.partial_keywords.push(first.clone());
        // The partial keyword has the marker already, and an editor looks for one such token.
        match (intended, unmarked(first).and_then(|name| rust_ident(&name))) {
            (Some(intended), Some(mut name)) => {
                self.errors.at(first, declarations::no_keyword(first, intended));
                let span = Span::call_site().located_at(first.span());
                name.set_span(span);
                Some((Ident::new(intended, span), name))
            }
            _ => {
                self.errors.at(first, declarations::unknown_keyword(first));
                self.give_up(first.clone())
            }
        }
    }

    fn name(&mut self, name: &Ident) -> Option<Ident> {
        declared_name(name, self.errors).or_else(|| self.give_up(name.clone()))
    }

    /// Whether a column without views and without a compute step is the source that the flow lacks.
    fn takes_as_source(&mut self, keyword: &Ident, name: &Ident) -> bool {
        let is_bare = |tree: &TokenTree| !is_punct(Some(tree), '=') && !matches!(tree, TokenTree::Group(_));
        let is_source = self.lacks_source
            && ident_text(keyword) == "column"
            && self.cursor.declaration().iter().all(is_bare);
        if is_source {
            self.errors.at(keyword, declarations::column_for_source(name));
        }
        is_source
    }

    /// Parses the rest of a source or a column, after its name.
    fn column(&mut self, attributes: Attributes, mut keyword: Ident, name: Ident) {
        if self.takes_as_source(&keyword, &name) {
            keyword = replace(&keyword, &Ident::new("source", keyword.span()));
        }
        let mut others = Vec::new();
        let (renamed_from, derived, source_type) = if ident_text(&keyword) == "column" {
            let (renamed_from, derived, unparsed) = column::parse(&name, &mut self.cursor, self.errors);
            // A `;` may be missing, so these tokens may declare more.
            self.flow.unparsed.extend_from_slice(unparsed);
            (renamed_from, Some(derived), None)
        } else {
            let (renamed_from, ty) = column::parse_source(&name, &mut self.cursor, self.errors);
            let earlier = renamed_from.as_ref().map(|earlier| earlier.name.value());
            let written = columns::source(&name, ty.as_ref().map(|ty| ty.ty.clone()), earlier.as_deref());
            others = self.end_of_source(&name, ty.as_ref(), &written);
            (renamed_from, None, ty)
        };
        let Attributes { docs, denies } = attributes;
        let mut lints = Vec::new();
        for attribute in denies {
            match derived {
                Some(_) => lints.extend(attributes::lints(&attribute, self.errors)),
                None => self.errors.at(attribute, declarations::LINTED_SOURCE),
            }
        }
        let is_duplicate = false;
        self.flow.columns.push(Column {
            docs,
            lints,
            keyword,
            name,
            is_duplicate,
            renamed_from,
            derived,
            source_type,
        });
        self.flow.columns.extend(others);
    }

    /// Takes the `;` of a source. Any other token is an error. `written` is the source as it should be. Returns the sources
    /// that come after commas.
    fn end_of_source(&mut self, name: &Ident, ty: Option<&ColumnType>, written: &str) -> Vec<Column> {
        let rest = self.cursor.skip_declaration();
        let listed = source_list::sources(rest).filter(|_| rest.len() > 1);
        if let Some(listed) = listed {
            return self.sources(tokens(rest), Some(written), &listed);
        }
        let message = match rest.first() {
            None if self.cursor.took_semicolon() => return Vec::new(),
            None => {
                let last = ty.and_then(|ty| ty.ty.clone().into_iter().last());
                let last = last.map_or(name.span(), |last| last.span());
                self.errors.on(last, declarations::NO_SEMICOLON);
                return Vec::new();
            }
            first if rest.len() == 1 && is_punct(first, ',') => declarations::COMMA,
            first if is_punct(first, '=') && ty.is_some() => columns::DOCUMENTS_STEP,
            first if is_punct(first, '=') => &columns::source_step(name),
            _ if ty.is_some() => columns::AFTER_SOURCE_TYPE,
            _ => &columns::source_extra(written),
        };
        // The user may mean another column, so its name is not also unknown.
        self.errors.at(tokens(rest), message);
        self.flow.unparsed.extend_from_slice(rest);
        Vec::new()
    }

    /// Reports several sources in one declaration, and returns those of the list.
    fn sources(&mut self, at: impl ToTokens, first: Option<&str>, listed: &[Listed<'_>]) -> Vec<Column> {
        let texts = first.map(str::to_owned).into_iter().chain(listed.iter().map(Listed::text));
        self.errors.at(at, columns::several_sources(&texts.collect::<Vec<_>>().join(" ")));
        listed.iter().filter_map(|listed| recovery::listed_source(listed, self.errors)).collect()
    }

    /// Skips this declaration.
    fn give_up<T>(&mut self, first: impl Into<TokenTree>) -> Option<T> {
        self.flow.unparsed.push(first.into());
        self.flow.unparsed.extend_from_slice(self.cursor.skip_declaration());
        None
    }
}
