//! The tiers of the first symbols: by clusters, or by the number of references where there are none.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::tier::Tier;
use crate::context::documents::Key;

/// An entry that has no tier yet.
#[derive(Clone, Debug)]
pub(super) struct FirstEntry {
    pub(super) key: Key,
    pub(super) tokens: u32,
    pub(super) cluster: Option<u32>,
    pub(super) references: u32,
}

/// The tiers that take the first symbols, the most stable first.
pub(super) const FIRST: [Tier; 3] = [Tier::L1, Tier::L2, Tier::L3];

/// A tier, the tokens with those that it had before, and the entries that it takes.
struct Bin {
    tier: Tier,
    tokens: u64,
    entries: Vec<FirstEntry>,
    /// Whether the entries moved to another tier.
    folded: bool,
}

impl Bin {
    fn extend(&mut self, entries: Vec<FirstEntry>) {
        self.tokens += sum(&entries);
        self.entries.extend(entries);
    }
}

fn sum(entries: &[FirstEntry]) -> u64 {
    entries.iter().map(|entry| u64::from(entry.tokens)).sum()
}

/// Finds the tiers of entries. `sizes` are the tokens of [`FIRST`] before; a cluster is real if two files are in it, and
/// `clustered` says whether there is one.
pub(super) fn place(
    entries: Vec<FirstEntry>,
    sizes: [u64; 3],
    target: u64,
    clustered: bool,
) -> Vec<(Tier, FirstEntry)> {
    let bins = FIRST.into_iter().zip(sizes);
    let mut bins: Vec<Bin> =
        bins.map(|(tier, tokens)| Bin { tier, tokens, entries: Vec::new(), folded: false }).collect();
    if clustered {
        by_clusters(entries, &mut bins);
    } else {
        by_references(entries, &mut bins, target);
    }
    fold(&mut bins, target);
    bins.into_iter().flat_map(|bin| bin.entries.into_iter().map(move |entry| (bin.tier, entry))).collect()
}

/// Puts whole clusters into the smallest tier, the biggest cluster first.
fn by_clusters(entries: Vec<FirstEntry>, bins: &mut [Bin]) {
    let mut clusters: BTreeMap<u32, Vec<FirstEntry>> = BTreeMap::new();
    let mut all = Vec::new();
    for entry in entries {
        match entry.cluster {
            Some(cluster) => clusters.entry(cluster).or_default().push(entry),
            None => all.push(vec![entry]),
        }
    }
    all.extend(clusters.into_values());
    // Entries come by key, so the first one names the cluster.
    all.sort_by_cached_key(|entries| (Reverse(sum(entries)), entries.first().map(|entry| entry.key.clone())));
    for cluster in all {
        if let Some(bin) = bins.iter_mut().min_by_key(|bin| (bin.tokens, bin.tier)) {
            bin.extend(cluster);
        }
    }
}

/// Fills one tier after the other, the entries with the most references first.
fn by_references(mut entries: Vec<FirstEntry>, bins: &mut [Bin], target: u64) {
    entries.sort_by(|one, other| {
        (Reverse(one.references), &one.key).cmp(&(Reverse(other.references), &other.key))
    });
    let count = entries.len();
    let has_sizes = target > 0 && sum(&entries) > 0;
    for (at, entry) in entries.into_iter().enumerate() {
        let bin = bins.iter_mut().find(|bin| match bin.tier {
            Tier::L3 => true,
            _ if has_sizes => bin.tokens < target,
            Tier::L1 => 5 * at < count,
            _ => 2 * at < count,
        });
        if let Some(bin) = bin {
            bin.extend(vec![entry]);
        }
    }
}

/// Joins tiers below the target with others, the smallest one first, each with the smallest other one.
///
/// A tier may keep items that it had before, so the entries could come back: two such tiers below the target would exchange
/// them for ever. So a tier whose entries moved takes no others.
fn fold(bins: &mut [Bin], target: u64) {
    loop {
        let small = bins.iter().filter(|bin| bin.tokens < target && !bin.entries.is_empty());
        let Some(small) = small.min_by_key(|bin| (bin.tokens, bin.tier)).map(|bin| bin.tier) else { return };
        let others = bins
            .iter()
            .filter(|bin| bin.tier != small && (bin.tokens > 0 || !bin.entries.is_empty()) && !bin.folded);
        let Some(other) = others.min_by_key(|bin| (bin.tokens, bin.tier)).map(|bin| bin.tier) else { return };
        let mut moved = Vec::new();
        if let Some(bin) = bins.iter_mut().find(|bin| bin.tier == small) {
            moved = std::mem::take(&mut bin.entries);
            bin.tokens -= sum(&moved);
            bin.folded = true;
        }
        if let Some(bin) = bins.iter_mut().find(|bin| bin.tier == other) {
            bin.extend(moved);
        }
    }
}
