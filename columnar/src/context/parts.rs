//! From what a context shows to its parts, step by step.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::escape::escape;
use super::part::{Origin, Part, Role};
use super::shown::Shown;
use crate::history::{Reader, Text};
use crate::window::Window;

/// Leads an array that would otherwise begin with the assistant. Constant, so that a cached prefix
/// stays valid.
pub(super) const LEAD: &str = "<elided/>";

/// The values that a context shows, in the order in which it shows them.
#[derive(Clone, Debug)]
pub(super) struct Walk<'m> {
    shown: &'m Shown,
    /// One for each input, and one for the own past.
    readers: Vec<Reader<'m>>,
    step: usize,
    /// Which view of the step comes next.
    view: usize,
}

/// One value on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop<'m> {
    /// Which input it is; the own past comes after them.
    pub(super) view: usize,
    pub(super) role: Role,
    pub(super) step: usize,
    pub(super) text: Text<'m>,
    pub(super) window: Window,
    /// Whether the next context shows it as well.
    pub(super) stays: bool,
}

impl<'m> Walk<'m> {
    pub(super) fn new(shown: &'m Shown) -> Self {
        Self::since(shown, shown.first_step())
    }

    /// From this step on.
    fn since(shown: &'m Shown, step: usize) -> Self {
        let views = shown.inputs.iter().map(|input| &input.view).chain(&shown.own);
        Self { shown, readers: views.map(|view| view.values.reader()).collect(), step, view: 0 }
    }
}

impl<'m> Iterator for Walk<'m> {
    type Item = Stop<'m>;

    fn next(&mut self) -> Option<Stop<'m>> {
        let shown = self.shown;
        while self.step <= shown.step {
            let (step, view) = (self.step, self.view);
            let Some(reader) = self.readers.get_mut(view) else {
                (self.step, self.view) = (step + 1, 0);
                continue;
            };
            self.view += 1;
            let (role, shows) = match (shown.inputs.get(view), &shown.own) {
                (Some(input), _) => (Role::User, &input.view),
                (None, Some(own)) => (Role::Assistant, own),
                (None, None) => unreachable!("there is a reader for each view"),
            };
            if shows.steps.contains(&step)
                && let Some(text) = reader.text(step)
            {
                return Some(Stop {
                    view,
                    role,
                    step,
                    text,
                    window: shows.window,
                    stays: step >= shows.next,
                });
            }
        }
        None
    }
}

/// The pieces of an array of messages, each with its origin. Made by
/// [`Messages::parts`](super::Messages::parts).
#[derive(Clone, Debug)]
pub struct Parts<'m> {
    walk: Walk<'m>,
    last: Option<Role>,
    /// The part before which the lead had to be put.
    led: Option<Part<'m>>,
}

impl<'m> Parts<'m> {
    pub(super) fn new(shown: &'m Shown) -> Self {
        Self { walk: Walk::new(shown), last: None, led: None }
    }

    /// Those that show this step or a later one, if a message begins there.
    pub(super) fn since(shown: &'m Shown, step: usize) -> Self {
        Self { walk: Walk::since(shown, step), last: None, led: None }
    }
}

impl<'m> Iterator for Parts<'m> {
    type Item = Part<'m>;

    fn next(&mut self) -> Option<Part<'m>> {
        if let Some(part) = self.led.take() {
            return Some(part);
        }
        let shown = self.walk.shown;
        let Stop { view, role, step, text, window, stays } = self.walk.next()?;
        let input = shown.inputs.get(view);
        let value = match input {
            Some(_) if !text.is_untagged => escape(text.value, &shown.tags()),
            _ => Cow::Borrowed(text.value),
        };
        let joins = self.last == Some(role);
        let first = self.last.replace(role).is_none();
        let origin = Some(Origin { column: input.map_or(&shown.column, |input| &input.column), step });
        let tag = input.map(|input| input.tag.as_str());
        let part = Part { role, origin, joins, tag, value, window, stays };
        if first && role == Role::Assistant {
            self.led = Some(part);
            return Some(Part::lead(LEAD));
        }
        Some(part)
    }
}
