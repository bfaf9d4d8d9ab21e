//! The way through what a context shows, step by step.

use alloc::vec;
use alloc::vec::Vec;

use super::fitted::Fitted;
use super::frame::{Frame, MARKER, OWN, Place};
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
    /// What is left out and not passed yet.
    cut: Option<&'m Fitted>,
}

/// One text on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop<'m> {
    pub(super) what: What<'m>,
    pub(super) step: usize,
    pub(super) text: Text<'m>,
    pub(super) place: Place,
}

/// Where a text comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum What<'m> {
    Input(&'m Input),
    Own,
    /// It stands for what is left out.
    Marker,
}

impl<'m> Walk<'m> {
    pub(super) fn new(shown: &'m Shown) -> Self {
        Self::since(shown, shown.first_step())
    }

    /// From this step on.
    pub(super) fn since(shown: &'m Shown, step: usize) -> Self {
        let cut = shown.fitted.as_deref().filter(|fitted| 2 * step < fitted.elided.end);
        Self { shown, readers: Readers::new(shown.views.len()), step, view: 0, last: None, cut }
    }

    /// Goes past what is left out, if it begins here.
    fn pass(&mut self) -> Option<Stop<'m>> {
        let inputs = self.shown.reads.inputs.len();
        let place = 2 * self.step + usize::from(self.view >= inputs);
        let cut = self.cut.filter(|cut| cut.elided.start <= place)?;
        self.cut = None;
        (self.step, self.view) = (cut.elided.end / 2, inputs * (cut.elided.end % 2));
        let (value, tokens) = cut.marker.as_ref()?;
        let text = Text { value, tokens: *tokens, is_untagged: true, is_plain_json: true };
        Some(self.stop(What::Marker, self.step, text))
    }

    #[inline]
    fn stop(&mut self, what: What<'m>, step: usize, text: Text<'m>) -> Stop<'m> {
        let role = what.role();
        let place = match self.last.replace(role) {
            None => Place::First,
            Some(last) if last == role => Place::Joins,
            Some(_) => Place::Begins,
        };
        Stop { what, step, text, place }
    }
}

impl<'m> Iterator for Walk<'m> {
    type Item = Stop<'m>;

    fn next(&mut self) -> Option<Stop<'m>> {
        self.advance()
    }
}

impl<'m> Walk<'m> {
    /// What [`next`](Iterator::next) does, where time is short.
    #[expect(
        clippy::inline_always,
        reason = "a stop is large, and a third of the time goes into handing it over"
    )]
    #[inline(always)]
    pub(super) fn advance(&mut self) -> Option<Stop<'m>> {
        let shown = self.shown;
        while self.step <= shown.step {
            if self.cut.is_some()
                && let Some(marker) = self.pass()
            {
                return Some(marker);
            }
            let (step, at) = (self.step, self.view);
            let (Some(view), Some(reader)) = (shown.views.get(at), self.readers.get_mut(at)) else {
                (self.step, self.view) = (step + 1, 0);
                continue;
            };
            self.view += 1;
            if view.steps.contains(&step)
                && let Some(text) = reader.text(&view.values, step)
            {
                let what = shown.reads.inputs.get(at).map_or(What::Own, What::Input);
                return Some(self.stop(what, step, text));
            }
        }
        None
    }
}

impl<'m> What<'m> {
    #[inline]
    pub(super) fn role(self) -> Role {
        match self {
            Self::Input(_) | Self::Marker => Role::User,
            Self::Own => Role::Assistant,
        }
    }

    #[inline]
    pub(super) fn frame(self) -> &'m Frame {
        match self {
            Self::Input(input) => &input.frame,
            Self::Own => &OWN,
            Self::Marker => &MARKER,
        }
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
