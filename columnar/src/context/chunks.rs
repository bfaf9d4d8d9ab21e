//! The messages array as JSON in pieces, for writers that take many buffers at once.

use std::borrow::Cow;
use std::mem;

use super::json::{escaped, plain};
use super::parts::shown_value;
use super::shown::Shown;
use super::walk::Walk;

/// The pieces, none of which is empty. What needs no escaping is not copied.
pub(super) struct Chunks<'m> {
    shown: &'m Shown,
    /// What is still to come of what the walk is at: what stands before its value, and the value.
    opening: [&'m str; 2],
    value: Cow<'m, str>,
    /// `None` when it is over.
    walk: Option<Walk<'m>>,
}

impl<'m> Chunks<'m> {
    pub(super) fn new(shown: &'m Shown) -> Self {
        Self { shown, opening: [""; 2], value: Cow::Borrowed(""), walk: Some(Walk::new(shown)) }
    }
}

impl<'m> Iterator for Chunks<'m> {
    type Item = Cow<'m, str>;

    fn next(&mut self) -> Option<Cow<'m, str>> {
        loop {
            if let Some(opening) = self.opening.iter_mut().find(|opening| !opening.is_empty()) {
                return Some(Cow::Borrowed(mem::take(opening)));
            }
            if !self.value.is_empty() {
                return Some(mem::take(&mut self.value));
            }
            let walk = self.walk.as_mut()?;
            let Some(stop) = walk.advance() else {
                self.opening = walk.json_end();
                self.walk = None;
                continue;
            };
            self.opening = stop.json_opening();
            self.value = match plain(stop) {
                Some(value) => Cow::Borrowed(value),
                None => escaped(shown_value(&stop, self.shown)),
            };
        }
    }
}
