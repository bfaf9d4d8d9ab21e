//! The tiers of all items at one step.

use rpds::RedBlackTreeMapSync;

use super::cohort::{Cohort, Cohorts};
use super::item::Item;
use super::step::clamped;
use super::tier::{PerTier, Tier};
use crate::context::documents::{Key, Kind};
use crate::history::tokens::Sum;

/// Knows the tier of each document and of each exchange.
///
/// It is a pure function of the steps that it [saw](Self::update): the same steps lead to the same tiers, in every process.
/// A clone costs a few reference counts, so an update can be rehearsed.
///
/// ```
/// use columnar::documents::{Key, Kind};
/// use columnar::tiers::{Step, Tier, Tracker};
///
/// let file = Key::new(Kind::File, "src/lib.rs")?;
/// let mut tracker = Tracker::new(1_536);
/// tracker.update(&Step::new().put(file.clone(), 420));
/// assert_eq!(tracker.of(&file), Some((Tier::Active, 0)));
///
/// // After three more responses the file is cached.
/// for _ in 0..3 {
///     tracker.update(&Step::new());
/// }
/// assert_eq!(tracker.of(&file), Some((Tier::L3, 3)));
/// assert_eq!(tracker.tokens(Tier::L3), 420);
/// # Ok::<(), columnar::documents::KeyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracker {
    pub(super) target: u64,
    pub(super) tiers: PerTier<Cohorts>,
    /// The entries of files that are shown as a whole.
    pub(super) hidden: RedBlackTreeMapSync<Key, u32>,
    /// The pages of the last step.
    pub(super) pages: Cohort,
    /// The exchanges that are active. Their text is final, so they have no N.
    pub(super) waiting: Cohort,
    /// The newest exchange so far.
    pub(super) newest_exchange: Option<usize>,
    /// Whether there was a step with symbols.
    pub(super) has_symbols: bool,
}

impl Tracker {
    /// A tracker that saw no step.
    ///
    /// `target_tokens` is the size of a tier that a provider caches. Each cached tier keeps the first items up to this size.
    /// With 0, no item is kept for its size, and the history stays active.
    pub fn new(target_tokens: usize) -> Self {
        Self {
            target: target_tokens.try_into().unwrap_or(u64::MAX),
            tiers: PerTier::default(),
            hidden: RedBlackTreeMapSync::new_sync(),
            pages: Cohort::default(),
            waiting: Cohort::default(),
            newest_exchange: None,
            has_symbols: false,
        }
    }

    /// The same tracker with a document in a tier. An N that the tier cannot have becomes the nearest one that it can.
    ///
    /// As everywhere, the entry of a file that is shown as a whole is hidden, and a page is active.
    ///
    /// ```
    /// use columnar::documents::{Key, Kind};
    /// use columnar::tiers::{Tier, Tracker};
    ///
    /// let entry = Key::new(Kind::Symbol, "src/lib.rs")?;
    /// let tracker = Tracker::new(0).with(Tier::L1, &entry, 10, 60);
    /// assert_eq!(tracker.of(&entry), Some((Tier::L1, 10)));
    /// # Ok::<(), columnar::documents::KeyError>(())
    /// ```
    #[must_use]
    pub fn with(mut self, tier: Tier, key: &Key, n: u32, tokens: usize) -> Self {
        let item = Item::from(key.clone());
        self.remove(&item);
        let tokens = clamped(tokens);
        match key.kind() {
            Kind::Url => {
                self.pages.insert(item, tokens);
                return self;
            }
            Kind::Symbol => {
                self.has_symbols = true;
                let file = key.of_file();
                if self.of(&file).is_some() {
                    self.hidden.insert_mut(key.clone(), tokens);
                    return self;
                }
            }
            Kind::File => {
                let symbol = key.of_symbols();
                if let Some(tokens) = self.remove(&symbol.clone().into()) {
                    self.hidden.insert_mut(symbol, tokens);
                }
            }
        }
        let oldest = match tier {
            Tier::L0 => 0,
            // An active item leaves as soon as it reaches the threshold.
            Tier::Active => 2,
            Tier::L1 | Tier::L2 | Tier::L3 => 3,
        };
        let age = n.saturating_sub(tier.entry()).min(oldest);
        self.tiers[tier].at_mut(age as usize).insert(item, tokens);
        self
    }

    fn remove(&mut self, item: &Item) -> Option<u32> {
        Tier::ALL.into_iter().find_map(|tier| Some(self.tiers[tier].remove(item)?.1))
    }

    /// The tier of a document and its N; `None` if it is not shown, such as the entry of a file that is shown as a whole.
    pub fn of(&self, key: &Key) -> Option<(Tier, u32)> {
        self.of_item(&Item::from(key.clone()))
    }

    /// The tier of the exchange of a step and its N; `None` if the tracker does not have it. An active exchange has N 0.
    pub fn of_exchange(&self, step: usize) -> Option<(Tier, u32)> {
        self.of_item(&Item::Exchange(step))
    }

    fn of_item(&self, item: &Item) -> Option<(Tier, u32)> {
        let is_active = [&self.pages, &self.waiting].iter().any(|cohort| cohort.get(item).is_some());
        let aged =
            Tier::ALL.into_iter().find_map(|tier| Some((tier, tier.entry() + self.tiers[tier].age(item)?)));
        aged.or(is_active.then_some((Tier::Active, 0)))
    }

    /// The boundaries of the history: the exchanges of steps before the first one are in L0 at least, those before the
    /// second one in L1 at least, and so on. The exchanges from the last boundary on are active. No boundary is beyond
    /// `usize::MAX`.
    ///
    /// ```
    /// use columnar::tiers::{Step, Tracker};
    ///
    /// let mut tracker = Tracker::new(1_000);
    /// tracker.update(&Step::new().exchange(0, 700).exchange(1, 600).exchange(2, 300));
    /// assert_eq!(tracker.history(), [0, 0, 0, 1]);
    /// ```
    pub fn history(&self) -> [usize; 4] {
        let mut boundary = 0;
        Tier::CACHED.map(|tier| {
            let newest = self.tiers[tier].iter().filter_map(|(_, cohort)| cohort.newest_exchange()).max();
            boundary = newest.map_or(boundary, |newest| boundary.max(newest.saturating_add(1)));
            boundary
        })
    }

    /// The items of a tier in the order of the request, each with its N and its tokens: documents by key, and exchanges by
    /// step. The order does not depend on N, so a tier that is not broken keeps its text.
    pub fn items(&self, tier: Tier) -> impl Iterator<Item = (&Item, u32, usize)> {
        let items = self
            .cohorts(tier)
            .flat_map(|(n, cohort)| cohort.iter().map(move |(item, tokens)| (item, n, tokens as usize)));
        let mut items: Vec<_> = items.collect();
        items.sort_by(|(one, ..), (other, ..)| match (one, other) {
            (Item::Exchange(one), Item::Exchange(other)) => one.cmp(other),
            _ => one.cmp(other),
        });
        items.into_iter()
    }

    /// The cohorts of a tier, each with its N. The active tier has the pages and the waiting exchanges, too.
    fn cohorts(&self, tier: Tier) -> impl Iterator<Item = (u32, &Cohort)> {
        let cohorts = self.tiers[tier].iter().map(move |(age, cohort)| (tier.entry() + age, cohort));
        let extra = (!tier.is_cached()).then_some([(0, &self.pages), (0, &self.waiting)]);
        cohorts.chain(extra.into_iter().flatten())
    }

    /// The number of documents of a kind in a tier, and their tokens.
    pub(crate) fn documents(&self, tier: Tier, kind: Kind) -> Sum {
        match kind {
            Kind::Url if tier.is_cached() => Sum::default(),
            Kind::Url => Sum { count: self.pages.len(), tokens: tokens(self.pages.tokens()) },
            _ => self.tiers[tier].iter().map(|(_, cohort)| cohort.documents(kind)).sum(),
        }
    }

    /// The tokens of the items in a tier.
    pub fn tokens(&self, tier: Tier) -> usize {
        tokens(self.cohorts(tier).map(|(_, cohort)| cohort.tokens()).sum())
    }

    /// The number of items in a tier.
    pub fn len(&self, tier: Tier) -> usize {
        self.cohorts(tier).map(|(_, cohort)| cohort.len()).sum()
    }
}

fn tokens(sum: u64) -> usize {
    sum.try_into().unwrap_or(usize::MAX)
}
