//! The places of sections between the turns.

use std::sync::Arc;

use super::section::{Place, Section};
use super::step_tiers::StepTiers;

/// A section and its place.
#[derive(Clone, Debug)]
pub(in crate::context) struct Placed {
    /// The slot of the turn before which it stands; see [`ContextTurns`](super::super::turns::ContextTurns).
    pub(in crate::context) slot: usize,
    pub(in crate::context) section: Arc<Section>,
}

/// A place in the messages.
#[derive(Clone, Copy, Debug)]
pub(in crate::context) enum At {
    /// The section with this index, or the reply to it.
    Section(usize),
    /// A turn, by its slot.
    Turn(usize),
}

/// The sections of the messages. The slots of their turns are ascending, as boundaries are.
pub(super) fn placed(tiers: &StepTiers, boundaries: &[usize; 4]) -> Vec<Placed> {
    let [l0, l1, l2, l3] = *boundaries;
    let slots = [(Place::L1, l0), (Place::L2, l1), (Place::L3, l2), (Place::Tree, l3), (Place::Pages, l3)];
    let slots = slots.into_iter().chain([(Place::Working, l3)]);
    slots
        .filter_map(|(place, slot)| Some(Placed { slot, section: Arc::clone(tiers.section(place)?) }))
        .collect()
}
