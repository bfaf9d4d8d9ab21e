//! Long paths and wide trees, on a thread with a small stack. Recursion over a path would overflow it.

use std::fmt::Write as _;

use columnar::loom::{Author, Edge, Mark, Mode, NodeId, Tree};

pub(super) const LENGTH: usize = 100_000;

pub(super) fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 * 1024).spawn(test).unwrap().join().unwrap();
}

/// A dice of good quality.
pub(super) fn dice(seed: u64) -> impl FnMut() -> u64 {
    let mut random = fastrand::Rng::with_seed(seed);
    move || random.u64(..)
}

/// A chain of nodes, with the ids of the first and the last one.
pub(super) fn chain(mode: Mode) -> (Tree, NodeId, NodeId) {
    let (mut tree, mut dice) = (Tree::new(mode), dice(1));
    let first = tree.append(&mut dice, Edge::root(), Author::Human, "text").unwrap();
    let mut last = first.clone();
    for _ in 1..LENGTH {
        last = tree.append(&mut dice, &last, Author::Model, "text").unwrap();
    }
    (tree, first, last)
}

#[test]
fn a_long_path_needs_no_stack() {
    on_a_small_stack(|| {
        let (mut tree, first, last) = chain(Mode::Buffer);
        assert_eq!(tree.path(&last, &[]).unwrap().turns().count(), LENGTH);
        assert_eq!(tree.depth(&last), Some(LENGTH - 1));
        assert!(tree.link(&last, &first).is_err(), "a cycle through all nodes");

        tree.mark(&first, Mark::Pruned, true).unwrap();
        assert_eq!(tree.path(&last, &[]).unwrap().dropped().count(), LENGTH);
        assert_eq!(tree.asked(&last, &[]).unwrap().turns().count(), LENGTH - 1);
        tree.mark(&first, Mark::Pruned, false).unwrap();
        assert!(tree.nodes().all(|node| !node.is_pruned()));
        drop(tree);
    });
}

#[test]
fn a_long_tree_is_made_again() {
    on_a_small_stack(|| {
        let (tree, _, last) = chain(Mode::Dialogue);
        let again = Tree::replay(Mode::Dialogue, tree.changes()).unwrap();
        assert_eq!(again, tree);
        drop(tree);
        assert_eq!(again.clone().path(&last, &[]).unwrap().turns().count(), LENGTH);
        let mut text = String::new();
        write!(text, "{again:?} {:?}", again.node(&last)).unwrap();
        assert!(text.len() < 1_000, "{text}");
    });
}

/// All continue one node, and are versions of one text.
#[test]
fn a_wide_tree_needs_no_time() {
    on_a_small_stack(|| {
        let (mut tree, mut dice) = (Tree::new(Mode::Buffer), dice(2));
        let root = tree.append(&mut dice, Edge::root(), Author::Human, "").unwrap();
        let first = tree.append(&mut dice, &root, Author::Model, "").unwrap();
        let mut last = first.clone();
        for _ in 0..LENGTH / 4 {
            tree.append(&mut dice, &root, Author::Model, "").unwrap();
            last = tree.edit(&mut dice, &last, Author::Human, "").unwrap();
        }
        let after = tree.append(&mut dice, &first, Author::Human, "").unwrap();
        assert_eq!(tree.continuations(&root).len(), 2 * (LENGTH / 4) + 1);
        assert_eq!(tree.versions(&first).len(), LENGTH / 4 + 1);
        let ids: Vec<_> = tree.path(&after, &[]).unwrap().turns().map(|turn| turn.id().clone()).collect();
        assert_eq!(ids, [root.clone(), last, after]);
        tree.mark(&root, Mark::Pruned, true).unwrap();
        assert!(tree.nodes().all(|node| node.is_pruned()));
    });
}
