//! Requests from long paths, on a thread with a small stack.

use columnar::budget::Budget;
use columnar::loom::{Agent, Assembled, Author, Aware, Edge, LoomError, Memory, Mode, NodeId, Tree};

use super::long::{LENGTH, dice, on_a_small_stack};

/// A chain of nodes by people and models in turn.
fn chain(mode: Mode) -> (Tree, NodeId) {
    let (mut tree, mut dice) = (Tree::new(mode), dice(1));
    let mut edge = Edge::root();
    for number in 0..LENGTH {
        // Two of each in a row.
        let author = if number % 4 < 2 { Author::Human } else { Author::Model };
        edge = Edge::from(&tree.append(&mut dice, edge, author, "some text").unwrap());
    }
    let last = edge.sources()[0].1.clone();
    (tree, last)
}

/// Budgets, each with whether it omits nodes.
fn budgets() -> [(Budget, bool); 7] {
    let budget = || Budget::of(8_000).token_buffer(0);
    [
        (Budget::new(), false),
        (budget(), true),
        (budget().rolling_window(), true),
        (budget().low_water(0.5), true),
        (budget().low_water(0.5).rolling_window(), true),
        (budget().minimum_recent(1_000_000), true),
        (Budget::of(10_000_000).stop_at_limit(), false),
    ]
}

fn check(asked: Result<Assembled, LoomError>, is_cut: bool) {
    let asked = asked.unwrap();
    assert_eq!(asked.nodes().count() + asked.elided().count(), LENGTH);
    if is_cut {
        assert!(asked.elided().count() > LENGTH / 2);
        assert!(asked.messages().tokens() <= 8_000);
    } else {
        assert_eq!(asked.elided().count(), 0);
    }
    assert!(!asked.text().is_empty());
}

#[test]
fn a_long_path_is_a_dialogue_with_any_budget() {
    on_a_small_stack(|| {
        let (tree, last) = chain(Mode::Dialogue);
        let path = tree.path(&last, &[]).unwrap();
        for (budget, is_cut) in budgets() {
            check(path.dialogue(&Agent::new("").budget(budget)), is_cut);
        }
        let aware = Aware::new("long").memory(Memory::new().pin(&last)).permissions(["read"]);
        let asked = path.dialogue(&Agent::new("").budget(Budget::of(8_000)).aware(aware)).unwrap();
        assert!(asked.messages().to_json().contains("depth: 99999"));
        let never = Budget::of(8_000).stop_at_limit();
        let error = path.dialogue(&Agent::new("").budget(never)).unwrap_err();
        assert!(error.to_string().len() < 400, "{error}");
    });
}

#[test]
fn a_long_path_is_a_buffer_with_any_budget() {
    on_a_small_stack(|| {
        let (tree, last) = chain(Mode::Buffer);
        let path = tree.path(&last, &[]).unwrap();
        for (budget, is_cut) in budgets() {
            check(path.buffer("", &Agent::new("").budget(budget)), is_cut);
        }
        let whole = path.buffer(" more", &Agent::new("")).unwrap();
        assert_eq!(whole.text().len(), LENGTH * "some text".len() + " more".len());
    });
}

/// A hundred asides beside each node of a path.
#[test]
fn an_edge_has_a_hundred_sources() {
    on_a_small_stack(|| {
        let (mut tree, mut dice) = (Tree::new(Mode::Dialogue), dice(4));
        let asides: Vec<NodeId> = (0..100)
            .map(|number| tree.aside(&mut dice, Author::Human, format!("photo {number}")).unwrap())
            .collect();
        let mut edge = Edge::root();
        for number in 0..200 {
            let node = tree.append(&mut dice, edge, Author::Human, format!("text {number}")).unwrap();
            edge = asides.iter().fold(Edge::from(&node), Edge::context);
        }
        let path = tree.path(edge, &[]).unwrap();
        assert_eq!(path.turns().count(), 200 * 101);
        let asked = path.dialogue(&Agent::new("")).unwrap();
        let text = asked.text();
        assert_eq!(text.matches("photo 99").count(), 200);
        let (last, newest) = (text.rfind("photo 99").unwrap(), text.rfind("text 199").unwrap());
        assert!(last < newest && text[..newest].contains("photo 0\n\nphoto 1\n\n"));
    });
}
