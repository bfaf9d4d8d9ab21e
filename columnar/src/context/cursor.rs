//! The texts that a context shows, in order: step by step, the inputs and then the column's own value.

use std::mem;

use super::delimiters::{Delimiters, MARKER, Position, Role, SELF_HISTORY};
use super::layout::{At, Placed, Section};
use super::omissions::{Elision, Truncation};
use super::snapshot::Snapshot;
use crate::declare::Input;
use crate::history::Text;

/// An iterator over the [`Item`]s of a snapshot.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'m> {
    snapshot: &'m Snapshot,
    /// The slot of the current turn; see [`ContextTurns`](super::turns::ContextTurns).
    slot: usize,
    /// Twice the index of the next view in the turn, plus one after the cursor has passed its marker.
    next: usize,
    /// The delimiters of the last item, and the number of groups that stay open after it.
    last: Option<&'m Delimiters>,
    open: usize,
    /// The sections of documents, and twice the number of those that the cursor has passed, plus one between a section and
    /// the reply to it.
    sections: &'m [Placed],
    passed: usize,
    /// The turns that a budget omits, until the cursor passes them.
    truncation: Option<&'m Truncation>,
    /// The item after the lead.
    led: Option<Item<'m>>,
}

/// Leads an array that would otherwise begin with the assistant. It is constant, so that a cached prefix stays valid.
const LEAD: &str = "<elided/>";

/// One text of a context.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'m> {
    pub(super) source: Source<'m>,
    /// The step of the turn. The value comes from `lag` steps before it.
    pub(super) step: usize,
    pub(super) lag: usize,
    pub(super) text: Text<'m>,
    pub(super) delimiters: &'m Delimiters,
    pub(super) position: Position,
}

/// The source of a text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'m> {
    /// The constant before an array that would begin with the assistant.
    Lead,
    Input(&'m Input),
    SelfHistory,
    /// The section of documents with this index.
    Section(usize, &'m Section),
    /// The reply to a section.
    Acknowledgement(usize, &'m Section),
    /// The marker of values that a view hides.
    Elision(&'m Elision),
    /// The marker of turns that a budget omits.
    Truncation,
}

impl<'m> Cursor<'m> {
    pub(super) fn new(snapshot: &'m Snapshot) -> Self {
        Self { passed: 0, ..Self::since(snapshot, snapshot.first_step()) }
    }

    /// A cursor that begins at this step, behind the documents there.
    pub(super) fn since(snapshot: &'m Snapshot, step: usize) -> Self {
        let slot = 2 * step;
        let truncation = snapshot.truncation().filter(|truncation| slot < truncation.omitted.end);
        let sections = snapshot.layout().map_or(&[][..], |layout| layout.sections());
        let passed = 2 * sections.partition_point(|placed| placed.slot <= slot);
        Self { snapshot, slot, next: 0, last: None, open: 0, sections, passed, truncation, led: None }
    }

    /// The next section before this turn, or the reply to that section.
    fn section(&mut self) -> Option<Item<'m>> {
        let at = self.passed / 2;
        let Placed { section, .. } = self.sections.get(at).filter(|placed| placed.slot <= self.slot)?;
        self.passed += 1;
        let separator = self.snapshot.overhead.separator;
        if self.passed % 2 == 1 {
            let text = Text { value: section.text(), tokens: section.tokens() + separator, is_plain: true };
            return Some(self.item(Source::Section(at, section), &MARKER, 0, text));
        }
        let value = section.acknowledgement();
        let tokens = self.snapshot.overhead.counter.count(value) + separator;
        let text = Text { value, tokens, is_plain: true };
        Some(self.item(Source::Acknowledgement(at, section), &SELF_HISTORY, 0, text))
    }

    /// The marker of omitted turns. A rolling window has none.
    fn truncation_marker(&mut self, truncation: &'m Truncation) -> Option<Item<'m>> {
        let (value, tokens) = truncation.marker.as_ref()?;
        let text = Text { value, tokens: *tokens, is_plain: true };
        Some(self.item(Source::Truncation, &self.snapshot.overhead.marker, 0, text))
    }

    /// The next text of the current turn.
    fn in_turn(&mut self) -> Option<Item<'m>> {
        let (snapshot, step) = (self.snapshot, self.slot / 2);
        let inputs = snapshot.reads.inputs.len();
        let views = if self.slot.is_multiple_of(2) { 0..inputs } else { inputs..snapshot.views.len() };
        self.next = self.next.max(2 * views.start);
        while self.next < 2 * views.end {
            let (at, is_value) = (self.next / 2, self.next % 2 == 1);
            self.next += 1;
            let (Some(view), input) = (snapshot.views.get(at), snapshot.reads.inputs.get(at)) else { break };
            if is_value {
                if view.steps.contains(&step)
                    && let Some(text) = view.text(step)
                {
                    let (source, delimiters) = match input {
                        Some(input) => (Source::Input(input), self.around_value(input, step)),
                        None => (Source::SelfHistory, &snapshot.overhead.self_history),
                    };
                    return Some(self.item(source, delimiters, view.lag, text));
                }
            } else if let Some(elision) = snapshot.elision(at)
                && elision.text.steps.contains(&step)
                && let Some(text) = elision.text.text(step)
            {
                let marker = &snapshot.overhead.marker;
                let delimiters = input.map_or(marker, |input| self.around_marker(input));
                return Some(self.item(Source::Elision(elision), delimiters, 0, text));
            }
        }
        None
    }

    fn advance(&mut self) -> Option<Item<'m>> {
        while self.slot < 2 * (self.snapshot.step + 1) {
            // Turns are omitted as a whole, so the omitted ones begin where a turn begins. Documents are not omitted.
            if self.next == 0 {
                if let Some(section) = self.section() {
                    return Some(section);
                }
                if let Some(omitted) = self.truncation.take_if(|it| it.omitted.start <= self.slot) {
                    self.slot = omitted.omitted.end;
                    match self.truncation_marker(omitted) {
                        Some(marker) => return Some(marker),
                        None => continue,
                    }
                }
            }
            if let Some(item) = self.in_turn() {
                return Some(item);
            }
            (self.slot, self.next) = (self.slot + 1, 0);
        }
        None
    }

    fn around_value(&mut self, input: &Input, step: usize) -> &'m Delimiters {
        let after = if input.groups.is_empty() || !self.snapshot.overhead.has_tags() {
            0
        } else {
            self.snapshot.open_after(input, step, self.snapshot.step)
        };
        let before = mem::replace(&mut self.open, after);
        self.snapshot.overhead.delimiters.get(input.at).map_or(&MARKER, |input| input.between(before, after))
    }

    /// If a marker precedes a value, the groups of the value begin with the marker.
    fn around_marker(&mut self, input: &Input) -> &'m Delimiters {
        let overhead = &*self.snapshot.overhead;
        let before = mem::replace(&mut self.open, if overhead.has_tags() { input.groups.len() } else { 0 });
        let delimiters = overhead.delimiters.get(input.at).and_then(|input| input.untagged(before));
        delimiters.unwrap_or(&overhead.marker)
    }

    fn item(
        &mut self,
        source: Source<'m>,
        delimiters: &'m Delimiters,
        lag: usize,
        text: Text<'m>,
    ) -> Item<'m> {
        let position = match self.last.replace(delimiters) {
            None => Position::First,
            Some(last) if last.role() == delimiters.role() => Position::Joins,
            Some(_) => Position::Begins,
        };
        Item { source, step: self.slot / 2, lag, text, delimiters, position }
    }
}

impl<'m> Iterator for Cursor<'m> {
    type Item = Item<'m>;

    fn next(&mut self) -> Option<Item<'m>> {
        if let Some(item) = self.led.take() {
            return Some(item);
        }
        let item = self.advance()?;
        if item.position == Position::First && item.delimiters.role() == Role::Assistant {
            self.led = Some(Item { position: Position::Begins, ..item });
            // No turn includes the lead, so it has no tokens: the parts must add up to the turns.
            let text = Text { value: LEAD, tokens: 0, is_plain: true };
            return Some(Item { source: Source::Lead, lag: 0, text, delimiters: &MARKER, ..item });
        }
        Some(item)
    }
}

impl<'m> Item<'m> {
    /// The input of the text, or whose hidden values it counts; `None` for the self history.
    pub(super) fn input(&self, snapshot: &'m Snapshot) -> Option<&'m Input> {
        match self.source {
            Source::Input(input) => Some(input),
            Source::Elision(elision) => snapshot.reads.inputs.get(elision.view),
            Source::Lead
            | Source::SelfHistory
            | Source::Section(..)
            | Source::Acknowledgement(..)
            | Source::Truncation => None,
        }
    }

    /// The place of the text in a tiered context.
    pub(super) fn at(&self, snapshot: &Snapshot) -> At {
        match self.source {
            Source::Section(at, _) | Source::Acknowledgement(at, _) => At::Section(at),
            Source::SelfHistory => At::Turn(2 * self.step + 1),
            Source::Elision(elision) if elision.view == snapshot.reads.inputs.len() => {
                At::Turn(2 * self.step + 1)
            }
            Source::Truncation => At::Turn(snapshot.truncation().map_or(0, |it| it.omitted.start)),
            Source::Lead | Source::Input(_) | Source::Elision(_) => At::Turn(2 * self.step),
        }
    }
}
