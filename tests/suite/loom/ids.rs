//! The ids of nodes. The name of a test begins with its row of `tests/LOOM.md`.

use std::collections::BTreeSet;

use columnar::loom::{Author, Edge, Mode, NodeId, NodeIdFault, Tree};

use super::long::dice;

#[test]
fn l24_ids_are_short_random_and_unique() {
    let (mut tree, mut dice) = (Tree::new(Mode::Dialogue), dice(5));
    let ids: BTreeSet<NodeId> =
        (0..20_000).map(|_| tree.append(&mut dice, Edge::root(), Author::Human, "").unwrap()).collect();
    assert_eq!(ids.len(), 20_000);
    let is_digit = |c: char| c.is_ascii_digit() || c.is_ascii_lowercase() && !"ilou".contains(c);
    assert!(ids.iter().all(|id| id.as_str().chars().all(is_digit)));
    let longer = ids.iter().filter(|id| id.as_str().len() > 4).count();
    assert!((1..2_000).contains(&longer), "{longer} ids are longer");
    assert!(ids.iter().all(|id| (4..=6).contains(&id.as_str().len())));
}

/// The same number for ever would be an endless loop.
#[test]
fn l24_any_dice_makes_different_ids() {
    for number in [0, u64::MAX, 0x1234_5678_9abc_def0] {
        let mut tree = Tree::new(Mode::Dialogue);
        let ids: Vec<NodeId> =
            (0..500).map(|_| tree.aside(&mut || number, Author::Human, "").unwrap()).collect();
        assert_eq!((ids[0].as_str().len(), ids[1].as_str().len()), (4, 5));
        assert_eq!(ids.into_iter().collect::<BTreeSet<_>>().len(), 500);
    }
}

#[test]
fn l24_an_imported_id_is_any_text_of_one_line() {
    for id in ["a", "01HQ3K4N7Y8M2P5R6T9W0X1Z2A", "é 漢🦀", &"x".repeat(NodeId::MAX_LEN)] {
        let parsed: NodeId = id.parse().unwrap();
        assert_eq!((parsed.as_str(), parsed.to_string()), (id, id.to_owned()));
    }
    for (id, fault) in [
        ("", NodeIdFault::Empty),
        ("a\nb", NodeIdFault::Control),
        ("\u{202e}a", NodeIdFault::Control),
        (&"x".repeat(NodeId::MAX_LEN + 1), NodeIdFault::TooLong),
    ] {
        let error = NodeId::new(id).expect_err("no id");
        assert_eq!(error.fault(), fault, "{error}");
        assert!(error.to_string().contains(&format!("of {} bytes", id.len())), "{error}");
    }
}
