//! Promotion: which items go up, and which gain N.
//!
//! A tier takes part if its own text or the text of the tier above has changed. The anchors are the items with less than the
//! target before them, by ascending N. The others gain N once, and those that reach the threshold go up if the tier above
//! is broken or empty.
//!
//! Promotions come first, until nothing moves. N is gained at the end. The order makes no difference: items that arrive in
//! a tier only make the anchors fewer, those that leave it were behind all anchors, and no item gains more than once.

use std::mem;

use super::cohort::{AGES, Cohort, Cohorts};
use super::item::Item;
use super::moves::{Move, Moves};
use super::tier::{PerTier, Tier};

/// The tiers from which items go up, the lowest first.
const RISING: [Tier; 4] = [Tier::Active, Tier::L3, Tier::L2, Tier::L1];

/// One update of all tiers.
#[derive(Debug)]
pub(super) struct Cascade<'a> {
    target: u64,
    pub(super) tiers: &'a mut PerTier<Cohorts>,
    /// The items that came in this update. Such items gain nothing, and stay.
    arrived: PerTier<Cohorts>,
    pub(super) broken: PerTier<bool>,
    promotions: Vec<Move>,
    demotions: Vec<Move>,
}

impl<'a> Cascade<'a> {
    pub(super) fn new(tiers: &'a mut PerTier<Cohorts>, target: u64) -> Self {
        Self {
            target,
            tiers,
            arrived: PerTier::default(),
            broken: PerTier::default(),
            promotions: Vec::new(),
            demotions: Vec::new(),
        }
    }

    pub(super) fn contains(&self, item: &Item) -> bool {
        Tier::ALL.iter().any(|tier| self.tiers[*tier].age(item).is_some())
    }

    /// Takes out an item, which breaks the tier.
    pub(super) fn take(&mut self, item: &Item) -> Option<(Tier, usize, u32)> {
        let (tier, (age, tokens)) =
            Tier::ALL.into_iter().find_map(|tier| Some((tier, self.tiers[tier].remove(item)?)))?;
        self.broken[tier] = true;
        Some((tier, age, tokens))
    }

    /// Puts an item into a tier, which breaks it.
    pub(super) fn put(&mut self, tier: Tier, age: usize, item: Item, tokens: u32) {
        self.tiers[tier].at_mut(age).insert(item.clone(), tokens);
        self.arrived[tier].at_mut(age).insert(item, tokens);
        self.broken[tier] = true;
    }

    /// Records that an item left a tier because it changed.
    pub(super) fn demoted(&mut self, item: Item, from: Tier) {
        if from.is_cached() {
            self.demotions.push(Move { from, to: Tier::Active, item });
        }
    }

    /// Lets items go up from one tier to the one above.
    pub(super) fn promote(&mut self, items: Cohort, from: Tier, to: Tier) {
        if items.is_empty() {
            return;
        }
        self.promotions.extend(items.iter().map(|(item, _)| Move { from, to, item: item.clone() }));
        self.tiers[to].at_mut(0).absorb(items.clone());
        self.arrived[to].at_mut(0).absorb(items);
        self.broken[from] = true;
        self.broken[to] = true;
    }

    /// Promotes until nothing moves.
    pub(super) fn settle(&mut self) {
        let mut moved = true;
        while mem::take(&mut moved) {
            for tier in RISING {
                moved |= self.rise(tier);
            }
        }
    }

    /// Lets all others gain N, and ends the update.
    pub(super) fn finish(mut self) -> Moves {
        for tier in RISING {
            self.gain(tier);
        }
        self.promotions.sort_unstable();
        self.demotions.sort_unstable();
        let Self { tiers, broken, promotions, demotions, .. } = self;
        let cached = Tier::CACHED.into_iter();
        let empty = cached.clone().filter(|tier| *tier != Tier::L0 && tiers[*tier].is_empty()).collect();
        Moves { promotions, demotions, broken: cached.filter(|tier| broken[*tier]).collect(), empty }
    }

    fn rise(&mut self, tier: Tier) -> bool {
        let Some(above) = tier.above() else { return false };
        let is_open = tier == Tier::Active || self.broken[above] || self.tiers[above].is_empty();
        if !is_open || !self.takes_part(tier) {
            return false;
        }
        let mut moved = false;
        // The items at the threshold, and those that reach it now.
        for age in [AGES - 1, AGES - 2] {
            let items = self.take_beyond_anchors(tier, age);
            moved |= !items.is_empty();
            self.promote(items, tier, above);
        }
        moved
    }

    fn gain(&mut self, tier: Tier) {
        if !self.takes_part(tier) {
            return;
        }
        // The oldest first, so no item gains twice. Those at the threshold stay there.
        for age in (0..AGES - 1).rev() {
            let items = self.take_beyond_anchors(tier, age);
            self.tiers[tier].at_mut(age + 1).absorb(items);
        }
    }

    /// Whether the items of a tier gain N: always in `Active`, else if the text or the text of the tier above changes.
    fn takes_part(&self, tier: Tier) -> bool {
        !tier.is_cached() || self.broken[tier] || tier.above().is_some_and(|above| self.broken[above])
    }

    fn take_beyond_anchors(&mut self, tier: Tier, age: usize) -> Cohort {
        let target = if tier.is_cached() { self.target } else { 0 };
        self.tiers[tier].take_beyond(age, target, &self.arrived[tier])
    }
}
