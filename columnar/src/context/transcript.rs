//! The context of a list of turns that no flow has, such as a path through a tree: the same snapshot as that of a column,
//! with one track of inputs and one of the column's own values.
//!
//! ```text
//! turns ──▶ places ──▶ two histories ──▶ Snapshot ──▶ Messages
//! ```
//!
//! A turn of the user takes the next place of an input, and one of the assistant the next place of an own value. So a track
//! has gaps where two neighbours have the same role.

use std::ops::Range;
use std::sync::Arc;

use super::budget::{Budget, BudgetError, Cut, CutMarker, Report, Strategy, TokenLimit, Turns};
use super::delimiters::{ContextSettings, Overhead, Role};
use super::layout::Omitted;
use super::messages::Messages;
use super::omissions::{Truncation, truncation_marker};
use super::snapshot::Snapshot;
use super::system::join;
use crate::declare::{Name, Purpose, Reads, ViewSpec};
use crate::history::tokens::{Counter, Sum};
use crate::history::{History, Value};
use crate::schedule::Cell;

/// The columns of a transcript.
const USER: usize = 0;
const ASSISTANT: usize = 1;
const INSTRUCTIONS: usize = 2;

/// The messages of a list of turns, and the places of the turns in them.
#[derive(Clone, Debug)]
pub(crate) struct Transcript {
    pub(crate) messages: Messages,
    /// The slot of each turn.
    slots: Vec<usize>,
    /// The turns that the budget omits.
    pub(crate) omitted: Range<usize>,
}

/// The names under which parts of a transcript have their origins.
#[derive(Clone, Debug)]
pub(crate) struct TranscriptNames {
    pub(crate) user: Name,
    pub(crate) assistant: Name,
}

impl Transcript {
    /// The messages of these turns. The instructions end the system text.
    ///
    /// # Errors
    ///
    /// If the turns are over a budget that never truncates, or the system text leaves no tokens for messages.
    pub(crate) fn new(
        turns: &[(Role, Value)],
        instructions: &[&str],
        settings: ContextSettings<'_>,
        (names, budget, counter): (&TranscriptNames, &Budget, Arc<dyn Counter>),
    ) -> Result<Self, BudgetError> {
        let instructions = join(instructions.iter().copied());
        let reads = reads(names, !instructions.is_empty());
        let overhead = Overhead::new(&reads, settings, counter);
        let slots = slots(turns.iter().map(|(role, _)| *role));
        let tokens: Vec<usize> = turns.iter().map(|(_, text)| overhead.counter.count(text)).collect();
        let mut histories: [History; 3] = Default::default();
        let [user, assistant, instruction] = &mut histories;
        for (((role, text), slot), tokens) in turns.iter().zip(&slots).zip(&tokens) {
            let history = if *role == Role::User { &mut *user } else { &mut *assistant };
            history.insert(slot / 2, text.clone(), *tokens);
        }
        if !instructions.is_empty() {
            let tokens = overhead.counter.count(&instructions);
            instruction.insert(0, instructions.into(), tokens);
        }
        // A place after the last turn, unless that is an input: the own value of a step is not in its context.
        let step = slots.last().map_or(0, |slot| slot.div_ceil(2));
        let histories = |column: usize| histories.get(column).cloned().unwrap_or_default();
        let cell = Cell { column: ASSISTANT, step };
        let mut snapshot = Snapshot::new(Arc::new(reads), cell, (None, None), Arc::new(overhead), histories);
        let mut omitted = 0..0;
        if let Some(limit) = limit(budget, &snapshot)? {
            let turns = DenseTurns::new(&tokens, snapshot.overhead.separator);
            let cut = cut(&limit, &turns, &slots, &snapshot.overhead);
            omitted = cut.omitted.clone();
            snapshot.truncate(truncation(&limit, &turns, &slots, &cut, &snapshot.overhead)?);
        }
        Ok(Self { messages: Messages::new(snapshot), slots, omitted })
    }

    /// The index of the turn at a step of one of the two columns.
    pub(crate) fn turn(&self, role: Role, step: usize) -> Option<usize> {
        self.slots.binary_search(&(2 * step + usize::from(role == Role::Assistant))).ok()
    }
}

/// The views of a transcript: all turns of the user, and all of the assistant.
fn reads(names: &TranscriptNames, has_instructions: bool) -> Reads {
    let mut reads = Reads::new(names.assistant.clone());
    let tags = &mut std::collections::BTreeSet::new();
    let pushed = reads.push((USER, names.user.clone()), names.user.tag(), &[], ViewSpec::all(), tags);
    debug_assert!(pushed.is_ok(), "the only tag is no duplicate");
    if has_instructions {
        let spec = ViewSpec::all().for_purpose(Purpose::Instruction);
        reads.push_instruction((INSTRUCTIONS, names.assistant.clone()), spec);
    }
    reads.self_view = Some(ViewSpec::all());
    reads
}

/// The place of each turn: even for the user, odd for the assistant, ascending.
fn slots(roles: impl Iterator<Item = Role>) -> Vec<usize> {
    let place = |next: &mut usize, role: Role| {
        let is_odd = usize::from(role == Role::Assistant);
        let slot = *next + usize::from(*next % 2 != is_odd);
        *next = slot + 1;
        Some(slot)
    };
    roles.scan(0, place).collect()
}

/// The limit for the turns, after the whole system text.
fn limit(budget: &Budget, snapshot: &Snapshot) -> Result<Option<TokenLimit>, BudgetError> {
    let overhead = &snapshot.overhead;
    let system = overhead.instruction.unwrap_or(0) + snapshot.fixed_tokens()[0];
    TokenLimit::of(budget, system, overhead.least_message(&snapshot.reads))
}

/// The cut of the last turns. With a low-water mark it continues the cuts of the requests before, which were made before
/// each turn of the assistant.
fn cut(limit: &TokenLimit, turns: &DenseTurns, slots: &[usize], overhead: &Overhead) -> Cut {
    let cost: CutMarker<'_> = &|omitted| overhead.marker_tokens(omitted);
    let mut cut = Cut::default();
    if limit.low_water.is_some() {
        let is_reply = |(_, slot): &(usize, &usize)| !slot.is_multiple_of(2);
        for (turn, _) in slots.iter().enumerate().filter(is_reply) {
            cut = limit.fit(&turns.first(turn), &cut, cost);
        }
    }
    limit.fit(turns, &cut, cost)
}

fn truncation(
    limit: &TokenLimit,
    turns: &DenseTurns,
    slots: &[usize],
    cut: &Cut,
    overhead: &Overhead,
) -> Result<Truncation, BudgetError> {
    let cost: CutMarker<'_> = &|omitted| overhead.marker_tokens(omitted);
    let sum = turns.sum(cut.omitted.clone());
    let report = Report {
        strategy: limit.strategy,
        limit: limit.tokens,
        before: turns.all().tokens,
        after: limit.remaining(turns, &cut.omitted, cost),
        turns: sum.count,
        kept_fewer: cut.kept_fewer && sum.count > 0,
    };
    if limit.strategy == Strategy::StopAtLimit && report.is_over_limit() {
        let (tokens, limit) = (report.before, report.limit);
        return Err(BudgetError::OverLimit { tokens, limit, contributors: Vec::new() });
    }
    let place = |turn: usize| slots.get(turn).copied();
    let Range { start, end } = cut.omitted.clone();
    let last = end.checked_sub(1).filter(|_| start < end);
    let omitted = place(start).zip(last.and_then(place)).map_or(0..0, |(first, last)| first..last + 1);
    let is_marked = limit.strategy == Strategy::TruncateMiddle && sum.count > 0;
    let marker = is_marked.then(|| (truncation_marker(sum), cost(sum)));
    let changes = limit.low_water.is_none() && sum.count > 0;
    let next = if changes { omitted.start..usize::MAX } else { omitted.clone() };
    let answered = Omitted::default();
    Ok(Truncation { report, answered, previous: omitted.clone(), omitted, next, changes, marker })
}

/// The sizes of turns without gaps between them, as sums, so that each range of them costs a subtraction.
struct DenseTurns {
    /// The tokens before each turn, and of all.
    sums: Vec<usize>,
    count: usize,
}

impl DenseTurns {
    fn new(tokens: &[usize], separator: usize) -> Self {
        let mut sums = vec![0];
        sums.extend(tokens.iter().scan(0, |sum: &mut usize, tokens| {
            *sum = sum.saturating_add(*tokens).saturating_add(separator);
            Some(*sum)
        }));
        Self { sums, count: tokens.len() }
    }

    /// The first of these turns.
    fn first(&self, count: usize) -> FirstTurns<'_> {
        FirstTurns { turns: self, count }
    }

    fn before(&self, turn: usize) -> usize {
        self.sums.get(turn).or(self.sums.last()).copied().unwrap_or(0)
    }
}

impl Turns for DenseTurns {
    fn slots(&self) -> Range<usize> {
        0..self.count
    }

    fn sum(&self, slots: Range<usize>) -> Sum {
        self.first(self.count).sum(slots)
    }
}

struct FirstTurns<'t> {
    turns: &'t DenseTurns,
    count: usize,
}

impl Turns for FirstTurns<'_> {
    fn slots(&self) -> Range<usize> {
        0..self.count
    }

    fn sum(&self, slots: Range<usize>) -> Sum {
        let (start, end) = (slots.start.min(self.count), slots.end.min(self.count));
        let end = end.max(start);
        Sum { count: end - start, tokens: self.turns.before(end).saturating_sub(self.turns.before(start)) }
    }
}
