//! From what a context shows to its parts, step by step.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::escape::escape;
use super::part::{Origin, Part, Role};
use super::shown::Shown;
use crate::history::Reader;
use crate::name::Name;

/// Leads an array that would otherwise begin with the assistant. Constant, so that a cached prefix
/// stays valid.
const LEAD: &str = "<elided/>";

/// The pieces of an array of messages, each with its origin. Made by
/// [`Messages::parts`](super::Messages::parts).
#[derive(Clone, Debug)]
pub struct Parts<'m> {
    shown: &'m Shown,
    /// One for each input, and one for the own past.
    readers: Vec<Reader<'m>>,
    step: usize,
    /// Which view of the step comes next.
    view: usize,
    last: Option<Role>,
    /// The part before which the lead had to be put.
    led: Option<Part<'m>>,
}

impl<'m> Parts<'m> {
    pub(super) fn new(shown: &'m Shown) -> Self {
        Self::since(shown, shown.first_step())
    }

    /// Those that show this step or a later one, if a message begins there.
    pub(super) fn since(shown: &'m Shown, step: usize) -> Self {
        let views = shown.inputs.iter().map(|input| &input.view).chain(&shown.own);
        let readers = views.map(|view| view.values.reader()).collect();
        Self { shown, readers, step, view: 0, last: None, led: None }
    }

    /// The next value that is shown: who says it, of which column, under which tag.
    fn shown(&mut self) -> Option<(Role, &'m Name, Option<&'m Name>, usize, &'m str)> {
        let shown = self.shown;
        while self.step <= shown.step {
            let (step, view) = (self.step, self.view);
            self.view += 1;
            let (role, column, tag, steps) = match (shown.inputs.get(view), &shown.own) {
                (Some(input), _) => (Role::User, &input.column, Some(&input.tag), &input.view.steps),
                (None, Some(own)) if view == shown.inputs.len() => {
                    (Role::Assistant, &shown.column, None, &own.steps)
                }
                _ => {
                    (self.step, self.view) = (step + 1, 0);
                    continue;
                }
            };
            if steps.contains(&step)
                && let Some(text) = self.readers.get_mut(view).and_then(|reader| reader.text(step))
            {
                return Some((role, column, tag, step, text));
            }
        }
        None
    }
}

impl<'m> Iterator for Parts<'m> {
    type Item = Part<'m>;

    fn next(&mut self) -> Option<Part<'m>> {
        if let Some(part) = self.led.take() {
            return Some(part);
        }
        let (role, column, tag, step, text) = self.shown()?;
        let value = match tag {
            Some(_) => escape(text, &self.shown.tags()),
            None => Cow::Borrowed(text),
        };
        let joins = self.last == Some(role);
        let first = self.last.replace(role).is_none();
        let tag = tag.map(Name::as_str);
        let part = Part { role, origin: Some(Origin { column, step }), joins, tag, value };
        if first && role == Role::Assistant {
            self.led = Some(part);
            let value = Cow::Borrowed(LEAD);
            return Some(Part { role: Role::User, origin: None, joins: false, tag: None, value });
        }
        Some(part)
    }
}
