//! From what a context shows to its parts.

use std::borrow::Cow;

use super::elision::Elision;
use super::escape::escape;
use super::frame::Place;
use super::part::{Fate, Hidden, Origin, Part, Role};
use super::shown::Shown;
use super::walk::{Stop, Walk, What};

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

    fn part(&self, stop: Stop<'m>) -> Part<'m> {
        let Shown { reads, around, .. } = self.shown;
        let (origin, around) = match stop.what {
            What::Input(input) => (Some(&input.name), around.frames.get(input.at).copied().unwrap_or(0)),
            What::Own => (Some(&reads.column), around.gap),
            What::Elision(_) => (None, around.gap),
            What::Marker => (None, 0),
        };
        let hidden = |elision: &Elision| {
            let column = reads.inputs.get(elision.at).map_or(&reads.column, |input| &input.name);
            Hidden { column, values: elision.values }
        };
        Part {
            role: stop.frame.role(),
            origin: origin.map(|column| Origin { column, step: stop.step - stop.delay }),
            hidden: if let What::Elision(elision) = stop.what { Some(hidden(elision)) } else { None },
            place: stop.place(),
            frame: stop.frame,
            value: shown_value(&stop, self.shown),
            tokens: stop.text.tokens + around + self.groups(stop),
            fate: Fate::of(stop, self.shown),
        }
    }
}

impl Parts<'_> {
    /// The tokens of the groups that begin with a value, or with what is said before it.
    fn groups(&self, stop: Stop<'_>) -> usize {
        let Some(input) = stop.input(self.shown) else { return 0 };
        let inside = input.groups.len().saturating_sub(input.frames.opened_by(stop.frame));
        input.groups.iter().skip(inside).filter_map(|&group| self.shown.around.groups.get(group)).sum()
    }
}

impl<'m> Iterator for Parts<'m> {
    type Item = Part<'m>;

    fn next(&mut self) -> Option<Part<'m>> {
        if let Some(stop) = self.led.take() {
            return Some(self.part(stop));
        }
        let stop = self.walk.next()?;
        if stop.place() == Place::First && stop.frame.role() == Role::Assistant {
            self.led = Some(stop);
            let fate = if self.shown.is_led_next() { Fate::Stays } else { Fate::of(stop, self.shown) };
            return Some(Part::lead(fate));
        }
        Some(self.part(stop))
    }
}

impl Fate {
    fn of(stop: Stop<'_>, shown: &Shown) -> Self {
        let (reads, step, next) = (&shown.reads, stop.step, shown.step + 1);
        let fitted = shown.fitted();
        let cut = if fitted.is_some_and(|fitted| fitted.changes) { Self::Cut } else { Self::MayBeCut };
        let is_cut = |place| fitted.is_some_and(|fitted| fitted.next.contains(&place));
        if let What::Marker = stop.what {
            let stays = fitted.is_some_and(|fitted| fitted.next == fitted.elided);
            return if stays { Self::Stays } else { cut };
        }
        let input = stop.input(shown);
        let (window, delayed, steps, is_cut) = match (input, reads.own) {
            (Some(input), _) => (input.window, input.delayed, input.turns(next), is_cut(2 * step)),
            (None, Some(own)) => (own, false, own.of_own(next), is_cut(2 * step + 1)),
            (None, None) => unreachable!("`{}` does not read its own past", reads.column),
        };
        let changes = match stop.what {
            // What stands behind it may leave, so that its groups end with it.
            What::Input(input) if !input.groups.is_empty() => {
                shown.open_behind(input, step, next) != shown.open_behind(input, step, shown.step)
            }
            _ => false,
        };
        let is_first = |at| shown.is_first_next(at, step, &steps);
        let changes = changes || is_first(input.map_or(reads.inputs.len(), |input| input.at));
        match steps.contains(&step) {
            true if is_cut => cut,
            true if !changes => Self::Stays,
            _ => Self::Leaves { window, delayed, own: input.is_none() },
        }
    }
}

/// A value as its message shows it.
#[expect(clippy::inline_always, reason = "or else every stop is written to memory, though few need it there")]
#[inline(always)]
pub(super) fn shown_value<'m>(stop: &Stop<'m>, shown: &Shown) -> Cow<'m, str> {
    let text = stop.text;
    match stop.what {
        What::Input(_) if !text.is_untagged => escape(text.value, &shown.tags()),
        _ => Cow::Borrowed(text.value),
    }
}
