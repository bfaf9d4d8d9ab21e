//! The layout of a tiered context: documents by tier, and the history between them.
//!
//! ```text
//! updates ──▶ Documents ─┐
//!                        ├──▶ StepTiers ──▶ Layout ──▶ Cursor
//! turns ───▶ exchanges ──┘      of a step     sections, each before a turn
//! ```
//!
//! The turns stay in their order. A tier has the turns of some steps, and its documents stand before them, as a message of
//! the user with a short reply. The documents of L0 are no message: they end the system text.
//!
//! The tiers of a step are a function of the updates and the turns up to it, so nothing of them is stored.

mod memory;
mod next;
mod section;
mod sizes;
mod step_tiers;

use std::sync::{Arc, OnceLock};

pub(super) use memory::TierMemory;
use next::Next;
use section::Place;
pub(super) use section::Section;
pub(super) use sizes::document_tokens;
pub(super) use step_tiers::StepTiers;

use super::snapshot::Snapshot;
use crate::documents::{Documents, Key};
use crate::tiers::{Moves, Tier};

/// The documents of a context, in sections, and the tiers of its turns.
#[derive(Debug)]
pub(crate) struct Layout {
    tiers: Arc<StepTiers>,
    /// In the order of the messages.
    sections: Vec<Placed>,
    /// The slot of the first turn that is in no cached tier, and those that are in no tier above L3, L2 and L1, in the
    /// order of the tiers.
    boundaries: [usize; 4],
    /// Made when it is asked for.
    next: OnceLock<Next>,
}

/// A section and its place.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    /// The slot of the turn before which it stands; see [`ContextTurns`](super::turns::ContextTurns).
    pub(super) slot: usize,
    pub(super) section: Arc<Section>,
}

impl Layout {
    pub(super) fn new(tiers: Arc<StepTiers>) -> Self {
        let boundaries = tiers.history().map(|step| 2 * step);
        let sections = placed(&tiers, &boundaries);
        Self { tiers, sections, boundaries, next: OnceLock::new() }
    }

    pub(super) fn sections(&self) -> &[Placed] {
        &self.sections
    }

    /// The section that ends the system text, if there are documents in L0.
    pub(super) fn system(&self) -> Option<&Section> {
        self.tiers.section(Place::System).map(|section| &**section)
    }

    /// The tier of the turn in a slot.
    pub(super) fn tier(&self, slot: usize) -> Tier {
        let mut tiers = Tier::CACHED.into_iter().zip(self.boundaries);
        tiers.find(|(_, boundary)| slot < *boundary).map_or(Tier::Active, |(tier, _)| tier)
    }

    /// The documents of the step.
    pub(super) fn documents(&self) -> &Documents {
        self.tiers.documents()
    }

    /// The moves since the previous request.
    pub(super) fn moves(&self) -> &Moves {
        self.tiers.moves()
    }

    /// The largest documents, each with its tokens.
    pub(super) fn largest(&self, count: usize) -> Vec<(Key, usize)> {
        self.tiers.largest(count)
    }

    /// The tokens of the system text.
    pub(super) fn system_tokens(&self) -> usize {
        self.tiers.system_tokens()
    }

    /// The tokens of the messages, without turns.
    pub(super) fn message_tokens(&self) -> usize {
        self.tiers.message_tokens()
    }

    /// The tier because of which the next request does not repeat the section or turn here, if nothing is updated; `None`
    /// if the request repeats it, as far as documents decide that.
    pub(super) fn changes(&self, snapshot: &Snapshot, at: At) -> Option<Tier> {
        self.next.get_or_init(|| Next::of(&self.tiers, self, snapshot)).changes(at)
    }
}

/// A place in the messages.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    /// The section with this index, or the reply to it.
    Section(usize),
    /// A turn, by its slot.
    Turn(usize),
}

/// The sections of the messages. The slots of their turns are ascending, as boundaries are.
fn placed(tiers: &StepTiers, boundaries: &[usize; 4]) -> Vec<Placed> {
    let [l0, l1, l2, l3] = *boundaries;
    let slots = [(Place::L1, l0), (Place::L2, l1), (Place::L3, l2), (Place::Tree, l3), (Place::Pages, l3)];
    let slots = slots.into_iter().chain([(Place::Working, l3)]);
    slots
        .filter_map(|(place, slot)| Some(Placed { slot, section: Arc::clone(tiers.section(place)?) }))
        .collect()
}
