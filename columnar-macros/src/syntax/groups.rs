//! The groups of views, and their beginning: `group("debate", …)`.

use std::rc::Rc;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenTree};
use syn::LitStr;

use super::cursor::{Cursor, is_punct, trees_of, ungrouped};
use crate::diagnostics::{Errors, bad_tag, not_parentheses, quote};
use crate::ident::{self, ident_text, is_name, replace};
use crate::keywords::nearest;

/// The tag of a group. Clones are the same group.
#[derive(Clone)]
pub(crate) struct GroupTag {
    /// `group`, as it was written.
    pub(crate) word: Ident,
    pub(crate) span: Span,
    pub(crate) text: Rc<str>,
}

impl GroupTag {
    /// The groups that begin with a view, after the groups around the view before.
    pub(crate) fn opened<'v>(
        before: &[Self],
        groups: &'v [Self],
    ) -> impl Iterator<Item = &'v Self> + use<'v> {
        // Each view has all groups around it; only the first view of a group opens it.
        let open = before.iter().zip(groups).take_while(|(open, group)| open.is_same_group(group)).count();
        groups.iter().skip(open)
    }

    pub(crate) fn is_same_group(&self, other: &Self) -> bool {
        // By pointer: two groups with one tag are an error, and must not look like one group.
        Rc::ptr_eq(&self.text, &other.text)
    }
}

/// A group as it was written.
pub(super) struct GroupSyntax<'t> {
    word: Ident,
    pub(super) list: &'t Group,
    pub(super) after: &'t [TokenTree],
}

/// The group, if the tokens begin one. A misspelt word and other brackets than parentheses are reported.
pub(super) fn group<'t>(trees: &'t [TokenTree], errors: &mut Errors) -> Option<GroupSyntax<'t>> {
    let [TokenTree::Ident(name), TokenTree::Group(list), after @ ..] = trees else { return None };
    if ident::is(name, "group") {
        if list.delimiter() != Delimiter::Parenthesis {
            errors.on(list.span_open(), not_parentheses(name));
        }
        return Some(GroupSyntax { word: name.clone(), list, after });
    }
    let has_tag = matches!(trees_of(list).first().map(ungrouped), Some(TokenTree::Literal(_)));
    let is_misspelt = has_tag
        && list.delimiter() == Delimiter::Parenthesis
        && nearest(&ident_text(name).to_lowercase(), ["group"].into_iter()).is_some();
    is_misspelt.then(|| {
        let found = quote(name);
        errors.at(name, format!("no view begins with {found} and a text\n\nhelp: did you mean `group`?"));
        GroupSyntax { word: replace(name, &Ident::new("group", name.span())), list, after }
    })
}

/// Takes the tag of a group, and the comma after it.
pub(super) fn tag(group: &GroupSyntax<'_>, cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<GroupTag> {
    let Some(found) = cursor.next() else { return errors.stop(group.list, NO_GROUP_TAG) };
    let Ok(tag) = syn::parse2::<LitStr>(ungrouped(found).into()) else {
        return errors.stop(found, NO_GROUP_TAG);
    };
    match cursor.next() {
        Some(found) if !is_punct(found, ',') => {
            return errors.stop(found, format!("expected `,` before `{found}`"));
        }
        _ => {}
    }
    let text = tag.value();
    let is_valid = is_name(&text);
    if !is_valid {
        errors.at(&tag, bad_tag(&text));
    }
    // The views of a group with an invalid tag are checked all the same.
    let text = if is_valid { text.as_str() } else { "group" };
    Some(GroupTag { word: group.word.clone(), span: tag.span(), text: text.into() })
}

// Messages.

const NO_GROUP_TAG: &str =
    "expected the tag of the group\n\nhelp: as in `group(\"debate\", pro.latest, con.latest)`";
