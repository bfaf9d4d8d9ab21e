//! A tag around several views: `group("debate", pro.latest, con.latest)`.

use std::rc::Rc;

use proc_macro2::{Group, Span, TokenTree};
use syn::LitStr;

use super::cursor::{Cursor, is_punct};
use super::view::{self, State, View};
use super::{tokens, trees_of};
use crate::diagnostics::{Errors, views};
use crate::ident::{self, is_name};

/// The tag of a group, and where it was written.
#[derive(Clone)]
pub(crate) struct Around {
    pub(crate) place: Span,
    tag: Rc<str>,
}

impl Around {
    /// Whether both are one and the same group.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.tag, &other.tag)
    }

    pub(crate) fn text(&self) -> &str {
        &self.tag
    }
}

/// The parentheses of a group, if a view begins like one.
pub(super) fn parentheses(trees: &[TokenTree]) -> Option<&Group> {
    match trees {
        [TokenTree::Ident(word), TokenTree::Group(list), ..] if ident::is(word, "group") => Some(list),
        _ => None,
    }
}

/// The views of a group that can be read, and whether these are all.
pub(super) fn parse(trees: &[TokenTree], list: &Group, errors: &mut Errors) -> (Vec<View>, bool) {
    if let [_, _, behind @ ..] = trees
        && !behind.is_empty()
    {
        errors.at(tokens(behind), views::AFTER_GROUP);
    }
    let inside = trees_of(list);
    let mut cursor = Cursor::new(&inside);
    let tag = tag(list, &mut cursor, errors);
    let (mut views, is_whole) = view::parse_views(list.span_open(), cursor.rest(), errors);
    let is_void = views.iter().all(|view| view.state == State::Void);
    if is_void && is_whole && tag.is_some() {
        errors.at(list, views::EMPTY_GROUP);
    }
    for view in &mut views {
        if view.is_own() && view.state == State::Sound && tag.is_some() {
            errors.at(&view.written, views::GROUPED_SELF);
            view.state = State::Broken;
        } else {
            view.groups.splice(0..0, tag.clone());
        }
    }
    // What is wrong with a group is no mistake of the column that would read it.
    (views, is_whole && !is_void)
}

/// Takes the tag and the comma behind it.
fn tag(list: &Group, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<Around> {
    let literal = match cursor.peek() {
        Some(TokenTree::Literal(literal)) => {
            cursor.next();
            syn::parse2::<LitStr>(TokenTree::from(literal.clone()).into())
        }
        found => {
            match found {
                Some(found) => errors.at(found, views::NO_GROUP_TAG),
                None => errors.at(list, views::NO_GROUP_TAG),
            }
            return None;
        }
    };
    match cursor.peek() {
        comma if is_punct(comma, ',') => drop(cursor.next()),
        Some(found) => errors.at(found, views::no_comma(found)),
        None => {}
    }
    match literal {
        Ok(tag) if is_name(&tag.value()) => {
            return Some(Around { place: tag.span(), tag: tag.value().into() });
        }
        Ok(tag) => errors.at(&tag, views::bad_tag(&tag.value())),
        Err(_) => errors.on(list.span_open(), views::NO_GROUP_TAG),
    }
    None
}
