//! The layout of one request.

use std::sync::{Arc, OnceLock};

use super::super::budget::FixedText;
use super::next::Next;
use super::placed::{At, Placed, placed};
use super::section::{Place, Section};
use super::step_tiers::{StepTiers, Steps};
use crate::context::documents::{Documents, Key};
use crate::context::tiers::{Moves, Tier};
use crate::history::tokens::Counter;

/// The documents of a context, in sections, and the tiers of its turns.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(super) tiers: Arc<StepTiers>,
    /// In the order of the messages.
    sections: Vec<Placed>,
    /// For each cached tier, the slot after its last turn.
    boundaries: [usize; 4],
    /// Made when it is asked for.
    next: OnceLock<Next>,
}

impl Layout {
    pub(in crate::context) fn new(tiers: Arc<StepTiers>) -> Self {
        let boundaries = tiers.history().map(|step| 2 * step);
        let sections = placed(&tiers, &boundaries);
        Self { tiers, sections, boundaries, next: OnceLock::new() }
    }

    pub(in crate::context) fn sections(&self) -> &[Placed] {
        &self.sections
    }

    /// The section that ends the system text, if there are documents in L0.
    pub(in crate::context) fn system(&self) -> Option<&Section> {
        self.tiers.section(Place::System).map(|section| &**section)
    }

    /// The documents of a section, each with its N and its tokens.
    pub(in crate::context) fn items<'l>(
        &'l self,
        section: &Section,
    ) -> impl Iterator<Item = (&'l Key, u32, usize)> + use<'l> {
        section.items(self.tiers.tracker())
    }

    /// The tier of the turn in a slot.
    pub(in crate::context) fn tier(&self, slot: usize) -> Tier {
        let mut tiers = Tier::CACHED.into_iter().zip(self.boundaries);
        tiers.find(|(_, boundary)| slot < *boundary).map_or(Tier::Active, |(tier, _)| tier)
    }

    /// The documents of the step.
    pub(in crate::context) fn documents(&self) -> &Documents {
        self.tiers.documents()
    }

    /// The moves since the last request with a response, if no budget omits turns.
    pub(in crate::context) fn moves(&self) -> &Moves {
        self.tiers.moves()
    }

    /// The documents in tiers, the legend and the tree, each with its tokens.
    pub(in crate::context) fn texts(
        &self,
        counter: &dyn Counter,
    ) -> impl Iterator<Item = (FixedText, usize)> {
        self.tiers.texts(counter)
    }

    /// The tokens of the system text.
    pub(in crate::context) fn system_tokens(&self) -> usize {
        self.tiers.system_tokens()
    }

    /// The tokens of the messages, without turns.
    pub(in crate::context) fn message_tokens(&self) -> usize {
        self.tiers.message_tokens()
    }

    /// The tier whose change keeps the next request from repeating the section or turn here, if the next step updates no
    /// document; `None` if the request repeats it.
    pub(in crate::context) fn changes(&self, steps: &dyn Steps, step: usize, at: At) -> Option<Tier> {
        self.next.get_or_init(|| Next::of(&self.tiers, &self.sections, steps, step)).changes(at)
    }
}
