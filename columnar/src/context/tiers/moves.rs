//! The result of an update.

use super::item::Item;
use super::tier::Tier;

/// An item that went from one tier to another.
///
/// Its fields are ordered as lists of moves are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Move {
    /// The tier that it left.
    pub from: Tier,
    /// The tier that it entered.
    pub to: Tier,
    /// The item.
    pub item: Item,
}

/// The changes that one [update](super::Tracker::update) made.
///
/// ```
/// use columnar::documents::{Key, Kind};
/// use columnar::tiers::{Step, Tier, Tracker};
///
/// let (old, new) = (Key::new(Kind::File, "old.rs")?, Key::new(Kind::File, "new.rs")?);
/// let mut tracker = Tracker::new(0).with(Tier::L3, &old, 5, 400).with(Tier::L2, &new, 6, 300);
/// let moves = tracker.update(&Step::new().put(new.clone(), 320));
///
/// // The file that changed left its tier, which made room for another one.
/// assert_eq!(moves.demotions()[0].from, Tier::L2);
/// assert_eq!(moves.promotions()[0].to, Tier::L2);
/// assert_eq!(moves.broken(), [Tier::L2, Tier::L3]);
/// assert_eq!(moves.empty(), [Tier::L1, Tier::L3]);
/// # Ok::<(), columnar::documents::KeyError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    pub(super) promotions: Vec<Move>,
    pub(super) demotions: Vec<Move>,
    pub(super) broken: Vec<Tier>,
    pub(super) empty: Vec<Tier>,
}

impl Moves {
    /// The items that went up, ordered by the tiers that they left, then as anchors are.
    pub fn promotions(&self) -> &[Move] {
        &self.promotions
    }

    /// The items of cached tiers that changed. They are active now.
    pub fn demotions(&self) -> &[Move] {
        &self.demotions
    }

    /// The same moves with other broken tiers.
    pub(crate) fn with_broken(&self, broken: Vec<Tier>) -> Self {
        Self { broken, ..self.clone() }
    }

    /// The cached tiers whose text changed, for any reason. All others have the text of the step before. In a context,
    /// these are also the tiers from which a [budget](crate::budget) or an exclusion leaves out other turns than before, and
    /// an exchange that is left out breaks none. L0 has the system text, which an [instruction](crate::View::instruction)
    /// among the inputs changes. The [text of the flow](crate::flow::LiveFlow::set_system) is no part of the comparison: no
    /// store has the text of an earlier request.
    pub fn broken(&self) -> &[Tier] {
        &self.broken
    }

    /// The cached tiers that hold no item after the update. L0 is never one of them, as it has the instruction.
    pub fn empty(&self) -> &[Tier] {
        &self.empty
    }
}
