//! One update of the tracker, from the documents of one step.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use super::cascade::Cascade;
use super::cohort::Cohort;
use super::initial::{FIRST, FirstEntry, place};
use super::item::Item;
use super::moves::Moves;
use super::step::Step;
use super::tier::Tier;
use super::tracker::Tracker;
use crate::context::documents::{Key, Kind};

impl Tracker {
    /// Goes on to the next step: after the response of the step before, and before the request of this one.
    ///
    /// So a document that was put at step 4 is active in the requests of steps 4, 5 and 6, and cached in the request of step 7.
    pub fn update(&mut self, step: &Step) -> Moves {
        let mut update = TrackerUpdate {
            cascade: Cascade::new(&mut self.tiers, self.target),
            hidden: &mut self.hidden,
            entries: Vec::new(),
            inherited: BTreeSet::new(),
            has_symbols: self.has_symbols,
        };
        update.files(step);
        update.symbols(step);
        update.place_first(step, self.target);
        if step.legend {
            update.cascade.broken[Tier::L0] = true;
        }
        self.has_symbols = update.has_symbols;
        let mut cascade = update.cascade;

        self.pages = pages(step);
        for (exchange, tokens) in &step.exchanges {
            let item = Item::Exchange(*exchange);
            match tokens {
                Some(tokens) if self.newest_exchange.is_none_or(|newest| newest < *exchange) => {
                    self.newest_exchange = Some(*exchange);
                    self.waiting.insert(item, *tokens);
                }
                Some(_) => {}
                None => {
                    if self.waiting.remove(&item).is_none() {
                        cascade.take(&item);
                    }
                }
            }
        }

        cascade.settle();
        if self.target > 0 {
            // A change of L3 pays for the whole history. Without that, only the part beyond the target is worth it.
            let leaving = if cascade.broken[Tier::L3] {
                mem::take(&mut self.waiting)
            } else {
                self.waiting.take_until_fits(self.target)
            };
            cascade.promote(leaving, Tier::Active, Tier::L3);
            cascade.settle();
        }
        cascade.finish()
    }
}

/// The pages that a step put. Shown at this step alone.
fn pages(step: &Step) -> Cohort {
    let mut pages = Cohort::default();
    for (key, tokens) in of_kind(step, Kind::Url) {
        if let Some(tokens) = tokens {
            pages.insert(key.clone().into(), tokens);
        }
    }
    pages
}

fn of_kind(step: &Step, kind: Kind) -> impl Iterator<Item = (&Key, Option<u32>)> {
    step.documents.iter().filter(move |(key, _)| key.kind() == kind).map(|(key, tokens)| (key, *tokens))
}

struct TrackerUpdate<'a> {
    cascade: Cascade<'a>,
    hidden: &'a mut rpds::RedBlackTreeMapSync<Key, u32>,
    /// The symbols of the first step that has some.
    entries: Vec<(Key, u32)>,
    /// The symbols that took the place of the files.
    inherited: BTreeSet<Key>,
    has_symbols: bool,
}

impl TrackerUpdate<'_> {
    fn files(&mut self, step: &Step) {
        for (file, tokens) in of_kind(step, Kind::File) {
            let item = Item::from(file.clone());
            let taken = self.cascade.take(&item);
            match (taken, tokens) {
                (None, None) => {}
                (Some((tier, age, _)), None) => self.deselect(step, file, tier, age),
                (Some((tier, ..)), Some(tokens)) => {
                    self.cascade.demoted(item.clone(), tier);
                    self.cascade.put(Tier::Active, 0, item, tokens);
                }
                (None, Some(tokens)) => {
                    let symbol = file.of_symbols();
                    if let Some((.., tokens)) = self.cascade.take(&symbol.clone().into()) {
                        self.hidden.insert_mut(symbol, tokens);
                    }
                    self.cascade.put(Tier::Active, 0, item, tokens);
                }
            }
        }
    }

    /// A file is gone, or its symbols are shown instead. The symbols inherit the tier and the N, unless they changed.
    fn deselect(&mut self, step: &Step, file: &Key, tier: Tier, age: usize) {
        let symbol = file.of_symbols();
        let hidden = self.hidden.get(&symbol).copied();
        self.hidden.remove_mut(&symbol);
        let put = step.documents.get(&symbol).copied();
        let (tier, age, tokens) = match (hidden, put) {
            // The entry was there and changed, as the file did.
            (Some(_), Some(Some(tokens))) => {
                self.cascade.demoted(symbol.clone().into(), tier);
                (Tier::Active, 0, tokens)
            }
            (None, Some(Some(tokens))) | (Some(tokens), None) => (tier, age, tokens),
            (_, Some(None)) | (None, None) => return,
        };
        self.cascade.put(tier, age, symbol.clone().into(), tokens);
        self.inherited.insert(symbol);
    }

    fn symbols(&mut self, step: &Step) {
        for (symbol, tokens) in of_kind(step, Kind::Symbol) {
            if self.inherited.contains(symbol) {
                continue;
            }
            let item = Item::from(symbol.clone());
            let Some(tokens) = tokens else {
                self.hidden.remove_mut(symbol);
                self.cascade.take(&item);
                continue;
            };
            if self.cascade.contains(&symbol.of_file().into()) {
                self.hidden.insert_mut(symbol.clone(), tokens);
            } else if let Some((tier, ..)) = self.cascade.take(&item) {
                self.cascade.demoted(item.clone(), tier);
                self.cascade.put(Tier::Active, 0, item, tokens);
            } else if self.has_symbols {
                self.cascade.put(Tier::L3, 0, item, tokens);
            } else {
                self.entries.push((symbol.clone(), tokens));
            }
        }
    }

    /// Finds the tiers of the first symbols.
    fn place_first(&mut self, step: &Step, target: u64) {
        if self.has_symbols {
            return;
        }
        let symbols: Vec<&Key> =
            of_kind(step, Kind::Symbol).filter(|(_, tokens)| tokens.is_some()).map(|(key, _)| key).collect();
        self.has_symbols = !symbols.is_empty();
        // The file of a hidden entry still joins others.
        let mut members: BTreeMap<u32, usize> = BTreeMap::new();
        for cluster in symbols.iter().filter_map(|key| step.clusters.get(*key)) {
            *members.entry(*cluster).or_default() += 1;
        }
        let clustered = members.values().any(|files| *files > 1);
        let entries = mem::take(&mut self.entries).into_iter().map(|(key, tokens)| {
            let cluster = step.clusters.get(&key).copied();
            let references = step.references.get(&key).copied().unwrap_or(0);
            FirstEntry { key, tokens, cluster, references }
        });
        let sizes = FIRST.map(|tier| self.cascade.tiers[tier].tokens());
        for (tier, entry) in place(entries.collect(), sizes, target, clustered) {
            self.cascade.put(tier, 0, entry.key.into(), entry.tokens);
        }
    }
}
