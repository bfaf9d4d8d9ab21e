//! A view: a column or `self`, and what is said of it after dots.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::{LitInt, LitStr};

use super::cursor::{Cursor, is_punct};
use super::{tokens, trees_of};
use crate::errors;
use crate::name::{identifier, is_name};
use crate::report::Errors;

pub(crate) struct View {
    /// The comma or the parenthesis before it.
    pub(crate) before: Span,
    /// The column it shows; `self` for the own past.
    pub(crate) base: Ident,
    /// Of a module the column that is shown: `critic` in `debate.critic`.
    pub(crate) path: Vec<Ident>,
    /// Whether the base is no column of this flow, so one of the flow that it extends.
    pub(crate) is_inherited: bool,
    /// Whether it says how much it shows.
    pub(crate) windowed: bool,
    /// How much it shows, as Rust: `.latest`, `.window(3)` and whatever rustc will refuse.
    pub(crate) tail: TokenStream,
    pub(crate) tag: Tag,
    /// The tag as Rust: `.as("tag")`.
    pub(crate) tagging: TokenStream,
    /// As it was written.
    pub(crate) written: TokenStream,
    /// Whether not all of that could be read.
    pub(crate) is_cut: bool,
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
    let trees = trees_of(list);
    let mut parts: Vec<&[TokenTree]> = trees.split(|tree| is_punct(Some(tree), ',')).collect();
    // One comma may follow the last view.
    if parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    let mut commas = trees.iter().filter(|tree| is_punct(Some(tree), ','));
    let mut before = list.span_open();
    let mut views = Vec::new();
    for part in &parts {
        let comma = commas.next();
        if part.is_empty() {
            errors.at(comma, errors::EMPTY_VIEW);
        }
        views.extend(parse(before, part, errors));
        before = comma.map_or(before, TokenTree::span);
    }
    let whole = views.len() == parts.len();
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
            errors.at(other, errors::NOT_A_VIEW);
            return None;
        }
    };
    if is_punct(trees.get(1), ':') && is_punct(trees.get(2), ':') {
        errors.at(tokens(trees), errors::PATH_VIEW);
        return None;
    }
    let mut view = View {
        before,
        base,
        path: Vec::new(),
        is_inherited: false,
        windowed: false,
        tail: TokenStream::new(),
        tag: Tag::Name,
        tagging: TokenStream::new(),
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
    ["latest", "window", "as", "r#as", "named"].iter().any(|view| word == view)
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
        let is_window = matches!(text.as_str(), "latest" | "window");
        let is_second = is_window && self.windowed;
        self.windowed |= is_window;
        match (text.as_str(), arguments) {
            _ if is_second => {
                errors.at(said(dot, word, arguments), errors::SECOND_WINDOW);
            }
            ("latest", Some(parentheses)) => {
                errors.at(parentheses, errors::LATEST_CALLED);
                self.tail.extend(said(dot, word, None));
            }
            ("window", None) => errors.at(word, errors::NO_COUNT),
            ("window", Some(count)) if count.stream().is_empty() => errors.at(count, errors::NO_COUNT),
            ("window", Some(count)) if is_zero(count) => errors.at(count.stream(), errors::EMPTY_WINDOW),
            ("as" | "r#as" | "named", _) => self.say_tag(dot, word, arguments, errors),
            _ if identifier(word).as_ref() != Some(word) => {
                errors.at(word, errors::no_view_named(word));
                self.is_cut = true;
            }
            _ => self.tail.extend(said(dot, word, arguments)),
        }
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
