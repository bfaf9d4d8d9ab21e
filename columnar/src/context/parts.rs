//! From what a context shows to its parts.

use alloc::borrow::Cow;

use super::escape::escape;
use super::frame::Place;
use super::part::{Origin, Part, Role};
use super::shown::Shown;
use super::walk::{Stop, Walk};

/// The pieces of an array of messages, each with its origin. Made by
/// [`Messages::parts`](super::Messages::parts).
#[derive(Clone, Debug)]
pub struct Parts<'m> {
    shown: &'m Shown,
    walk: Walk<'m>,
    /// The one before which the lead had to be put.
    led: Option<Stop<'m>>,
}

impl<'m> Parts<'m> {
    pub(super) fn new(shown: &'m Shown) -> Self {
        Self { shown, walk: Walk::new(shown), led: None }
    }

    #[inline]
    fn part(&self, stop: Stop<'m>) -> Part<'m> {
        let (reads, next) = (&*self.shown.reads, self.shown.step + 1);
        let (column, window, shown_next) = match (stop.input, reads.own) {
            (Some(input), _) => (&input.name, input.window, input.window.of_input(next)),
            (None, Some(own)) => (&reads.column, own, own.of_own(next)),
            (None, None) => unreachable!("`{}` does not read its own past", reads.column),
        };
        Part {
            role: stop.role(),
            origin: Some(Origin { column, step: stop.step }),
            place: stop.place,
            frame: stop.frame(),
            value: shown_value(stop, self.shown),
            window,
            stays: shown_next.contains(&stop.step),
        }
    }
}

impl<'m> Iterator for Parts<'m> {
    type Item = Part<'m>;

    #[inline]
    fn next(&mut self) -> Option<Part<'m>> {
        if let Some(stop) = self.led.take() {
            return Some(self.part(stop));
        }
        let stop = self.walk.next()?;
        if stop.place == Place::First && stop.role() == Role::Assistant {
            self.led = Some(stop);
            return Some(Part::lead());
        }
        Some(self.part(stop))
    }
}

/// A value as its message shows it.
#[inline]
pub(super) fn shown_value<'m>(stop: Stop<'m>, shown: &Shown) -> Cow<'m, str> {
    match stop.input {
        Some(_) if !stop.text.is_untagged => escape(stop.text.value, &shown.tags()),
        _ => Cow::Borrowed(stop.text.value),
    }
}
