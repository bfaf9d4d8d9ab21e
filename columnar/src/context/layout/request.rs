//! The layout of one request: the sections, and the tiers of the turns.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::section::{Section, SectionPlace};
use super::step_tiers::StepTiers;
use crate::context::documents::Key;
use crate::context::tiers::{Moves, Tier};

/// The documents of a context, in sections, and the tiers of the turns.
#[derive(Debug)]
pub(crate) struct DocumentLayout {
    tiers: Arc<StepTiers>,
    /// In the order of the messages.
    pub(in crate::context) sections: Vec<Placed>,
    /// For each cached tier, the slot after the last turn.
    boundaries: [usize; 4],
    /// The moves that a budget or an exclusion changes, found for the first caller.
    pub(in crate::context) moves: OnceLock<Option<Moves>>,
    /// The first change of the next request, found for the first caller.
    pub(in crate::context) next: OnceLock<FirstChange>,
}

/// A section at a place.
#[derive(Clone, Debug)]
pub(in crate::context) struct Placed {
    /// The slot of the turn before which the section stands; see [`ContextTurns`](super::super::turns::ContextTurns).
    pub(in crate::context) slot: usize,
    pub(in crate::context) section: Arc<Section>,
}

/// A place in the messages.
#[derive(Clone, Copy, Debug)]
pub(in crate::context) enum ContextPlace {
    /// The section with this index, or the reply to that section.
    Section(usize),
    /// A turn, by the slot.
    Turn(usize),
}

/// The first difference between a request and the next one, if no document is updated.
#[derive(Clone, Copy, Debug)]
pub(in crate::context) struct FirstChange {
    /// The number of sections that are repeated.
    pub(in crate::context) sections: usize,
    /// The first turn that is not repeated, by the slot.
    pub(in crate::context) slot: usize,
    /// The tier that differs.
    pub(in crate::context) tier: Tier,
}

impl Deref for DocumentLayout {
    type Target = StepTiers;

    fn deref(&self) -> &StepTiers {
        &self.tiers
    }
}

impl DocumentLayout {
    pub(in crate::context) fn new(tiers: Arc<StepTiers>) -> Self {
        let sections = placed(&tiers);
        let boundaries = tiers.history().map(|step| 2 * step);
        Self { tiers, sections, boundaries, moves: OnceLock::new(), next: OnceLock::new() }
    }

    /// The section that ends the system text, if there are documents in L0.
    pub(in crate::context) fn system(&self) -> Option<&Section> {
        self.section(SectionPlace::System).map(|section| &**section)
    }

    /// The documents of a section, with the N and the tokens of each.
    pub(in crate::context) fn items<'l>(
        &'l self,
        section: &Section,
    ) -> impl Iterator<Item = (&'l Key, u32, usize)> + use<'l> {
        section.items(self.tracker())
    }

    /// The tier of a section, or of a turn.
    pub(in crate::context) fn tier(&self, at: ContextPlace) -> Option<Tier> {
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
pub(in crate::context) fn placed(tiers: &StepTiers) -> Vec<Placed> {
    let [l0, l1, l2, l3] = tiers.history().map(|step| 2 * step);
    let places = [(SectionPlace::L1, l0), (SectionPlace::L2, l1), (SectionPlace::L3, l2)].into_iter();
    let places = places
        .chain([SectionPlace::Tree, SectionPlace::Pages, SectionPlace::Working].map(|place| (place, l3)));
    places
        .filter_map(|(place, slot)| Some(Placed { slot, section: Arc::clone(tiers.section(place)?) }))
        .collect()
}
