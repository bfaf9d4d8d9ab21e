//! The beginning that a request shares with the next one of the column, and with the last one that had a response.
//!
//! The next step is rehearsed here alone: as if the column had a value, no document were updated, and the new turns were as
//! large as the last ones. Nothing else is known, so a part that may be cut counts as one that is not certain.

use std::ops::Range;

use super::layout::{ContextPlace, DocumentLayout, FirstChange, placed};
use super::overhead::ContextForm;
use super::parts::{Part, PartSource, Parts};
use super::snapshot::Snapshot;
use super::truncation::{Omitted, Truncation};
use super::turns::ContextTurns;
use crate::context::budget::Turns;
use crate::context::documents::LogPlace;
use crate::context::tiers::{Item, Moves, SectionPlace, Tier};
use crate::declare::{InputView, Window};
use crate::history::tokens::Sum;

/// Whether the next context of the column repeats a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InNext {
    /// The part is repeated.
    Repeated,
    /// The part leaves the window of the view; or it may stay, if the column skips the next step as it did this one.
    Leaves { window: Window, lag: usize, is_self: bool, may_stay: bool },
    /// The budget most likely omits the part, or changes it together with an omitted one.
    MayBeTruncated,
    /// The budget certainly omits or changes the part.
    Truncated,
    /// A tier before the part changes, or the one that has the part.
    Moves(Tier),
    /// A cell of an earlier turn, or of this one, is excluded from the next context, or included again.
    Excluded,
    /// The next update lays documents anew that stand before the part, or are the part.
    LaidAnew { from: usize },
    /// The system text may change, because the column reads instructions.
    AfterInstructions,
    /// The part stands in the message behind what requests repeat: an instruction, or an input behind a conversation.
    Once,
}

impl Part<'_> {
    /// Whether the next request repeats the part, and everything before it.
    pub(crate) fn in_next(&self) -> InNext {
        if !self.snapshot.reads.instructions.is_empty() {
            return InNext::AfterInstructions;
        }
        match self.snapshot.excluded.as_ref().and_then(|excluded| excluded.next) {
            Some((turn, _)) if self.step >= turn => InNext::Excluded,
            _ => self.in_next_messages(),
        }
    }

    /// Whether the next messages repeat the part, with any system text before them.
    pub(crate) fn in_next_messages(&self) -> InNext {
        let snapshot = self.snapshot;
        if self.is_sent_once() {
            return InNext::Once;
        }
        if let Some(tier) = snapshot.layout().and_then(|layout| snapshot.tier_that_changes(layout, self.at()))
        {
            return InNext::Moves(tier);
        }
        if let Some(from) = snapshot.laid_anew_next()
            && self.is_behind(from)
        {
            return InNext::LaidAnew { from: from.step };
        }
        let truncation = snapshot.truncation();
        let truncated = |slot| match truncation {
            // From the turns on that this context omits. Before them, other turns are omitted only if the new ones are large.
            Some(it) if it.changes && it.omitted.start <= slot => InNext::Truncated,
            _ => InNext::MayBeTruncated,
        };
        match self.source {
            PartSource::Section(_) | PartSource::Acknowledgement(_) => InNext::Repeated,
            PartSource::Lead if snapshot.is_led_next() => InNext::Repeated,
            // The marker has the number of omitted turns, so another cut most likely changes the text.
            PartSource::Truncation if truncation.is_some_and(|it| it.next == it.omitted) => InNext::Repeated,
            PartSource::Truncation => truncated(usize::MAX),
            _ => self.in_next_window(truncated),
        }
    }

    /// The place of the part in a log of documents.
    pub(crate) fn log_place(&self) -> Option<LogPlace> {
        match self.source {
            PartSource::Input(input, part) if input.is_log() => {
                Some(LogPlace { step: self.step, part: part as usize })
            }
            _ => None,
        }
    }

    /// Whether documents are likely to be laid anew from the end of the part on in later steps.
    pub(crate) fn is_before_cut(&self) -> bool {
        let log = self.log_place().zip(self.snapshot.log());
        log.is_some_and(|(place, log)| log.is_before_cut(place))
    }

    /// Whether the part stands at a place of the log, or behind it.
    pub(super) fn is_behind(&self, place: LogPlace) -> bool {
        let (input, part) = match self.source {
            PartSource::Input(input, part) => (input.at, part as usize),
            _ => (usize::MAX, 0),
        };
        let log = self.snapshot.reads.compacted.unwrap_or(0);
        // The parts of a turn are in the order of the inputs, and the documents of a turn in the order of the log.
        (self.step, input, part) >= (place.step, log, place.part)
    }

    /// Whether the part ends a request whose beginning the next one repeats. A reply is repeated if the column shows its own
    /// values.
    fn is_sent_once(&self) -> bool {
        let is_continued = self.snapshot.thread().is_some();
        match self.source {
            PartSource::Instruction => true,
            PartSource::Reply => {
                let is_shown = self.snapshot.self_history().is_some();
                is_continued || !is_shown || self.snapshot.overhead.form == ContextForm::Document
            }
            _ => is_continued,
        }
    }

    /// Whether the next messages repeat a part of a view, by the window of the view and by the budget.
    fn in_next_window(&self, truncated: impl Fn(usize) -> InNext) -> InNext {
        let snapshot = self.snapshot;
        let reads = &snapshot.reads;
        let input = self.input();
        let step = self.step;
        let next = snapshot.step + 1;
        let view = input.map_or(reads.inputs.len(), |input| input.at);
        let Some(spec) = reads.view(view) else {
            unreachable!("a part of `{}` belongs to one of its views", reads.column)
        };
        let Some(values) = snapshot.views().get(view) else {
            unreachable!("each view of `{}` has values", reads.column)
        };
        let (steps, slot) = match input {
            Some(_) => (values.turns(spec, next), 2 * step),
            None => (values.self_turns(spec, next), 2 * step + 1),
        };
        let closes = match self.source {
            PartSource::Input(input, _) => snapshot.closes_next(input, step),
            _ => false,
        };
        let leaves = InNext::Leaves {
            window: spec.window,
            lag: spec.lag,
            is_self: input.is_none(),
            may_stay: values.skips(),
        };
        if !steps.contains(&step) {
            leaves
        } else if input.is_none_or(|input| !input.is_log())
            && snapshot.truncation().is_some_and(|truncation| truncation.next.contains(&slot))
        {
            truncated(slot)
        } else if closes || snapshot.is_first_next(view, step, &steps) {
            leaves
        } else {
            InNext::Repeated
        }
    }
}

impl Snapshot {
    /// The place from which on the next update will most likely lay documents anew.
    fn laid_anew_next(&self) -> Option<LogPlace> {
        let next = self.step + 1;
        let system = self.overhead.instruction.unwrap_or(0);
        self.log()?
            .next_laid(next, system, &|from| ContextTurns::at(self, next).sum(2 * from..2 * next).tokens)
    }

    /// Whether groups of a value end otherwise in the next context: if the values after it leave the window, the groups end
    /// with it.
    fn closes_next(&self, input: &InputView, step: usize) -> bool {
        let has_groups = !input.groups.is_empty() && self.overhead.has_tags();
        has_groups && self.open_after(input, step, self.step + 1) != self.open_after(input, step, self.step)
    }

    /// Whether a value becomes the first that the view shows. Then a marker precedes it in the next context, and none
    /// does in this one.
    fn is_first_next(&self, view: usize, step: usize, next: &Range<usize>) -> bool {
        let view = self.views().get(view).filter(|_| self.reads.is_elided(view));
        view.is_some_and(|view| view.first(next) == Some(step) && view.first(&view.steps) != Some(step))
    }

    /// Whether the next context begins with a value of the column itself and without a marker, as far as the known values
    /// decide it. An input that skips the next step shows what it shows now, so the windows of now count.
    fn is_led_next(&self) -> bool {
        let next = self.step + 1;
        let own = self.reads.self_view.as_ref().zip(self.self_history());
        let Some((spec, view)) = own else { return false };
        if self.overhead.form == ContextForm::Document {
            return false;
        }
        // The value that is being computed will be stored by then.
        let shown = view.self_turns(spec, next);
        let mut values = view.possible(&shown).filter(|&step| step == self.step || view.has(step));
        values.next().is_some_and(|first| {
            let is_marked = spec.elided && view.sum(&(0..first)).count > 0;
            let mut inputs = self.inputs();
            !is_marked && !inputs.any(|(_, view)| view.first(&(view.steps.start..first + 1)).is_some())
        })
    }

    /// The tier whose change keeps the next request from repeating the section or turn at a place; `None` if the request
    /// repeats it.
    fn tier_that_changes(&self, layout: &DocumentLayout, at: ContextPlace) -> Option<Tier> {
        let first = layout.next.get_or_init(|| self.first_change(layout));
        let is_repeated = match at {
            ContextPlace::Section(at) => at < first.sections,
            ContextPlace::Turn(slot) => slot < first.slot,
        };
        (!is_repeated).then_some(first.tier)
    }

    /// The first difference of the next sections from the ones of this step.
    fn first_change(&self, layout: &DocumentLayout) -> FirstChange {
        let next = layout.rehearsed(self.whole());
        let moves = next.moves();
        let tier = moves.broken().first().copied().unwrap_or(Tier::Active);
        if !is_same(SectionPlace::System, moves) {
            return FirstChange { sections: 0, slot: 0, tier };
        }
        let sections = &layout.sections;
        let next = placed(&next);
        let repeated = sections.iter().zip(&next).take_while(|(now, next)| {
            let place = now.section.place();
            (now.slot, place) == (next.slot, next.section.place()) && is_same(place, moves)
        });
        let repeated = repeated.count();
        let firsts = [sections.get(repeated), next.get(repeated)].into_iter().flatten();
        let slot = firsts.map(|placed| placed.slot).min().unwrap_or(usize::MAX);
        FirstChange { sections: repeated, slot, tier }
    }

    /// The moves of documents and exchanges since the last request with a response, and the tiers that are broken as the
    /// context shows them.
    pub(super) fn moves(&self) -> Option<&Moves> {
        let layout = self.layout()?;
        let shown = layout.moves.get_or_init(|| self.moves_shown(layout));
        Some(shown.as_ref().unwrap_or_else(|| layout.moves()))
    }

    /// The slot of the turn that a message of the user leads, if the messages begin with a reply.
    fn led_turn(&self) -> Option<usize> {
        let first = Parts::new(self).next()?;
        matches!(first.source, PartSource::Lead).then_some(2 * first.step + 1)
    }

    /// The moves, if a budget omits turns from one of the two requests, if cells are excluded, or if a text of the requests
    /// differs that no tier holds: an instruction among the inputs, or the message before the first reply. The tracker knows the whole
    /// history: an exchange may be omitted long after it entered the tier, and changes no text where it moves.
    fn moves_shown(&self, layout: &DocumentLayout) -> Option<Moves> {
        let answered = self.whole().last_answered_step()?;
        let turns = ContextTurns::at(self, self.step);
        let (before, now) = self.truncation().map_or_else(Default::default, |truncation| {
            (truncation.answered.clone(), truncation.omitted_of(&turns))
        });
        let earlier = self.at(answered).truncated(self.truncation().map(Truncation::of_answered));
        let tiers_before = layout.answered();
        let sections = placed(&tiers_before);
        let led_before = earlier.led_turn();
        let led_before = led_before.filter(|slot| sections.first().is_none_or(|first| first.slot > *slot));
        let led_now = self.led_turn();
        let has_other_system = !self.has_instructions_of(&earlier);
        let is_cut = !before.slots.is_empty() || !now.slots.is_empty();
        if !is_cut && self.excluded.is_none() && led_before == led_now && !has_other_system {
            return None;
        }
        let of_self = self.reads.inputs.len();
        let excluded = self.excluded.as_ref();
        let changed = excluded.map_or_else(Vec::new, |excluded| excluded.between(answered, self.step));
        let broken = Tier::CACHED.into_iter().filter(|tier| {
            let then = TierTurns::of(*tier, tiers_before.history(), &before, led_before);
            let since = TierTurns::of(*tier, layout.history(), &now, led_now);
            // Only one of the requests shows such a cell.
            let is_other = changed.iter().any(|(turn, view)| {
                let is_included = self.views().get(*view).is_some_and(|view| view.has(*turn));
                if is_included { &since } else { &then }.has(2 * turn + usize::from(*view == of_self))
            });
            is_other
                || (*tier == Tier::L0 && has_other_system)
                || layout.has_other_documents(*tier)
                || then.differs(&since, |slots| turns.sum(slots).count)
        });
        Some(layout.moves().with_broken(broken.collect()))
    }
}

/// Whether no document of a place moved. Pages are shown once.
fn is_same(place: SectionPlace, moves: &Moves) -> bool {
    let tier = place.tier();
    let mut documents = moves.promotions().iter().filter(|moved| matches!(moved.item, Item::Document(_)));
    match place {
        SectionPlace::Tree => true,
        SectionPlace::Pages => false,
        _ => !documents.any(|moved| moved.from == tier || moved.to == tier),
    }
}

/// The turns of a tier that a request shows.
struct TierTurns {
    /// The slots before the omitted ones, and those after them.
    slots: [Range<usize>; 2],
    marker: Option<Sum>,
    is_led: bool,
}

impl TierTurns {
    /// The turns of a tier. `history` has the boundaries of the tiers, in steps.
    fn of(tier: Tier, history: [usize; 4], omitted: &Omitted, led: Option<usize>) -> Self {
        let mut start = 0;
        for (of, boundary) in Tier::CACHED.into_iter().zip(history) {
            let slots = start..2 * boundary;
            if of == tier {
                let Range { start: from, end: to } = omitted.slots;
                let kept = [slots.start..slots.end.min(from), slots.start.max(to)..slots.end];
                // Nothing is omitted by an empty range.
                let kept = if omitted.slots.is_empty() { [slots.clone(), 0..0] } else { kept };
                let marker = omitted.marker.filter(|_| slots.contains(&from));
                return Self { slots: kept, marker, is_led: led.is_some_and(|slot| slots.contains(&slot)) };
            }
            start = slots.end;
        }
        Self { slots: [0..0, 0..0], marker: None, is_led: false }
    }

    fn has(&self, slot: usize) -> bool {
        self.slots.iter().any(|slots| slots.contains(&slot))
    }

    /// Whether the texts differ. `count` returns the number of turns in some slots. Apart from excluded cells, no turn of a
    /// cached tier changes, so it is enough to compare which ones are shown.
    fn differs(&self, other: &Self, count: impl Fn(Range<usize>) -> usize) -> bool {
        let count = |slots: Range<usize>| if slots.is_empty() { 0 } else { count(slots) };
        let pairs = self.slots.iter().flat_map(|one| other.slots.iter().map(move |two| (one, two)));
        let shared = pairs.map(|(one, two)| count(one.start.max(two.start)..one.end.min(two.end)));
        let shared: usize = shared.sum();
        let [own, others] = [self, other].map(|shown| shown.slots.iter().cloned().map(count).sum::<usize>());
        self.marker != other.marker || self.is_led != other.is_led || own != shared || others != shared
    }
}
