//! The turns of a context, by their sizes: what a budget goes by.
//!
//! What a column reads at a step stands at the place `2 * step`, and what it said there behind it.

use std::borrow::Cow;
use std::ops::Range;

use super::elision::Elision;
use super::shown::{Shown, View};
use crate::context::budget::Turns;
use crate::tokens::Sum;

/// The turns of a context at its own step, at one before it, or at the next one.
#[derive(Clone, Debug)]
pub(crate) struct Places<'s> {
    shown: &'s Shown,
    step: usize,
    /// What is said of values that views hide.
    elisions: Cow<'s, [Elision]>,
}

impl<'s> Places<'s> {
    /// As they were at a step, or are; those of a step that is still to come are taken to be as large as
    /// the last ones.
    pub(crate) fn at(shown: &'s Shown, step: usize) -> Self {
        let elisions = if step == shown.step {
            Cow::Borrowed(shown.elisions())
        } else {
            Elision::all(&shown.reads, &shown.views, &shown.around, step, shown.step).into()
        };
        Self { shown, step, elisions }
    }

    /// The inputs, each with its view, the steps whose turns show it and the tokens around each value.
    fn inputs(&self) -> impl Iterator<Item = (&'s View, Range<usize>, usize)> + Clone {
        let (shown, step) = (self.shown, self.step);
        let inputs = shown.reads.inputs.iter().zip(&*shown.views).zip(&shown.around.frames);
        inputs.map(move |((input, view), frame)| (view, input.turns(step), *frame))
    }

    /// The steps of the own past that are shown.
    fn own(&self) -> Option<(&'s View, Range<usize>)> {
        Some((self.shown.own()?, self.shown.reads.own?.of_own(self.step)))
    }

    /// What is read in some steps that have come.
    pub(super) fn read(&self, steps: &Range<usize>) -> Sum {
        let known = steps.start..steps.end.min(self.shown.step + 1);
        let mut sum = turns(&self.inputs(), &known);
        for (group, tokens) in self.shown.reads.groups.iter().zip(&self.shown.around.groups) {
            let inside = self.inputs().skip(group.inputs.start).take(group.inputs.len());
            sum.tokens += turns(&inside, &known).count * tokens;
        }
        sum.tokens += self.elided(&known, false);
        sum
    }

    /// What was said in some steps that have come.
    fn said(&self, steps: &Range<usize>) -> Sum {
        let known = steps.start..steps.end.min(self.shown.step);
        let said = self.own().map(|(view, shown)| view.sum(&clip(&shown, &known)));
        let mut sum = said.unwrap_or_default().framed(self.shown.around.gap);
        sum.tokens += self.elided(&known, true);
        sum
    }

    /// The tokens of what is said, in some steps, of values that inputs hide, or the own past.
    fn elided(&self, steps: &Range<usize>, own: bool) -> usize {
        let inputs = self.shown.reads.inputs.len();
        let elisions = self.elisions.iter().filter(|elision| (elision.at == inputs) == own);
        elisions.map(|elision| elision.tokens(steps, &self.shown.around)).sum()
    }

    /// What is taken to be at the places of a step that has not come yet: as much as at the last one.
    fn expected(&self, places: &Range<usize>) -> Sum {
        let last = self.shown.step;
        let mut sum = Sum::default();
        if self.step > last {
            let now = Self::at(self.shown, last);
            let read = now.read(&(last..last + 1)).tokens;
            if places.contains(&(2 * last + 2)) {
                sum += Sum::one(read);
            }
            if self.own().is_some() && places.contains(&(2 * last + 1)) {
                let said = now.said(&(last.saturating_sub(1)..last));
                sum += Sum::one(if said.count > 0 { said.tokens } else { read });
            }
        }
        sum
    }
}

impl Turns for Places<'_> {
    fn places(&self) -> Range<usize> {
        let inputs = self.inputs().map(|(_, shown, _)| shown.start);
        let first = inputs.chain(self.own().map(|(_, shown)| shown.start)).min();
        2 * first.unwrap_or(self.step)..2 * self.step + 1
    }

    fn sum(&self, places: Range<usize>) -> Sum {
        let read = self.read(&(places.start.div_ceil(2)..places.end.div_ceil(2)));
        read + self.said(&(places.start / 2..places.end / 2)) + self.expected(&places)
    }
}

/// In how many of some steps any of the inputs has something, and the tokens of all.
fn turns<'s>(
    inputs: &(impl Iterator<Item = (&'s View, Range<usize>, usize)> + Clone),
    known: &Range<usize>,
) -> Sum {
    let (mut tokens, mut most, mut first) = (0, 0, known.end);
    for (view, shown, frame) in inputs.clone() {
        let shown = clip(&shown, known);
        first = first.min(shown.start);
        let sum = view.sum(&shown).framed(frame);
        tokens += sum.tokens;
        most = most.max(sum.count);
    }
    // Seldom is a turn empty, and then somebody has to look which one.
    let is_read =
        |step: &usize| inputs.clone().any(|(view, shown, _)| shown.contains(step) && view.has(*step));
    let is_whole = most == known.end - first;
    let count = if is_whole { most } else { (first..known.end).filter(is_read).count() };
    Sum { count, tokens }
}

fn clip(steps: &Range<usize>, within: &Range<usize>) -> Range<usize> {
    let start = steps.start.max(within.start);
    start..steps.end.min(within.end).max(start)
}
