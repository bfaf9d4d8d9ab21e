//! The way through what a context shows, step by step.

use alloc::vec;
use alloc::vec::Vec;

use super::frame::{Frame, OWN, Place};
use super::part::Role;
use super::shown::Shown;
use crate::history::{Reader, Text};
use crate::schema::Input;

/// The values that a context shows, in the order in which it shows them.
#[derive(Clone, Debug)]
pub(super) struct Walk<'m> {
    shown: &'m Shown,
    readers: Readers<'m>,
    step: usize,
    /// Which view of the step comes next.
    view: usize,
    last: Option<Role>,
}

/// One value on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop<'m> {
    /// `None` for the own past.
    pub(super) input: Option<&'m Input>,
    pub(super) step: usize,
    pub(super) text: Text<'m>,
    pub(super) place: Place,
}

impl<'m> Walk<'m> {
    pub(super) fn new(shown: &'m Shown) -> Self {
        Self::since(shown, shown.first_step())
    }

    /// From this step on.
    pub(super) fn since(shown: &'m Shown, step: usize) -> Self {
        Self { shown, readers: Readers::new(shown.views.len()), step, view: 0, last: None }
    }
}

impl<'m> Iterator for Walk<'m> {
    type Item = Stop<'m>;

    #[inline]
    fn next(&mut self) -> Option<Stop<'m>> {
        let shown = self.shown;
        while self.step <= shown.step {
            let (step, at) = (self.step, self.view);
            let (Some(view), Some(reader)) = (shown.views.get(at), self.readers.get_mut(at)) else {
                (self.step, self.view) = (step + 1, 0);
                continue;
            };
            self.view += 1;
            if view.steps.contains(&step)
                && let Some(text) = reader.text(&view.values, step)
            {
                let input = shown.reads.inputs.get(at);
                let role = if input.is_some() { Role::User } else { Role::Assistant };
                let place = match self.last.replace(role) {
                    None => Place::First,
                    Some(last) if last == role => Place::Joins,
                    Some(_) => Place::Begins,
                };
                return Some(Stop { input, step, text, place });
            }
        }
        None
    }
}

impl<'m> Stop<'m> {
    #[inline]
    pub(super) fn role(&self) -> Role {
        if self.input.is_some() { Role::User } else { Role::Assistant }
    }

    #[inline]
    pub(super) fn frame(&self) -> &'m Frame {
        self.input.map_or(&OWN, |input| &input.frame)
    }
}

/// Most columns have so few views.
const FEW: usize = 4;

/// A reader for each view; a few of them take no memory from the heap.
#[derive(Clone, Debug)]
struct Readers<'m> {
    few: [Reader<'m>; FEW],
    more: Vec<Reader<'m>>,
}

impl<'m> Readers<'m> {
    fn new(count: usize) -> Self {
        Self { few: Default::default(), more: vec![Reader::default(); count.saturating_sub(FEW)] }
    }

    #[inline]
    fn get_mut(&mut self, at: usize) -> Option<&mut Reader<'m>> {
        match at.checked_sub(FEW) {
            None => self.few.get_mut(at),
            Some(at) => self.more.get_mut(at),
        }
    }
}
