//! The items of a tier, in cohorts of the same N.
//!
//! **The law of this structure.** In a cached tier N has four values: those from the entry to the threshold. So a tier is
//! four ordered maps, and no item stores its N.
//!
//! - In the order of anchors (N, then item), the items that are not anchors are the end of the tier: a suffix of one
//!   cohort, and all later cohorts. When they gain N, whole cohorts move. The cohort that the target divides is searched
//!   from both ends at once, and its smaller half is moved. So a division costs no more than the items that gain.
//! - Two cohorts are joined by inserting the smaller one into the other.
//! - Between two changes of its own, an item only goes up: it gains at most nine times, and is promoted at most four times.
//!   Each of these costs at most one insertion, and its first put pays for all of them.
//! - Anchors, and items that wait at the threshold, are not touched.
//!
//! An update therefore costs O(log n) for each changed item, amortised, and nothing for the others. A clone costs one
//! reference count per cohort.

use std::mem;

use rpds::RedBlackTreeMapSync;

use super::item::Item;
use crate::context::documents::Kind;
use crate::history::tokens::Sum;

type Items = RedBlackTreeMapSync<Item, u32>;

/// Items with their tokens, in the order of anchors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cohort {
    items: Items,
    tokens: u64,
    symbols: Sum,
    files: Sum,
}

impl Cohort {
    pub(super) fn len(&self) -> usize {
        self.items.size()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) const fn tokens(&self) -> u64 {
        self.tokens
    }

    pub(super) fn get(&self, item: &Item) -> Option<u32> {
        self.items.get(item).copied()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&Item, u32)> {
        self.items.iter().map(|(item, tokens)| (item, *tokens))
    }

    /// The newest exchange. Exchanges are behind the documents, and the newest one is the first of them.
    pub(super) fn newest_exchange(&self) -> Option<usize> {
        match self.items.range(Item::Exchange(usize::MAX)..).next()? {
            (Item::Exchange(step), _) => Some(*step),
            (Item::Document(_), _) => None,
        }
    }

    pub(super) fn insert(&mut self, item: Item, tokens: u32) {
        self.remove(&item);
        self.tokens += u64::from(tokens);
        if let Some(sum) = self.sum_mut(&item) {
            *sum += Sum::one(tokens as usize);
        }
        self.items.insert_mut(item, tokens);
    }

    pub(super) fn remove(&mut self, item: &Item) -> Option<u32> {
        let tokens = self.get(item)?;
        self.items.remove_mut(item);
        self.tokens -= u64::from(tokens);
        if let Some(sum) = self.sum_mut(item) {
            *sum = *sum - Sum::one(tokens as usize);
        }
        Some(tokens)
    }

    /// The documents of a kind, if they are counted.
    pub(super) fn documents(&self, kind: Kind) -> Sum {
        match kind {
            Kind::Symbol => self.symbols,
            Kind::File => self.files,
            Kind::Url => Sum::default(),
        }
    }

    fn sum_mut(&mut self, item: &Item) -> Option<&mut Sum> {
        let Item::Document(key) = item else { return None };
        match key.kind() {
            Kind::Symbol => Some(&mut self.symbols),
            Kind::File => Some(&mut self.files),
            Kind::Url => None,
        }
    }

    /// Adds the items of another cohort, by inserting the items of the smaller one.
    pub(super) fn absorb(&mut self, mut other: Self) {
        if self.len() < other.len() {
            mem::swap(self, &mut other);
        }
        other.iter().for_each(|(item, tokens)| self.insert(item.clone(), tokens));
    }

    /// Takes out the items with at least `target` tokens before them, except the staying ones. `before` is the number of
    /// tokens before the first item.
    pub(super) fn take_beyond(&mut self, before: u64, target: u64, staying: &Self) -> Self {
        if self.len() == staying.len() {
            return Self::default();
        }
        let mut taken = match self.half_beyond(before, target) {
            Half::Anchors(count) => {
                let anchors = self.take_ends(count, RedBlackTreeMapSync::first);
                mem::replace(self, anchors)
            }
            Half::Beyond(count) => self.take_ends(count, RedBlackTreeMapSync::last),
        };
        for (item, tokens) in taken.shared_with(staying) {
            taken.remove(&item);
            self.insert(item, tokens);
        }
        taken
    }

    /// The items that both have, which have the same tokens in both. The smaller one finds all of them.
    fn shared_with(&self, other: &Self) -> Vec<(Item, u32)> {
        if other.len() < self.len() {
            return other.shared_with(self);
        }
        let shared = self.iter().filter(|(item, _)| other.get(item).is_some());
        shared.map(|(item, tokens)| (item.clone(), tokens)).collect()
    }

    /// Takes out items, the last one first, until the others have at most `target` tokens.
    pub(super) fn take_until_fits(&mut self, target: u64) -> Self {
        let mut taken = Self::default();
        while self.tokens > target {
            let Some((item, tokens)) = self.take_end(RedBlackTreeMapSync::last) else { break };
            taken.insert(item, tokens);
        }
        taken
    }

    /// The smaller half of a cohort that the target divides. It is found from both ends at once, so the larger half costs
    /// nothing.
    fn half_beyond(&self, before: u64, target: u64) -> Half {
        let mut first = self.iter();
        let mut last = self.iter().rev();
        let mut before_first = before;
        let mut before_last = before + self.tokens;
        for count in 0.. {
            if before_first >= target {
                return Half::Anchors(count);
            }
            let (Some((_, tokens)), Some((_, last_tokens))) = (first.next(), last.next()) else { break };
            before_first += u64::from(tokens);
            before_last -= u64::from(last_tokens);
            if before_last < target {
                return Half::Beyond(count);
            }
        }
        Half::Beyond(0)
    }

    /// Takes out this number of items from one end.
    fn take_ends(&mut self, count: usize, end: impl Fn(&Items) -> Option<(&Item, &u32)>) -> Self {
        let mut taken = Self::default();
        for (item, tokens) in (0..count).map_while(|_| self.take_end(&end)) {
            taken.insert(item, tokens);
        }
        taken
    }

    fn take_end(&mut self, end: impl Fn(&Items) -> Option<(&Item, &u32)>) -> Option<(Item, u32)> {
        let item = end(&self.items)?.0.clone();
        let tokens = self.remove(&item)?;
        Some((item, tokens))
    }
}

/// One half of a cohort, and its number of items.
enum Half {
    Anchors(usize),
    Beyond(usize),
}

/// The number of values of N in a tier, from its entry to its threshold.
pub(super) const AGES: usize = 4;

/// The items of a tier by age: N, counted from the entry of the tier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cohorts([Cohort; AGES]);

impl Cohorts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Cohort::is_empty)
    }

    pub(super) fn tokens(&self) -> u64 {
        self.0.iter().map(Cohort::tokens).sum()
    }

    /// The cohorts with their ages, the youngest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Cohort)> {
        (0..).zip(&self.0)
    }

    pub(super) fn age(&self, item: &Item) -> Option<u32> {
        self.iter().find(|(_, cohort)| cohort.get(item).is_some()).map(|(age, _)| age)
    }

    pub(super) fn at(&self, age: usize) -> &Cohort {
        self.0.get(age).expect("an age is below four")
    }

    pub(super) fn at_mut(&mut self, age: usize) -> &mut Cohort {
        self.0.get_mut(age).expect("an age is below four")
    }

    /// Takes out an item, with its age and its tokens.
    pub(super) fn remove(&mut self, item: &Item) -> Option<(usize, u32)> {
        self.0.iter_mut().enumerate().find_map(|(age, cohort)| Some((age, cohort.remove(item)?)))
    }

    /// Takes out the items of an age that are no anchors, except the staying ones.
    pub(super) fn take_beyond(&mut self, age: usize, target: u64, staying: &Self) -> Cohort {
        let before = self.0.iter().take(age).map(Cohort::tokens).sum();
        self.at_mut(age).take_beyond(before, target, staying.at(age))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cohort of exchanges. Their names are descending, so they are in this order.
    fn cohort(tokens: &[u32]) -> Cohort {
        let mut cohort = Cohort::default();
        for (at, tokens) in tokens.iter().enumerate() {
            cohort.insert(Item::Exchange(100 - at), *tokens);
        }
        cohort
    }

    fn list(cohort: &Cohort) -> Vec<(usize, u32)> {
        let list: Vec<_> = cohort
            .iter()
            .map(|(item, tokens)| match item {
                Item::Exchange(step) => (100 - step, tokens),
                Item::Document(_) => unreachable!("there are only exchanges"),
            })
            .collect();
        assert_eq!(cohort.tokens(), list.iter().map(|(_, tokens)| u64::from(*tokens)).sum::<u64>());
        list
    }

    /// The target may be at each place, so the smaller half is taken from either end.
    #[test]
    fn the_items_behind_the_target_are_taken() {
        let sizes = [5, 0, 7, 1, 0, 0, 9, 2, 0];
        for before in [0, 3, 30] {
            for target in 0..60 {
                for staying in [&[][..], &[0, 5], &[6, 7, 8], &[0, 1, 2, 3, 4, 5, 6, 7, 8]] {
                    let mut all = cohort(&sizes);
                    let staying_items = {
                        let mut staying_items = Cohort::default();
                        for at in staying {
                            let item = Item::Exchange(100 - at);
                            let tokens = all.get(&item).expect("it is one of them");
                            staying_items.insert(item, tokens);
                        }
                        staying_items
                    };
                    let mut sum = before;
                    let mut kept = Vec::new();
                    let mut expected = Vec::new();
                    for (at, tokens) in sizes.into_iter().enumerate() {
                        let stays = sum < target || staying.contains(&at);
                        if stays { &mut kept } else { &mut expected }.push((at, tokens));
                        sum += u64::from(tokens);
                    }
                    let taken = all.take_beyond(before, target, &staying_items);
                    assert_eq!(list(&taken), expected, "{before} {target} {staying:?}");
                    assert_eq!(list(&all), kept, "{before} {target} {staying:?}");
                }
            }
        }
    }

    #[test]
    fn a_joined_cohort_has_the_items_of_both() {
        for (left, right) in [(0..2, 2..9), (0..8, 8..9), (0..0, 0..3), (3..3, 0..0)] {
            let sizes = |range: std::ops::Range<usize>| {
                let mut some = Cohort::default();
                range.for_each(|at| some.insert(Item::Exchange(100 - at), 2));
                some
            };
            let mut joined = sizes(left.clone());
            joined.absorb(sizes(right.clone()));
            assert_eq!(list(&joined), left.chain(right).map(|at| (at, 2)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_newest_exchange_is_behind_the_documents() {
        let mut cohort = cohort(&[1, 1, 1]);
        assert_eq!(cohort.newest_exchange(), Some(100));
        let key = crate::context::documents::Key::new(Kind::Url, "https://z").expect("a URL");
        cohort.insert(key.into(), 1);
        assert_eq!(cohort.newest_exchange(), Some(100));
        assert_eq!(Cohort::default().newest_exchange(), None);
    }
}
