//! Parses a view, a column with its modifiers: `user.window(3).as("said")`.
//!
//! A modifier that is wrong is reported and kept: the view is invalid then, and its tokens are for editors.

use std::fmt::Display;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser as _};
use syn::{Lit, LitInt, LitStr, Token};

use super::cursor::{Cursor, is_blank, is_ident, is_punct, tokens, trees_of};
use super::expression::{self, Expression};
use super::view::{self, ModifierKind, Tag, ViewDecl, WindowDecl};
use crate::diagnostics::{
    COMPACTION_ALONE, Errors, PURPOSE_OF_SELF, TARGET_ALONE, bad_tag, no_view_named, not_empty_parentheses,
    not_parentheses, quote,
};
use crate::ident::{ident_text, is_name, rust_ident, without_marker};

/// One view; `None` if it does not begin like one.
pub(super) fn parse_view(trees: &[TokenTree], errors: &mut Errors) -> Option<ViewDecl> {
    let trees = without_modifier(trees, errors);
    let mut cursor = Cursor::new(trees);
    let base = match cursor.next()? {
        TokenTree::Ident(base) => base.clone(),
        _ if is_punct(trees.first(), ':') => return errors.stop(tokens(trees), PATH_VIEW),
        other => return errors.stop(other, not_a_view(other)),
    };
    match cursor.peek() {
        Some(colon) if is_punct(colon, ':') && is_punct(trees.get(2), ':') => {
            return errors.stop(tokens(trees), PATH_VIEW);
        }
        Some(found) if !is_punct(found, '.') => return errors.stop(found, no_separator(found)),
        _ => {}
    }
    let mut parser = ModifierParser { view: ViewDecl::new(base, tokens(trees)), errors };
    parser.view.path = view::path(&mut cursor);
    while parser.next(&mut cursor).is_some() {}
    Some(parser.view)
}

/// The view without the `mut` or `ref` before it, which is reported.
fn without_modifier<'t>(trees: &'t [TokenTree], errors: &mut Errors) -> &'t [TokenTree] {
    match trees.split_first() {
        Some((TokenTree::Ident(word), view @ [TokenTree::Ident(_), ..]))
            if ["mut", "ref", "pub", "move", "let", "const", "static"].iter().any(|&known| word == known) =>
        {
            errors.at(word, modifier(word));
            view
        }
        _ => trees,
    }
}

/// The modifiers of a view.
struct ModifierParser<'p> {
    view: ViewDecl,
    errors: &'p mut Errors,
}

/// A modifier as it was written.
struct ModifierCall<'t> {
    dot: &'t TokenTree,
    name: &'t Ident,
    arguments: Option<Group>,
}

impl ModifierCall<'_> {
    /// The call as Rust: `as` is a keyword there, and the method is `r#as`.
    fn tokens(&self) -> TokenStream {
        let dot = self.dot;
        let name = rust_ident(self.name).unwrap_or_else(|| self.name.clone());
        let arguments = &self.arguments;
        quote!(#dot #name #arguments)
    }
}

impl ModifierParser<'_> {
    /// Takes one modifier. `None` at the end, and before tokens that are none.
    fn next(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let Some(dot) = cursor.punct('.') else {
            let found = cursor.peek()?;
            self.report(found, no_separator(found));
            return None;
        };
        let Some(TokenTree::Ident(name)) = cursor.next() else {
            self.report(dot, dangling_dot(self.view.last()));
            return None;
        };
        let mut call = ModifierCall { dot, name, arguments: None };
        if let Some(TokenTree::Group(group)) = cursor.peek() {
            cursor.next();
            call.arguments = Some(self.arguments(name, group));
        }
        self.modifier(&call);
        Some(())
    }

    /// The arguments up to the end of the first expression, in parentheses. rustc would report other tokens in each constant
    /// that has the view, and then those constants as missing.
    fn arguments(&mut self, name: &Ident, written: &Group) -> Group {
        if written.delimiter() != Delimiter::Parenthesis {
            self.report(written, not_parentheses(name));
        }
        let trees = trees_of(written);
        let argument = match expression::first(&trees) {
            Some(Expression { tokens: argument, after: after @ [first, ..], .. })
                if trees.len() > 1 && !is_punct(first, ',') =>
            {
                if let Some(message) = one_argument(name) {
                    self.report(tokens(after), message);
                }
                tokens(argument)
            }
            _ if written.delimiter() == Delimiter::Parenthesis => return written.clone(),
            _ => written.stream(),
        };
        let mut arguments = Group::new(Delimiter::Parenthesis, argument);
        arguments.set_span(written.span());
        arguments
    }

    fn modifier(&mut self, call: &ModifierCall<'_>) {
        let text = ident_text(call.name);
        if self.view.is_thread() {
            self.report(call.tokens(), PART_OF_THREAD);
        }
        let (kind, check): (_, fn(&mut Self, &ModifierCall<'_>)) = match text.as_str() {
            "as" | "named" => (ModifierKind::Tag, Self::tag),
            "note" => (ModifierKind::Note, Self::note),
            "filter" | "sample" => (ModifierKind::Filter, Self::filter),
            "elided" => (ModifierKind::Elided, Self::elided),
            "text_only" => (ModifierKind::TextOnly, Self::text_only),
            "tiered" => (ModifierKind::Tiered, Self::tiered),
            "target" => (ModifierKind::Target, Self::target),
            "compacted" => (ModifierKind::Compacted, Self::compacted),
            "edits" | "at_most" => (ModifierKind::Compaction, Self::compaction),
            "thread" => (ModifierKind::Thread, Self::thread),
            "context" | "instruction" => (ModifierKind::Purpose, Self::purpose),
            _ => return self.range(&text, call),
        };
        check(self, call);
        let is_constant = !matches!(
            kind,
            ModifierKind::Tag | ModifierKind::Tiered | ModifierKind::Compacted | ModifierKind::Thread
        );
        self.view.add_modifier(kind, is_constant, call.tokens());
    }

    /// `latest`, `window(3)`, `prev`, `all()`. There is no other modifier.
    fn range(&mut self, text: &str, call: &ModifierCall<'_>) {
        let mut is_constant = false;
        match text {
            // The name is the marker of an editor alone.
            "" => self.report(call.dot, dangling_dot(self.view.last())),
            "latest" | "window" | "prev" | "all" if self.is_late(call) => {
                if text == "prev" {
                    self.view.is_lagged = true;
                } else {
                    self.view.window = Some(WindowDecl::Computed);
                }
            }
            "prev" => self.prev(call),
            "latest" | "window" | "all"
                if self.view.window.is_some() || self.view.is_lagged && text == "latest" =>
            {
                self.report(call.tokens(), "a view has one window\n\nhelp: drop this");
            }
            "latest" | "window" | "all" => {
                let window = self.window(text, call);
                self.view.window = Some(window);
                is_constant = window == WindowDecl::Computed;
            }
            _ => {
                self.report(call.name, no_view_named(call.name));
                // rustc cannot parse a keyword as a field, not even behind an error.
                if rust_ident(call.name).as_ref() != Some(call.name) {
                    return;
                }
                // Perhaps `prev` is meant. Then two columns that read each other are no second error.
                self.view.is_lagged |= !self.view.is_self;
            }
        }
        self.view.add_modifier(ModifierKind::Range, is_constant, call.tokens());
    }

    /// Reports a range after a modifier that comes after it. `false` if there is none before it, or the view has another
    /// mistake.
    fn is_late(&mut self, call: &ModifierCall<'_>) -> bool {
        let view = &self.view;
        let others = view.labels();
        let is_second = match &*ident_text(call.name) {
            "latest" | "prev" => view.is_lagged,
            "all" => !view.is_lagged,
            _ => false,
        };
        if others.is_empty() || is_second || !view.is_valid() || view.window.is_some() {
            return false;
        }
        let column = view.name() + if view.is_lagged { ".prev" } else { "" };
        self.report(call.name, late_range(&column, call.name, &shown(&call.tokens()), &shown(&others)));
        true
    }

    fn window(&mut self, text: &str, call: &ModifierCall<'_>) -> WindowDecl {
        // As text: a marker before a number makes it an identifier.
        let count =
            call.arguments.as_ref().and_then(|count| syn::parse_str::<LitInt>(&unmarked_text(count)).ok());
        match (text, &call.arguments) {
            ("all", _) if !self.view.is_lagged => {
                let column = quote(&self.view.base);
                let message = format!("{column} already shows all of its history\n\nhelp: drop this");
                self.report(call.tokens(), message);
            }
            ("latest", Some(parentheses)) => self.report(parentheses, no_parentheses(call.name, parentheses)),
            ("window", None) => self.report(call.name, NO_COUNT),
            ("window", Some(count)) if is_blank(&trees_of(count)) => self.report(count, NO_COUNT),
            // Also `0x0` and `0_usize`, which are left to the compiler otherwise.
            ("window", Some(written))
                if count.as_ref().is_some_and(|count| matches!(count.base10_parse::<u128>(), Ok(0))) =>
            {
                self.report(written.stream(), EMPTY_WINDOW);
            }
            _ => {}
        }
        match text {
            "all" => WindowDecl::All,
            "latest" => WindowDecl::Last(1),
            // Any other count, as `0x3` or `MANY`, is left to the compiler.
            _ => count
                .and_then(|count| count.to_string().parse().ok())
                .map_or(WindowDecl::Computed, WindowDecl::Last),
        }
    }

    /// `prev`, which comes before every other modifier.
    fn prev(&mut self, call: &ModifierCall<'_>) {
        match &call.arguments {
            _ if self.view.is_self => self.report(call.tokens(), PREV_OF_SELF),
            _ if self.view.window.is_some() || self.view.is_lagged => {
                self.report(call.tokens(), LATE_PREV);
            }
            Some(parentheses) => self.report(parentheses, no_parentheses(call.name, parentheses)),
            None => {}
        }
        // After an error, too: otherwise an `all()` that follows would be a second one.
        self.view.is_lagged = true;
    }

    fn tag(&mut self, call: &ModifierCall<'_>) {
        let is_first = matches!(self.view.tag, Tag::Name);
        match call.arguments.as_ref().map(|arguments| (arguments, string.parse2(arguments.stream()))) {
            None => self.report(call.name, "expected a tag after this\n\nhelp: as in `as(\"digest\")`"),
            _ if self.view.is_instruction() => self.report(call.name, LABELLED_INSTRUCTION),
            _ if self.view.is_self => return self.report(call.tokens(), TAGGED_SELF),
            _ if !is_first => return self.report(call.tokens(), "a view has one tag\n\nhelp: drop this"),
            Some((_, Ok(tag))) if is_name(&tag.value()) => {
                self.view.tag = Tag::Explicit(tag.span(), tag.value());
                return;
            }
            Some((_, Ok(tag))) => self.report(&tag, bad_tag(&tag.value())),
            Some((arguments, Err(_))) => {
                self.report(arguments, "a tag is a string literal\n\nhelp: as in `.as(\"digest\")`");
            }
        }
        self.view.tag = Tag::Invalid;
    }

    fn filter(&mut self, call: &ModifierCall<'_>) {
        match &call.arguments {
            _ if self.view.is_self => self.report(call.tokens(), FILTERED_SELF),
            _ if self.view.has(ModifierKind::Filter) => self.report(call.tokens(), SECOND_FILTER),
            Some(empty) if empty.stream().is_empty() => self.report(empty, no_filter(call.name)),
            Some(function) => {
                let word = function.stream().into_iter().next().filter(|first| is_ident(first, "async"));
                if let Some(word) = word {
                    self.report(word, "a filter is not async\n\nhelp: drop the `async`");
                }
            }
            None => self.report(call.name, no_filter(call.name)),
        }
    }

    fn elided(&mut self, call: &ModifierCall<'_>) {
        match &call.arguments {
            _ if self.view.is_instruction() => self.report(call.name, LABELLED_INSTRUCTION),
            _ if self.view.has(ModifierKind::Elided) => {
                self.report(call.tokens(), "a view has one `elided()`\n\nhelp: drop this");
            }
            None => self.report(call.name, not_parentheses(call.name)),
            Some(arguments) if !is_blank(&trees_of(arguments)) => self.report(arguments, ELIDED_ARGUMENTS),
            Some(_) => {}
        }
    }

    fn text_only(&mut self, call: &ModifierCall<'_>) {
        if self.view.has(ModifierKind::TextOnly) {
            self.report(call.tokens(), "a view has one `text_only()`\n\nhelp: drop this");
        }
        self.empty_parentheses(call);
    }

    /// Reports a modifier without parentheses, or with arguments that it does not take.
    fn empty_parentheses(&mut self, call: &ModifierCall<'_>) {
        match &call.arguments {
            None => self.report(call.name, not_empty_parentheses(call.name)),
            Some(arguments) if !is_blank(&trees_of(arguments)) => {
                let word = ident_text(call.name);
                self.report(call.name, format!("`{word}` takes no arguments\n\nhelp: write `{word}()`"));
            }
            Some(_) => {}
        }
    }

    /// `context()` or `instruction()`. An instruction is no message, so it has nothing that a message shows around values.
    fn purpose(&mut self, call: &ModifierCall<'_>) {
        let word = ident_text(call.name);
        let labels = [ModifierKind::Elided, ModifierKind::Tag, ModifierKind::Note];
        let is_labelled = labels.into_iter().any(|label| self.view.has(label));
        if self.view.is_self {
            return self.report(call.name, PURPOSE_OF_SELF);
        }
        if self.view.purpose.is_some() {
            return self.report(call.name, "a view has one purpose\n\nhelp: drop this");
        }
        if is_labelled && word == "instruction" {
            self.report(call.name, LATE_INSTRUCTION);
        }
        self.empty_parentheses(call);
        self.view.purpose = Some(call.name.clone());
    }

    fn tiered(&mut self, call: &ModifierCall<'_>) {
        self.layout(call, TIERED_SELF, TIERED_ARGUMENTS);
    }

    fn compacted(&mut self, call: &ModifierCall<'_>) {
        self.layout(call, COMPACTED_SELF, COMPACTED_ARGUMENTS);
    }

    /// A layout of documents, with its messages for the self history and for arguments.
    fn layout(&mut self, call: &ModifierCall<'_>, of_self: &str, with_arguments: &str) {
        match &call.arguments {
            _ if self.view.is_self => self.report(call.tokens(), of_self),
            _ if self.view.has_layout() => self.report(call.tokens(), SECOND_LAYOUT),
            None => self.report(call.name, not_parentheses(call.name)),
            Some(arguments) if !is_blank(&trees_of(arguments)) => self.report(arguments, with_arguments),
            Some(_) => {}
        }
    }

    fn target(&mut self, call: &ModifierCall<'_>) {
        match &call.arguments {
            // The names decide whether parentheses are missing here.
            _ if self.view.is_path_to("tiered") => {}
            _ if !self.view.is_tiered() => self.report(call.tokens(), TARGET_ALONE),
            _ if self.view.has(ModifierKind::Target) => {
                self.report(call.tokens(), "a tiered view has one target\n\nhelp: drop this");
            }
            None => self.report(call.name, NO_TARGET),
            Some(count) if is_blank(&trees_of(count)) || is_other_literal(count) => {
                self.report(count, NO_TARGET);
            }
            Some(_) => {}
        }
    }

    /// `thread()`, which is the only modifier of its view.
    fn thread(&mut self, call: &ModifierCall<'_>) {
        if self.view.is_self {
            return self.report(call.tokens(), THREAD_OF_SELF);
        }
        if self.view.has_modifiers() {
            self.report(call.tokens(), LATE_THREAD);
        }
        self.empty_parentheses(call);
    }

    /// `edits()` or `at_most(2.0)`.
    fn compaction(&mut self, call: &ModifierCall<'_>) {
        let word = ident_text(call.name);
        let is_second =
            self.view.of_kinds(&[ModifierKind::Compaction]).is_some_and(|known| has_word(known, &word));
        match &call.arguments {
            // The names decide whether parentheses are missing here.
            _ if self.view.is_path_to("compacted") => {}
            _ if !self.view.is_compacted() => self.report(call.tokens(), COMPACTION_ALONE),
            _ if is_second => {
                self.report(call.tokens(), format!("a compacted view has one `{word}`\n\nhelp: drop this"));
            }
            _ if word == "edits" => self.empty_parentheses(call),
            None => self.report(call.name, NO_BOUND),
            Some(bound) => {
                let bound_of = unmarked_text(bound).replace('_', "").parse::<f64>();
                let is_whole = syn::parse_str::<LitInt>(&unmarked_text(bound)).is_ok();
                if is_blank(&trees_of(bound)) || is_whole || bound_of.is_ok_and(|factor| factor < 1.0) {
                    self.report(bound, NO_BOUND);
                }
            }
        }
    }

    fn note(&mut self, call: &ModifierCall<'_>) {
        match &call.arguments {
            _ if self.view.is_self => self.report(call.tokens(), NOTED_SELF),
            _ if self.view.is_instruction() => self.report(call.name, LABELLED_INSTRUCTION),
            _ if self.view.has(ModifierKind::Note) => {
                self.report(call.tokens(), "a view has one note\n\nhelp: drop this");
            }
            Some(arguments) => match string.parse2(arguments.stream()) {
                Ok(note) if !note.value().trim().is_empty() => {}
                Ok(_) => self.report(arguments, "a note has a text\n\nhelp: write it, or drop `note`"),
                Err(_) => self.report(arguments, NOTE_LITERAL),
            },
            None => self.report(call.name, NO_NOTE),
        }
    }

    fn report(&mut self, at: impl ToTokens, message: impl Display) {
        self.view.report(at, message, self.errors);
    }
}

/// The message about parentheses after `latest` or `prev`, in which a number of values may be.
fn no_parentheses(name: &Ident, parentheses: &Group) -> String {
    let count = unmarked_text(parentheses);
    let help = match ident_text(name).as_str() {
        _ if count.is_empty() => "drop them".to_owned(),
        "prev" => format!("write `prev.window({count})`"),
        _ => format!("write `window({count})`"),
    };
    format!("{} takes no parentheses\n\nhelp: {help}", quote(name))
}

fn unmarked_text(arguments: &Group) -> String {
    without_marker(arguments.stream().to_string())
}

/// Tokens as they are written, except that `as` is not raw.
fn shown(tokens: &TokenStream) -> String {
    without_marker(tokens.to_string())
        .replace(" .", ".")
        .replace(". ", ".")
        .replace(" (", "(")
        .replace("r#as", "as")
}

/// Whether the arguments are a literal that is no number from 0 on.
fn is_other_literal(arguments: &Group) -> bool {
    syn::parse_str::<Lit>(&unmarked_text(arguments))
        .is_ok_and(|literal| !matches!(literal, Lit::Int(count) if !count.base10_digits().starts_with('-')))
}

/// The argument of a modifier, with a comma after it or without.
fn string(input: ParseStream<'_>) -> syn::Result<LitStr> {
    let string = input.parse()?;
    input.parse::<Option<Token![,]>>().map(|_| string)
}

// Messages.

/// `user latest` or `user[3]`: `found` is after a view.
fn no_separator(found: &TokenTree) -> String {
    let help = match found {
        TokenTree::Group(list) if list.delimiter() == Delimiter::Parenthesis => {
            "a view begins with its column, as in `user.window(3)`"
        }
        TokenTree::Group(_) => "`.latest` shows the newest value, `.window(3)` the last three",
        TokenTree::Ident(modifier) if modifier == "as" => "write a tag as in `.as(\"digest\")`",
        TokenTree::Punct(colon) if colon.as_char() == ':' => {
            "a view has no type, and its tag comes after it, as in `user.as(\"said\")`"
        }
        _ => "as in `user, topics` or `user.latest`",
    };
    format!("expected `,` or `.` before `{found}`\n\nhelp: {help}")
}

/// `&user`, `"user"` or another token where a view should be.
fn not_a_view(found: &TokenTree) -> String {
    const NOT_A_VIEW: &str = "expected a column name or `self`";
    match found {
        TokenTree::Punct(punct) if punct.as_char() == '&' => format!("{NOT_A_VIEW}\n\nhelp: drop the `&`"),
        _ => format!("{NOT_A_VIEW}\n\nhelp: as in `user.latest`"),
    }
}

/// `mut user`
fn modifier(found: &Ident) -> String {
    format!("a view takes no `{found}`\n\nhelp: drop it")
}

const PATH_VIEW: &str =
    "a view names a column of this flow\n\nhelp: write its name without a path, as in `user`";
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

const EMPTY_WINDOW: &str = "a window of 0 shows nothing\n\nhelp: drop the view, or show at least 1 value";
const NO_COUNT: &str = "expected the number of values to show\n\nhelp: as in `window(3)`";
const NO_NOTE: &str =
    "expected the text of the note after this\n\nhelp: as in `note(\"what the person typed\")`";
const NOTE_LITERAL: &str = "a note is a string literal\n\nhelp: as in `.note(\"what the person typed\")`";
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

/// `filter(t => t.len() > 3)` or `window(n: 3)`. `None` for those that take nothing, which have their own errors.
fn one_argument(modifier: &Ident) -> Option<String> {
    let (kind, example) = match ident_text(modifier).as_str() {
        "window" => ("number", "3"),
        "target" => ("number", "1_536"),
        "at_most" => ("number", "2.0"),
        "filter" | "sample" => ("function", example_of_filter(modifier)),
        "as" | "named" | "note" => ("text", "\"...\""),
        _ => return None,
    };
    let modifier = ident_text(modifier);
    Some(format!("`{modifier}` takes one {kind}\n\nhelp: as in `{modifier}({example})`"))
}

const ELIDED_ARGUMENTS: &str = "`elided` counts the hidden values itself\n\nhelp: write `elided()`";

/// `rules.instruction().as("law")`
const LABELLED_INSTRUCTION: &str =
    "an instruction ends the system text as it is, so it has no tag, no note and no count\n\nhelp: drop this";

/// `rules.as("law").instruction()`
const LATE_INSTRUCTION: &str = "an instruction ends the system text as it is, so it has no tag, no note and no count\n\n\
     help: drop `as(...)`, `note(...)` and `elided()` before it, or write `context()`";
/// Whether tokens have a word outside of groups.
fn has_word(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|tree| is_ident(&tree, word))
}

const COMPACTED_SELF: &str =
    "a compacted view shows documents, and `self` is the history of the column\n\nhelp: drop this";
const COMPACTED_ARGUMENTS: &str =
    "`compacted` takes no arguments\n\nhelp: as in `.compacted().at_most(2.0)`, for a bound of the request";
const SECOND_LAYOUT: &str = "documents have one layout\n\nhelp: drop this";
const NO_BOUND: &str =
    "expected the largest request over the documents, 1.0 or more\n\nhelp: as in `at_most(2.0)`";
const TIERED_SELF: &str =
    "a tiered view shows documents, and `self` is the history of the column\n\nhelp: drop this";
const TIERED_ARGUMENTS: &str =
    "`tiered` takes no arguments\n\nhelp: as in `.tiered().target(1_536)`, for tiers of so many tokens";
const THREAD_OF_SELF: &str =
    "a thread continues the conversation of another column\n\nhelp: drop this, or write `assistant.thread()`";

/// `assistant.thread().latest`
const PART_OF_THREAD: &str =
    "a thread is continued as it was sent, so it takes no other modifiers\n\nhelp: drop this";

/// `assistant.latest.thread()`
const LATE_THREAD: &str = "a thread is continued as it was sent, so it takes no other modifiers\n\nhelp: write `thread()` alone after the column";
const NO_TARGET: &str = "expected the number of tokens that a tier should have\n\nhelp: as in `target(1_536)`; `target(0)` is for tiers of any size";
const TAGGED_SELF: &str = "`self` is shown as assistant messages, so it has no tag\n\nhelp: drop this";

fn dangling_dot(column: &Ident) -> String {
    format!("expected a view of {} after the dot: `latest`, `window(n)` or `prev`", quote(column))
}
