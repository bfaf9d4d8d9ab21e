//! A view: a column or `self`, and what is said of it after dots.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{LitInt, LitStr};

use super::cursor::Cursor;
use super::trees_of;
use crate::errors::{self, Errors};
use crate::name::is_name;

pub(crate) struct View {
    /// The column it shows; `self` for the own past.
    pub(crate) base: Ident,
    /// What follows, as Rust: `.latest`, `.window(3)`, `.as("tag")` and whatever rustc will refuse.
    pub(crate) tail: TokenStream,
    /// Where the tag was given, and as what.
    pub(crate) tag: Option<(Span, String)>,
    /// As it was written.
    pub(crate) written: TokenStream,
}

impl View {
    pub(crate) fn is_own(&self) -> bool {
        self.base == "self"
    }
}

/// The views of a list, without those that cannot be read; `whole` tells whether there were such.
pub(super) fn parse_list(list: &Group, whole: &mut bool, errors: &mut Errors) -> Vec<View> {
    let trees = trees_of(list);
    let is_comma = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',');
    let mut views = Vec::new();
    let mut parts = trees.split(is_comma).peekable();
    while let Some(part) = parts.next() {
        // One comma may follow the last view.
        if part.is_empty() && parts.peek().is_none() {
            break;
        }
        match parse(part, errors) {
            Some(view) => views.push(view),
            None => {
                if part.is_empty() {
                    errors.on(list.span_open(), errors::LITERAL_VIEW);
                }
                *whole = false;
            }
        }
    }
    views
}

fn parse(trees: &[TokenTree], errors: &mut Errors) -> Option<View> {
    let mut cursor = Cursor::new(trees);
    let base = match cursor.next()? {
        TokenTree::Ident(base) => base.clone(),
        other => {
            errors.at(other, errors::LITERAL_VIEW);
            return None;
        }
    };
    let written: TokenStream = trees.iter().cloned().collect();
    if matches!(cursor.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == ':') {
        errors.at(written, errors::PATH_VIEW);
        return None;
    }
    let mut view = View { base, tail: TokenStream::new(), tag: None, written };
    while !cursor.is_empty() {
        let Some(dot) = cursor.punct('.') else {
            if let Some(found) = cursor.next() {
                errors.at(found, errors::no_separator(found));
            }
            break;
        };
        let Some(TokenTree::Ident(word)) = cursor.peek() else {
            errors.at(dot, errors::dangling_dot(&view.base.unraw().to_string()));
            break;
        };
        cursor.next();
        let arguments = match cursor.peek() {
            Some(TokenTree::Group(group)) => {
                cursor.next();
                Some(group)
            }
            _ => None,
        };
        view.say(dot, word, arguments, errors);
    }
    Some(view)
}

impl View {
    /// One `.word` or `.word(arguments)`, as Rust and, where it is not sound, as an error.
    fn say(&mut self, dot: &TokenTree, word: &Ident, arguments: Option<&Group>, errors: &mut Errors) {
        match (word.unraw().to_string().as_str(), arguments) {
            ("latest", Some(parentheses)) => {
                errors.at(parentheses, errors::LATEST_CALLED);
                self.tail.extend([dot.clone(), word.clone().into()]);
            }
            ("window", Some(count)) if is_zero(count) => errors.at(count.stream(), errors::EMPTY_WINDOW),
            ("as" | "named", Some(tag)) => self.say_tag(dot, word, tag, errors),
            _ => {
                self.tail.extend([dot.clone(), word.clone().into()]);
                self.tail.extend(arguments.map(ToTokens::to_token_stream));
            }
        }
    }

    fn say_tag(&mut self, dot: &TokenTree, word: &Ident, arguments: &Group, errors: &mut Errors) {
        if self.is_own() {
            let said: TokenStream =
                [dot.clone(), word.clone().into(), arguments.clone().into()].into_iter().collect();
            errors.at(said, errors::TAGGED_SELF);
            return;
        }
        let Ok(tag) = syn::parse2::<LitStr>(arguments.stream()) else {
            errors.at(arguments, errors::TAG_LITERAL);
            return;
        };
        if !is_name(&tag.value()) {
            errors.at(&tag, errors::bad_tag(&tag.value()));
            return;
        }
        // `as` is a keyword; the method behind it is `r#as`.
        let method = if word == "as" { Ident::new_raw("as", word.span()) } else { word.clone() };
        self.tag = Some((tag.span(), tag.value()));
        self.tail.extend([dot.clone(), method.into(), arguments.clone().into()]);
    }
}

fn is_zero(arguments: &Group) -> bool {
    let literal = syn::parse2::<LitInt>(arguments.stream());
    literal.is_ok_and(|count| matches!(count.base10_parse::<u128>(), Ok(0)))
}
