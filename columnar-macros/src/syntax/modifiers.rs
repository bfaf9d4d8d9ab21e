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
use crate::diagnostics::{
    Errors, PURPOSE_OF_SELF, TARGET_ALONE, bad_tag, no_purpose_parentheses, no_separator, no_view_named,
    not_parentheses, quote,
};
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
        let name = TokenTree::from(name.clone());
        let arguments = self.arguments.clone().map(TokenTree::from);
        [self.dot.clone(), name].into_iter().chain(arguments).collect()
    }
}

impl Parser<'_> {
    /// Takes one modifier. `false` at the end, and before tokens that are none.
    fn next(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let Some(dot) = cursor.punct('.') else {
            if let Some(found) = cursor.peek() {
                self.report(found, no_separator(found));
            }
            return false;
        };
        let Some(TokenTree::Ident(name)) = cursor.next() else {
            self.report(dot, dangling_dot(self.view.last()));
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
                if let Some(message) = one_argument(name) {
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
            ("", _) => self.report(call.dot, dangling_dot(self.view.last())),
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
                self.report(call.tokens(), SECOND_WINDOW);
            }
            ("latest" | "window" | "all", _) => evaluation = self.window(text, call),
            // rustc cannot parse a keyword as a field, not even behind an error.
            _ if rust_ident(call.name).as_ref() != Some(call.name) => {
                return self.report(call.name, no_view_named(call.name));
            }
            _ => {
                self.report(call.name, no_view_named(call.name));
                // Perhaps `prev` is meant. Then two columns that read each other are no second error.
                self.view.is_lagged |= !self.view.is_self();
            }
        }
        self.view.add_modifier(ModifierKind::Range, evaluation, call.tokens());
    }

    /// Reports a range after a modifier that comes after it. `false` if there is none before it, or the view has another
    /// mistake.
    fn is_late(&mut self, call: &Call<'_>) -> bool {
        let view = &self.view;
        let others = view.labels();
        let is_second = match &*ident_text(call.name) {
            "latest" | "prev" => view.is_lagged,
            "all" => !view.is_lagged,
            _ => false,
        };
        if others.is_empty() || is_second || view.state != State::Valid || view.window.is_some() {
            return false;
        }
        let column = view.name() + if view.is_lagged { ".prev" } else { "" };
        self.report(call.name, late_range(&column, call.name, &shown(&call.tokens()), &shown(&others)));
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
                self.report(call.tokens(), all_without_prev(&self.view.base));
            }
            ("latest", Some(parentheses)) => self.report(parentheses, no_parentheses(call.name, parentheses)),
            ("window", None) => self.report(call.name, NO_COUNT),
            ("window", Some(count)) if is_blank(&trees_of(count)) => self.report(count, NO_COUNT),
            // Also `0x0` and `0_usize`, which are left to the compiler otherwise.
            ("window", Some(written)) if count.is_some_and(|count| is_zero(&count)) => {
                self.report(written.stream(), EMPTY_WINDOW);
            }
            _ => {}
        }
        if window == Window::Computed { Evaluation::Constant } else { Evaluation::Literal }
    }

    /// `prev`, which comes before every other modifier.
    fn prev(&mut self, call: &Call<'_>) {
        match &call.arguments {
            _ if self.view.is_self() => self.report(call.tokens(), PREV_OF_SELF),
            _ if self.view.window.is_some() || self.view.is_lagged => {
                self.report(call.tokens(), LATE_PREV);
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
            return self.report(call.name, NO_TAG);
        };
        if self.view.is_instruction() {
            self.view.tag = Tag::Invalid;
            return self.report(call.name, LABELLED_INSTRUCTION);
        }
        if self.view.is_self() {
            return self.report(call.tokens(), TAGGED_SELF);
        }
        if !matches!(self.view.tag, Tag::Name) {
            return self.report(call.tokens(), SECOND_TAG);
        }
        self.view.tag = Tag::Invalid;
        match string(arguments) {
            Ok(tag) if is_name(&tag.value()) => self.view.tag = Tag::Explicit(tag.span(), tag.value()),
            Ok(tag) => self.report(&tag, bad_tag(&tag.value())),
            Err(_) => self.report(arguments, TAG_LITERAL),
        }
    }

    fn filter(&mut self, call: &Call<'_>) {
        match &call.arguments {
            _ if self.view.is_self() => self.report(call.tokens(), FILTERED_SELF),
            _ if self.view.has(ModifierKind::Filter) => self.report(call.tokens(), SECOND_FILTER),
            Some(empty) if empty.stream().is_empty() => self.report(empty, no_filter(call.name)),
            Some(function) => {
                if let Some(word) = trees_of(function).first().filter(|first| is_ident(Some(first), "async"))
                {
                    self.report(word, ASYNC_FILTER);
                }
            }
            None => self.report(call.name, no_filter(call.name)),
        }
        self.view.add_modifier(ModifierKind::Filter, Evaluation::Constant, call.tokens());
    }

    fn elided(&mut self, call: &Call<'_>) {
        match &call.arguments {
            _ if self.view.is_instruction() => self.report(call.name, LABELLED_INSTRUCTION),
            _ if self.view.has(ModifierKind::Elided) => self.report(call.tokens(), SECOND_ELIDED),
            None => self.report(call.name, not_parentheses(call.name)),
            Some(arguments) if !is_blank(&trees_of(arguments)) => {
                self.report(arguments, ELIDED_ARGUMENTS);
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
            _ if self.view.is_self() => self.report(call.name, PURPOSE_OF_SELF),
            _ if self.view.purpose().is_some() => self.report(call.name, SECOND_PURPOSE),
            _ if is_instruction && labels.into_iter().any(|label| self.view.has(label)) => {
                self.report(call.name, LATE_INSTRUCTION);
            }
            None => self.report(call.name, no_purpose_parentheses(call.name)),
            Some(arguments) if !is_blank(&trees_of(arguments)) => {
                self.report(call.name, purpose_arguments(call.name));
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
            _ if self.view.is_self() => self.report(call.tokens(), TIERED_SELF),
            _ if self.view.is_tiered() => self.report(call.tokens(), SECOND_TIERED),
            None => self.report(call.name, not_parentheses(call.name)),
            Some(arguments) if !is_blank(&trees_of(arguments)) => {
                self.report(arguments, TIERED_ARGUMENTS);
            }
            Some(_) => {}
        }
        self.view.add_modifier(ModifierKind::Tiered, Evaluation::Literal, call.tokens());
    }

    fn target(&mut self, call: &Call<'_>) {
        match &call.arguments {
            // The names decide whether parentheses are missing here.
            _ if self.view.is_path_to_tiered() => {}
            _ if !self.view.is_tiered() => self.report(call.tokens(), TARGET_ALONE),
            _ if self.view.has(ModifierKind::Target) => self.report(call.tokens(), SECOND_TARGET),
            None => self.report(call.name, NO_TARGET),
            Some(tokens) if is_blank(&trees_of(tokens)) || is_other_literal(tokens) => {
                self.report(tokens, NO_TARGET);
            }
            Some(_) => {}
        }
        self.view.add_modifier(ModifierKind::Target, Evaluation::Constant, call.tokens());
    }

    fn note(&mut self, call: &Call<'_>) {
        let note = call.arguments.as_ref().map(string);
        match (&call.arguments, note) {
            _ if self.view.is_self() => self.report(call.tokens(), NOTED_SELF),
            _ if self.view.is_instruction() => self.report(call.name, LABELLED_INSTRUCTION),
            _ if self.view.has(ModifierKind::Note) => self.report(call.tokens(), SECOND_NOTE),
            (Some(arguments), Some(Ok(note))) if note.value().trim().is_empty() => {
                self.report(arguments, EMPTY_NOTE);
            }
            (Some(_), Some(Ok(_))) => {}
            (Some(arguments), _) => self.report(arguments, NOTE_LITERAL),
            (None, _) => self.report(call.name, NO_NOTE),
        }
        self.view.add_modifier(ModifierKind::Note, Evaluation::Constant, call.tokens());
    }

    /// The arguments in parentheses, with any brackets that were written.
    fn parenthesized(&mut self, name: &Ident, group: &Group) -> Group {
        if group.delimiter() == Delimiter::Parenthesis {
            return group.clone();
        }
        self.report(group, not_parentheses(name));
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
    takes_no_parentheses(name, better.as_deref())
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

// Messages.

const PREV_OF_SELF: &str =
    "`self` already ends at the step before\n\nhelp: drop this, or write `self.latest`";

const LATE_PREV: &str = "`prev` comes right after the column\n\nhelp: as in `user.prev`, `user.prev.window(3)` or `user.prev.all()`";

/// `user.as("said").window(3)`, where `range` is `.window(3)` and `others` is `.as("said")`.
fn late_range(column: &str, word: &Ident, range: &str, others: &str) -> String {
    let help = format!("`{column}{range}{others}`");
    // A long one, such as a filter, would hide what to do.
    let help = if help.len() > 60 { format!("`{column}{range}`, and after it the others") } else { help };
    format!("{} comes right after the column\n\nhelp: write {help}", quote(word))
}

/// `user.latest()`, or `user.prev(2)`, where `better` is `prev.window(2)`
fn takes_no_parentheses(modifier: &Ident, better: Option<&str>) -> String {
    let help = better.map_or_else(|| "drop them".to_owned(), |better| format!("write `{better}`"));
    format!("{} takes no parentheses\n\nhelp: {help}", quote(modifier))
}

fn all_without_prev(column: &Ident) -> String {
    format!("{} already shows all of its history\n\nhelp: drop this", quote(column))
}

const EMPTY_WINDOW: &str = "a window of 0 shows nothing\n\nhelp: drop the view, or show at least 1 value";

const NO_COUNT: &str = "expected the number of values to show\n\nhelp: as in `window(3)`";

const SECOND_WINDOW: &str = "a view has one window\n\nhelp: drop this";

const SECOND_TAG: &str = "a view has one tag\n\nhelp: drop this";

const NO_TAG: &str = "expected a tag after this\n\nhelp: as in `as(\"digest\")`";

const TAG_LITERAL: &str = "a tag is a string literal\n\nhelp: as in `.as(\"digest\")`";

const NO_NOTE: &str =
    "expected the text of the note after this\n\nhelp: as in `note(\"what the person typed\")`";

/// `user.note("")`
const EMPTY_NOTE: &str = "a note has a text\n\nhelp: write it, or drop `note`";

const NOTE_LITERAL: &str = "a note is a string literal\n\nhelp: as in `.note(\"what the person typed\")`";

const SECOND_NOTE: &str = "a view has one note\n\nhelp: drop this";

const NOTED_SELF: &str =
    "`self` has no tag, so it has no note\n\nhelp: drop this, and explain it in the instruction";

const FILTERED_SELF: &str = "`self` has no filter\n\nhelp: drop this, or show less: `self.latest`";

const SECOND_FILTER: &str = "a view has one filter\n\nhelp: drop this, or combine both in one function";

fn no_filter(modifier: &Ident) -> String {
    format!(
        "expected a function that selects the values to show\n\nhelp: as in `{modifier}({})`",
        example_of_filter(modifier)
    )
}

fn example_of_filter(modifier: &Ident) -> &'static str {
    if ident_text(modifier) == "sample" { "|step| step % 10 == 0" } else { "|text| text.ends_with('?')" }
}

/// `filter(async |text| text.len() > 3)`
const ASYNC_FILTER: &str = "a filter is not async\n\nhelp: drop the `async`";

/// `filter(t => t.len() > 3)` or `window(n: 3)`. `None` for those that take nothing, which have their own errors.
fn one_argument(modifier: &Ident) -> Option<String> {
    let (kind, example) = match ident_text(modifier).as_str() {
        "window" => ("number", "3"),
        "target" => ("number", "1_536"),
        "filter" | "sample" => ("function", example_of_filter(modifier)),
        "as" | "named" | "note" => ("text", "\"...\""),
        _ => return None,
    };
    let modifier = ident_text(modifier);
    Some(format!("`{modifier}` takes one {kind}\n\nhelp: as in `{modifier}({example})`"))
}

const ELIDED_ARGUMENTS: &str = "`elided` counts the hidden values itself\n\nhelp: write `elided()`";

const SECOND_ELIDED: &str = "a view has one `elided()`\n\nhelp: drop this";

/// `notes.context().instruction()`
const SECOND_PURPOSE: &str = "a view has one purpose\n\nhelp: drop this";

/// `notes.context(3)`
fn purpose_arguments(word: &Ident) -> String {
    let word = ident_text(word);
    format!("`{word}` takes no arguments\n\nhelp: write `{word}()`")
}

/// `rules.instruction().as("law")`
const LABELLED_INSTRUCTION: &str =
    "an instruction ends the system text as it is, so it has no tag, no note and no count\n\nhelp: drop this";

/// `rules.as("law").instruction()`
const LATE_INSTRUCTION: &str = "an instruction ends the system text as it is, so it has no tag, no note and no count\n\n\
     help: drop `as(...)`, `note(...)` and `elided()` before it, or write `context()`";

const TIERED_SELF: &str =
    "a tiered view shows documents, and `self` is the history of the column\n\nhelp: drop this";

const SECOND_TIERED: &str = "a view is tiered once\n\nhelp: drop this";

const TIERED_ARGUMENTS: &str =
    "`tiered` takes no arguments\n\nhelp: as in `.tiered().target(1_536)`, for tiers of so many tokens";

const SECOND_TARGET: &str = "a tiered view has one target\n\nhelp: drop this";

const NO_TARGET: &str = "expected the number of tokens that a tier should have\n\nhelp: as in `target(1_536)`; `target(0)` is for tiers of any size";

const TAGGED_SELF: &str = "`self` is shown as assistant messages, so it has no tag\n\nhelp: drop this";

fn dangling_dot(column: &Ident) -> String {
    format!("expected a view of {} after the dot: `latest`, `window(n)` or `prev`", quote(column))
}
