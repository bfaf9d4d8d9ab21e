//! A view: a column or `self`, and what is said of it after dots.

use std::fmt::Display;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{LitInt, LitStr};

use super::cursor::{Cursor, is_punct};
use super::{group, tokens, trees_of};
use crate::diagnostics::{Errors, views};
use crate::ident::{ident_text, is_name, replace, rust_ident};
use crate::keywords::MODIFIERS;

pub(crate) struct View {
    /// The comma or the parenthesis before it.
    pub(crate) before: Span,
    /// The column it shows; `self` for the own past.
    pub(crate) base: Ident,
    /// Of a module the column that is shown: `critic` in `debate.critic`.
    pub(crate) path: Vec<Ident>,
    /// Whether the base is no column of this flow, so one of the flow that it extends.
    pub(crate) is_inherited: bool,
    pub(crate) state: State,
    /// How much it shows, where it says so.
    size: Option<Size>,
    /// Whether it shows each value a step later.
    pub(crate) delayed: bool,
    /// How much it shows, as Rust: `.latest`, `.prev.window(3)` and whatever will be refused.
    pub(crate) tail: TokenStream,
    pub(crate) tag: Tag,
    /// The tag as Rust: `.as("tag")`.
    pub(crate) tagging: TokenStream,
    /// The filter as Rust: `.filter(...)` or `.sample(...)`.
    pub(crate) filtering: TokenStream,
    /// The note as Rust: `.note("...")`.
    pub(crate) noting: TokenStream,
    /// That it tells how much it hides, as Rust: `.elided()`.
    pub(crate) eliding: TokenStream,
    /// The groups around it, the outermost first.
    pub(crate) groups: Vec<group::Around>,
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
        ident_text(&self.base) == "self"
    }

    /// Whether it shows some last values, and not all.
    pub(crate) fn is_windowed(&self) -> bool {
        self.size.map_or(self.delayed, |size| size == Size::Last)
    }

    /// Whether it says more than a column.
    pub(crate) fn says_more(&self) -> bool {
        let said = [&self.tail, &self.tagging, &self.filtering, &self.noting, &self.eliding];
        said.iter().any(|said| !said.is_empty())
    }

    /// As it was written, without spaces.
    pub(crate) fn text(&self) -> String {
        self.written.to_string().replace(' ', "")
    }

    /// The first thing that is said of the column, if it is no view.
    pub(crate) fn other_word(&self) -> Option<Ident> {
        match self.written.clone().into_iter().nth(2) {
            Some(TokenTree::Ident(word)) if !MODIFIERS.contains(&word.to_string().as_str()) => Some(word),
            _ => None,
        }
    }

    /// The column that it shows to the column `own`, or the module of that, where it is mentioned.
    pub(crate) fn mentioned(&self, own: &Ident) -> Ident {
        if self.is_own() {
            return replace(&self.base, own);
        }
        // What cannot be a name has been told, too.
        rust_ident(&self.base).unwrap_or_else(|| own.clone())
    }

    /// The name of the column that it shows.
    pub(crate) fn name(&self) -> String {
        let path = [&self.base].into_iter().chain(&self.path);
        path.map(ident_text).collect::<Vec<_>>().join(".")
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

    fn new(before: Span, base: Ident, written: TokenStream) -> Self {
        Self {
            before,
            base,
            path: Vec::new(),
            is_inherited: false,
            state: State::Sound,
            size: None,
            delayed: false,
            tail: TokenStream::new(),
            tag: Tag::Name,
            tagging: TokenStream::new(),
            filtering: TokenStream::new(),
            noting: TokenStream::new(),
            eliding: TokenStream::new(),
            groups: Vec::new(),
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
    parse_views(list.span_open(), &trees_of(list), errors)
}

/// The same for what stands behind an opening parenthesis.
pub(super) fn parse_views(open: Span, trees: &[TokenTree], errors: &mut Errors) -> (Vec<View>, bool) {
    let parts: Vec<&[TokenTree]> = trees.split(|tree| is_punct(Some(tree), ',')).collect();
    let mut commas = trees.iter().filter(|tree| is_punct(Some(tree), ','));
    let (mut before, mut views, mut whole) = (open, Vec::new(), true);
    for part in &parts {
        let comma = commas.next();
        match (is_empty(part), comma) {
            (false, _) => {
                let (parsed, is_whole) = parse_item(before, part, errors);
                views.extend(parsed);
                whole &= is_whole;
            }
            (true, Some(comma)) => {
                errors.at(comma, views::EMPTY_VIEW);
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

/// A view, or those of a group.
fn parse_item(before: Span, trees: &[TokenTree], errors: &mut Errors) -> (Vec<View>, bool) {
    if let Some(list) = group::parentheses(trees) {
        return group::parse(trees, list, errors);
    }
    let view = parse(before, trees, errors);
    let is_whole = view.is_some();
    (vec![view.unwrap_or_else(|| View::absent(before))], is_whole)
}

/// Whether nothing has been typed.
pub(super) fn is_empty(trees: &[TokenTree]) -> bool {
    match trees {
        [] => true,
        [TokenTree::Ident(word)] => ident_text(word).is_empty(),
        _ => false,
    }
}

fn parse_absent(before: Span, trees: &[TokenTree]) -> View {
    match trees {
        [TokenTree::Ident(marker)] => View { base: marker.clone(), ..View::absent(before) },
        _ => View::absent(before),
    }
}

pub(super) fn parse(before: Span, trees: &[TokenTree], errors: &mut Errors) -> Option<View> {
    let mut cursor = Cursor::new(trees);
    let base = match cursor.next()? {
        TokenTree::Ident(base) => base.clone(),
        _ if is_punct(trees.first(), ':') => {
            errors.at(tokens(trees), views::PATH_VIEW);
            return None;
        }
        other => {
            errors.at(other, views::not_a_view(trees));
            return None;
        }
    };
    if is_punct(trees.get(1), ':') && is_punct(trees.get(2), ':') {
        errors.at(tokens(trees), views::PATH_VIEW);
        return None;
    }
    if let Some(TokenTree::Group(arguments)) = trees.get(1)
        && arguments.delimiter() == Delimiter::Parenthesis
    {
        errors.at(tokens(trees), views::VIEW_AS_FUNCTION);
        return None;
    }
    if is_punct(trees.get(1), '=') {
        errors.at(tokens(trees), views::TAG_BEFORE);
        return None;
    }
    let mut view = View::new(before, base, tokens(trees));
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
        && !ident_text(word).is_empty()
        && rust_ident(word).as_ref() == Some(word)
    {
        path.push(word.clone());
        cursor.take(2);
    }
    path
}

/// Whether a view has this name, with or without arguments.
fn is_view(word: &Ident) -> bool {
    let word = ident_text(word);
    MODIFIERS.iter().chain(&["all", "named"]).any(|&view| word == view)
}

impl View {
    /// Takes one `.word` or `.word(arguments)`. `false` where there is none, or nothing that can be
    /// read after it.
    fn say(&mut self, cursor: &mut Cursor<'_>, errors: &mut Errors) -> bool {
        let Some(dot) = cursor.punct('.') else {
            if let Some(found) = cursor.peek() {
                self.refuse(found, views::no_separator(found), errors);
            }
            return false;
        };
        let Some(TokenTree::Ident(word)) = cursor.next() else {
            self.refuse(dot, views::dangling_dot(self.last()), errors);
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
        let text = ident_text(word);
        match (text.as_str(), arguments) {
            ("as" | "named", _) => return self.say_tag(dot, word, arguments, errors),
            ("note", _) => return self.say_note(dot, word, arguments, errors),
            ("filter" | "sample", _) => return self.say_filter(dot, word, arguments, errors),
            ("elided", _) => return self.say_elided(dot, word, arguments, errors),
            ("", _) => self.refuse(dot, views::dangling_dot(self.last()), errors),
            ("prev", _) => self.say_prev(dot, word, arguments, errors),
            ("latest" | "window" | "all", _) if self.size.is_some() || self.delayed && text == "latest" => {
                self.refuse(said(dot, word, arguments), views::SECOND_WINDOW, errors);
            }
            ("latest" | "window" | "all", _) => self.say_window(&text, dot, word, arguments, errors),
            // What rustc says of a method that there is not begins with iterators and streams.
            (said_word, Some(_)) if !MODIFIERS.contains(&said_word) => {
                self.refuse(word, views::no_view_named(word), errors);
            }
            _ if rust_ident(word).as_ref() != Some(word) => {
                return self.refuse(word, views::no_view_named(word), errors);
            }
            _ => {}
        }
        self.tail.extend(said(dot, word, arguments));
    }

    fn refuse(&mut self, at: impl ToTokens, message: impl Display, errors: &mut Errors) {
        errors.at(at, message);
        self.state = State::Broken;
    }

    /// `latest`, `window(3)` or, behind `prev`, `all()`.
    fn say_window(
        &mut self,
        text: &str,
        dot: &TokenTree,
        word: &Ident,
        arguments: Option<&Group>,
        errors: &mut Errors,
    ) {
        self.size = Some(if text == "all" { Size::All } else { Size::Last });
        match (text, arguments) {
            ("all", _) if !self.delayed => {
                self.refuse(said(dot, word, arguments), views::all_without_prev(&self.base), errors);
            }
            ("latest", Some(parentheses)) => self.refuse(parentheses, views::no_parentheses(word), errors),
            ("window", None) => self.refuse(word, views::NO_COUNT, errors),
            ("window", Some(count)) if is_empty(&trees_of(count)) => {
                self.refuse(count, views::NO_COUNT, errors);
            }
            ("window", Some(count)) if is_zero(count) => {
                self.refuse(count.stream(), views::EMPTY_WINDOW, errors);
            }
            _ => {}
        }
    }

    /// `prev`, which comes before everything else.
    fn say_prev(&mut self, dot: &TokenTree, word: &Ident, arguments: Option<&Group>, errors: &mut Errors) {
        match arguments {
            _ if self.is_own() => self.refuse(said(dot, word, arguments), views::PREV_OF_SELF, errors),
            _ if self.size.is_some() || self.delayed => {
                self.refuse(said(dot, word, arguments), views::LATE_PREV, errors);
            }
            Some(parentheses) => self.refuse(parentheses, views::no_parentheses(word), errors),
            None => {}
        }
        self.delayed = true;
    }

    fn say_tag(&mut self, dot: &TokenTree, word: &Ident, arguments: Option<&Group>, errors: &mut Errors) {
        // `as` is a keyword; the method behind it is `r#as`.
        let method = rust_ident(word).unwrap_or_else(|| word.clone());
        let tagging = said(dot, &method, arguments);
        let Some(arguments) = arguments else {
            self.tag = Tag::Broken;
            self.refuse(word, views::NO_TAG, errors);
            return self.tagging.extend(tagging);
        };
        if self.is_own() || !matches!(self.tag, Tag::Name) {
            let message = if self.is_own() { views::TAGGED_SELF } else { views::SECOND_TAG };
            self.refuse(said(dot, word, Some(arguments)), message, errors);
            return self.tagging.extend(tagging);
        }
        self.tagging.extend(tagging);
        self.tag = Tag::Broken;
        match syn::parse2::<LitStr>(arguments.stream()) {
            Ok(tag) if is_name(&tag.value()) => self.tag = Tag::Given(tag.span(), tag.value()),
            Ok(tag) => self.refuse(&tag, views::bad_tag(&tag.value()), errors),
            Err(_) => self.refuse(arguments, views::TAG_LITERAL, errors),
        }
    }

    fn say_filter(&mut self, dot: &TokenTree, word: &Ident, arguments: Option<&Group>, errors: &mut Errors) {
        let written = said(dot, word, arguments);
        match arguments {
            _ if self.is_own() => self.refuse(&written, views::FILTERED_SELF, errors),
            _ if !self.filtering.is_empty() => self.refuse(&written, views::SECOND_FILTER, errors),
            Some(shows) if !shows.stream().is_empty() => {}
            Some(nothing) => self.refuse(nothing, views::no_filter(word), errors),
            None => self.refuse(word, views::no_filter(word), errors),
        }
        self.filtering.extend(written);
    }

    fn say_elided(&mut self, dot: &TokenTree, word: &Ident, arguments: Option<&Group>, errors: &mut Errors) {
        let written = said(dot, word, arguments);
        match arguments {
            _ if !self.eliding.is_empty() => self.refuse(&written, views::SECOND_ELIDED, errors),
            None => self.refuse(word, views::not_parentheses(word), errors),
            Some(arguments) if !is_empty(&trees_of(arguments)) => {
                self.refuse(arguments, views::ELIDED_ARGUMENTS, errors);
            }
            Some(_) => {}
        }
        self.eliding.extend(written);
    }

    /// What shows everything hides nothing. Words that are no views are told by rustc.
    pub(crate) fn check_elided(&mut self, errors: &mut Errors) {
        let shows_all = self.tail.is_empty() || self.size == Some(Size::All);
        if self.state == State::Sound && !self.eliding.is_empty() && shows_all {
            let (word, name) = (self.eliding.clone(), self.name());
            self.refuse(word, views::nothing_elided(&name, self.delayed), errors);
        }
    }

    fn say_note(&mut self, dot: &TokenTree, word: &Ident, arguments: Option<&Group>, errors: &mut Errors) {
        let written = said(dot, word, arguments);
        let note = arguments.map(|arguments| syn::parse2::<LitStr>(arguments.stream()));
        match (arguments, note) {
            _ if self.is_own() => self.refuse(&written, views::NOTED_SELF, errors),
            _ if !self.noting.is_empty() => self.refuse(&written, views::SECOND_NOTE, errors),
            (Some(_), Some(Ok(_))) => {}
            (Some(arguments), _) => self.refuse(arguments, views::NOTE_LITERAL, errors),
            (None, _) => self.refuse(word, views::NO_NOTE, errors),
        }
        self.noting.extend(written);
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
    errors.on(group.span_open(), views::not_parentheses(word));
    let mut parentheses = Group::new(Delimiter::Parenthesis, group.stream());
    parentheses.set_span(group.span());
    parentheses
}

fn is_zero(arguments: &Group) -> bool {
    let literal = syn::parse2::<LitInt>(arguments.stream());
    literal.is_ok_and(|count| matches!(count.base10_parse::<u128>(), Ok(0)))
}
