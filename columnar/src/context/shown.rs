//! What a context shows: which columns, how much of each, under which tags.
//!
//! ```text
//! views ──▶ windows, at the current step ──▶ snapshots of the columns
//! ```
//!
//! Nothing is copied and nothing is made: what is shown is a handful of snapshots, whatever the length
//! of the history, and its parts are found when somebody reads them. A pure function of the schema and
//! the stored values: the order in which cells were computed cannot show.

use std::ops::Range;
use std::sync::Arc;

use super::absent::Absent;
use super::elision::Elision;
use super::fitted::Fitted;
use super::part::Origin;
use super::turns::Places;
use crate::context::budget::{Around, Turns};
use crate::declare::{Input, Name, Reads};
use crate::history::{History, Texts, Value};
use crate::schedule::Cell;
use crate::tokens::Sum;

/// What the context of one cell shows. Cloning it is a few reference counts.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) reads: Arc<Reads>,
    pub(crate) step: usize,
    /// The inputs in order of declaration, and the own past after them.
    pub(super) views: Arc<[View]>,
    /// What goes with the values.
    pub(super) around: Arc<Around>,
    /// The nearest step at which a fork went another way.
    pub(crate) fork: Option<usize>,
    /// What is known of the values that are not shown.
    absent: Option<Arc<Absent>>,
}

/// Some values of a column, each at the step whose turn shows it.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) steps: Range<usize>,
    /// How many steps before its turn a value was said.
    pub(super) delay: usize,
    values: History,
}

impl View {
    /// Whether the turn of a step has a value to show.
    pub(super) fn has(&self, step: usize) -> bool {
        step.checked_sub(self.delay).is_some_and(|said| self.values.has(said))
    }

    /// A single text, in the turn of a step.
    pub(super) fn of_one(step: usize, text: String, tokens: usize) -> Self {
        let mut values = History::default();
        values.insert(step, text.into(), tokens);
        Self { steps: step..step + 1, delay: 0, values }
    }

    /// The first of some turns that has a value to show, found without going through them.
    pub(super) fn first(&self, turns: &Range<usize>) -> Option<usize> {
        let Range { mut start, mut end } = turns.clone();
        // Seldom is the oldest one empty.
        if start < end && self.has(start) {
            return Some(start);
        }
        while start < end {
            let middle = start.midpoint(end);
            if self.sum(&(start..middle + 1)).count > 0 { end = middle } else { start = middle + 1 }
        }
        Some(start).filter(|first| turns.contains(first))
    }

    fn value(&self, step: usize) -> Option<Value> {
        self.values.value(step.checked_sub(self.delay)?)
    }

    /// What turns show from the one of a step on.
    pub(super) fn texts(&self, step: usize) -> Texts<'_> {
        self.values.texts(step - self.delay)
    }

    /// The bytes of what is shown in the turns of some steps.
    pub(super) fn bytes(&self, steps: Range<usize>) -> usize {
        self.values.bytes(self.said(&steps))
    }

    /// What the values in the turns of some steps sum up to.
    pub(super) fn sum(&self, steps: &Range<usize>) -> Sum {
        self.values.sum(self.said(steps))
    }

    /// When was said what the turns of some steps show.
    fn said(&self, steps: &Range<usize>) -> Range<usize> {
        steps.start.saturating_sub(self.delay)..steps.end.saturating_sub(self.delay)
    }
}

impl Shown {
    /// What a cell of a derived column shows, all of which is stored.
    pub(crate) fn new(
        reads: Arc<Reads>,
        cell: Cell,
        around: Arc<Around>,
        mut history: impl FnMut(usize, Option<&Input>) -> History,
    ) -> Self {
        let inputs = reads.inputs.iter();
        let inputs = inputs.map(|input| (input.column, Some(input), input.turns(cell.step), input.delay()));
        let own = reads.own.map(|own| (cell.column, None, own.of_own(cell.step), 0));
        // Collected at once, which is one allocation.
        let views = inputs.chain(own).map(|(column, input, steps, delay)| View {
            steps,
            delay,
            values: history(column, input),
        });
        let (views, step): (Arc<[View]>, _) = (views.collect(), cell.step);
        let absent = if reads.elides { Absent::hidden(&reads, &views, &around, step) } else { None };
        Self { reads, step, views, around, fork: None, absent }
    }

    /// Leaves out what is too much.
    pub(crate) fn fit(&mut self, fitted: Fitted) {
        Arc::make_mut(self.absent.get_or_insert_default()).fitted = Some(fitted);
    }

    pub(crate) fn column(&self) -> &Name {
        &self.reads.column
    }

    /// Whether both are the same, and not only equal.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.views, &other.views)
    }

    /// What the context showed at the last step before, without those at which all inputs were empty.
    pub(super) fn previous(&self) -> Option<Self> {
        (0..self.step).rev().find(|step| self.is_read_at(*step)).map(|step| self.at(step))
    }

    /// What the context showed at the last step that it has in common with its nearest fork; `None` where what
    /// is left out now was not known then.
    pub(super) fn before_fork(&self) -> Option<Self> {
        let is_whole = self.fitted().is_none_or(|fitted| fitted.elided.is_empty());
        self.fork?.checked_sub(1).filter(|_| is_whole).map(|step| self.at(step))
    }

    /// What the context showed at an earlier step.
    fn at(&self, step: usize) -> Self {
        let inputs = self.reads.inputs.iter().map(|input| input.turns(step));
        let steps = inputs.chain(self.reads.own.map(|own| own.of_own(step)));
        let views = steps.zip(&*self.views).map(|(steps, view)| View { steps, ..view.clone() });
        let (reads, around) = (Arc::clone(&self.reads), Arc::clone(&self.around));
        let views: Arc<[View]> = views.collect();
        let absent = Absent::hidden(&reads, &views, &around, step);
        let mut shown = Self { reads, step, views, around, fork: None, absent };
        self.fitted().into_iter().for_each(|fitted| shown.fit(fitted.previous()));
        shown
    }

    /// What is left out, where there is a budget.
    #[inline]
    pub(super) fn fitted(&self) -> Option<&Fitted> {
        self.absent.as_ref()?.fitted.as_ref()
    }

    /// What is said of values that views hide.
    #[inline]
    pub(super) fn elisions(&self) -> &[Elision] {
        self.absent.as_ref().map_or(&[], |absent| &absent.elisions)
    }

    /// The same of one view.
    pub(super) fn elision(&self, at: usize) -> Option<&Elision> {
        self.elisions().iter().find(|elision| elision.at == at)
    }

    /// The inputs at the current step; without those that are empty for good.
    pub(crate) fn current(&self) -> Vec<(Name, Value)> {
        let inputs = self.reads.inputs.iter().zip(&*self.views);
        inputs.filter_map(|(input, view)| Some((input.tag.clone(), view.value(self.step)?))).collect()
    }

    /// Whether any input has something for the turn of a step.
    fn is_read_at(&self, step: usize) -> bool {
        self.reads.inputs.iter().zip(&*self.views).any(|(_, view)| view.has(step))
    }

    pub(super) fn tags(&self) -> impl Iterator<Item = &Name> + Clone {
        self.reads.tags()
    }

    /// How many groups around an input stay open behind its value in the turn of a step, in a context of this
    /// step or of the next one.
    pub(super) fn open_behind(&self, input: &Input, step: usize, context: usize) -> usize {
        let behind = self.reads.inputs.iter().zip(&*self.views).skip(input.at + 1);
        let mut siblings = behind.map(|(other, view)| (input.shared_groups(other), other, view));
        let next = siblings.by_ref().take_while(|(shared, ..)| *shared > 0);
        let mut there =
            next.filter(|(_, other, view)| other.turns(context).contains(&step) && view.has(step));
        there.next().map_or(0, |(shared, ..)| shared)
    }

    /// Whether any input has a value at the current step.
    pub(crate) fn is_current(&self) -> bool {
        self.is_read_at(self.step)
    }

    /// The tokens of all that is shown.
    pub(super) fn tokens(&self) -> usize {
        match self.fitted() {
            Some(fitted) => fitted.report.after,
            None => Places::at(self, self.step).all().tokens,
        }
    }

    /// The columns that are shown, each with its tokens, the largest first.
    pub(crate) fn contributors(&self) -> Vec<(Name, usize)> {
        let gap = (&self.reads.column, self.around.gap);
        let names = self.reads.inputs.iter().zip(&self.around.frames);
        let names = names.map(|(input, frame)| (&input.name, *frame)).chain([gap]);
        let tokens = |at, view: &View, frame| {
            let elision = self.elision(at).map(|elision| elision.tokens(&view.steps, &self.around));
            view.sum(&view.steps).framed(frame).tokens + elision.unwrap_or(0)
        };
        let mut contributors: Vec<_> = names
            .zip(&*self.views)
            .enumerate()
            .map(|(at, ((name, frame), view))| (name.clone(), tokens(at, view, frame)))
            .collect();
        contributors.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
        contributors
    }

    /// The cells that are left out, in the order in which they would be shown.
    pub(super) fn elided(&self) -> impl Iterator<Item = Origin<'_>> {
        let places = self.fitted().map_or(0..0, |fitted| fitted.elided.clone());
        let names = self.reads.inputs.iter().map(|input| &input.name).chain([&self.reads.column]);
        let views = names.zip(&*self.views).enumerate();
        let inputs = self.reads.inputs.len();
        places.flat_map(move |place| {
            let step = place / 2;
            let of_role = move |at| (at == inputs) == (place % 2 == 1);
            views.clone().filter_map(move |(at, (column, view))| {
                let is_there = of_role(at) && view.steps.contains(&step) && view.has(step);
                is_there.then(|| Origin { column, step: step - view.delay })
            })
        })
    }

    /// The first step of whose inputs some are left out.
    pub(super) fn uncut(&self) -> Option<usize> {
        let elided = self.fitted().map(|fitted| &fitted.elided).filter(|elided| !elided.is_empty());
        elided.map(|elided| elided.start.div_ceil(2))
    }

    /// Whether what stands at a place is left out.
    fn is_elided(&self, place: usize) -> bool {
        self.fitted().is_some_and(|fitted| fitted.elided.contains(&place))
    }

    /// Whether there is nothing in any view.
    pub(super) fn is_empty(&self) -> bool {
        self.views.iter().all(|view| !view.steps.clone().any(|step| view.has(step)))
    }

    /// The own past, if it is shown.
    pub(super) fn own(&self) -> Option<&View> {
        self.views.get(self.reads.inputs.len())
    }

    /// Whether something will be said before a value in the next context that is not said now: it is not yet the
    /// first that its view shows.
    pub(super) fn is_first_next(&self, at: usize, step: usize, next: &Range<usize>) -> bool {
        let view = self.views.get(at).filter(|_| self.reads.is_elided(at));
        view.is_some_and(|view| view.first(next) == Some(step) && view.first(&view.steps) != Some(step))
    }

    /// Whether the next context begins with what the column said, as far as that is known, and with nothing that is
    /// said of it.
    pub(super) fn is_led_next(&self) -> bool {
        let next = self.step + 1;
        let (Some(own), Some(view)) = (self.reads.own, self.own()) else { return false };
        // What is computed now will have been said.
        let mut said = own.of_own(next).filter(|&step| step == self.step || view.has(step));
        said.next().is_some_and(|first| {
            let is_told = self.reads.own_elided && view.sum(&(0..first)).count > 0;
            let mut inputs = self.reads.inputs.iter().zip(&*self.views);
            !is_told
                && !inputs.any(|(input, view)| (input.turns(next).start..=first).any(|step| view.has(step)))
        })
    }

    /// The first step that any view shows.
    pub(super) fn first_step(&self) -> usize {
        self.views.iter().map(|view| view.steps.start).min().unwrap_or(self.step)
    }

    /// The first step of the last message: the one after the last that shows what the column said.
    pub(super) fn last_message(&self) -> usize {
        let own = self.own().and_then(|own| {
            let is_shown = |&step: &usize| !self.is_elided(2 * step + 1) && own.has(step);
            own.steps.clone().rev().find(is_shown).map(|step| step + 1)
        });
        own.unwrap_or_else(|| self.first_step())
    }
}
