//! Parses the declarations of a flow, one after the other.
//!
//! Recovery has one rule. The first token that a declaration cannot have is an error, and the rest up to the next
//! declaration is skipped; a column whose name is known stays in the flow. A parser of a part returns `None` where it has
//! reported such a token. Misspelt keywords and Rust among the declarations have messages of their own.

use proc_macro2::{Delimiter, Ident, Span, TokenTree};

use super::attributes::{self, Attributes};
use super::cursor::{Cursor, begins_declaration, end_of, is_group, is_punct};
use super::tree::{ColumnDecl, FlowDecl, FlowForm, TypeDecl};
use super::{column, module, rust};
use crate::diagnostics::{EXAMPLE, Errors, SOURCE_FORM, no_end, quote};
use crate::ident::{ident_text, is_name, replace, rust_ident, unmarked};
use crate::keywords::{is_misspelt_use, nearest_keyword};

/// Parses every declaration, and keeps the tokens of those that cannot be read.
pub(super) fn parse(form: FlowForm, trees: &[TokenTree], errors: &mut Errors) -> FlowDecl {
    let flow = FlowDecl::empty(form, Vec::new());
    let mut parser = DeclarationParser { cursor: Cursor::new(trees), errors, flow };
    while !parser.cursor.is_empty() {
        if parser.declaration().is_none() {
            let skipped = parser.cursor.skip_declaration();
            parser.flow.unparsed.extend_from_slice(skipped);
        }
    }
    parser.flow
}

struct DeclarationParser<'t, 'e> {
    cursor: Cursor<'t>,
    errors: &'e mut Errors,
    flow: FlowDecl,
}

impl DeclarationParser<'_, '_> {
    fn declaration(&mut self) -> Option<()> {
        let attributes = attributes::parse(&mut self.cursor, self.errors);
        rust::modifiers(&mut self.cursor, self.errors);
        if let Some(item) = rust::item(&mut self.cursor, self.errors) {
            self.flow.unparsed.extend_from_slice(item.skipped);
            if let Some(name) = item.function.and_then(rust_ident) {
                self.unread(attributes, name.span(), "column", name);
            }
            return Some(());
        }
        match self.cursor.next() {
            Some(TokenTree::Ident(word)) => self.after(word, attributes),
            Some(other) if !is_punct(other, ';') => {
                self.errors.stop(other, format!("{NOT_A_DECLARATION}\n\nhelp: {KEYWORDS}"))
            }
            _ => {
                // A `;` alone does no harm; a doc comment or a lint before it has no declaration.
                if let Some(last) = attributes.lints.last() {
                    self.errors.at(last, DANGLING_LINT);
                } else if let Some(last) = attributes.docs.last() {
                    self.errors.at(last, "no declaration follows this doc comment");
                }
                Some(())
            }
        }
    }

    /// Parses a declaration after its first word.
    fn after(&mut self, word: &Ident, attributes: Attributes) -> Option<()> {
        match ident_text(word).as_str() {
            "" => {
                // Nothing is typed yet, and the following tokens are another declaration.
                self.flow.partial_keywords.push(word.clone());
                Some(())
            }
            "use" => self.module(attributes, word),
            "source" | "column" => self.column(attributes, word, word),
            // A flow and braces follow a misspelt `use`.
            _ if is_misspelt_use(word)
                && self.cursor.declaration().iter().any(|tree| is_group(tree, Delimiter::Brace)) =>
            {
                self.errors.at(word, found_instead(word, "did you mean `use`?"));
                self.module(attributes, word)
            }
            _ => match nearest_keyword(word) {
                Some(intended) => {
                    self.errors.at(word, unknown_keyword(word));
                    let keyword = replace(word, &Ident::new(intended, word.span()));
                    self.column(attributes, word, &keyword)
                }
                None => self.without_keyword(attributes, word),
            },
        }
    }

    fn module(&mut self, attributes: Attributes, keyword: &Ident) -> Option<()> {
        for attribute in attributes.lints {
            self.errors.at(attribute, LINTED_MODULE);
        }
        let module = module::parse(attributes.docs, keyword, &mut self.cursor, self.errors)?;
        self.flow.modules.push(module);
        self.end(EXAMPLE)
    }

    /// Parses a source or a column after its keyword, which is `word` in the source text.
    fn column(&mut self, attributes: Attributes, word: &Ident, keyword: &Ident) -> Option<()> {
        rust::modifiers_of_name(&mut self.cursor, self.errors);
        let rest = self.cursor.rest();
        // Where another declaration begins, the identifier is its keyword and no name.
        let Some(TokenTree::Ident(name)) = rest.first().filter(|_| !begins_declaration(rest)) else {
            // An editor completes the keyword before there is a name.
            self.flow.partial_keywords.push(word.clone());
            self.flow.unparsed.push(word.clone().into());
            if keyword == word {
                self.errors.at(word, no_name(word));
            }
            return None;
        };
        self.cursor.next();
        let mut column = ColumnDecl::unread(attributes.docs, keyword.clone(), self.name(name)?);
        for attribute in attributes.lints {
            match column.derived {
                Some(_) => column.lints.extend(attributes::lints(&attribute, self.errors)),
                None => self.errors.at(attribute, "a source reads nothing, so no lint applies to it"),
            }
        }
        let read = column::parse(&mut column, &mut self.cursor, self.errors);
        self.flow.columns.push(column);
        read?;
        self.end(SOURCE_FORM)
    }

    /// Takes the `;`.
    fn end(&mut self, form: &str) -> Option<()> {
        match self.cursor.declaration().first() {
            Some(comma) if is_punct(comma, ',') => self.errors.stop(comma, "declarations end with `;`"),
            Some(found) => self.errors.stop(found, no_end(form)),
            None => {
                if self.cursor.punct(';').is_none()
                    && let Some(last) = self.cursor.last()
                {
                    self.errors.on(end_of(last), "expected `;` after this");
                }
                Some(())
            }
        }
    }

    /// Reports a word that is no keyword. The column whose name comes after it, or whose name it is, stays known.
    fn without_keyword(&mut self, attributes: Attributes, word: &Ident) -> Option<()> {
        let [TokenTree::Ident(name), after @ ..] = self.cursor.declaration() else {
            return self.name_alone(attributes, word);
        };
        self.cursor.next();
        self.errors.at(word, unknown_keyword(word));
        // The word may be the name of a column.
        self.flow.unparsed.push(word.clone().into());
        // A name in upper case is rather a type: `module Debate { … } as debate;`
        if is_name(&ident_text(name)) {
            let name = self.name(name)?;
            self.unread(attributes, word.span(), if is_computed(after) { "column" } else { "source" }, name);
        }
        None
    }

    /// Reports the name of a column without its keyword: `topics(user) = …;`, `user: String,`.
    fn name_alone(&mut self, attributes: Attributes, word: &Ident) -> Option<()> {
        let declaration = self.cursor.declaration();
        // It may become a keyword, too.
        self.flow.partial_keywords.push(word.clone());
        let is_field = is_punct(declaration.first(), ':');
        // The field of a struct ends with a comma.
        let field = declaration.split(|tree| is_punct(tree, ',')).next().unwrap_or_default();
        let keyword = match declaration {
            [views, sign, ..]
                if is_group(views, Delimiter::Parenthesis)
                    && (is_punct(sign, '=') || is_punct(sign, ':')) =>
            {
                "column"
            }
            _ if is_field && is_computed(field) => "column",
            [comma, ..] if is_field || is_punct(comma, ',') => "source",
            [] if is_punct(self.cursor.peek(), ';') || self.cursor.is_empty() => "source",
            _ => return self.errors.stop(word, unknown_keyword(word)),
        };
        let help = format!("write `{keyword} {}`", ident_text(word));
        self.errors.at(word, found_instead(word, &help));
        // The partial keyword has the marker already, and an editor looks for one such token.
        let mut name = unmarked(word).and_then(|name| rust_ident(&name))?;
        name.set_span(Span::call_site().located_at(word.span()));
        self.unread(attributes, word.span(), keyword, name);
        if !is_field || field.len() == declaration.len() {
            return None;
        }
        let skipped = self.cursor.take(field.len() + 1);
        self.flow.unparsed.extend_from_slice(skipped);
        Some(())
    }

    /// Adds a column of which only the name is known.
    fn unread(&mut self, attributes: Attributes, word: Span, keyword: &str, name: Ident) {
        let span = Span::call_site().located_at(word);
        let mut column = ColumnDecl::unread(attributes.docs, Ident::new(keyword, span), name);
        if keyword == "source" && is_punct(self.cursor.peek(), ':') {
            // The type is among the tokens that are skipped.
            column.ty = Some(TypeDecl::unread(span));
        }
        self.flow.columns.push(column);
    }

    fn name(&mut self, name: &Ident) -> Option<Ident> {
        let declared = rust::declared_name(name, self.errors);
        if declared.is_none() {
            self.flow.unparsed.push(name.clone().into());
        }
        declared
    }
}

/// Whether the tokens after a name belong to a column: views or a compute step.
fn is_computed(after: &[TokenTree]) -> bool {
    after.first().is_some_and(|tree| is_group(tree, Delimiter::Parenthesis))
        || after.iter().any(|tree| is_punct(tree, '='))
}

// Messages.

const COLUMN_FORM: &str = "as in `column topics(user.latest) = prompt(\"...\");`";

const NOT_A_DECLARATION: &str = "expected `source`, `column` or `use`";

const DANGLING_LINT: &str = "no declaration follows this attribute\n\nhelp: put it before a column; before `pub struct`, it is about all columns";

const KEYWORDS: &str =
    "a `source` gets its values from your program, a `column` computes them, `use` adds a module";

/// `colum topics(...)`
fn unknown_keyword(found: &Ident) -> String {
    let is_of_rust = ["fn", "let", "const", "static", "type"].iter().any(|&word| found == word);
    let intended = nearest_keyword(found).or(is_of_rust.then_some("column"));
    let help = intended.map_or_else(|| KEYWORDS.to_owned(), |keyword| format!("did you mean `{keyword}`?"));
    found_instead(found, &help)
}

/// An identifier where a keyword should be.
fn found_instead(found: &Ident, help: &str) -> String {
    format!("{NOT_A_DECLARATION}, found {}\n\nhelp: {help}", quote(found))
}

fn no_name(keyword: &Ident) -> String {
    format!(
        "expected a name after `{keyword}`\n\nhelp: {}",
        if keyword == "source" { SOURCE_FORM } else { COLUMN_FORM }
    )
}

const LINTED_MODULE: &str =
    "lints apply to columns, not to modules\n\nhelp: put this on the columns of that flow";
