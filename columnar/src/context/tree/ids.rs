//! The numbers of nodes by their ids.

use std::collections::BTreeMap;

use super::graph::Index;
use super::id::NodeId;

/// A map from ids to numbers. Ids that a tree makes are short, and are keys as one number: a comparison of texts would follow
/// a pointer at each step of a search, and a million nodes do not fit into a cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ids {
    short: BTreeMap<u64, Index>,
    long: BTreeMap<NodeId, Index>,
}

impl Ids {
    pub(super) fn get(&self, id: &str) -> Option<Index> {
        match packed(id) {
            Some(short) => self.short.get(&short),
            None => self.long.get(id),
        }
        .copied()
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.get(id).is_some()
    }

    pub(super) fn insert(&mut self, id: &NodeId, node: Index) {
        match packed(id.as_str()) {
            Some(short) => self.short.insert(short, node),
            None => self.long.insert(id.clone(), node),
        };
    }
}

/// An id of up to eight bytes as a number. No id contains the byte 0, so no two have the same.
fn packed(id: &str) -> Option<u64> {
    let mut bytes = [0; 8];
    bytes.get_mut(..id.len())?.copy_from_slice(id.as_bytes());
    Some(u64::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_any_length_differ() {
        let ids = ["a", "aa", "b", "aaaaaaaa", "aaaaaaab", "aaaaaaaaa", "aaaaaaaab", "é", "漢🦀", "漢🦀漢"];
        let mut map = Ids::default();
        for (node, id) in (0..).zip(ids) {
            assert!(!map.contains(id));
            map.insert(&NodeId::new(id).expect("it is an id"), node);
        }
        for (node, id) in (0..).zip(ids) {
            assert_eq!(map.get(id), Some(node), "{id}");
        }
    }
}
