//! The part of a tiered context that the next request repeats, if nothing is updated.

use super::placed::{At, Placed, placed};
use super::section::Place;
use super::step_tiers::{StepTiers, Steps};
use crate::context::tiers::{Item, Moves, Tier};

/// The first difference of the next request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    /// The number of sections that it repeats.
    sections: usize,
    /// The first turn that it does not repeat, by its slot.
    slot: usize,
    /// The tier that differs.
    tier: Tier,
}

impl Next {
    /// The first difference from the sections of this step.
    pub(super) fn of(tiers: &StepTiers, sections: &[Placed], steps: &dyn Steps, step: usize) -> Self {
        let next = tiers.rehearsed(steps, step + 1);
        let moves = next.moves();
        let tier = moves.broken().first().copied().unwrap_or(Tier::Active);
        if !is_same(Place::System, moves) {
            return Self { sections: 0, slot: 0, tier };
        }
        let boundaries = next.history().map(|step| 2 * step);
        let next = placed(&next, &boundaries);
        let repeats = |(now, next): &(&Placed, &Placed)| {
            let place = now.section.place();
            (now.slot, place) == (next.slot, next.section.place()) && is_same(place, moves)
        };
        let repeated = sections.iter().zip(&next).take_while(repeats).count();
        let of = |list: &[Placed]| list.get(repeated).map_or(usize::MAX, |placed| placed.slot);
        Self { sections: repeated, slot: of(sections).min(of(&next)), tier }
    }

    pub(super) fn changes(&self, at: At) -> Option<Tier> {
        let is_repeated = match at {
            At::Section(at) => at < self.sections,
            At::Turn(slot) => slot < self.slot,
        };
        (!is_repeated).then_some(self.tier)
    }
}

/// Whether no document of a place moved. Pages are shown once.
fn is_same(place: Place, moves: &Moves) -> bool {
    let is_here = |tier: Tier| tier == place.tier();
    let mut documents = moves.promotions().iter().filter(|moved| matches!(moved.item, Item::Document(_)));
    match place {
        Place::Tree => true,
        Place::Pages => false,
        _ => !documents.any(|moved| is_here(moved.from) || is_here(moved.to)),
    }
}
