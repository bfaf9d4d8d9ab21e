//! The sizes of a context's turns, and its tokens: sums of known numbers, before any text is assembled.
//!
//! The inputs of a column at a step are one turn, in slot `2 * step`. Its own value at that step is another turn, in slot
//! `2 * step + 1`.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use super::budget::{Cut, CutMarker, FixedText, PersistentCuts, Report, Strategy, TokenLimit, Turns};
use super::layout::{Omitted, Steps};
use super::omissions::{Elision, Truncation, truncation_marker};
use super::snapshot::Snapshot;
use super::view::ViewValues;
use crate::context::tiers::Moves;
use crate::declare::Name;
use crate::history::Value;
use crate::history::tokens::{Counter, Sum};

/// The turns of a context at its own step, at an earlier one, or at the next one.
#[derive(Clone, Debug)]
pub(super) struct ContextTurns<'s> {
    snapshot: &'s Snapshot,
    step: usize,
    elisions: Cow<'s, [Elision]>,
}

impl<'s> ContextTurns<'s> {
    /// The turns at a step: the current one, an earlier one, or the next one. The new turns of the next step are expected
    /// to be as large as the last ones.
    pub(super) fn at(snapshot: &'s Snapshot, step: usize) -> Self {
        let elisions = if step == snapshot.step {
            Cow::Borrowed(snapshot.elisions())
        } else {
            let Snapshot { reads, views, overhead, .. } = snapshot;
            Elision::all(reads, views, overhead, step, snapshot.step).into()
        };
        Self { snapshot, step, elisions }
    }

    /// The inputs, each with its values, the steps whose turns show it and the tokens around each value.
    fn inputs(&self) -> impl Iterator<Item = (&'s ViewValues, Range<usize>, usize)> + Clone {
        let (snapshot, step) = (self.snapshot, self.step);
        let inputs = snapshot.reads.inputs.iter().zip(&*snapshot.views).zip(&snapshot.overhead.inputs);
        inputs.map(move |((input, view), overhead)| (view, input.spec.turns(step), *overhead))
    }

    /// The self history, and the steps of it that are shown.
    fn self_history(&self) -> Option<(&'s ViewValues, Range<usize>)> {
        Some((self.snapshot.self_history()?, self.snapshot.reads.self_view.as_ref()?.self_cells(self.step)))
    }

    /// The turns of inputs in these steps, up to the current one.
    pub(super) fn inputs_in(&self, steps: &Range<usize>) -> Sum {
        let known = steps.start..steps.end.min(self.snapshot.step + 1);
        let mut sum = turns(&self.inputs(), &known);
        for (group, tokens) in self.snapshot.reads.groups.iter().zip(&self.snapshot.overhead.groups) {
            // A group is written once in each turn in which any of its inputs has a value.
            let inside = self.inputs().skip(group.inputs.start).take(group.inputs.len());
            sum.tokens += turns(&inside, &known).count * tokens;
        }
        sum.tokens += self.markers_in(&known, false);
        sum
    }

    /// The turns of the column itself in these steps, before the current one.
    fn self_in(&self, steps: &Range<usize>) -> Sum {
        let known = steps.start..steps.end.min(self.snapshot.step);
        let values = self.self_history().map(|(view, shown)| view.sum(&clip(&shown, &known)));
        let mut sum = values.unwrap_or_default().with_overhead(self.snapshot.overhead.separator);
        sum.tokens += self.markers_in(&known, true);
        sum
    }

    /// The tokens of the markers in these steps, either of the self history or of the inputs.
    fn markers_in(&self, steps: &Range<usize>, of_self: bool) -> usize {
        let inputs = self.snapshot.reads.inputs.len();
        // A marker is in the turn of the value that it precedes. It is no turn, and adds tokens only.
        let elisions = self.elisions.iter().filter(|elision| (elision.view == inputs) == of_self);
        elisions.map(|elision| elision.tokens(steps, &self.snapshot.overhead)).sum()
    }

    /// The expected turns of the next step, as large as those of the current one.
    fn expected_in(&self, slots: &Range<usize>) -> Sum {
        let last = self.snapshot.step;
        let mut sum = Sum::default();
        if self.step > last {
            let now = Self::at(self.snapshot, last);
            let inputs = now.inputs_in(&(last..last + 1)).tokens;
            if slots.contains(&(2 * last + 2)) {
                sum += Sum::one(inputs);
            }
            if self.self_history().is_some() && slots.contains(&(2 * last + 1)) {
                let value = now.self_in(&(last.saturating_sub(1)..last));
                // Without an earlier reply, one as large as the inputs is assumed.
                sum += Sum::one(if value.count > 0 { value.tokens } else { inputs });
            }
        }
        sum
    }
}

impl Turns for ContextTurns<'_> {
    fn slots(&self) -> Range<usize> {
        let inputs = self.inputs().map(|(_, shown, _)| shown.start);
        let first = inputs.chain(self.self_history().map(|(_, shown)| shown.start)).min();
        // Without the last slot of the step: the value of the column there does not exist yet.
        2 * first.unwrap_or(self.step)..2 * self.step + 1
    }

    fn sum(&self, slots: Range<usize>) -> Sum {
        // Slot `2n` has the inputs of step `n`, and slot `2n + 1` the column's value. So the bounds are
        // rounded up for the inputs and down for the column.
        let inputs = self.inputs_in(&(slots.start.div_ceil(2)..slots.end.div_ceil(2)));
        inputs + self.self_in(&(slots.start / 2..slots.end / 2)) + self.expected_in(&slots)
    }
}

/// The rule by which the contexts of a column are cut.
pub(super) struct CutRule<'c> {
    /// The limit for its turns, documents and instructions.
    pub(super) limit: &'c TokenLimit,
    /// The tokens of the documents in tiers, at any step up to that of the context.
    pub(super) documents: &'c dyn Fn(usize) -> usize,
}

impl CutRule<'_> {
    /// The cut at a step. `cuts` are the earlier ones of a column whose cuts persist.
    fn cut(&self, snapshot: &Snapshot, step: usize, cuts: Option<&mut PersistentCuts>) -> Cut {
        let limit = |step| self.limit.less((self.documents)(step) + snapshot.instruction_tokens(step));
        let turns = |step| ContextTurns::at(snapshot, step);
        let marker: CutMarker<'_> = &|omitted| snapshot.overhead.marker_tokens(omitted);
        match cuts {
            Some(cuts) => cuts.at(step, limit, turns, marker),
            None => limit(step).fit(&turns(step), &Cut::default(), marker),
        }
    }

    /// The turns that the context of an earlier step omits.
    fn omitted(&self, snapshot: &Snapshot, step: usize, cuts: Option<&mut PersistentCuts>) -> Omitted {
        let since = snapshot.excluding_since(step);
        if since == snapshot.excluding_since(snapshot.step) {
            return self.omitted_of(snapshot, step, cuts);
        }
        // With other exclusions the turns had other sizes.
        let mut recomputed = PersistentCuts::from(since);
        self.omitted_of(&snapshot.at(step), step, cuts.map(|_| &mut recomputed))
    }

    fn omitted_of(&self, snapshot: &Snapshot, step: usize, cuts: Option<&mut PersistentCuts>) -> Omitted {
        let slots = self.cut(snapshot, step, cuts).omitted;
        let sum = ContextTurns::at(snapshot, step).sum(slots.clone());
        Omitted { slots, marker: self.is_marked(sum).then_some(sum) }
    }

    /// Whether a marker replaces omitted turns.
    fn is_marked(&self, omitted: Sum) -> bool {
        self.limit.strategy == Strategy::TruncateMiddle && omitted.count > 0
    }
}

impl Truncation {
    /// The truncation of a context. `cuts` are the earlier cuts of a column whose cuts persist.
    pub(super) fn new(
        snapshot: &Snapshot,
        rule: &CutRule<'_>,
        mut cuts: Option<&mut PersistentCuts>,
    ) -> Self {
        let (step, overhead) = (snapshot.step, &snapshot.overhead);
        let [of_system, of_messages] = snapshot.fixed_tokens();
        let limit = rule.limit.less(of_system + of_messages);
        let cost: CutMarker<'_> = &|omitted| overhead.marker_tokens(omitted);
        let turns = ContextTurns::at(snapshot, step);
        let cut = rule.cut(snapshot, step, cuts.as_deref_mut());
        let since = snapshot.excluding_since(step);
        let previous = cuts.as_deref_mut().and_then(|cuts| {
            let previous = snapshot.previous_step().filter(|previous| *previous >= since)?;
            Some(rule.cut(snapshot, previous, Some(cuts)).omitted)
        });
        // A cut that does not persist differs in each context.
        let changes = cuts.is_none() && !cut.omitted.is_empty();
        let answered = snapshot.layout().and(snapshot.answered_step());
        let answered = answered.map(|before| rule.omitted(snapshot, before, cuts)).unwrap_or_default();
        let uncut = Cut::default();
        let before = if changes { &uncut } else { &cut };
        let next = limit.fit(&ContextTurns::at(snapshot, step + 1), before, cost).omitted;
        let next = if changes { next.start.min(cut.omitted.start)..usize::MAX } else { next };
        let omitted = turns.sum(cut.omitted.clone());
        let report = Report {
            strategy: limit.strategy,
            limit: rule.limit.tokens.saturating_sub(of_system),
            before: turns.all().tokens + of_messages,
            after: limit.remaining(&turns, &cut.omitted, cost) + of_messages,
            turns: omitted.count,
            kept_fewer: cut.kept_fewer && omitted.count > 0,
        };
        let marker = rule.is_marked(omitted).then(|| (truncation_marker(omitted), cost(omitted)));
        let previous = previous.unwrap_or_default();
        Self { report, omitted: cut.omitted, answered, previous, next, changes, marker }
    }
}

impl Steps for Snapshot {
    fn update(&self, step: usize) -> Option<Value> {
        Self::update(self, step)
    }

    fn is_answered(&self, step: usize) -> bool {
        self.self_history().is_some_and(|history| history.has(step))
    }

    /// A finite window shows the inputs of an exchange for some steps, and no exchange is complete at its own step.
    fn first_that_changes(&self, step: usize) -> usize {
        let finite = self.reads.inputs.iter().filter(|input| input.spec.window.drops_values());
        finite.map(|input| input.spec.turns(step).start).min().map_or(step, |first| first.min(step))
    }

    fn exchange(&self, exchange: usize, step: usize) -> Option<usize> {
        // No later context shows the exchange otherwise.
        let turns = ContextTurns::at(self, step.max(self.step));
        let sum = turns.sum(2 * exchange..2 * exchange + 2);
        (sum.count > 0).then_some(sum.tokens)
    }

    fn counter(&self) -> (&dyn Counter, usize) {
        (&*self.overhead.counter, self.overhead.separator)
    }
}

impl Snapshot {
    /// The tokens of the context.
    pub(super) fn tokens(&self) -> usize {
        match self.truncation() {
            Some(truncation) => truncation.report.after,
            None => ContextTurns::at(self, self.step).all().tokens + self.fixed_tokens()[1],
        }
    }

    /// The tokens that no budget omits, beside those of the instruction: of the instructions among the inputs and the
    /// documents in the system text, and of the documents in messages.
    pub(super) fn fixed_tokens(&self) -> [usize; 2] {
        let [system, messages] = self.document_tokens();
        [system + self.instruction_tokens(self.step), messages]
    }

    /// The tokens of the documents in the system text, and of those in messages.
    fn document_tokens(&self) -> [usize; 2] {
        self.layout().map_or([0, 0], |layout| [layout.system_tokens(), layout.message_tokens()])
    }

    /// The moves between tiers since the last context with a response, if a budget omits turns from one of the two, or if
    /// cells are excluded.
    pub(super) fn moves_shown(&self) -> Option<Moves> {
        let (layout, answered) = (self.layout()?, self.answered_step()?);
        let turns = ContextTurns::at(self, self.step);
        let (before, now) = self.truncation().map_or_else(Default::default, |truncation| {
            let slots = truncation.omitted.clone();
            let marker = truncation.marker.as_ref().map(|_| turns.sum(slots.clone()));
            (truncation.answered.clone(), Omitted { slots, marker })
        });
        let of_self = self.reads.inputs.len();
        let changed = self.excluded_between(answered, self.step).into_iter().map(|(turn, view)| {
            let is_included = self.views.get(view).is_some_and(|view| view.has(turn));
            (2 * turn + usize::from(view == of_self), is_included)
        });
        let changed: Vec<_> = changed.collect();
        let is_whole = before.slots.is_empty() && now.slots.is_empty() && !self.has_exclusions();
        (!is_whole).then(|| layout.moves_of((&before, &now), &changed, |slots| turns.sum(slots).count))
    }

    /// The largest texts that no budget omits, each with its tokens, the largest first.
    pub(super) fn largest_fixed(&self, count: usize) -> Vec<(FixedText, usize)> {
        let counter = &*self.overhead.counter;
        let documents = self.layout().into_iter().flat_map(|layout| layout.texts(counter));
        let instructions = self.instructions_by_input();
        let instructions = instructions.map(|(name, tokens)| (FixedText::Instructions(name.clone()), tokens));
        let mut texts: Vec<_> = documents.chain(instructions).collect();
        // Stable, so the order of texts of equal size is always the same.
        texts.sort_by_key(|(_, tokens)| Reverse(*tokens));
        texts.truncate(count);
        texts
    }

    /// The instructions among the inputs, each with its tokens.
    fn instructions_by_input(&self) -> impl Iterator<Item = (&Name, usize)> {
        let instructions = self.reads.instructions.iter().zip(&*self.instruction_views);
        instructions.map(|(input, view)| {
            let sum = view.sum(&view.steps).with_overhead(self.overhead.separator);
            (&input.name, sum.tokens)
        })
    }

    /// The columns in the context, each with its tokens, the largest first.
    pub(super) fn contributors(&self) -> Vec<(Name, usize)> {
        let this = (&self.reads.column, self.overhead.separator);
        let names = self.reads.inputs.iter().zip(&self.overhead.inputs);
        let names = names.map(|(input, overhead)| (&input.name, *overhead)).chain([this]);
        let tokens = |at, view: &ViewValues, overhead| {
            let elision = self.elision(at).map(|elision| elision.tokens(&view.steps, &self.overhead));
            view.sum(&view.steps).with_overhead(overhead).tokens + elision.unwrap_or(0)
        };
        let mut contributors: Vec<_> = names
            .zip(&*self.views)
            .enumerate()
            .map(|(at, ((name, overhead), view))| (name.clone(), tokens(at, view, overhead)))
            .collect();
        let documents = self.reads.tiered.as_ref().map(|documents| documents.name.clone());
        contributors.extend(documents.map(|name| (name, self.document_tokens().iter().sum())));
        let instructions = self.instructions_by_input();
        contributors.extend(instructions.map(|(name, tokens)| (name.clone(), tokens)));
        // Stable, so columns of equal size stay in the order of their declaration.
        contributors.sort_by_key(|(_, tokens)| Reverse(*tokens));
        contributors
    }
}

/// The number of steps in which any of the inputs has a value, and the tokens of all.
fn turns<'s>(
    inputs: &(impl Iterator<Item = (&'s ViewValues, Range<usize>, usize)> + Clone),
    known: &Range<usize>,
) -> Sum {
    let (mut tokens, mut most, mut first) = (0, 0, known.end);
    for (view, shown, overhead) in inputs.clone() {
        let shown = clip(&shown, known);
        first = first.min(shown.start);
        let sum = view.sum(&shown).with_overhead(overhead);
        tokens += sum.tokens;
        most = most.max(sum.count);
    }
    // The steps are visited one by one only if a turn is empty, which is rare.
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
