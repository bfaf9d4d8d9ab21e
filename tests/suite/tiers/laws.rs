//! Laws of the tracker, on random steps.

use std::collections::BTreeSet;

use columnar::documents::{Key, Kind};
use columnar::tiers::{Item, Move, Step, Tier, Tracker};
use proptest::collection::vec;
use proptest::prelude::*;

use super::naive::{Changes, Moved, Naive};

/// One thing that a step changes.
#[derive(Clone, Debug)]
enum Change {
    Put(Kind, usize, usize),
    Remove(Kind, usize),
    Cluster(usize, u32),
    References(usize, u32),
    /// The next exchange, after some that are skipped.
    Exchange(usize, usize),
    RemoveExchange(usize),
    Legend,
}

const PATHS: usize = 8;

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![4 => Just(Kind::Symbol), 4 => Just(Kind::File), 1 => Just(Kind::Url)]
}

fn tokens() -> impl Strategy<Value = usize> {
    prop_oneof![1 => Just(0), 6 => 1..400_usize, 1 => 400..2_000_usize]
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        8 => (kind(), 0..PATHS, tokens()).prop_map(|(kind, path, tokens)| Change::Put(kind, path, tokens)),
        4 => (kind(), 0..PATHS).prop_map(|(kind, path)| Change::Remove(kind, path)),
        3 => (0..PATHS, 0..3_u32).prop_map(|(path, cluster)| Change::Cluster(path, cluster)),
        3 => (0..PATHS, 0..4_u32).prop_map(|(path, count)| Change::References(path, count)),
        4 => (0..2_usize, tokens()).prop_map(|(skipped, tokens)| Change::Exchange(skipped, tokens)),
        1 => (0..40_usize).prop_map(Change::RemoveExchange),
        1 => Just(Change::Legend),
    ]
}

/// Random steps. Most of them change little or nothing.
fn steps() -> impl Strategy<Value = Vec<Vec<Change>>> {
    let step = prop_oneof![3 => Just(Vec::new()), 4 => vec(change(), 1..3), 1 => vec(change(), 1..20)];
    vec(step, 1..60)
}

fn target() -> impl Strategy<Value = usize> {
    prop_oneof![Just(0), Just(1), Just(100), Just(500), Just(1_500), 0..3_000_usize]
}

fn key(kind: Kind, path: usize) -> Key {
    let prefix = if kind == Kind::Url { "https://p" } else { "p" };
    Key::new(kind, &format!("{prefix}{path}")).unwrap()
}

fn to_changes(step: &[Change], next_exchange: &mut usize) -> Changes {
    let mut changes = Changes::default();
    for change in step {
        match change {
            Change::Put(kind, path, tokens) => {
                changes.documents.insert(key(*kind, *path), Some(*tokens));
            }
            Change::Remove(kind, path) => {
                changes.documents.insert(key(*kind, *path), None);
            }
            Change::Cluster(path, cluster) => {
                changes.clusters.insert(key(Kind::Symbol, *path), *cluster);
            }
            Change::References(path, count) => {
                changes.references.insert(key(Kind::Symbol, *path), *count);
            }
            Change::Exchange(skipped, tokens) => {
                changes.exchanges.insert(*next_exchange + skipped, Some(*tokens));
                *next_exchange += skipped + 1;
            }
            Change::RemoveExchange(exchange) => {
                changes.exchanges.insert(*exchange, None);
            }
            Change::Legend => changes.legend = true,
        }
    }
    changes
}

fn to_all_changes(steps: &[Vec<Change>]) -> Vec<Changes> {
    let mut next_exchange = 0;
    steps.iter().map(|step| to_changes(step, &mut next_exchange)).collect()
}

/// The items of a tier with N and tokens.
fn items(tracker: &Tracker, tier: Tier) -> Vec<(Item, u32, usize)> {
    tracker.items(tier).map(|(item, n, tokens)| (item.clone(), n, tokens)).collect()
}

fn moved(moves: &[Move]) -> Moved {
    let set: Moved = moves.iter().map(|one| (one.from, one.to, one.item.clone())).collect();
    assert!(moves.is_sorted() && moves.len() == set.len(), "{moves:?}");
    set
}

/// The order of a request: documents by key, exchanges by step.
fn in_order(mut items: Vec<(Item, u32, usize)>) -> Vec<(Item, u32, usize)> {
    let is_document = |item: &Item| matches!(item, Item::Document(_));
    items.sort();
    let exchanges = items.partition_point(|(item, ..)| is_document(item));
    items[exchanges..].reverse();
    items
}

/// Each test follows the tracker through these steps.
fn follow(
    target: usize,
    steps: &[Vec<Change>],
    mut check: impl FnMut(&Tracker, &Changes, &Tracker, &columnar::tiers::Moves),
) {
    let mut tracker = Tracker::new(target);
    for changes in to_all_changes(steps) {
        let before = tracker.clone();
        let moves = tracker.update(&changes.to_step());
        check(&before, &changes, &tracker, &moves);
    }
}

/// A failure becomes a test with a name, not a seed in a file.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(1_000))]

    /// Tiers, N, sizes and moves are those of the rules.
    #[test]
    fn the_tracker_equals_the_naive_rules(target in target(), steps in steps()) {
        let mut naive = Naive::new(target);
        follow(target, &steps, |_, changes, tracker, moves| {
            naive.update(changes);
            for tier in Tier::ALL {
                let expected = naive.shown.iter().filter(|shown| shown.tier == tier);
                let expected: Vec<_> = expected.map(|shown| (shown.item.clone(), shown.n, shown.tokens)).collect();
                let expected = in_order(expected);
                assert_eq!(items(tracker, tier), expected, "{tier}");
                assert_eq!(tracker.len(tier), expected.len());
                assert_eq!(tracker.tokens(tier), expected.iter().map(|(.., tokens)| tokens).sum::<usize>());
            }
            for kind in [Kind::Symbol, Kind::File, Kind::Url] {
                for path in 0..PATHS {
                    let key = key(kind, path);
                    let expected = naive.find(&key.clone().into()).map(|shown| (shown.tier, shown.n));
                    assert_eq!(tracker.of(&key), expected, "{key}");
                }
            }
            assert_eq!(moved(moves.promotions()), naive.promotions);
            assert_eq!(moved(moves.demotions()), naive.demotions);
        });
    }
}

proptest! {
    #![proptest_config(config(200))]

    /// A tier is broken if and only if its text is another one.
    #[test]
    fn t13_a_tier_is_broken_exactly_if_its_text_changes(target in target(), steps in steps()) {
        follow(target, &steps, |before, changes, after, moves| {
            let text = |tracker: &Tracker, tier| -> Vec<(Item, usize)> {
                tracker.items(tier).map(|(item, _, tokens)| (item.clone(), tokens)).collect()
            };
            for tier in Tier::CACHED {
                let is_legend = tier == Tier::L0 && changes.legend;
                let differs = text(before, tier) != text(after, tier) || is_legend;
                assert_eq!(moves.broken().contains(&tier), differs, "{tier}");
                let is_empty = tier != Tier::L0 && after.len(tier) == 0;
                assert_eq!(moves.empty().contains(&tier), is_empty, "{tier}");
            }
        });
    }

    /// The steps alone decide: another tracker that sees them, or a clone, has the same tiers.
    #[test]
    fn t14_the_same_steps_lead_to_the_same_tiers(target in target(), steps in steps(), at in any::<proptest::sample::Index>()) {
        let all = to_all_changes(&steps);
        let at = at.index(all.len());
        let mut tracker = Tracker::new(target);
        let mut cloned = None;
        for (step, changes) in all.iter().enumerate() {
            if step == at {
                cloned = Some(tracker.clone());
            }
            tracker.update(&changes.to_step());
        }
        let mut again = Tracker::new(target);
        let mut rehearsed = cloned.unwrap();
        for (step, changes) in all.iter().enumerate() {
            again.update(&changes.to_step());
            if step >= at {
                // A rehearsal leaves no trace.
                rehearsed.clone().update(&Step::new().legend());
                rehearsed.update(&changes.to_step());
            }
        }
        assert_eq!(tracker, again);
        assert_eq!(tracker, rehearsed);
    }

    /// Where nothing changed and nothing graduated, the cached tiers keep their items and each N.
    #[test]
    fn t10_a_quiet_step_changes_nothing_in_cached_tiers(target in target(), steps in steps()) {
        follow(target, &steps, |_, _, tracker, _| {
            let mut next = tracker.clone();
            let moves = next.update(&Step::new());
            assert_eq!(moves.demotions(), []);
            if moves.promotions().is_empty() {
                assert_eq!(moves.broken(), []);
                for tier in Tier::CACHED {
                    assert_eq!(items(tracker, tier), items(&next, tier));
                }
            } else {
                assert!(moves.promotions().iter().any(|one| one.from == Tier::Active), "{moves:?}");
            }
        });
    }

    /// An older exchange is at least as stable as a newer one, so the four boundaries are the history.
    #[test]
    fn t08_older_exchanges_are_at_least_as_stable(target in target(), steps in steps()) {
        follow(target, &steps, |_, _, tracker, _| {
            let exchanges: Vec<_> = (0..120).filter_map(|step| Some((step, tracker.of_exchange(step)?))).collect();
            for pair in exchanges.windows(2) {
                let (_, (older, older_n)) = pair[0];
                let (_, (newer, newer_n)) = pair[1];
                assert!(older <= newer && (older < newer || older_n >= newer_n), "{exchanges:?}");
            }
            let boundaries = tracker.history();
            assert!(boundaries.is_sorted());
            for (step, (tier, _)) in exchanges {
                let found = Tier::CACHED.into_iter().zip(boundaries).find(|(_, boundary)| step < *boundary);
                assert_eq!(found.map_or(Tier::Active, |(tier, _)| tier), tier);
            }
        });
    }

    /// Everything that was put and not removed is shown, and only a change makes a cached item active.
    #[test]
    fn t11_nothing_that_was_shown_vanishes(target in target(), steps in steps()) {
        let mut present = BTreeSet::new();
        follow(target, &steps, |before, changes, tracker, _| {
            for (key, tokens) in &changes.documents {
                if tokens.is_some() { present.insert(key.clone()); } else { present.remove(key); }
            }
            present.retain(|key| key.kind() != Kind::Url || changes.documents.contains_key(key));
            for key in &present {
                let file = Key::new(Kind::File, key.path());
                let is_hidden = key.kind() == Kind::Symbol && present.contains(&file.unwrap());
                assert_eq!(tracker.of(key).is_some(), !is_hidden, "{key}");
                let was_cached = before.of(key).is_some_and(|(tier, _)| tier.is_cached());
                if was_cached && !is_hidden && !changes.documents.contains_key(key) {
                    assert!(tracker.of(key).unwrap().0 <= before.of(key).unwrap().0, "{key}");
                }
            }
            let shown: usize = Tier::ALL.into_iter().map(|tier| tracker.items(tier).filter(|(item, ..)| matches!(item, Item::Document(_))).count()).sum();
            let expected = present.iter().filter(|key| tracker.of(key).is_some()).count();
            assert_eq!(shown, expected);
        });
    }
}
