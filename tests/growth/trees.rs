//! Trees of other programs.

use columnar::Text;
use columnar::loom::{Author, Change, Edge, Mode, NodeId, Tree, export, import};
use columnar_tests::pictures::picture;

pub(super) fn repeated_source(size: usize) {
    let mut tree = Tree::new(Mode::Dialogue);
    let question = tree.append(&mut || 7 << 40, Edge::root(), Author::Human, "Why?").expect("it is a root");
    let edge = (0..size).fold(Edge::from(&question), |edge, _| edge.and(&question));
    let answer = tree.append(&mut || 9 << 44, edge, Author::Model, "Because.").expect("the source is there");
    assert!(tree.path(&answer, &[]).is_ok());
}

/// A document of a tree whose nodes follow the last one or the first one.
fn document(size: usize, follows_last: bool) -> String {
    let mut tree = Tree::new(Mode::Dialogue);
    let mut dice = 1 << 40;
    let mut last: Option<NodeId> = None;
    for at in 0..size {
        let edge = last.as_ref().map_or(Edge::root(), Edge::from);
        dice += 1 << 41;
        let node = tree.append(&mut || dice, edge, Author::Human, format!("Text {at}.")).expect("it is new");
        last = if follows_last { Some(node) } else { last.or(Some(node)) };
    }
    export(&tree, "t", "A title")
}

pub(super) fn chain(size: usize) {
    assert_eq!(import(&document(size, true)).expect("it is a document").len(), 1);
}

pub(super) fn star(size: usize) {
    assert_eq!(import(&document(size, false)).expect("it is a document").len(), 1);
}

/// Pictures of other sizes than any other one, in a document and in the JSON of changes.
pub(super) fn pictures(size: usize) {
    let mut tree = Tree::new(Mode::Dialogue);
    let mut dice = 1 << 40;
    for width in (1..).take(size) {
        dice += 1 << 41;
        let text = Text::new("").with(picture(width, 8));
        tree.append(&mut || dice, Edge::root(), Author::Human, text).expect("it is new");
    }
    let changes = tree.changes().map(|change| Change::parse(&change.to_json()).expect("it is whole"));
    let again = Tree::replay(Mode::Dialogue, changes).expect("all of them are there");
    assert_eq!(import(&export(&again, "t", "")).expect("it is a document").len(), 1);
}

/// Links to nodes that were there, which could close a cycle, in a document and in a stored tree.
pub(super) fn links(size: usize) {
    let mut tree = Tree::new(Mode::Dialogue);
    let mut dice = 1 << 40;
    let mut roll = || {
        dice += 1 << 41;
        dice
    };
    let start = tree.append(&mut roll, Edge::root(), Author::Human, "text").expect("it is new");
    let mut last = start.clone();
    for _ in 0..size {
        last = tree.append(&mut roll, &last, Author::Human, "text").expect("it is new");
        let end = tree.append(&mut roll, &start, Author::Model, "text").expect("it is new");
        tree.link(&last, &end).expect("nothing follows the end");
    }
    let again = Tree::replay(Mode::Dialogue, tree.changes()).expect("no link closes a cycle");
    assert_eq!(import(&export(&again, "t", "")).expect("it is a document").len(), 1);
}
