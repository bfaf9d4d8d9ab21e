//! The layout of one request: the sections, and the tiers of the turns.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::section::Section;
use super::step_tiers::StepTiers;
use crate::context::tiers::{Moves, SectionPlace, Tier};

/// The documents of a context, in sections, and the tiers of the turns.
#[derive(Debug)]
pub(crate) struct DocumentLayout {
    tiers: Arc<StepTiers>,
    /// In the order of the messages.
    pub(crate) sections: Vec<Placed>,
    /// For each cached tier, the slot after the last turn.
    boundaries: [usize; 4],
    /// The moves that a budget or an exclusion changes, found for the first caller.
    pub(crate) moves: OnceLock<Option<Moves>>,
    /// The first change of the next request, found for the first caller.
    pub(crate) next: OnceLock<FirstChange>,
}

/// A section at a place.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    /// The slot of the turn before which the section stands; see [`ContextTurns`](super::super::turns::ContextTurns).
    pub(crate) slot: usize,
    pub(crate) section: Arc<Section>,
}

/// A place in the messages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ContextPlace {
    /// The section with this index, or the reply to that section.
    Section(usize),
    /// A turn, by the slot.
    Turn(usize),
}

/// The first difference between a request and the next one, if no document is updated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstChange {
    /// The number of sections that are repeated.
    pub(crate) sections: usize,
    /// The first turn that is not repeated, by the slot.
    pub(crate) slot: usize,
    /// The tier that differs.
    pub(crate) tier: Tier,
}

impl Deref for DocumentLayout {
    type Target = StepTiers;

    fn deref(&self) -> &StepTiers {
        &self.tiers
    }
}

impl DocumentLayout {
    pub(crate) fn new(tiers: Arc<StepTiers>) -> Self {
        let sections = placed(&tiers);
        let boundaries = tiers.history().map(|step| 2 * step);
        Self { tiers, sections, boundaries, moves: OnceLock::new(), next: OnceLock::new() }
    }

    /// The section that ends the system text, if there are documents in L0.
    pub(crate) fn system(&self) -> Option<&Section> {
        self.section(SectionPlace::System).map(|section| &**section)
    }

    /// The tier of a section, or of a turn.
    pub(crate) fn tier(&self, at: ContextPlace) -> Option<Tier> {
        Some(match at {
            ContextPlace::Section(at) => self.sections.get(at)?.section.tier(),
            ContextPlace::Turn(slot) => {
                let mut tiers = Tier::CACHED.into_iter().zip(self.boundaries);
                tiers.find(|(_, boundary)| slot < *boundary).map_or(Tier::Active, |(tier, _)| tier)
            }
        })
    }
}

/// The sections of the messages. The slots of the turns are ascending, as boundaries are.
pub(crate) fn placed(tiers: &StepTiers) -> Vec<Placed> {
    let [l0, l1, l2, l3] = tiers.history().map(|step| 2 * step);
    let places = [(SectionPlace::L1, l0), (SectionPlace::L2, l1), (SectionPlace::L3, l2)].into_iter();
    let places = places
        .chain([SectionPlace::Tree, SectionPlace::Pages, SectionPlace::Working].map(|place| (place, l3)));
    places
        .filter_map(|(place, slot)| Some(Placed { slot, section: Arc::clone(tiers.section(place)?) }))
        .collect()
}
