//! The rules of tiers once more, as scans over everything. They are slow, and close to the words of the rules.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use columnar::documents::{Key, Kind};
use columnar::tiers::{Item, Step, Tier};

/// What changed in a step: documents by key with their tokens, `None` for removed ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    pub(super) documents: BTreeMap<Key, Option<usize>>,
    pub(super) clusters: BTreeMap<Key, u32>,
    pub(super) references: BTreeMap<Key, u32>,
    pub(super) exchanges: BTreeMap<usize, Option<usize>>,
    pub(super) legend: bool,
}

impl Changes {
    pub(super) fn to_step(&self) -> Step {
        let mut step = Step::new();
        for (key, tokens) in &self.documents {
            step = match tokens {
                Some(tokens) => step.put(key.clone(), *tokens),
                None => step.remove(key.clone()),
            };
        }
        step = self.clusters.iter().fold(step, |step, (key, cluster)| step.cluster(key, *cluster));
        step = self.references.iter().fold(step, |step, (key, count)| step.references(key, *count));
        for (exchange, tokens) in &self.exchanges {
            step = match tokens {
                Some(tokens) => step.exchange(*exchange, *tokens),
                None => step.remove_exchange(*exchange),
            };
        }
        if self.legend { step.legend() } else { step }
    }
}

/// An item that is shown.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) item: Item,
    pub(super) tier: Tier,
    pub(super) n: u32,
    pub(super) tokens: usize,
    /// It came into its tier in this update.
    arrived: bool,
    gained: bool,
}

/// The moves of an update: item, from, to.
pub(super) type Moved = BTreeSet<(Tier, Tier, Item)>;

#[derive(Clone, Debug, Default)]
pub(super) struct Naive {
    target: usize,
    pub(super) shown: Vec<Shown>,
    hidden: BTreeMap<String, usize>,
    had_symbols: bool,
    next_exchange: usize,
    broken: BTreeSet<Tier>,
    pub(super) promotions: Moved,
    pub(super) demotions: Moved,
}

impl Naive {
    pub(super) fn new(target: usize) -> Self {
        Self { target, ..Self::default() }
    }

    pub(super) fn find(&self, item: &Item) -> Option<&Shown> {
        self.shown.iter().find(|shown| shown.item == *item)
    }

    pub(super) fn update(&mut self, changes: &Changes) {
        self.broken.clear();
        self.promotions.clear();
        self.demotions.clear();
        self.shown.retain(|shown| !is_page(&shown.item));
        for shown in &mut self.shown {
            (shown.arrived, shown.gained) = (false, false);
        }

        let symbols_before = self.had_symbols;
        let mut first = Vec::new();
        let inherited = self.files(changes);
        for (key, tokens) in changes.documents.iter().filter(|(key, _)| key.kind() == Kind::Symbol) {
            if !inherited.contains(key.path()) {
                self.symbol(key, *tokens, symbols_before, &mut first);
            }
            self.had_symbols |= tokens.is_some();
        }
        if !symbols_before {
            self.place(first, changes);
        }
        for (key, tokens) in changes.documents.iter().filter(|(key, _)| key.kind() == Kind::Url) {
            if let Some(tokens) = tokens {
                self.add(key.clone().into(), Tier::Active, 0, *tokens);
            }
        }
        if changes.legend {
            self.broken.insert(Tier::L0);
        }
        self.exchanges(changes);
        self.age();
        self.cascade();
        self.graduate_history();
        self.cascade();
    }

    fn add(&mut self, item: Item, tier: Tier, n: u32, tokens: usize) {
        self.shown.push(Shown { item, tier, n, tokens, arrived: true, gained: false });
        self.broken.insert(tier);
    }

    fn drop_item(&mut self, item: &Item) -> Option<Shown> {
        let at = self.shown.iter().position(|shown| shown.item == *item)?;
        let dropped = self.shown.remove(at);
        self.broken.insert(dropped.tier);
        Some(dropped)
    }

    fn demote(&mut self, item: Item, from: Tier, tokens: usize) {
        if from != Tier::Active {
            self.demotions.insert((from, Tier::Active, item.clone()));
        }
        self.add(item, Tier::Active, 0, tokens);
    }

    /// Returns the paths whose symbols are shown in the place of the file.
    fn files(&mut self, changes: &Changes) -> BTreeSet<String> {
        let mut inherited = BTreeSet::new();
        for (key, tokens) in changes.documents.iter().filter(|(key, _)| key.kind() == Kind::File) {
            let path = key.path().to_owned();
            let symbol = Key::new(Kind::Symbol, &path).unwrap();
            let before = self.drop_item(&key.clone().into());
            match (before, tokens) {
                (Some(before), Some(tokens)) => self.demote(key.clone().into(), before.tier, *tokens),
                (None, Some(tokens)) => {
                    if let Some(entry) = self.drop_item(&symbol.into()) {
                        self.hidden.insert(path, entry.tokens);
                    }
                    self.add(key.clone().into(), Tier::Active, 0, *tokens);
                }
                (None, None) => {}
                (Some(before), None) => {
                    let hidden = self.hidden.remove(&path);
                    match (hidden, changes.documents.get(&symbol).copied()) {
                        (Some(_), Some(Some(tokens))) => self.demote(symbol.into(), before.tier, tokens),
                        (Some(tokens), None) | (None, Some(Some(tokens))) => {
                            self.add(symbol.into(), before.tier, before.n, tokens);
                        }
                        _ => continue,
                    }
                    inherited.insert(path);
                }
            }
        }
        inherited
    }

    fn symbol(&mut self, key: &Key, tokens: Option<usize>, later: bool, first: &mut Vec<(Key, usize)>) {
        let item = Item::from(key.clone());
        let file = Item::from(Key::new(Kind::File, key.path()).unwrap());
        let Some(tokens) = tokens else {
            self.hidden.remove(key.path());
            self.drop_item(&item);
            return;
        };
        if self.find(&file).is_some() {
            self.hidden.insert(key.path().to_owned(), tokens);
        } else if let Some(before) = self.drop_item(&item) {
            self.demote(item, before.tier, tokens);
        } else if later {
            self.add(item, Tier::L3, 3, tokens);
        } else {
            first.push((key.clone(), tokens));
        }
    }

    fn exchanges(&mut self, changes: &Changes) {
        for (exchange, tokens) in &changes.exchanges {
            match tokens {
                None => drop(self.drop_item(&Item::Exchange(*exchange))),
                Some(tokens) if *exchange >= self.next_exchange => {
                    self.next_exchange = exchange + 1;
                    self.add(Item::Exchange(*exchange), Tier::Active, 0, *tokens);
                }
                Some(_) => {}
            }
        }
    }

    /// Unchanged active documents gain one. At 3 they are in L3.
    fn age(&mut self) {
        for shown in &mut self.shown {
            let is_document = matches!(shown.item, Item::Document(_));
            if shown.tier == Tier::Active && is_document && !shown.arrived {
                shown.n += 1;
                if shown.n >= 3 {
                    self.promotions.insert((Tier::Active, Tier::L3, shown.item.clone()));
                    (shown.tier, shown.n, shown.arrived) = (Tier::L3, 3, true);
                    self.broken.insert(Tier::L3);
                }
            }
        }
    }

    fn cascade(&mut self) {
        loop {
            let before = self.promotions.len();
            for (tier, above) in [(Tier::L3, Tier::L2), (Tier::L2, Tier::L1), (Tier::L1, Tier::L0)] {
                if self.broken.contains(&tier) || self.broken.contains(&above) {
                    self.process(tier, above);
                }
            }
            if self.promotions.len() == before {
                return;
            }
        }
    }

    fn process(&mut self, tier: Tier, above: Tier) {
        let threshold = above.entry();
        let mut order: Vec<usize> = (0..self.shown.len()).filter(|at| self.shown[*at].tier == tier).collect();
        order.sort_by_key(|at| (self.shown[*at].n, self.shown[*at].item.clone()));
        let mut sum = 0;
        for at in order {
            let is_anchor = sum < self.target;
            let is_open = self.broken.contains(&above) || self.shown.iter().all(|shown| shown.tier != above);
            let shown = &mut self.shown[at];
            sum += shown.tokens;
            if is_anchor || shown.arrived {
                continue;
            }
            if !shown.gained {
                shown.n = threshold.min(shown.n + 1);
                shown.gained = true;
            }
            if shown.n == threshold && is_open {
                self.promotions.insert((tier, above, shown.item.clone()));
                (shown.tier, shown.arrived) = (above, true);
                self.broken.extend([tier, above]);
            }
        }
    }

    fn graduate_history(&mut self) {
        if self.target == 0 {
            return;
        }
        let all = self.broken.contains(&Tier::L3);
        let mut active: Vec<usize> = (0..self.shown.len())
            .filter(|at| {
                self.shown[*at].tier == Tier::Active && matches!(self.shown[*at].item, Item::Exchange(_))
            })
            .collect();
        // The newest is the first item.
        active.sort_by_key(|at| self.shown[*at].item.clone());
        let mut fits = true;
        let mut sum = 0;
        for at in active {
            sum += self.shown[at].tokens;
            fits &= sum <= self.target;
            if all || !fits {
                let shown = &mut self.shown[at];
                self.promotions.insert((Tier::Active, Tier::L3, shown.item.clone()));
                (shown.tier, shown.n, shown.arrived) = (Tier::L3, 3, true);
                self.broken.insert(Tier::L3);
            }
        }
    }

    fn tokens(&self, tier: Tier) -> usize {
        self.shown.iter().filter(|shown| shown.tier == tier).map(|shown| shown.tokens).sum()
    }

    fn place(&mut self, first: Vec<(Key, usize)>, changes: &Changes) {
        let tiers = [Tier::L1, Tier::L2, Tier::L3];
        let mut sizes = tiers.map(|tier| self.tokens(tier));
        let mut placed: Vec<(Key, usize, usize)> = Vec::new();
        let all_symbols: Vec<&Key> = (changes.documents.iter())
            .filter(|(key, tokens)| key.kind() == Kind::Symbol && tokens.is_some())
            .map(|(key, _)| key)
            .collect();
        let cluster = |key: &Key| changes.clusters.get(key);
        let has_edges = all_symbols.iter().any(|one| {
            let mut others = all_symbols.iter().filter(|other| *other != one);
            cluster(one).is_some() && others.any(|other| cluster(one) == cluster(other))
        });
        if has_edges {
            let mut left = first;
            while !left.is_empty() {
                // The biggest component; at the same size the one with the first key.
                let component = |(key, _): &(Key, usize)| -> Vec<(Key, usize)> {
                    let same = |other: &Key| {
                        other == key || cluster(key).is_some() && cluster(key) == cluster(other)
                    };
                    left.iter().filter(|(other, _)| same(other)).cloned().collect()
                };
                let sum = |entries: &[(Key, usize)]| entries.iter().map(|(_, tokens)| tokens).sum::<usize>();
                let components: Vec<Vec<(Key, usize)>> = left.iter().map(component).collect();
                let biggest =
                    components.into_iter().min_by_key(|one| (Reverse(sum(one)), one[0].0.clone())).unwrap();
                let smallest = (0..3).min_by_key(|at| sizes[*at]).unwrap();
                sizes[smallest] += sum(&biggest);
                left.retain(|entry| !biggest.contains(entry));
                placed.extend(biggest.into_iter().map(|(key, tokens)| (key, tokens, smallest)));
            }
        } else {
            let mut entries = first;
            entries.sort_by_key(|(key, _)| {
                (Reverse(changes.references.get(key).copied().unwrap_or(0)), key.clone())
            });
            let has_sizes = self.target > 0 && entries.iter().any(|(_, tokens)| *tokens > 0);
            let count = entries.len();
            for (at, (key, tokens)) in entries.into_iter().enumerate() {
                let into = if has_sizes {
                    (0..2).find(|at| sizes[*at] < self.target).unwrap_or(2)
                } else if at < count.div_ceil(5) {
                    0
                } else if at < count.div_ceil(2) {
                    1
                } else {
                    2
                };
                sizes[into] += tokens;
                placed.push((key, tokens, into));
            }
        }
        self.fold(&mut sizes, &mut placed);
        for (key, tokens, into) in placed {
            self.add(key.into(), tiers[into], tiers[into].entry(), tokens);
        }
    }

    fn fold(&self, sizes: &mut [usize; 3], placed: &mut [(Key, usize, usize)]) {
        let mut folded = [false; 3];
        loop {
            let has_entries = |at: &usize| placed.iter().any(|(.., into)| into == at);
            let small = (0..3).filter(|at| sizes[*at] < self.target && has_entries(at));
            let Some(small) = small.min_by_key(|at| sizes[*at]) else { return };
            let others =
                (0..3).filter(|at| *at != small && (sizes[*at] > 0 || has_entries(at)) && !folded[*at]);
            let Some(other) = others.min_by_key(|at| sizes[*at]) else { return };
            for (_, tokens, into) in placed.iter_mut().filter(|(.., into)| *into == small) {
                sizes[small] -= *tokens;
                sizes[other] += *tokens;
                *into = other;
            }
            folded[small] = true;
        }
    }
}

fn is_page(item: &Item) -> bool {
    matches!(item, Item::Document(key) if key.kind() == Kind::Url)
}
