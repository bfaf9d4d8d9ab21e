//! The way through what a context shows, step by step.

use std::mem;
use std::ops::Range;

use super::elision::Elision;
use super::fitted::Fitted;
use super::frame::{Frame, JSON_END, MARKER, OWN, Place};
use super::shown::Shown;
use crate::declare::Input;
use crate::history::{Text, Texts};

/// The values that a context shows, in the order in which it shows them: stretch by stretch, in each of
/// which the same views show something.
#[derive(Clone, Debug)]
pub(super) struct Walk<'m> {
    shown: &'m Shown,
    /// The views of the stretch, and which one comes next.
    lanes: Lanes<'m>,
    lane: usize,
    /// The step that is under way, and the first behind the stretch.
    step: usize,
    until: usize,
    /// The place at which the next stretch begins.
    place: usize,
    /// What stands around what was passed last, and how many groups are open behind it.
    last: Option<&'m Frame>,
    open: usize,
    /// What is left out and not passed yet.
    cut: Option<&'m Fitted>,
}

/// One text on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop<'m> {
    pub(super) what: What<'m>,
    /// The step whose turn it stands in, and how long before it was said.
    pub(super) step: usize,
    pub(super) delay: usize,
    pub(super) text: Text<'m>,
    pub(super) frame: &'m Frame,
    /// What stands around the text before it.
    before: Option<&'m Frame>,
}

/// Where a text comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum What<'m> {
    Input(&'m Input),
    Own,
    /// It stands for what a view hides.
    Elision(&'m Elision),
    /// It stands for what is left out.
    Marker,
}

impl<'m> Walk<'m> {
    pub(super) fn new(shown: &'m Shown) -> Self {
        Self::since(shown, shown.first_step())
    }

    /// From this step on.
    pub(super) fn since(shown: &'m Shown, step: usize) -> Self {
        let (lanes, place) = (Lanes::default(), 2 * step);
        let cut = shown.fitted().filter(|fitted| place < fitted.elided.end);
        Self { shown, lanes, lane: 0, step, until: 0, place, last: None, open: 0, cut }
    }

    /// What [`next`](Iterator::next) does, where time is short.
    #[expect(
        clippy::inline_always,
        reason = "a stop is large, and a third of the time goes into handing it over"
    )]
    #[inline(always)]
    pub(super) fn advance(&mut self) -> Option<Stop<'m>> {
        loop {
            if let Some(lane) = self.lanes.get_mut(self.lane) {
                self.lane += 1;
                if let Some(text) = lane.texts.next() {
                    let (what, mut frame, delay) = (lane.what, lane.frame, lane.delay);
                    if let Some(input) = lane.grouped {
                        frame = self.grouped(what, input);
                    }
                    return Some(self.stop(what, frame, delay, text));
                }
                continue;
            }
            (self.step, self.lane) = (self.step + 1, 0);
            if self.step >= self.until {
                let marker = self.pass();
                if marker.is_some() || !self.begin() {
                    return marker;
                }
            }
        }
    }

    /// The frame of a value that stands in groups, or of what is said before it.
    #[cold]
    fn grouped(&mut self, what: What<'m>, input: &'m Input) -> &'m Frame {
        if let What::Elision(_) = what {
            return input.frames.untagged(mem::replace(&mut self.open, input.groups.len()));
        }
        let behind = self.shown.open_behind(input, self.step, self.shown.step);
        input.frames.between(mem::replace(&mut self.open, behind), behind)
    }

    #[inline]
    fn stop(&mut self, what: What<'m>, frame: &'m Frame, delay: usize, text: Text<'m>) -> Stop<'m> {
        Stop { what, step: self.step, delay, text, frame, before: self.last.replace(frame) }
    }

    /// Goes past what is left out, if it begins here.
    fn pass(&mut self) -> Option<Stop<'m>> {
        let cut = self.cut.take_if(|cut| cut.elided.start <= self.place)?;
        self.place = cut.elided.end;
        let (value, tokens) = cut.marker.as_ref()?;
        (self.step, self.until) = (self.place / 2, 0);
        self.lanes.clear();
        let text = Text { value, tokens: *tokens, is_untagged: true, is_plain_json: true };
        Some(self.stop(What::Marker, &MARKER, 0, text))
    }

    /// Begins the next stretch, which ends before what is left out; `false` if there is none.
    fn begin(&mut self) -> bool {
        let (shown, step) = (self.shown, self.place / 2);
        let end = self.cut.map_or(2 * (shown.step + 1), |cut| cut.elided.start);
        if self.place >= end {
            return false;
        }
        // What is read at a step and what is said stand apart where only one of them is left out.
        let reads = self.place.is_multiple_of(2);
        let says = !reads || self.place + 1 < end;
        let is_whole = reads && says;
        let most = if is_whole { end / 2 } else { step + 1 };
        self.lanes.clear();
        let until = if shown.elisions().is_empty() {
            self.show::<false>(step, reads, says, most)
        } else {
            self.show_elided(step, reads, says, most)
        };
        (self.step, self.until) = (step, until);
        self.place = if is_whole { 2 * until } else { self.place + 1 };
        true
    }

    /// Begins with what is read at a step, and with what is said there. Returns where the stretch ends, at the most
    /// at `until`.
    #[inline]
    fn show<const ELIDED: bool>(&mut self, step: usize, reads: bool, says: bool, mut until: usize) -> usize {
        let shown = self.shown;
        for (at, view) in shown.views.iter().enumerate() {
            let input = shown.reads.inputs.get(at);
            let is_there = if input.is_some() { reads } else { says };
            if ELIDED && let Some(elision) = shown.elision(at) {
                // It stands in the turn of the first value and nowhere else.
                let Range { start, end } = elision.text.steps;
                if is_there && start == step {
                    let (what, texts) = (What::Elision(elision), elision.text.texts(step));
                    let grouped = input.filter(|input| !input.groups.is_empty());
                    self.lanes.push(Lane { what, frame: &MARKER, grouped, delay: 0, texts });
                }
                until = [start, end].into_iter().filter(|&bound| bound > step).fold(until, usize::min);
            }
            if is_there && view.steps.contains(&step) {
                let (what, frame) =
                    input.map_or((What::Own, &OWN), |input| (What::Input(input), input.frames.plain()));
                let grouped = input.filter(|input| !input.groups.is_empty());
                self.lanes.push(Lane { what, frame, grouped, delay: view.delay, texts: view.texts(step) });
            }
            let bounds = [view.steps.start, view.steps.end];
            until = bounds.into_iter().filter(|&bound| bound > step).fold(until, usize::min);
        }
        until
    }

    /// The same where something is said of what views hide, which is seldom.
    #[cold]
    fn show_elided(&mut self, step: usize, reads: bool, says: bool, until: usize) -> usize {
        self.show::<true>(step, reads, says, until)
    }

    /// What stands in the JSON of an array behind what was passed last.
    pub(super) fn json_end(&self) -> [&'m str; 2] {
        self.last.map_or(["", "[]"], |last| [last.json_closing(), JSON_END])
    }
}

impl<'m> Iterator for Walk<'m> {
    type Item = Stop<'m>;

    fn next(&mut self) -> Option<Stop<'m>> {
        self.advance()
    }
}

impl<'m> Stop<'m> {
    /// The input that it shows or is about, if it is not the own past.
    pub(super) fn input(&self, shown: &'m Shown) -> Option<&'m Input> {
        match self.what {
            What::Input(input) => Some(input),
            What::Elision(elision) => shown.reads.inputs.get(elision.at),
            What::Own | What::Marker => None,
        }
    }

    pub(super) fn place(&self) -> Place {
        match self.before {
            None => Place::First,
            Some(before) if before.role() == self.frame.role() => Place::Joins,
            Some(_) => Place::Begins,
        }
    }

    /// What stands in JSON before it.
    #[inline]
    pub(super) fn json_opening(&self) -> [&'m str; 2] {
        self.frame.json_behind(self.before)
    }
}

/// Most columns have so few views.
const FEW: usize = 4;

/// One view in a stretch.
#[derive(Clone, Debug)]
struct Lane<'m> {
    what: What<'m>,
    frame: &'m Frame,
    /// The input, where groups stand around it.
    grouped: Option<&'m Input>,
    delay: usize,
    texts: Texts<'m>,
}

/// A few of them take no memory from the heap.
#[derive(Clone, Debug, Default)]
struct Lanes<'m> {
    few: [Option<Lane<'m>>; FEW],
    more: Vec<Lane<'m>>,
}

impl<'m> Lanes<'m> {
    fn clear(&mut self) {
        self.few.iter_mut().for_each(|place| *place = None);
        self.more.clear();
    }

    fn push(&mut self, lane: Lane<'m>) {
        match self.few.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(lane),
            None => self.more.push(lane),
        }
    }

    #[inline]
    fn get_mut(&mut self, at: usize) -> Option<&mut Lane<'m>> {
        match at.checked_sub(FEW) {
            None => self.few.get_mut(at)?.as_mut(),
            Some(at) => self.more.get_mut(at),
        }
    }
}
