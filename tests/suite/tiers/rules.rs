//! The rules of tiers, one by one. The name of a test begins with its row of `tests/TIERS.md`.

use columnar::documents::{Key, Kind, Update};
use columnar::tiers::{Item, Move, Moves, Step, Tier, Tracker};

use Tier::{Active, L0, L1, L2, L3};

fn file(path: &str) -> Key {
    Key::new(Kind::File, path).unwrap()
}

fn symbol(path: &str) -> Key {
    Key::new(Kind::Symbol, path).unwrap()
}

fn page(path: &str) -> Key {
    Key::new(Kind::Url, &format!("https://{path}")).unwrap()
}

/// A tracker with symbols of 100 tokens. One of `Active` with N 2 enters L3 at the next step.
fn holding(target: usize, items: &[(Tier, &str, u32)]) -> Tracker {
    items
        .iter()
        .fold(Tracker::new(target), |tracker, (tier, path, n)| tracker.with(*tier, &symbol(path), *n, 100))
}

fn of(tracker: &Tracker, path: &str) -> Option<(Tier, u32)> {
    tracker.of(&symbol(path))
}

fn demotion(key: Key, from: Tier) -> Move {
    let mut moves = holding(0, &[]).with(from, &key, from.entry(), 1);
    moves.update(&Step::new().put(key, 1)).demotions()[0].clone()
}

/// Each step as a whole, with nothing in it.
fn quiet(tracker: &mut Tracker, steps: usize) -> Vec<Moves> {
    (0..steps).map(|_| tracker.update(&Step::new())).collect()
}

#[test]
fn t01_an_item_is_a_document_by_kind_and_path_or_an_exchange_by_step() {
    let mut tracker = Tracker::new(0);
    tracker.update(&Step::new().put(file(r".\src\a.rs"), 10).put(page("a.org"), 20).exchange(0, 30));
    tracker.update(&Step::new().put(symbol("src/b.rs"), 5));
    let items = |tier| tracker.items(tier).map(|(item, ..)| item.to_string()).collect::<Vec<_>>();
    assert_eq!(items(Active), ["file:src/a.rs", "history:0"]);
    assert_eq!(items(L1), ["symbol:src/b.rs"]);
    assert_eq!(tracker.of(&file("src/a.rs")), Some((Active, 1)));
    assert_eq!(tracker.of(&symbol("src/a.rs")), None);
}

#[test]
fn t02_tiers_have_these_thresholds() {
    let rows = Tier::ALL.map(|tier| (tier.entry(), tier.leaves_at(), tier.is_cached()));
    let expected =
        [(12, None, true), (9, Some(12), true), (6, Some(9), true), (3, Some(6), true), (0, Some(3), false)];
    assert_eq!(rows, expected);
    assert!(Tier::ALL.is_sorted());
    assert_eq!(Tier::ALL.map(|tier| tier.to_string()), ["L0", "L1", "L2", "L3", "active"]);
}

/// An item has the tokens and the N of its shown text.
#[test]
fn t02_an_item_has_its_tokens_its_tier_and_its_n() {
    let tracker = Tracker::new(0).with(L2, &file("a"), 7, 300).with(L2, &symbol("b"), 6, 50);
    let items: Vec<_> = tracker.items(L2).map(|(item, n, tokens)| (item.to_string(), n, tokens)).collect();
    assert_eq!(items, [("symbol:b".to_owned(), 6, 50), ("file:a".to_owned(), 7, 300)]);
    assert_eq!((tracker.tokens(L2), tracker.len(L2)), (350, 2));
    // A value of N that a tier does not have.
    let tracker =
        Tracker::new(0).with(L3, &file("a"), 0, 1).with(L1, &file("b"), 99, 1).with(L0, &file("c"), 40, 1);
    assert_eq!(tracker.of(&file("a")), Some((L3, 3)));
    assert_eq!(tracker.of(&file("b")), Some((L1, 12)));
    assert_eq!(tracker.of(&file("c")), Some((L0, 12)));
}

#[test]
fn t03_without_a_target_nothing_is_an_anchor_and_history_stays_active() {
    let mut tracker = holding(0, &[(L3, "a", 5), (Active, "b", 2)]);
    let moves = tracker.update(&Step::new().exchange(0, 1_000_000));
    assert_eq!(moves.broken(), [L2, L3]);
    assert_eq!(of(&tracker, "a"), Some((L2, 6)));
    assert_eq!(tracker.of_exchange(0), Some((Active, 0)));
    // With a target, `a` is an anchor, and the history joins what enters L3.
    let mut tracker = holding(500, &[(L3, "a", 5), (Active, "b", 2)]);
    tracker.update(&Step::new().exchange(0, 10));
    assert_eq!(of(&tracker, "a"), Some((L3, 5)));
    assert_eq!(tracker.of_exchange(0), Some((L3, 3)));
}

#[test]
fn t04_an_item_that_is_gone_leaves_and_breaks_its_tier() {
    let mut tracker =
        holding(0, &[(L1, "a", 9), (L1, "b", 9), (Active, "c", 0)]).with(L0, &file("d"), 12, 10);
    let moves = tracker.update(&Step::new().remove(symbol("a")).remove(symbol("c")).remove(file("unknown")));
    assert_eq!(of(&tracker, "a"), None);
    assert_eq!(of(&tracker, "c"), None);
    assert_eq!(moves.broken(), [L1]);
    assert_eq!(moves.demotions(), []);
    let moves = tracker.update(&Step::new().remove(file("d")));
    assert_eq!(moves.broken(), [L0]);
    assert_eq!(tracker.of(&file("d")), None);
}

#[test]
fn t05_an_item_that_changed_is_active_and_breaks_its_tier() {
    let mut tracker = holding(0, &[(L2, "a", 7), (L2, "b", 6), (Active, "c", 2)]);
    let moves = tracker.update(&Step::new().put(symbol("a"), 120).put(symbol("c"), 110));
    assert_eq!(of(&tracker, "a"), Some((Active, 0)));
    assert_eq!(of(&tracker, "c"), Some((Active, 0)));
    assert_eq!(tracker.tokens(Active), 230);
    assert_eq!(moves.broken(), [L2]);
    // The active one had nothing to lose.
    assert_eq!(moves.demotions(), [demotion(symbol("a"), L2)]);
    assert_eq!((moves.demotions()[0].from, moves.demotions()[0].to), (L2, Active));
}

#[test]
fn t06_an_unchanged_active_item_enters_l3_after_three_responses() {
    let mut tracker = Tracker::new(0);
    tracker.update(&Step::new().put(file("a"), 10));
    for n in 0..3 {
        assert_eq!(tracker.of(&file("a")), Some((Active, n)));
        let moves = tracker.update(&Step::new());
        assert_eq!(moves.promotions().len(), usize::from(n == 2));
        assert_eq!(moves.broken(), if n == 2 { vec![L3] } else { vec![] });
    }
    assert_eq!(tracker.of(&file("a")), Some((L3, 3)));
}

#[test]
fn t06_a_change_starts_from_the_beginning() {
    let mut tracker = Tracker::new(0);
    tracker.update(&Step::new().put(file("a"), 10));
    quiet(&mut tracker, 2);
    tracker.update(&Step::new().put(file("a"), 11));
    assert_eq!(tracker.of(&file("a")), Some((Active, 0)));
    quiet(&mut tracker, 2);
    assert_eq!(tracker.of(&file("a")), Some((Active, 2)));
}

#[test]
fn t07_the_symbols_of_a_deselected_file_inherit_its_tier() {
    for (tier, n) in [(L0, 12), (L1, 10), (L2, 7), (L3, 5), (Active, 1)] {
        let start = Tracker::new(0).with(L3, &symbol("a"), 3, 20).with(tier, &file("a"), n, 300);
        assert_eq!(start.of(&symbol("a")), None, "it is hidden");
        let broken = if tier.is_cached() { vec![tier] } else { vec![] };

        let mut tracker = start.clone();
        let moves = tracker.update(&Step::new().remove(file("a")));
        assert_eq!(tracker.of(&symbol("a")), Some((tier, n)));
        assert_eq!(tracker.of(&file("a")), None);
        assert_eq!(tracker.tokens(tier), 20);
        assert_eq!(moves.broken(), broken);
        assert_eq!((moves.promotions(), moves.demotions()), (&[][..], &[][..]));

        // Also if the entry is put only now.
        let mut tracker = Tracker::new(0).with(L3, &symbol("other"), 3, 20).with(tier, &file("a"), n, 300);
        tracker.update(&Step::new().remove(file("a")).put(symbol("a"), 25));
        assert_eq!(tracker.of(&symbol("a")), Some((tier, n)));

        // If it changed meanwhile, without being shown, that makes no difference.
        let mut tracker = start.clone();
        tracker.update(&Step::new().put(symbol("a"), 33));
        assert_eq!(tracker.of(&symbol("a")), None);
        tracker.update(&Step::new().remove(file("a")));
        assert_eq!(tracker.tokens(tier), 33);

        // An entry that changes at this very step is active.
        let mut tracker = start.clone();
        let moves = tracker.update(&Step::new().remove(file("a")).put(symbol("a"), 30));
        assert_eq!(tracker.of(&symbol("a")), Some((Active, 0)));
        assert_eq!(moves.demotions().len(), usize::from(tier.is_cached()));

        // A file that is gone takes its symbols with it.
        let mut tracker = start;
        let moves = tracker.update(&Step::new().remove(file("a")).remove(symbol("a")));
        assert_eq!((tracker.of(&symbol("a")), tracker.of(&file("a"))), (None, None));
        assert_eq!(moves.broken(), broken);
    }
}

#[test]
fn t07_the_symbols_of_a_selected_file_leave_and_the_file_is_active() {
    let mut tracker = holding(0, &[(L1, "a", 9), (L1, "b", 9)]);
    let moves = tracker.update(&Step::new().put(file("a"), 300));
    assert_eq!(of(&tracker, "a"), None);
    assert_eq!(tracker.of(&file("a")), Some((Active, 0)));
    assert_eq!(moves.broken(), [L1]);
    assert_eq!(moves.demotions(), []);
}

#[test]
fn t08_history_joins_a_change_of_l3_as_a_whole() {
    let start = Tracker::new(1_000).with(L3, &symbol("a"), 3, 50).with(L3, &symbol("b"), 3, 50);
    let mut tracker = start.clone();
    tracker.update(&Step::new().exchange(0, 10).exchange(1, 10));
    assert_eq!(tracker.history(), [0, 0, 0, 0]);
    // Something leaves L3, or enters it.
    for step in [Step::new().remove(symbol("a")), Step::new().put(symbol("c"), 1)] {
        let mut tracker = tracker.clone();
        let moves = tracker.update(&step.exchange(2, 10));
        assert_eq!(tracker.history(), [0, 0, 0, 3]);
        assert_eq!(moves.promotions().len(), 3);
        assert_eq!(moves.broken(), [L3]);
    }
}

/// The break comes from above, and L3 changes only because its items go up.
#[test]
fn t08_history_joins_a_promotion_from_l3() {
    let start = Tracker::new(100).with(L3, &symbol("a"), 3, 150).with(L3, &symbol("b"), 5, 50);
    let mut tracker = start.with(L2, &symbol("c"), 6, 50);
    let moves = tracker.update(&Step::new().remove(symbol("c")).exchange(0, 10));
    assert_eq!(of(&tracker, "b"), Some((L2, 6)));
    assert_eq!(tracker.of_exchange(0), Some((L3, 3)));
    assert_eq!(moves.broken(), [L2, L3]);
}

#[test]
fn t08_without_a_change_of_l3_only_the_newest_exchanges_that_fit_stay() {
    let mut tracker = Tracker::new(1_000);
    tracker.update(&Step::new().exchange(0, 400));
    tracker.update(&Step::new().exchange(1, 600));
    assert_eq!(tracker.history(), [0; 4], "all of them fit");
    let moves = tracker.update(&Step::new().exchange(2, 300));
    assert_eq!(tracker.history(), [0, 0, 0, 1]);
    assert_eq!(moves.promotions().iter().map(|one| &one.item).collect::<Vec<_>>(), [&Item::Exchange(0)]);
    tracker.update(&Step::new().exchange(3, 1_001));
    assert_eq!(tracker.history(), [0, 0, 0, 4], "the newest does not fit");
}

/// The exchange is an anchor now, so the item behind it is none.
#[test]
fn t08_history_that_enters_l3_lets_others_go_up_at_once() {
    let mut tracker = holding(100, &[(L3, "a", 5)]);
    tracker.update(&Step::new().exchange(0, 150));
    assert_eq!((tracker.of_exchange(0), of(&tracker, "a")), (Some((L3, 3)), Some((L2, 6))));
}

/// Beside a document with the same N, the older exchange goes first.
#[test]
fn t08_an_older_exchange_goes_up_before_a_newer_one() {
    let mut tracker = Tracker::new(100);
    tracker.update(&Step::new().exchange(0, 60).exchange(1, 60).exchange(2, 60));
    assert_eq!(tracker.history(), [0, 0, 0, 2]);
    let broken = |path: &str| Step::new().put(file(path), 1);
    // A file enters L3 at each third step.
    for step in 0..9 {
        tracker.update(&broken(&format!("{step:02}")));
        quiet(&mut tracker, 3);
    }
    let older = tracker.of_exchange(0).unwrap();
    let newer = tracker.of_exchange(1).unwrap();
    assert!(older.0 < L3 && older.0 <= newer.0, "{older:?}, {newer:?}");
}

#[test]
fn t08_an_exchange_that_is_late_or_omitted_moves_no_boundary_back() {
    let mut tracker = Tracker::new(10);
    tracker.update(&Step::new().exchange(3, 60).exchange(5, 60));
    assert_eq!(tracker.history(), [0, 0, 0, 6]);
    tracker.update(&Step::new().exchange(4, 60).exchange(5, 70));
    assert_eq!((tracker.of_exchange(4), tracker.tokens(L3)), (None, 120));
    let moves = tracker.update(&Step::new().remove_exchange(3).remove_exchange(9));
    assert_eq!((tracker.of_exchange(3), tracker.tokens(L3)), (None, 60));
    assert_eq!(moves.broken(), [L3]);
}

/// The boundary after the last possible step did not fit into a number, which was a panic.
#[test]
fn t08_the_exchange_of_the_last_possible_step_has_a_tier() {
    let mut tracker = Tracker::new(1);
    for _ in 0..2 {
        tracker.update(&Step::new().exchange(usize::MAX, 700));
        assert_eq!(tracker.history(), [0, 0, 0, usize::MAX]);
        assert_eq!((tracker.of_exchange(usize::MAX), tracker.tokens(L3)), (Some((L3, 3)), 700));
    }
}

#[test]
fn t09_an_entrant_lets_veterans_gain_and_leave() {
    let mut tracker = holding(0, &[(L3, "a", 5), (L3, "b", 4), (Active, "e", 2)]);
    let moves = tracker.update(&Step::new());
    assert_eq!(["a", "b", "e"].map(|path| of(&tracker, path)), [Some((L2, 6)), Some((L3, 5)), Some((L3, 3))]);
    assert_eq!(moves.broken(), [L2, L3]);
    let moved: Vec<_> =
        moves.promotions().iter().map(|one| (one.item.to_string(), one.from, one.to)).collect();
    assert_eq!(moved, [("symbol:a".to_owned(), L3, L2), ("symbol:e".to_owned(), Active, L3)]);
}

#[test]
fn t09_n_stays_at_the_threshold_below_a_tier_that_is_not_broken() {
    let mut tracker = holding(0, &[(L3, "v", 5), (L2, "w", 8), (Active, "e", 2)]);
    let moves = tracker.update(&Step::new());
    assert_eq!(["v", "w"].map(|path| of(&tracker, path)), [Some((L3, 6)), Some((L2, 8))]);
    assert_eq!(moves.broken(), [L3]);
    // It stays there, also when the next one enters.
    tracker.update(&Step::new().put(symbol("new"), 1));
    assert_eq!(of(&tracker, "v"), Some((L3, 6)));
}

#[test]
fn t09_a_break_pulls_items_up_through_all_tiers_below() {
    let mut tracker = holding(0, &[(L3, "a", 5), (L2, "b", 8), (L1, "c", 10)]);
    let moves = tracker.update(&Step::new().put(symbol("c"), 100));
    assert_eq!(
        ["a", "b", "c"].map(|path| of(&tracker, path)),
        [Some((L2, 6)), Some((L1, 9)), Some((Active, 0))]
    );
    assert_eq!(moves.broken(), [L1, L2, L3]);
    assert_eq!(moves.empty(), [L3]);
}

#[test]
fn t09_broken_tiers_each_take_one_from_below() {
    let broken = [(L2, "x", 6), (L1, "y", 9), (L0, "z", 12)];
    let mut tracker = holding(0, &[&[(L3, "a", 5), (L2, "b", 8), (L1, "c", 11)][..], &broken].concat());
    tracker.update(&Step::new().remove(symbol("x")).remove(symbol("y")).remove(symbol("z")));
    assert_eq!(
        ["a", "b", "c"].map(|path| of(&tracker, path)),
        [Some((L2, 6)), Some((L1, 9)), Some((L0, 12))]
    );
}

#[test]
fn t09_nobody_gains_twice_in_one_update() {
    let mut tracker = holding(0, &[(L3, "v", 3), (Active, "d", 2), (Active, "e", 2)]);
    tracker.update(&Step::new());
    assert_eq!(of(&tracker, "v"), Some((L3, 4)));
}

#[test]
fn t09_the_first_tokens_up_to_the_target_are_anchors() {
    let mut tracker = Tracker::new(1_000)
        .with(L3, &symbol("A"), 4, 400)
        .with(L3, &symbol("B"), 5, 500)
        .with(L3, &symbol("C"), 5, 1_100)
        .with(Active, &symbol("entrant"), 2, 200);
    tracker.update(&Step::new());
    assert_eq!(["A", "B", "C"].map(|path| of(&tracker, path)), [Some((L3, 4)), Some((L3, 5)), Some((L2, 6))]);
}

#[test]
fn t09_an_empty_tier_starts_nothing() {
    let mut tracker = holding(0, &[(L3, "a", 5), (L1, "b", 11)]);
    let before = tracker.clone();
    quiet(&mut tracker, 5);
    assert_eq!(tracker, before);
    // An entrant starts it.
    tracker.update(&Step::new().put(symbol("new"), 1));
    assert_eq!(of(&tracker, "a"), Some((L2, 6)));
    assert_eq!(of(&tracker, "b"), Some((L1, 11)), "L1 and L0 are not broken");
}

#[test]
fn t09_a_broken_tier_takes_part_although_nothing_enters_it() {
    let mut tracker = holding(0, &[(L3, "a", 5), (L3, "b", 3), (L3, "c", 3)]);
    tracker.update(&Step::new().remove(symbol("c")));
    assert_eq!(["a", "b"].map(|path| of(&tracker, path)), [Some((L2, 6)), Some((L3, 4))]);
}

#[test]
fn t10_nothing_changes_if_nothing_happens() {
    let mut tracker = holding(0, &[(L0, "a", 12), (L1, "b", 11), (L2, "c", 8), (L3, "d", 6)]);
    let before = tracker.clone();
    for moves in quiet(&mut tracker, 20) {
        assert_eq!((moves.broken(), moves.promotions(), moves.demotions()), (&[][..], &[][..], &[][..]));
        assert_eq!(moves.empty(), []);
    }
    assert_eq!(tracker, before);
}

/// A literal reading moves small tiers down until the whole map of a small repository is gone.
#[test]
fn t11_a_small_tier_keeps_its_place() {
    let mut tracker = holding(10_000, &[(L1, "a", 9), (L2, "b", 6), (L3, "c", 3)]);
    tracker.update(&Step::new().put(symbol("new"), 1));
    quiet(&mut tracker, 10);
    assert_eq!(["a", "b", "c"].map(|path| of(&tracker, path)), [Some((L1, 9)), Some((L2, 6)), Some((L3, 3))]);
}

#[test]
fn t12_a_later_symbol_enters_l3_and_a_later_file_is_active() {
    let mut tracker = Tracker::new(0);
    tracker.update(&Step::new().put(symbol("a"), 10));
    let moves = tracker.update(&Step::new().put(symbol("b"), 10).put(file("c"), 10));
    assert_eq!(of(&tracker, "b"), Some((L3, 3)));
    assert_eq!(tracker.of(&file("c")), Some((Active, 0)));
    assert_eq!(moves.broken(), [L3]);
    assert_eq!(moves.promotions(), []);
}

#[test]
fn t13_the_order_within_a_tier_is_kind_then_path_and_not_n() {
    let tracker =
        Tracker::new(0).with(L2, &file("a"), 6, 1).with(L2, &file("b"), 8, 1).with(L2, &file("c"), 7, 1);
    let tracker = tracker.with(L2, &symbol("z"), 8, 1).with(L2, &symbol("y"), 6, 1);
    let items: Vec<_> = tracker.items(L2).map(|(item, ..)| item.to_string()).collect();
    assert_eq!(items, ["symbol:y", "symbol:z", "file:a", "file:b", "file:c"]);
}

#[test]
fn t13_a_change_of_the_legend_breaks_l0() {
    let mut tracker = holding(0, &[(L0, "a", 12), (L1, "b", 11), (L1, "c", 9)]);
    let moves = tracker.update(&Step::new().legend());
    assert_eq!(moves.broken(), [L0, L1]);
    assert_eq!(["b", "c"].map(|path| of(&tracker, path)), [Some((L0, 12)), Some((L1, 10))]);
}

fn first(target: usize, symbols: &[(&str, usize, Option<u32>, u32)]) -> (Tracker, Moves) {
    let mut tracker = Tracker::new(target);
    let mut step = Step::new();
    for (path, tokens, cluster, references) in symbols {
        let key = symbol(path);
        step = step.put(key.clone(), *tokens).references(&key, *references);
        if let Some(cluster) = cluster {
            step = step.cluster(&key, *cluster);
        }
    }
    let moves = tracker.update(&step);
    (tracker, moves)
}

#[test]
fn t15_clusters_stay_together_and_the_biggest_goes_first() {
    let symbols = [
        ("a", 100, Some(7), 0),
        ("b", 100, Some(7), 0),
        ("c", 150, Some(2), 0),
        ("d", 20, Some(2), 0),
        ("e", 60, None, 0),
        ("f", 60, None, 0),
        ("g", 60, None, 0),
    ];
    let (tracker, moves) = first(0, &symbols);
    // 200 tokens, 170 tokens, and then 60 each: into L3 twice, and at 120 once more.
    let found = ["a", "b", "c", "d", "e", "f", "g"].map(|path| of(&tracker, path));
    let [l1, l2, l3] = [Some((L1, 9)), Some((L2, 6)), Some((L3, 3))];
    assert_eq!(found, [l1, l1, l2, l2, l3, l3, l3]);
    assert_eq!(moves.broken(), [L1, L2, L3]);
    assert_eq!(moves.empty(), []);
}

#[test]
fn t15_ties_go_to_the_more_stable_tier() {
    let (tracker, _) =
        first(0, &[("a", 50, Some(0), 0), ("b", 50, Some(0), 0), ("c", 100, None, 0), ("d", 100, None, 0)]);
    assert_eq!(["a", "c", "d"].map(|path| of(&tracker, path)), [Some((L1, 9)), Some((L2, 6)), Some((L3, 3))]);
}

#[test]
fn t15_small_tiers_are_joined_with_the_smallest_other_one() {
    let (tracker, moves) = first(
        150,
        &[("a", 300, Some(0), 0), ("b", 10, Some(0), 0), ("c", 200, None, 0), ("d", 100, None, 0)],
    );
    // L3 has 100 of 150 tokens.
    assert_eq!(["a", "c", "d"].map(|path| of(&tracker, path)), [Some((L1, 9)), Some((L2, 6)), Some((L2, 6))]);
    assert_eq!((moves.broken(), moves.empty()), (&[L1, L2][..], &[L3][..]));
    // Nothing is left to join with.
    let (tracker, _) = first(
        10_000,
        &[("a", 300, Some(0), 0), ("b", 10, Some(0), 0), ("c", 200, None, 0), ("d", 100, None, 0)],
    );
    assert_eq!(["a", "b", "c", "d"].map(|path| of(&tracker, path)), [Some((L1, 9)); 4]);
}

/// Two small tiers that had items before once exchanged the first symbols for ever.
#[test]
fn t15_small_tiers_with_earlier_items_are_joined_once() {
    let mut tracker = Tracker::new(500).with(L2, &file("x"), 6, 200).with(L3, &file("y"), 3, 100);
    tracker.update(&Step::new().put(symbol("a"), 50).put(symbol("b"), 10));
    assert_eq!(["a", "b"].map(|path| of(&tracker, path)), [Some((L2, 6)); 2]);
}

/// The file itself is shown, and its cluster is still one.
#[test]
fn t15_a_selected_file_still_joins_its_cluster() {
    let mut tracker = Tracker::new(0);
    let step = Step::new().put(file("a"), 500).put(symbol("a"), 10).put(symbol("b"), 10).put(symbol("c"), 30);
    tracker.update(&step.cluster(&symbol("a"), 0).cluster(&symbol("b"), 0).references(&symbol("b"), 9));
    assert_eq!(of(&tracker, "a"), None);
    assert_eq!(["c", "b"].map(|path| of(&tracker, path)), [Some((L1, 9)), Some((L2, 6))]);
}

#[test]
fn t16_without_clusters_the_most_referenced_files_fill_l1() {
    let symbols = [
        ("a", 60, None, 1),
        ("b", 60, Some(4), 9),
        ("c", 60, None, 5),
        ("d", 60, None, 5),
        ("e", 400, None, 0),
    ];
    let (tracker, _) = first(100, &symbols);
    let found = ["b", "c", "d", "a", "e"].map(|path| of(&tracker, path));
    assert_eq!(found, [Some((L1, 9)), Some((L1, 9)), Some((L2, 6)), Some((L2, 6)), Some((L3, 3))]);
}

#[test]
fn t16_without_sizes_a_fifth_is_in_l1_and_up_to_half_in_l2() {
    let paths: Vec<String> = (0..10).map(|at| format!("{at}")).collect();
    for (target, tokens) in [(0, 10), (100, 0)] {
        let symbols: Vec<_> = paths.iter().map(|path| (path.as_str(), tokens, None, 3)).collect();
        let (tracker, _) = first(target, &symbols);
        let tiers: Vec<_> = paths.iter().map(|path| of(&tracker, path).unwrap().0).collect();
        if target == 0 {
            assert_eq!(tiers, [L1, L1, L2, L2, L2, L3, L3, L3, L3, L3]);
        } else {
            // All of these tiers are below the target.
            assert!(tiers.iter().all(|tier| *tier == tiers[0]), "{tiers:?}");
        }
    }
}

#[test]
fn t17_the_first_text_is_no_demotion() {
    let (mut tracker, moves) = first(0, &[("a", 10, Some(0), 0), ("b", 10, Some(0), 0)]);
    assert_eq!((moves.demotions(), moves.promotions()), (&[][..], &[][..]));
    let placed = of(&tracker, "a");
    assert_eq!(placed, Some((L1, 9)));
    for moves in quiet(&mut tracker, 3) {
        assert_eq!((moves.demotions(), moves.broken()), (&[][..], &[][..]));
    }
    assert_eq!(of(&tracker, "a"), placed);
}

/// Only the step that puts a page shows it.
#[test]
fn t20_a_page_is_shown_for_one_step_and_is_never_cached() {
    let mut tracker = Tracker::new(0);
    tracker.update(&Step::new().put(page("a.org"), 70));
    assert_eq!((tracker.of(&page("a.org")), tracker.tokens(Active)), (Some((Active, 0)), 70));
    tracker.update(&Step::new());
    assert_eq!((tracker.of(&page("a.org")), tracker.tokens(Active)), (None, 0));
}

#[test]
fn t18_empty_tiers_are_reported_and_l0_has_the_instruction() {
    let mut tracker = Tracker::new(0);
    assert_eq!(tracker.update(&Step::new()).empty(), [L1, L2, L3]);
    let mut tracker = holding(0, &[(L2, "a", 6)]);
    assert_eq!(tracker.update(&Step::new()).empty(), [L1, L3]);
}

#[test]
fn t19_a_selected_file_has_no_entry_in_any_tier() {
    let mut tracker = Tracker::new(0);
    tracker.update(&Step::new().put(symbol("a"), 10).put(file("a"), 100).put(symbol("b"), 10));
    for _ in 0..12 {
        tracker.update(&Step::new());
        let all = Tier::ALL.into_iter().flat_map(|tier| tracker.items(tier));
        assert!(all.into_iter().all(|(item, ..)| *item != Item::from(symbol("a"))));
    }
}

#[test]
fn t21_a_fence_is_longer_than_any_run_inside() {
    for (text, fence) in [("", 3), ("``", 3), ("```", 4), ("```` a\n```", 5), ("a`````", 6)] {
        let fence = "`".repeat(fence);
        let shown = Update::new().file("a.md", text).to_text().unwrap();
        assert_eq!(shown, format!("# Files\n\na.md\n{fence}\n{text}\n{fence}"));
    }
}
