//! The turns that a context omits for the budget: one cutter for columns and for transcripts.

use std::ops::Range;

use super::budget::{PersistentCuts, Report, TokenLimit, TurnCut, Turns};
use super::overhead::Overhead;
use crate::history::tokens::Sum;

/// The turns that a budget omits from a context. Slots number the turns; see [`Turns`].
#[derive(Clone, Debug)]
pub(super) struct Truncation {
    pub(super) report: Report,
    /// The slots of the omitted turns.
    pub(super) omitted: Range<usize>,
    /// The turns that the last context with a response omitted, if documents have tiers.
    pub(super) answered: Omitted,
    /// The slots that the previous context omitted, if cuts persist.
    pub(super) previous: Range<usize>,
    /// The slots that the next context most likely omits. Without persistent cuts, all from the first one on.
    pub(super) next: Range<usize>,
    /// Whether the next context certainly omits other turns.
    pub(super) changes: bool,
    /// The marker that replaces the turns, if there is one, and the tokens.
    pub(super) marker: Option<(String, usize)>,
}

/// The turns that a request omits.
#[derive(Clone, Debug, Default)]
pub(super) struct Omitted {
    pub(super) slots: Range<usize>,
    /// The numbers in the marker, if one replaces the turns.
    pub(super) marker: Option<Sum>,
}

impl Truncation {
    /// The truncation of the previous context.
    pub(super) fn before(&self) -> Self {
        let omitted = self.previous.clone();
        Self {
            marker: self.marker.clone().filter(|_| !omitted.is_empty()),
            next: omitted.clone(),
            omitted,
            previous: 0..0,
            changes: false,
            answered: Omitted::default(),
            report: self.report.clone(),
        }
    }

    /// The truncation of the last context with a response, without the text of the marker.
    pub(super) fn of_answered(&self) -> Self {
        let Omitted { slots, marker } = self.answered.clone();
        Self { omitted: slots, marker: marker.map(|_| Default::default()), ..self.before() }
    }

    /// The omitted turns.
    pub(super) fn omitted_of(&self, turns: &impl Turns) -> Omitted {
        let slots = self.omitted.clone();
        let marker = self.marker.as_ref().map(|_| turns.sum(slots.clone()));
        Omitted { slots, marker }
    }
}

/// The rule by which the contexts of a column, or the requests of a path, are cut.
pub(super) struct Cutter<'c> {
    /// The limit for turns, and for the texts that no budget omits.
    pub(super) limit: &'c TokenLimit,
    pub(super) overhead: &'c Overhead,
    /// The tokens of the texts that no budget omits, at any step up to the step of the context.
    pub(super) fixed: &'c dyn Fn(usize) -> usize,
    /// The earlier cuts, if cuts persist.
    pub(super) cuts: Option<&'c mut PersistentCuts>,
}

impl Cutter<'_> {
    /// The cut at a step. `turns` returns the turns of any step up to this one.
    ///
    /// A cut is a function of the values, also if it persists: past contexts must be the same after a restart and in a fork.
    pub(super) fn cut<T: Turns>(&mut self, step: usize, turns: impl Fn(usize) -> T) -> TurnCut {
        let limit = |step| self.limit.less((self.fixed)(step));
        let marker = |omitted| self.overhead.marker_tokens(omitted);
        match &mut self.cuts {
            Some(cuts) => cuts.at(step, limit, turns, &marker),
            // Steps that do not wait for each other do not know the cuts before, so each is cut alone.
            None => limit(step).fit(&turns(step), &TurnCut::default(), &marker),
        }
    }

    /// The turns that are omitted at a step.
    pub(super) fn omitted<T: Turns>(&mut self, step: usize, turns: impl Fn(usize) -> T) -> Omitted {
        let slots = self.cut(step, &turns).omitted;
        let limit = self.limit.less((self.fixed)(step));
        let marker = limit.marked(&turns(step), &slots, &|omitted| self.overhead.marker_tokens(omitted));
        Omitted { slots, marker }
    }

    /// The truncation at a step. `turns` returns the turns of any step up to the next one, and `fixed` has the tokens of the
    /// texts that no budget omits: those in the system text, and those in messages.
    pub(super) fn truncation<T: Turns>(
        &mut self,
        step: usize,
        turns: impl Fn(usize) -> T,
        fixed: [usize; 2],
    ) -> Truncation {
        let [of_system, of_messages] = fixed;
        let overhead = self.overhead;
        let limit = self.limit.less(of_system + of_messages);
        let cost = |omitted| overhead.marker_tokens(omitted);
        let cut = self.cut(step, &turns);
        // A cut that does not persist differs in each context.
        let changes = self.cuts.is_none() && !cut.omitted.is_empty();
        let uncut = TurnCut::default();
        let next = limit.fit(&turns(step + 1), if changes { &uncut } else { &cut }, &cost).omitted;
        let next = if changes { next.start.min(cut.omitted.start)..usize::MAX } else { next };
        let turns = turns(step);
        let omitted = turns.sum(cut.omitted.clone());
        let marker = limit.marked(&turns, &cut.omitted, &cost);
        let marker = marker.map(|omitted| (truncation_marker(omitted), cost(omitted)));
        let report = Report {
            strategy: limit.strategy,
            limit: self.limit.tokens.saturating_sub(of_system),
            before: turns.all().tokens + of_messages,
            after: turns.all().tokens - omitted.tokens
                + marker.as_ref().map_or(0, |(_, tokens)| *tokens)
                + of_messages,
            turns: omitted.count,
            kept_fewer: cut.kept_fewer && omitted.count > 0,
        };
        let answered = Omitted::default();
        let previous = 0..0;
        Truncation { report, omitted: cut.omitted, answered, previous, next, changes, marker }
    }
}

/// The marker of turns that a budget omits.
fn truncation_marker(omitted: Sum) -> String {
    format!("<elided>{} turns, about {} tokens</elided>", omitted.count, omitted.tokens)
}

impl Overhead {
    /// The tokens of the marker of turns that a budget omits.
    fn marker_tokens(&self, omitted: Sum) -> usize {
        self.counter.count(&truncation_marker(omitted)) + self.separator
    }
}
