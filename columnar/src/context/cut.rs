//! The cut of a column's context to the budget, and the error of a context that cannot be cut.

use std::cmp::Reverse;

use super::budget::{BudgetError, FixedText, PersistentCuts, Report, Strategy, TokenLimit};
use super::compaction::LogMemory;
use super::layout::TierMemory;
use super::snapshot::{Snapshot, Uncut};
use super::truncation::{Cutter, Omitted, Truncation};
use super::turns::ContextTurns;
use crate::declare::Name;

/// The number of texts that an error names.
const LARGEST: usize = 3;

/// The budget of a context, and the facts about the column that decide where it is cut.
pub(super) struct ContextBudget<'b> {
    /// The limit for turns, documents and instructions.
    pub(super) limit: &'b TokenLimit,
    pub(super) documents: DocumentMemory<'b>,
}

/// The documents of a column at any step up to the step of a context.
pub(super) struct DocumentMemory<'b> {
    pub(super) tiers: Option<&'b TierMemory>,
    pub(super) log: Option<&'b LogMemory>,
}

impl ContextBudget<'_> {
    /// Omits the turns that do not fit. `cuts` are the earlier cuts of a column whose cuts persist. Calls the counter.
    ///
    /// # Errors
    ///
    /// If the context is over a budget that never truncates, or the budget leaves no tokens for turns.
    pub(super) fn cut(
        &self,
        context: Uncut,
        cuts: Option<&mut PersistentCuts>,
    ) -> Result<Snapshot, BudgetError> {
        let truncation = self.truncation(&context, cuts);
        self.check(&context, &truncation.report)?;
        Ok(context.truncated(Some(truncation)))
    }

    fn truncation(&self, context: &Uncut, cuts: Option<&mut PersistentCuts>) -> Truncation {
        let step = context.step;
        let turns = |step| ContextTurns::at(context, step);
        let fixed: &dyn Fn(usize) -> usize = &|step| self.fixed(context, step);
        let mut cutter = Cutter { limit: self.limit, overhead: &context.overhead, fixed, cuts };
        let mut truncation = cutter.truncation(step, turns, context.fixed_tokens());
        let since = context.excluding_since(step);
        if cutter.cuts.is_some()
            && let Some(previous) = context.whole().last_read_step().filter(|previous| *previous >= since)
        {
            truncation.previous = cutter.cut(previous, turns).omitted;
        }
        if let Some(answered) = context.layout().and(context.whole().last_answered_step()) {
            truncation.answered = if context.excluding_since(answered) == since {
                cutter.omitted(answered, turns)
            } else {
                self.omitted_then(context, answered, cutter.cuts.is_some())
            };
        }
        truncation
    }

    /// The turns that the context of an earlier step omitted, when other cells were excluded.
    fn omitted_then(&self, context: &Uncut, step: usize, persists: bool) -> Omitted {
        let then = context.at(step);
        // With other exclusions the turns had other sizes, so the cuts belong to another history.
        let mut cuts = persists.then(|| PersistentCuts::from(context.excluding_since(step)));
        let fixed: &dyn Fn(usize) -> usize = &|step| self.fixed(&then, step);
        let mut cutter = Cutter { limit: self.limit, overhead: &then.overhead, fixed, cuts: cuts.as_mut() };
        cutter.omitted(step, |step| ContextTurns::at(&then, step))
    }

    /// The tokens that no budget omits.
    fn fixed(&self, context: &Uncut, step: usize) -> usize {
        let DocumentMemory { tiers, log } = &self.documents;
        let logged = log.map_or(0, |log| log.sum(step).with_overhead(context.around_documents()).tokens);
        // Cuts of a column with a thread do not persist, so no other step is asked for.
        let thread: usize = context.thread_tokens().iter().sum();
        let own = context.overhead.own_tokens() + thread;
        tiers.map_or(0, |tiers| tiers.tokens(step)) + logged + context.instruction_tokens(step) + own
    }

    fn check(&self, context: &Uncut, report: &Report) -> Result<(), BudgetError> {
        if !report.is_over_limit() {
            return Ok(());
        }
        let [of_system, of_messages] = context.fixed_tokens();
        let limit = self.limit.tokens;
        if of_system + of_messages >= limit {
            let tokens = of_system + of_messages;
            let largest = context.largest_fixed();
            return Err(BudgetError::NoRoomForTurns { tokens, limit, largest });
        }
        if report.strategy == Strategy::StopAtLimit {
            let tokens = report.before + of_system;
            let contributors = context.contributors();
            return Err(BudgetError::OverLimit { tokens, limit, contributors });
        }
        Ok(())
    }
}

impl Uncut {
    /// The largest texts that no budget omits, with the tokens of each, the largest first.
    fn largest_fixed(&self) -> Vec<(FixedText, usize)> {
        let counter = &*self.overhead.counter;
        let documents = self.layout().into_iter().flat_map(|layout| layout.texts(counter));
        let logged = self.log().into_iter().flat_map(|shown| shown.log().valid());
        let documents =
            documents.chain(logged.map(|(name, text)| (name.clone().into(), counter.count(text))));
        let instructions = self.instructions_by_input();
        let instructions = instructions.map(|(name, tokens)| (FixedText::Instructions(name), tokens));
        let thread = self
            .thread()
            .map(|thread| (FixedText::Thread(thread.column().clone()), self.thread_tokens().iter().sum()));
        let mut texts: Vec<_> = documents.chain(instructions).chain(thread).collect();
        // Stable, so the order of texts of equal size is always the same.
        texts.sort_by_key(|(_, tokens)| Reverse(*tokens));
        texts.truncate(LARGEST);
        texts
    }

    /// The instructions among the inputs, with the tokens of each.
    fn instructions_by_input(&self) -> impl Iterator<Item = (Name, usize)> {
        self.instruction_inputs().map(|(input, view)| {
            let sum = view.sum(&view.steps).with_overhead(self.overhead.separator);
            (input.name.clone(), sum.tokens)
        })
    }

    /// The columns in the context, with the tokens of each, the largest first.
    fn contributors(&self) -> Vec<(Name, usize)> {
        let overheads = self.overhead.inputs.iter().chain([&self.overhead.separator]);
        let columns = self.columns().zip(overheads).enumerate().map(|(at, ((name, view), overhead))| {
            let marker = self.elision(at).map_or(0, |elision| self.tokens_of(elision, &view.steps));
            (name.clone(), view.sum(&view.steps).with_overhead(*overhead).tokens + marker)
        });
        let documents = self.reads.tiered.as_ref();
        let documents =
            documents.map(|documents| (documents.name.clone(), self.document_tokens().iter().sum()));
        let thread = self.thread().map(|thread| (thread.column().clone(), self.thread_tokens().iter().sum()));
        let others = documents.into_iter().chain(thread).chain(self.instructions_by_input());
        let mut contributors: Vec<_> = columns.chain(others).collect();
        // Stable, so columns of equal size stay in the order of the declaration.
        contributors.sort_by_key(|(_, tokens)| Reverse(*tokens));
        contributors
    }
}
