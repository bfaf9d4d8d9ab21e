//! A view: a column or `self`, and what is said of it after dots.

use std::fmt::Display;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{LitInt, LitStr};

use super::cursor::{Cursor, is_punct};
use super::{tokens, trees_of};
use crate::errors;
use crate::name::{identifier, is_name};
use crate::report::Errors;
use crate::word::{instead, typed};

pub(crate) struct View {
    /// The comma or the parenthesis before it.
    pub(crate) before: Span,
    /// The column it shows; `self` for the own past.
    pub(crate) base: Ident,
    /// Whether that is no column of this flow, so one of the flow that it extends.
    pub(crate) is_inherited: bool,
    pub(crate) state: State,
    /// Whether it says how much it shows.
    pub(crate) windowed: bool,
    /// How much it shows, as Rust: `.latest`, `.window(3)` and whatever will be refused.
    pub(crate) tail: TokenStream,
    pub(crate) tag: Tag,
    /// The tag as Rust: `.as("tag")`.
    pub(crate) tagging: TokenStream,
    /// As it was written.
    pub(crate) written: TokenStream,
}

/// Whether something is wrong with a view, which has been told. Then what was written is for editors
/// alone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Sound,
    /// What it says of its column is wrong.
    Broken,
    /// It shows no column.
    Void,
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
        typed(&self.base) == "self"
    }

    /// As it was written, without spaces.
    pub(crate) fn text(&self) -> String {
        self.written.to_string().replace(' ', "")
    }

    /// The column that it shows to the column `own`, where it is mentioned.
    pub(crate) fn mentioned(&self, own: &Ident) -> Ident {
        if self.is_own() {
            return instead(&self.base, own);
        }
        // What cannot be a name has been told, too.
        identifier(&self.base).unwrap_or_else(|| own.clone())
    }

    fn new(before: Span, base: Ident, written: TokenStream) -> Self {
        Self {
            before,
            base,
            is_inherited: false,
            state: State::Sound,
            windowed: false,
            tail: TokenStream::new(),
            tag: Tag::Name,
            tagging: TokenStream::new(),
            written,
        }
    }

    /// What may be typed at a place.
    fn absent(before: Span) -> Self {
        let base = Ident::new("self", Span::call_site());
        Self { state: State::Void, ..Self::new(before, base, TokenStream::new()) }
    }
}

/// The views of a list that can be read, and whether these are all.
pub(super) fn parse_list(list: &Group, errors: &mut Errors) -> (Vec<View>, bool) {
    let trees = trees_of(list);
    let parts: Vec<&[TokenTree]> = trees.split(|tree| is_punct(Some(tree), ',')).collect();
    let mut commas = trees.iter().filter(|tree| is_punct(Some(tree), ','));
    let mut before = list.span_open();
    let (mut views, mut whole) = (Vec::new(), true);
    for part in &parts {
        let comma = commas.next();
        match (is_empty(part), comma) {
            (false, _) => {
                let view = parse(before, part, errors);
                whole &= view.is_some();
                views.push(view.unwrap_or_else(|| View::absent(before)));
            }
            (true, Some(comma)) => {
                errors.at(comma, errors::EMPTY_VIEW);
                whole = false;
                views.push(parse_absent(before, part));
            }
            // One comma may follow the last view.
            (true, None) => views.push(parse_absent(before, part)),
        }
        before = comma.map_or(before, TokenTree::span);
    }
    (views, whole)
}

/// Whether nothing has been typed.
fn is_empty(trees: &[TokenTree]) -> bool {
    match trees {
        [] => true,
        [TokenTree::Ident(word)] => typed(word).is_empty(),
        _ => false,
    }
}

fn parse_absent(before: Span, trees: &[TokenTree]) -> View {
    match trees {
        [TokenTree::Ident(marker)] => View { base: marker.clone(), ..View::absent(before) },
        _ => View::absent(before),
    }
}

fn parse(before: Span, trees: &[TokenTree], errors: &mut Errors) -> Option<View> {
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
    let mut view = View::new(before, base, tokens(trees));
    while view.say(&mut cursor, errors) {}
    Some(view)
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
            self.refuse(dot, errors::dangling_dot(&self.base), errors);
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
        let text = typed(word);
        let is_window = matches!(text.as_str(), "latest" | "window");
        let is_second = is_window && self.windowed;
        self.windowed |= is_window;
        match (text.as_str(), arguments) {
            ("as" | "named", _) => return self.say_tag(dot, word, arguments, errors),
            ("", _) => self.refuse(dot, errors::dangling_dot(&self.base), errors),
            _ if is_second => self.refuse(said(dot, word, arguments), errors::SECOND_WINDOW, errors),
            ("latest", Some(parentheses)) => self.refuse(parentheses, errors::LATEST_CALLED, errors),
            ("window", None) => self.refuse(word, errors::NO_COUNT, errors),
            ("window", Some(count)) if is_empty(&trees_of(count)) => {
                self.refuse(count, errors::NO_COUNT, errors);
            }
            ("window", Some(count)) if is_zero(count) => {
                self.refuse(count.stream(), errors::EMPTY_WINDOW, errors);
            }
            _ if identifier(word).as_ref() != Some(word) => {
                return self.refuse(word, errors::no_view_named(word), errors);
            }
            _ => {}
        }
        self.tail.extend(said(dot, word, arguments));
    }

    fn refuse(&mut self, at: impl ToTokens, message: impl Display, errors: &mut Errors) {
        errors.at(at, message);
        self.state = State::Broken;
    }

    fn say_tag(&mut self, dot: &TokenTree, word: &Ident, arguments: Option<&Group>, errors: &mut Errors) {
        // `as` is a keyword; the method behind it is `r#as`.
        let method = identifier(word).unwrap_or_else(|| word.clone());
        let tagging = said(dot, &method, arguments);
        let Some(arguments) = arguments else {
            self.tag = Tag::Broken;
            self.refuse(word, errors::NO_TAG, errors);
            return self.tagging.extend(tagging);
        };
        if self.is_own() || !matches!(self.tag, Tag::Name) {
            let message = if self.is_own() { errors::TAGGED_SELF } else { errors::SECOND_TAG };
            self.refuse(said(dot, word, Some(arguments)), message, errors);
            return self.tagging.extend(tagging);
        }
        self.tagging.extend(tagging);
        self.tag = Tag::Broken;
        match syn::parse2::<LitStr>(arguments.stream()) {
            Ok(tag) if is_name(&tag.value()) => self.tag = Tag::Given(tag.span(), tag.value()),
            Ok(tag) => self.refuse(&tag, errors::bad_tag(&tag.value()), errors),
            Err(_) => self.refuse(arguments, errors::TAG_LITERAL, errors),
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
