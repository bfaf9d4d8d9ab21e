//! The context of a list of turns that no flow has, such as a path through a tree: the same snapshot as for a column, with
//! one track of inputs and one of the column's own values. So budgets, marks, renderings and breakdowns exist once.
//!
//! ```text
//! turns ──▶ places ──▶ two histories ──▶ Snapshot ──▶ Messages
//! ```
//!
//! A turn of the user takes the next place of an input, and one of the assistant the next place of an own value. So a track
//! has gaps where two neighbours have the same role.

use std::ops::Range;
use std::sync::Arc;

use super::budget::{Budget, BudgetError, PersistentCuts, Strategy, TokenLimit, Turns};
use super::delimiters::Role;
use super::elisions::MarkedViews;
use super::messages::Messages;
use super::overhead::{ContextSettings, Overhead, join};
use super::snapshot::{FlowPast, TakenViews};
use super::step_views::{StepViews, StoredCells};
use super::truncation::{Cutter, Truncation};
use crate::declare::{InputView, Name, Purpose, Reads, ViewSpec};
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

/// Everything that the messages of a transcript depend on, beside the turns.
#[derive(Debug)]
pub(crate) struct TranscriptOptions<'o> {
    /// The columns under whose names parts have the origins.
    pub(crate) user: Name,
    pub(crate) assistant: Name,
    /// The texts that end the system text.
    pub(crate) instructions: &'o [&'o str],
    pub(crate) settings: ContextSettings<'o>,
    pub(crate) budget: &'o Budget,
    pub(crate) counter: Arc<dyn Counter>,
}

/// The reason why turns have no context within a budget.
#[derive(Debug)]
pub(crate) enum TranscriptError {
    NoRoom(BudgetError),
    /// The turns are over a limit that never truncates.
    OverLimit {
        tokens: usize,
        limit: usize,
        /// The tokens of each turn, which add up to `tokens`.
        sizes: Vec<usize>,
    },
}

impl Transcript {
    /// The messages of these turns.
    ///
    /// # Errors
    ///
    /// If the turns are over a budget that never truncates, or the system text leaves no tokens for messages.
    pub(crate) fn new(
        turns: &[(Role, Value)],
        options: TranscriptOptions<'_>,
    ) -> Result<Self, TranscriptError> {
        let instructions = join(options.instructions.iter().copied());
        let reads = reads(options.user, options.assistant, !instructions.is_empty());
        let overhead = Overhead::new(&reads, options.settings, options.counter);
        let slots = slots(turns.iter().map(|(role, _)| *role));
        let tokens: Vec<usize> = turns.iter().map(|(_, text)| overhead.counter.count(text)).collect();
        let media = turns.iter().map(|(role, text)| media_tokens(&reads, &overhead, *role, text));
        let sizes: Vec<usize> = tokens.iter().zip(media).map(|(text, media)| text + media).collect();
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
        // A place after the last turn, unless that is an input: the own value of a step is not in the context.
        let step = slots.last().map_or(0, |slot| slot.div_ceil(2));
        let cell = Cell { column: ASSISTANT, step };
        let taken =
            TakenViews::new(Arc::new(reads), cell, Arc::new(overhead), FlowPast::default(), |column| {
                StoredCells {
                    history: histories.get(column).cloned().unwrap_or_default(),
                    ..StoredCells::default()
                }
            });
        let context = taken.lay_out(MarkedViews::new(StepViews::clone(&taken)), None, None).exclude();
        let system = context.overhead.instruction.unwrap_or(0) + context.fixed_tokens()[0];
        let least = context.overhead.least_message(&context.reads);
        let mut omitted = 0..0;
        let truncation =
            match TokenLimit::of(options.budget, system, least).map_err(TranscriptError::NoRoom)? {
                None => None,
                Some(limit) => {
                    let truncation = truncation(&limit, &sizes, &slots, &context.overhead)?;
                    omitted = truncation.omitted.clone();
                    Some(placed(truncation, &slots))
                }
            };
        Ok(Self { messages: Messages(context.truncated(truncation)), slots, omitted })
    }

    /// The index of the turn at a step of one of the two columns.
    pub(crate) fn turn(&self, role: Role, step: usize) -> Option<usize> {
        self.slots.binary_search(&(2 * step + usize::from(role == Role::Assistant))).ok()
    }
}

/// The views of a transcript: all turns of the user, and all of the assistant.
fn reads(user: Name, assistant: Name, has_instructions: bool) -> Reads {
    let mut reads = Reads::new(assistant.clone());
    let tag = user.tag();
    reads.inputs.push(InputView::new(0, USER, user, tag, ViewSpec::all()));
    if has_instructions {
        let spec = ViewSpec::all().for_purpose(Purpose::Instruction);
        reads.push_instruction(INSTRUCTIONS, assistant, spec);
    }
    reads.self_view = Some(ViewSpec::all());
    reads
}

/// The tokens of the attachments of a turn.
fn media_tokens(reads: &Reads, overhead: &Overhead, role: Role, text: &Value) -> usize {
    let input = reads.inputs.first().filter(|_| role == Role::User);
    let media = overhead.media_of(input, &ViewSpec::all());
    media.map_or(0, |media| media.tokens_of(text.attachments()))
}

/// The place of each turn: even for the user, odd for the assistant, ascending.
fn slots(roles: impl Iterator<Item = Role>) -> Vec<usize> {
    let slots = roles.scan(0, |next, role| {
        let is_odd = usize::from(role == Role::Assistant);
        let slot = *next + usize::from(*next % 2 != is_odd);
        *next = slot + 1;
        Some(slot)
    });
    slots.collect()
}

/// The truncation of the turns, in numbers of turns. With a low-water mark it continues the cuts of the requests before,
/// which were made before each turn of the assistant.
fn truncation(
    limit: &TokenLimit,
    tokens: &[usize],
    slots: &[usize],
    overhead: &Overhead,
) -> Result<Truncation, TranscriptError> {
    let sums = sums(tokens, overhead.separator);
    let replies = slots.iter().enumerate().filter(|(_, slot)| !slot.is_multiple_of(2));
    let replies: Vec<usize> = replies.map(|(turn, _)| turn).collect();
    // The request after the last one is not known, and counts as one with the same turns.
    let turns = |request: usize| {
        let count = replies.get(request).copied().unwrap_or(tokens.len());
        DenseTurns { sums: &sums, count }
    };
    let mut cuts = limit.low_water.map(|_| PersistentCuts::default());
    let mut cutter = Cutter { limit, overhead, fixed: &|_| 0, cuts: cuts.as_mut() };
    let truncation = cutter.truncation(replies.len(), turns, [0, 0]);
    let report = &truncation.report;
    if limit.strategy == Strategy::StopAtLimit && report.is_over_limit() {
        let tokens = report.before;
        let limit = report.limit;
        let sizes = sums.array_windows().map(|[before, after]| after - before).collect();
        return Err(TranscriptError::OverLimit { tokens, limit, sizes });
    }
    Ok(truncation)
}

/// The truncation in slots, from that in numbers of turns.
fn placed(truncation: Truncation, slots: &[usize]) -> Truncation {
    let Range { start, end } = truncation.omitted;
    let last = end.checked_sub(1).filter(|_| start < end);
    let places = slots.get(start).zip(last.and_then(|last| slots.get(last)));
    let omitted = places.map_or(0..0, |(first, last)| *first..last + 1);
    let next = if truncation.changes { omitted.start..usize::MAX } else { omitted.clone() };
    Truncation { previous: omitted.clone(), omitted, next, ..truncation }
}

/// The tokens before each turn, and of all.
fn sums(tokens: &[usize], separator: usize) -> Vec<usize> {
    let mut sums = vec![0];
    sums.extend(tokens.iter().scan(0, |sum: &mut usize, tokens| {
        *sum = sum.saturating_add(*tokens).saturating_add(separator);
        Some(*sum)
    }));
    sums
}

/// The first turns of a transcript, without gaps between them: a sum over places with gaps would be quadratic, and each range
/// of dense numbers costs a subtraction.
struct DenseTurns<'t> {
    sums: &'t [usize],
    count: usize,
}

impl DenseTurns<'_> {
    fn before(&self, turn: usize) -> usize {
        self.sums.get(turn).or(self.sums.last()).copied().unwrap_or(0)
    }
}

impl Turns for DenseTurns<'_> {
    fn slots(&self) -> Range<usize> {
        0..self.count
    }

    fn sum(&self, slots: Range<usize>) -> Sum {
        let start = slots.start.min(self.count);
        let end = slots.end.min(self.count);
        let end = end.max(start);
        Sum { count: end - start, tokens: self.before(end).saturating_sub(self.before(start)) }
    }
}
