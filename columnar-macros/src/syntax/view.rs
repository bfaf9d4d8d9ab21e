//! A view: a column or `self`, and what is said of it after dots.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::{LitInt, LitStr};

use super::cursor::{Cursor, is_punct};
use super::{group, tokens, trees_of};
use crate::errors;
use crate::name::{identifier, is_name};
use crate::report::Errors;

/// What can be said of a column.
pub(crate) const VIEWS: [&str; 7] = ["latest", "window", "prev", "as", "note", "filter", "sample"];

pub(crate) struct View {
    /// The comma or the parenthesis before it.
    pub(crate) before: Span,
    /// The column it shows; `self` for the own past.
    pub(crate) base: Ident,
    /// Of a module the column that is shown: `critic` in `debate.critic`.
    pub(crate) path: Vec<Ident>,
    /// Whether the base is no column of this flow, so one of the flow that it extends.
    pub(crate) is_inherited: bool,
    /// How much it shows, where it says so.
    size: Option<Size>,
    /// Whether it shows each value a step later.
    pub(crate) delayed: bool,
    /// How much it shows, as Rust: `.latest`, `.prev.window(3)` and whatever rustc will refuse.
    pub(crate) tail: TokenStream,
    pub(crate) tag: Tag,
    /// The tag as Rust: `.as("tag")`.
    pub(crate) tagging: TokenStream,
    /// The filter as Rust: `.filter(...)` or `.sample(...)`.
    pub(crate) filtering: TokenStream,
    /// The note as Rust: `.note("...")`.
    pub(crate) noting: TokenStream,
    /// The groups around it, the outermost first.
    pub(crate) groups: Vec<group::Around>,
    /// As it was written.
    pub(crate) written: TokenStream,
    /// Whether not all of that could be read.
    pub(crate) is_cut: bool,
}

/// How much a view shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    All,
    Last,
}

/// What the column goes by, to the one that reads it.
pub(crate) enum Tag {
    /// Its name.
    Name,
    Given(Span, String),
    /// It cannot be read, so it is like no other.
    Broken,
}

impl View {
    pub(crate) fn is_own(&self) -> bool {
        self.base == "self"
    }

    /// Whether it shows some last values, and not all.
    pub(crate) fn is_windowed(&self) -> bool {
        self.size.map_or(self.delayed, |size| size == Size::Last)
    }

    /// The first thing that is said of the column, if it is no view.
    pub(crate) fn other_word(&self) -> Option<Ident> {
        match self.written.clone().into_iter().nth(2) {
            Some(TokenTree::Ident(word)) if !VIEWS.contains(&word.to_string().as_str()) => Some(word),
            _ => None,
        }
    }

    /// The column that it shows to the column `own`, where it is mentioned.
    pub(crate) fn mentioned(&self, own: &Ident) -> TokenStream {
        let mut column = if self.is_own() { own.clone() } else { self.base.clone() };
        column.set_span(self.base.span());
        let path = &self.path;
        quote!(#column #(.#path)*)
    }

    /// The name of the column that it shows.
    pub(crate) fn name(&self) -> String {
        let path = [&self.base].into_iter().chain(&self.path);
        path.map(|part| part.unraw().to_string()).collect::<Vec<_>>().join(".")
    }

    /// The last part of the name.
    pub(crate) fn last(&self) -> &Ident {
        self.path.last().unwrap_or(&self.base)
    }

    /// Takes what stands behind the base for views of it, and not for columns of a module.
    pub(crate) fn unfold(&mut self) {
        let (path, tail) = (self.path.drain(..), &self.tail);
        self.tail = quote!(#(.#path)* #tail);
    }
}

/// The views of a list that can be read, and whether these are all.
pub(super) fn parse_list(list: &Group, errors: &mut Errors) -> (Vec<View>, bool) {
    parse_views(list.span_open(), &trees_of(list), errors)
}

/// The same for what stands behind an opening parenthesis.
pub(super) fn parse_views(open: Span, trees: &[TokenTree], errors: &mut Errors) -> (Vec<View>, bool) {
    let mut parts: Vec<&[TokenTree]> = trees.split(|tree| is_punct(Some(tree), ',')).collect();
    // One comma may follow the last view.
    if parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    let mut commas = trees.iter().filter(|tree| is_punct(Some(tree), ','));
    let (mut before, mut views, mut whole) = (open, Vec::new(), true);
    for part in &parts {
        let comma = commas.next();
        if part.is_empty() {
            errors.at(comma, errors::EMPTY_VIEW);
        }
        if let Some(list) = group::parentheses(part) {
            let (grouped, is_whole) = group::parse(part, list, errors);
            views.extend(grouped);
            whole &= is_whole;
        } else {
            let view = parse(before, part, errors);
            whole &= view.is_some();
            views.extend(view);
        }
        before = comma.map_or(before, TokenTree::span);
    }
    (views, whole)
}

pub(super) fn parse(before: Span, trees: &[TokenTree], errors: &mut Errors) -> Option<View> {
    let mut cursor = Cursor::new(trees);
    let base = match cursor.next()? {
        TokenTree::Ident(base) => base.clone(),
        _ if is_punct(trees.first(), ':') => {
            errors.at(tokens(trees), errors::PATH_VIEW);
            return None;
        }
        other => {
            errors.at(other, errors::not_a_view(trees));
            return None;
        }
    };
    if is_punct(trees.get(1), ':') && is_punct(trees.get(2), ':') {
        errors.at(tokens(trees), errors::PATH_VIEW);
        return None;
    }
    if let Some(TokenTree::Group(arguments)) = trees.get(1)
        && arguments.delimiter() == Delimiter::Parenthesis
    {
        errors.at(tokens(trees), errors::VIEW_BEFORE);
        return None;
    }
    if is_punct(trees.get(1), '=') {
        errors.at(tokens(trees), errors::TAG_BEFORE);
        return None;
    }
    let mut view = View {
        before,
        base,
        path: Vec::new(),
        is_inherited: false,
        size: None,
        delayed: false,
        tail: TokenStream::new(),
        tag: Tag::Name,
        tagging: TokenStream::new(),
        filtering: TokenStream::new(),
        noting: TokenStream::new(),
        groups: Vec::new(),
        written: tokens(trees),
        is_cut: false,
    };
    if !view.is_own() {
        view.path = path(&mut cursor);
    }
    while view.say(&mut cursor, errors) {}
    Some(view)
}

/// The columns of modules that stand next: words that are no view.
fn path(cursor: &mut Cursor<'_>) -> Vec<Ident> {
    let mut path = Vec::new();
    while let [dot, TokenTree::Ident(word), rest @ ..] = cursor.rest()
        && is_punct(Some(dot), '.')
        && !matches!(rest.first(), Some(TokenTree::Group(_)))
        && !is_view(word)
        && identifier(word).as_ref() == Some(word)
    {
        path.push(word.clone());
        cursor.take(2);
    }
    path
}

/// Whether a view has this name, with or without arguments.
fn is_view(word: &Ident) -> bool {
    VIEWS.iter().chain(&["all", "named", "r#as"]).any(|view| word == view)
}

impl View {
    /// Takes one `.word` or `.word(arguments)`. `false` where there is none, or nothing that can be
    /// read after it.
    fn say(&mut self, cursor: &mut Cursor<'_>, errors: &mut Errors) -> bool {
        let Some(dot) = cursor.punct('.') else {
            if let Some(found) = cursor.peek() {
                errors.at(found, errors::no_separator(found));
            }
            return false;
        };
        let Some(TokenTree::Ident(word)) = cursor.next() else {
            errors.at(dot, errors::dangling_dot(self.last()));
            self.is_cut = true;
            return false;
        };
        let arguments = match cursor.peek() {
            Some(TokenTree::Group(group)) => {
                cursor.next();
                Some(parenthesized(word, group, errors))
            }
            _ => None,
        };
        self.say_word(dot, word, arguments.as_ref(), errors);
        true
    }

    /// One word, as Rust and, where it is not sound, as an error.
    fn say_word(&mut self, dot: &TokenTree, word: &Ident, arguments: Option<&Group>, errors: &mut Errors) {
        let text = word.to_string();
        match (text.as_str(), arguments) {
            ("prev", _) => self.say_prev(dot, word, arguments, errors),
            ("latest" | "window" | "all", _) if self.size.is_some() || self.delayed && text == "latest" => {
                errors.at(said(dot, word, arguments), errors::SECOND_WINDOW);
            }
            ("latest" | "window" | "all", _) => self.say_window(dot, word, arguments, errors),
            ("as" | "r#as" | "named", _) => self.say_tag(dot, word, arguments, errors),
            ("note", _) => self.say_note(dot, word, arguments, errors),
            ("filter" | "sample", _) => self.say_filter(dot, word, arguments, errors),
            // What rustc says of a method that there is not begins with iterators and streams.
            (said_word, Some(_)) if !VIEWS.contains(&said_word) => {
                errors.at(word, errors::no_view_named(word));
            }
            _ if identifier(word).as_ref() != Some(word) => {
                errors.at(word, errors::no_view_named(word));
                self.is_cut = true;
            }
            _ => self.tail.extend(said(dot, word, arguments)),
        }
    }

    /// `latest`, `window(3)` or, behind `prev`, `all()`.
    fn say_window(&mut self, dot: &TokenTree, word: &Ident, arguments: Option<&Group>, errors: &mut Errors) {
        self.size = Some(if word == "all" { Size::All } else { Size::Last });
        match arguments {
            _ if word == "all" && !self.delayed => {
                errors.at(said(dot, word, arguments), errors::all_said(&self.base));
            }
            Some(parentheses) if word == "latest" => {
                errors.at(parentheses, errors::no_parentheses(word));
                self.tail.extend(said(dot, word, None));
            }
            None if word == "window" => errors.at(word, errors::NO_COUNT),
            Some(count) if word == "window" && count.stream().is_empty() => {
                errors.at(count, errors::NO_COUNT);
            }
            Some(count) if word == "window" && is_zero(count) => {
                errors.at(count.stream(), errors::EMPTY_WINDOW);
            }
            _ => self.tail.extend(said(dot, word, arguments)),
        }
    }

    /// `prev`, which comes before everything else.
    fn say_prev(&mut self, dot: &TokenTree, word: &Ident, arguments: Option<&Group>, errors: &mut Errors) {
        if self.is_own() {
            return errors.at(said(dot, word, arguments), errors::PREV_OF_SELF);
        }
        if self.size.is_some() || self.delayed {
            return errors.at(said(dot, word, arguments), errors::LATE_PREV);
        }
        if let Some(parentheses) = arguments {
            errors.at(parentheses, errors::no_parentheses(word));
        }
        self.delayed = true;
        self.tail.extend(said(dot, word, None));
    }

    fn say_tag(&mut self, dot: &TokenTree, word: &Ident, arguments: Option<&Group>, errors: &mut Errors) {
        let Some(arguments) = arguments else {
            errors.at(word, errors::NO_TAG);
            self.tag = Tag::Broken;
            return;
        };
        if self.is_own() || !matches!(self.tag, Tag::Name) {
            let message = if self.is_own() { errors::TAGGED_SELF } else { errors::SECOND_TAG };
            errors.at(said(dot, word, Some(arguments)), message);
            return;
        }
        self.tag = Tag::Broken;
        match syn::parse2::<LitStr>(arguments.stream()) {
            Ok(tag) if is_name(&tag.value()) => {
                self.tag = Tag::Given(tag.span(), tag.value());
                // `as` is a keyword; the method behind it is `r#as`.
                let method = identifier(word).unwrap_or_else(|| word.clone());
                self.tagging = said(dot, &method, Some(arguments));
            }
            Ok(tag) => errors.at(&tag, errors::bad_tag(&tag.value())),
            Err(_) => errors.at(arguments, errors::TAG_LITERAL),
        }
    }
}

impl View {
    fn say_filter(&mut self, dot: &TokenTree, word: &Ident, arguments: Option<&Group>, errors: &mut Errors) {
        match arguments {
            _ if self.is_own() => errors.at(said(dot, word, arguments), errors::FILTERED_SELF),
            _ if !self.filtering.is_empty() => errors.at(said(dot, word, arguments), errors::SECOND_FILTER),
            Some(shows) if !shows.stream().is_empty() => self.filtering = said(dot, word, arguments),
            Some(nothing) => errors.at(nothing, errors::no_filter(word)),
            None => errors.at(word, errors::no_filter(word)),
        }
    }

    fn say_note(&mut self, dot: &TokenTree, word: &Ident, arguments: Option<&Group>, errors: &mut Errors) {
        let note = arguments.map(|arguments| syn::parse2::<LitStr>(arguments.stream()));
        match (arguments, note) {
            _ if self.is_own() => errors.at(said(dot, word, arguments), errors::NOTED_SELF),
            _ if !self.noting.is_empty() => errors.at(said(dot, word, arguments), errors::SECOND_NOTE),
            (Some(_), Some(Ok(_))) => self.noting = said(dot, word, arguments),
            (Some(arguments), _) => errors.at(arguments, errors::NOTE_LITERAL),
            (None, _) => errors.at(word, errors::NO_NOTE),
        }
    }
}

/// `.word` or `.word(arguments)`.
fn said(dot: &TokenTree, word: &Ident, arguments: Option<&Group>) -> TokenStream {
    let (word, arguments) = (TokenTree::from(word.clone()), arguments.cloned().map(TokenTree::from));
    [dot.clone(), word].into_iter().chain(arguments).collect()
}

/// The arguments as a group in parentheses, whatever they were written in.
fn parenthesized(word: &Ident, group: &Group, errors: &mut Errors) -> Group {
    if group.delimiter() == Delimiter::Parenthesis {
        return group.clone();
    }
    errors.on(group.span_open(), errors::not_parentheses(word));
    let mut parentheses = Group::new(Delimiter::Parenthesis, group.stream());
    parentheses.set_span(group.span());
    parentheses
}

fn is_zero(arguments: &Group) -> bool {
    let literal = syn::parse2::<LitInt>(arguments.stream());
    literal.is_ok_and(|count| matches!(count.base10_parse::<u128>(), Ok(0)))
}
