//! Parses the modifiers of a view: `.window(3)`, `.as("digest")`.
//!
//! A modifier that is wrong is reported and kept: the view is invalid then, and its tokens are for editors.

use std::fmt::Display;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser as _};
use syn::{Lit, LitInt, LitStr, Token};

use super::cursor::{Cursor, is_blank, is_ident, is_punct, tokens, trees_of};
use super::expression::{self, Expression};
use super::view::{Evaluation, ModifierKind, Purpose, State, Tag, View, Window};
use crate::diagnostics::{Errors, views};
use crate::ident::{ident_text, is_name, rust_ident, without_marker};

/// Takes all modifiers that follow a view.
pub(super) fn parse(view: &mut View, cursor: &mut Cursor<'_>, errors: &mut Errors) {
    let mut parser = Parser { view, errors };
    while parser.next(cursor) {}
}

struct Parser<'p> {
    view: &'p mut View,
    errors: &'p mut Errors,
}

/// A modifier as it was written.
struct Call<'t> {
    dot: &'t TokenTree,
    name: &'t Ident,
    arguments: Option<Group>,
}

impl Call<'_> {
    fn tokens(&self) -> TokenStream {
        self.tokens_as(self.name)
    }

    fn tokens_as(&self, name: &Ident) -> TokenStream {
        let (name, arguments) = (TokenTree::from(name.clone()), self.arguments.clone().map(TokenTree::from));
        [self.dot.clone(), name].into_iter().chain(arguments).collect()
    }
}

impl Parser<'_> {
    /// Takes one modifier. `false` at the end, and before tokens that are none.
    fn next(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let Some(dot) = cursor.punct('.') else {
            if let Some(found) = cursor.peek() {
                self.report(found, views::no_separator(found));
            }
            return false;
        };
        let Some(TokenTree::Ident(name)) = cursor.next() else {
            self.report(dot, views::dangling_dot(self.view.last()));
            return false;
        };
        let arguments = match cursor.peek() {
            Some(TokenTree::Group(group)) => {
                cursor.next();
                let arguments = self.parenthesized(name, group);
                Some(self.one_expression(name, arguments))
            }
            _ => None,
        };
        self.modifier(&Call { dot, name, arguments });
        true
    }

    /// The arguments up to the end of the first expression. rustc would report other tokens in each constant that has the view,
    /// and then those constants as missing.
    fn one_expression(&mut self, name: &Ident, arguments: Group) -> Group {
        let trees = trees_of(&arguments);
        if trees.len() < 2 {
            return arguments;
        }
        match expression::first(&trees) {
            Some(Expression { tokens: argument, after: after @ [first, ..], .. })
                if !is_punct(Some(first), ',') =>
            {
                if let Some(message) = views::one_argument(name) {
                    self.report(tokens(after), message);
                }
                let mut argument = Group::new(Delimiter::Parenthesis, tokens(argument));
                argument.set_span(arguments.span());
                argument
            }
            _ => arguments,
        }
    }

    fn modifier(&mut self, call: &Call<'_>) {
        match ident_text(call.name).as_str() {
            "as" | "named" => self.tag(call),
            "note" => self.note(call),
            "filter" | "sample" => self.filter(call),
            "elided" => self.elided(call),
            "tiered" => self.tiered(call),
            "target" => self.target(call),
            "context" => self.purpose(Purpose::Context(call.name.clone()), call),
            "instruction" => self.purpose(Purpose::Instruction(call.name.clone()), call),
            text => self.range(text, call),
        }
    }

    /// `latest`, `window(3)`, `prev`, `all()`. There is no other modifier.
    fn range(&mut self, text: &str, call: &Call<'_>) {
        let mut evaluation = Evaluation::Literal;
        match (text, &call.arguments) {
            // The name is the marker of an editor alone.
            ("", _) => self.report(call.dot, views::dangling_dot(self.view.last())),
            ("latest" | "window" | "prev" | "all", _) if self.is_late(call) => {
                if text == "prev" {
                    self.view.is_lagged = true;
                } else {
                    self.view.window = Some(Window::Computed);
                }
            }
            ("prev", _) => self.prev(call),
            ("latest" | "window" | "all", _)
                if self.view.window.is_some() || self.view.is_lagged && text == "latest" =>
            {
                self.report(call.tokens(), views::SECOND_WINDOW);
            }
            ("latest" | "window" | "all", _) => evaluation = self.window(text, call),
            // rustc cannot parse a keyword as a field, not even behind an error.
            _ if rust_ident(call.name).as_ref() != Some(call.name) => {
                return self.report(call.name, views::no_view_named(call.name));
            }
            _ => {
                self.report(call.name, views::no_view_named(call.name));
                // Perhaps `prev` is meant. Then two columns that read each other are no second error.
                self.view.is_lagged |= !self.view.is_self();
            }
        }
        self.view.add_modifier(ModifierKind::Range, evaluation, call.tokens());
    }

    /// Reports a range after a modifier that comes after it. `false` if there is none before it, or the view has another
    /// mistake.
    fn is_late(&mut self, call: &Call<'_>) -> bool {
        let (view, others) = (&self.view, self.view.labels());
        let is_second = match &*ident_text(call.name) {
            "latest" | "prev" => view.is_lagged,
            "all" => !view.is_lagged,
            _ => false,
        };
        if others.is_empty() || is_second || view.state != State::Valid || view.window.is_some() {
            return false;
        }
        let column = view.name() + if view.is_lagged { ".prev" } else { "" };
        self.report(
            call.name,
            views::late_range(&column, call.name, &shown(&call.tokens()), &shown(&others)),
        );
        true
    }

    fn window(&mut self, text: &str, call: &Call<'_>) -> Evaluation {
        let count = call.arguments.as_ref().and_then(literal);
        let window = match text {
            "all" => Window::All,
            "window" => window_of(count.as_ref()),
            _ => Window::Last(1),
        };
        self.view.window = Some(window);
        match (text, &call.arguments) {
            ("all", _) if !self.view.is_lagged => {
                self.report(call.tokens(), views::all_without_prev(&self.view.base));
            }
            ("latest", Some(parentheses)) => self.report(parentheses, no_parentheses(call.name, parentheses)),
            ("window", None) => self.report(call.name, views::NO_COUNT),
            ("window", Some(count)) if is_blank(&trees_of(count)) => self.report(count, views::NO_COUNT),
            // Also `0x0` and `0_usize`, which are left to the compiler otherwise.
            ("window", Some(written)) if count.is_some_and(|count| is_zero(&count)) => {
                self.report(written.stream(), views::EMPTY_WINDOW);
            }
            _ => {}
        }
        if window == Window::Computed { Evaluation::Constant } else { Evaluation::Literal }
    }

    /// `prev`, which comes before every other modifier.
    fn prev(&mut self, call: &Call<'_>) {
        match &call.arguments {
            _ if self.view.is_self() => self.report(call.tokens(), views::PREV_OF_SELF),
            _ if self.view.window.is_some() || self.view.is_lagged => {
                self.report(call.tokens(), views::LATE_PREV);
            }
            Some(parentheses) => self.report(parentheses, no_parentheses(call.name, parentheses)),
            None => {}
        }
        // After an error, too: otherwise an `all()` that follows would be a second one.
        self.view.is_lagged = true;
    }

    fn tag(&mut self, call: &Call<'_>) {
        // `as` is a keyword; the method is `r#as`.
        let method = rust_ident(call.name).unwrap_or_else(|| call.name.clone());
        let tokens = call.tokens_as(&method);
        self.view.add_modifier(ModifierKind::Tag, Evaluation::Literal, tokens);
        let Some(arguments) = &call.arguments else {
            self.view.tag = Tag::Invalid;
            return self.report(call.name, views::NO_TAG);
        };
        if self.view.is_instruction() {
            self.view.tag = Tag::Invalid;
            return self.report(call.name, views::LABELLED_INSTRUCTION);
        }
        if self.view.is_self() {
            return self.report(call.tokens(), views::TAGGED_SELF);
        }
        if !matches!(self.view.tag, Tag::Name) {
            return self.report(call.tokens(), views::SECOND_TAG);
        }
        self.view.tag = Tag::Invalid;
        match string(arguments) {
            Ok(tag) if is_name(&tag.value()) => self.view.tag = Tag::Explicit(tag.span(), tag.value()),
            Ok(tag) => self.report(&tag, views::bad_tag(&tag.value())),
            Err(_) => self.report(arguments, views::TAG_LITERAL),
        }
    }

    fn filter(&mut self, call: &Call<'_>) {
        match &call.arguments {
            _ if self.view.is_self() => self.report(call.tokens(), views::FILTERED_SELF),
            _ if self.view.has(ModifierKind::Filter) => self.report(call.tokens(), views::SECOND_FILTER),
            Some(empty) if empty.stream().is_empty() => self.report(empty, views::no_filter(call.name)),
            Some(function) => {
                if let Some(word) = trees_of(function).first().filter(|first| is_ident(Some(first), "async"))
                {
                    self.report(word, views::ASYNC_FILTER);
                }
            }
            None => self.report(call.name, views::no_filter(call.name)),
        }
        self.view.add_modifier(ModifierKind::Filter, Evaluation::Constant, call.tokens());
    }

    fn elided(&mut self, call: &Call<'_>) {
        match &call.arguments {
            _ if self.view.is_instruction() => self.report(call.name, views::LABELLED_INSTRUCTION),
            _ if self.view.has(ModifierKind::Elided) => self.report(call.tokens(), views::SECOND_ELIDED),
            None => self.report(call.name, views::not_parentheses(call.name)),
            Some(arguments) if !is_blank(&trees_of(arguments)) => {
                self.report(arguments, views::ELIDED_ARGUMENTS);
            }
            Some(_) => {}
        }
        self.view.add_modifier(ModifierKind::Elided, Evaluation::Constant, call.tokens());
    }

    /// `context()` or `instruction()`. An instruction is no message, so it has nothing that a message shows around values.
    fn purpose(&mut self, purpose: Purpose, call: &Call<'_>) {
        let is_instruction = matches!(purpose, Purpose::Instruction(_));
        let labels = [ModifierKind::Elided, ModifierKind::Tag, ModifierKind::Note];
        match &call.arguments {
            _ if self.view.is_self() => self.report(call.name, views::PURPOSE_OF_SELF),
            _ if self.view.purpose().is_some() => self.report(call.name, views::SECOND_PURPOSE),
            _ if is_instruction && labels.into_iter().any(|label| self.view.has(label)) => {
                self.report(call.name, views::LATE_INSTRUCTION);
            }
            None => self.report(call.name, views::no_purpose_parentheses(call.name)),
            Some(arguments) if !is_blank(&trees_of(arguments)) => {
                self.report(call.name, views::purpose_arguments(call.name));
            }
            Some(_) => {}
        }
        if self.view.purpose().is_none() && !self.view.is_self() {
            self.view.set_purpose(purpose);
        }
        self.view.add_modifier(ModifierKind::Purpose, Evaluation::Constant, call.tokens());
    }

    fn tiered(&mut self, call: &Call<'_>) {
        match &call.arguments {
            _ if self.view.is_self() => self.report(call.tokens(), views::TIERED_SELF),
            _ if self.view.is_tiered() => self.report(call.tokens(), views::SECOND_TIERED),
            None => self.report(call.name, views::not_parentheses(call.name)),
            Some(arguments) if !is_blank(&trees_of(arguments)) => {
                self.report(arguments, views::TIERED_ARGUMENTS);
            }
            Some(_) => {}
        }
        self.view.add_modifier(ModifierKind::Tiered, Evaluation::Literal, call.tokens());
    }

    fn target(&mut self, call: &Call<'_>) {
        match &call.arguments {
            // The names decide whether parentheses are missing here.
            _ if self.view.is_path_to_tiered() => {}
            _ if !self.view.is_tiered() => self.report(call.tokens(), views::TARGET_ALONE),
            _ if self.view.has(ModifierKind::Target) => self.report(call.tokens(), views::SECOND_TARGET),
            None => self.report(call.name, views::NO_TARGET),
            Some(tokens) if is_blank(&trees_of(tokens)) || is_other_literal(tokens) => {
                self.report(tokens, views::NO_TARGET);
            }
            Some(_) => {}
        }
        self.view.add_modifier(ModifierKind::Target, Evaluation::Constant, call.tokens());
    }

    fn note(&mut self, call: &Call<'_>) {
        let note = call.arguments.as_ref().map(string);
        match (&call.arguments, note) {
            _ if self.view.is_self() => self.report(call.tokens(), views::NOTED_SELF),
            _ if self.view.is_instruction() => self.report(call.name, views::LABELLED_INSTRUCTION),
            _ if self.view.has(ModifierKind::Note) => self.report(call.tokens(), views::SECOND_NOTE),
            (Some(arguments), Some(Ok(note))) if note.value().trim().is_empty() => {
                self.report(arguments, views::EMPTY_NOTE);
            }
            (Some(_), Some(Ok(_))) => {}
            (Some(arguments), _) => self.report(arguments, views::NOTE_LITERAL),
            (None, _) => self.report(call.name, views::NO_NOTE),
        }
        self.view.add_modifier(ModifierKind::Note, Evaluation::Constant, call.tokens());
    }

    /// The arguments in parentheses, whatever brackets were written.
    fn parenthesized(&mut self, name: &Ident, group: &Group) -> Group {
        if group.delimiter() == Delimiter::Parenthesis {
            return group.clone();
        }
        self.report(group, views::not_parentheses(name));
        let mut parentheses = Group::new(Delimiter::Parenthesis, group.stream());
        parentheses.set_span(group.span());
        parentheses
    }

    /// Reports the first mistake of the view. Others may be due to it.
    fn report(&mut self, at: impl ToTokens, message: impl Display) {
        if self.view.state == State::Valid {
            self.errors.at(at, message);
        }
        self.view.state = State::Invalid;
    }
}

/// The message about parentheses after `latest` or `prev`, in which a number of values may be.
fn no_parentheses(name: &Ident, parentheses: &Group) -> String {
    let count = without_marker(parentheses.stream().to_string());
    let better = match ident_text(name).as_str() {
        _ if count.is_empty() => None,
        "prev" => Some(format!("prev.window({count})")),
        _ => Some(format!("window({count})")),
    };
    views::no_parentheses(name, better.as_deref())
}

/// Tokens as they are written, except that `as` is not raw.
pub(super) fn shown(tokens: &TokenStream) -> String {
    without_marker(tokens.to_string())
        .replace(" .", ".")
        .replace(". ", ".")
        .replace(" (", "(")
        .replace("r#as", "as")
}

fn window_of(count: Option<&LitInt>) -> Window {
    // Any other count, as `0x3` or `MANY`, is left to the compiler.
    let count = count.and_then(|count| count.to_string().parse().ok());
    count.map_or(Window::Computed, Window::Last)
}

fn is_zero(count: &LitInt) -> bool {
    matches!(count.base10_parse::<u128>(), Ok(0))
}

/// Whether the arguments are a literal that is no number from 0 on.
fn is_other_literal(arguments: &Group) -> bool {
    let literal = syn::parse_str::<Lit>(&without_marker(arguments.stream().to_string()));
    literal
        .is_ok_and(|literal| !matches!(literal, Lit::Int(count) if !count.base10_digits().starts_with('-')))
}

/// The arguments, if they are a number.
fn literal(arguments: &Group) -> Option<LitInt> {
    // As text: a marker before a number makes it an identifier.
    syn::parse_str(&without_marker(arguments.stream().to_string())).ok()
}

/// The argument of a modifier, with a comma after it or without.
fn string(arguments: &Group) -> syn::Result<LitStr> {
    let parser = |input: ParseStream<'_>| {
        let string = input.parse()?;
        input.parse::<Option<Token![,]>>().map(|_| string)
    };
    parser.parse2(arguments.stream())
}
