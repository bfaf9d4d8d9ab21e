//! The messages array as JSON in pieces, for writers that take many buffers at once.

use alloc::borrow::Cow;
use core::mem;

use super::json::{end, escaped, plain};
use super::parts::shown_value;
use super::shown::Shown;
use super::walk::Walk;

/// The pieces, none of which is empty. What needs no escaping is not copied.
pub(super) struct Chunks<'m> {
    shown: &'m Shown,
    walk: Walk<'m>,
    /// What is still to come of the value that the walk is at.
    value: Cow<'m, str>,
    closing: &'m str,
    /// What comes when the walk is over.
    end: &'m str,
}

impl<'m> Chunks<'m> {
    pub(super) fn new(shown: &'m Shown) -> Self {
        Self { shown, walk: Walk::new(shown), value: Cow::Borrowed(""), closing: "", end: end(shown) }
    }
}

impl<'m> Iterator for Chunks<'m> {
    type Item = Cow<'m, str>;

    fn next(&mut self) -> Option<Cow<'m, str>> {
        if !self.value.is_empty() {
            return Some(mem::take(&mut self.value));
        }
        let rest = mem::take(&mut self.closing);
        if !rest.is_empty() {
            return Some(Cow::Borrowed(rest));
        }
        let Some(stop) = self.walk.advance() else {
            let end = mem::take(&mut self.end);
            return (!end.is_empty()).then_some(Cow::Borrowed(end));
        };
        let frame = stop.what.frame();
        self.value = match plain(stop) {
            Some(value) => Cow::Borrowed(value),
            None => escaped(shown_value(stop, self.shown)),
        };
        self.closing = frame.json_closing();
        Some(Cow::Borrowed(frame.json_opening(stop.place)))
    }
}
