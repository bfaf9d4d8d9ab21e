//! Order and cycles of a graph. Nodes are indices. Each node has the list of the nodes that it reads.
#![expect(clippy::indexing_slicing, reason = "an index is a node of the graph it came from")]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// The nodes in topological order, ties by index; `None` if there is a cycle.
pub(crate) fn order(reads: &[Vec<usize>]) -> Option<Vec<usize>> {
    // A node that is listed twice counts twice here and in `readers`, so duplicates do no harm.
    let mut waits_for: Vec<usize> = reads.iter().map(Vec::len).collect();
    let mut readers = vec![Vec::new(); reads.len()];
    for (node, read) in reads.iter().enumerate() {
        for &read in read {
            readers[read].push(node);
        }
    }
    // The smallest index first: `Graph::sort` of the runtime crate has the same rule.
    let mut ready: BinaryHeap<_> =
        (0..reads.len()).filter(|&node| waits_for[node] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(reads.len());
    while let Some(Reverse(node)) = ready.pop() {
        order.push(node);
        for &reader in &readers[node] {
            waits_for[reader] -= 1;
            if waits_for[reader] == 0 {
                ready.push(Reverse(reader));
            }
        }
    }
    // The nodes of a cycle, and all nodes that read one, never become ready.
    (order.len() == reads.len()).then_some(order)
}

/// A group of nodes that wait for each other.
#[derive(Debug, PartialEq)]
pub(crate) struct Cycle {
    /// A shortest cycle: each node reads the next one, and the last reads the first. The list begins with the first
    /// node, by index, that reads a later one.
    pub(crate) shortest: Vec<usize>,
    /// All nodes of the group, by index.
    pub(crate) group: Vec<usize>,
}

/// The most nodes of a group from which a shortest cycle is looked for. In a larger group the first cycles explain the mistake.
const MOST_STARTS: usize = 64;

/// The cycles of a graph.
pub(crate) fn cycles(reads: &[Vec<usize>]) -> Vec<Cycle> {
    let mut cycles = Vec::new();
    let groups = groups(reads);
    let mut members = vec![Vec::new(); reads.len()];
    for (node, &group) in groups.iter().enumerate() {
        members[group].push(node);
    }
    members.retain(|group| !group.is_empty());
    members.sort_unstable();
    for group in members {
        let starts = group.iter().take(MOST_STARTS);
        let shortest = starts.filter_map(|&node| shortest_cycle(reads, &groups, node)).min_by_key(Vec::len);
        if let Some(mut cycle) = shortest {
            let readers_of_later = (0..cycle.len()).filter(|&at| cycle[(at + 1) % cycle.len()] > cycle[at]);
            // Only a node that reads itself has no later one, and such a node is a cycle alone.
            let first = readers_of_later.min_by_key(|&at| cycle[at]);
            cycle.rotate_left(first.unwrap_or(0));
            cycles.push(Cycle { shortest: cycle, group });
        }
    }
    cycles
}

/// The group of each node: the nodes that reach each other have the same one (Kosaraju).
fn groups(reads: &[Vec<usize>]) -> Vec<usize> {
    let mut finished = Vec::new();
    let mut is_seen = vec![false; reads.len()];
    for node in 0..reads.len() {
        // A node stays on the stack until all that it reads is finished.
        let mut open = vec![(node, 0)];
        while let Some((at, next)) = open.pop() {
            if next == 0 && std::mem::replace(&mut is_seen[at], true) {
                continue;
            }
            match reads[at].get(next) {
                Some(&read) => open.extend([(at, next + 1), (read, 0)]),
                None => finished.push(at),
            }
        }
    }
    let mut readers = vec![Vec::new(); reads.len()];
    for (node, read) in reads.iter().enumerate() {
        read.iter().for_each(|&read| readers[read].push(node));
    }
    let mut groups = vec![usize::MAX; reads.len()];
    for &first in finished.iter().rev() {
        let mut open = vec![first];
        while let Some(at) = open.pop() {
            if groups[at] == usize::MAX {
                groups[at] = first;
                open.extend(&readers[at]);
            }
        }
    }
    groups
}

fn shortest_cycle(reads: &[Vec<usize>], groups: &[usize], node: usize) -> Option<Vec<usize>> {
    // The predecessor of every node of the group that `node` reaches by reading, breadth first. The start is not marked at
    // first, so it is found again if it is in a cycle.
    let mut from = HashMap::new();
    let mut open = VecDeque::from([node]);
    while let Some(at) = open.pop_front() {
        for &next in reads[at].iter().filter(|next| groups[**next] == groups[node]) {
            from.entry(next).or_insert_with(|| {
                open.push_back(next);
                at
            });
        }
    }
    let mut cycle = vec![node];
    let mut at = *from.get(&node)?;
    while at != node {
        cycle.push(at);
        at = *from.get(&at)?;
    }
    cycle[1..].reverse();
    Some(cycle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_comes_first_and_ties_go_by_index() {
        assert_eq!(order(&[vec![], vec![0], vec![3], vec![0]]), Some(vec![0, 1, 3, 2]));
        assert_eq!(order(&[vec![2], vec![], vec![1], vec![]]), Some(vec![1, 2, 0, 3]));
        assert_eq!(order(&[vec![], vec![2], vec![1]]), None);
    }

    #[test]
    fn the_shortest_cycle_of_each_group_is_told() {
        // 1 → 2 → 3 → 1 and the shorter 2 ⇄ 3, apart from them 4 ⇄ 5; 6 only reads into a cycle.
        let reads = [vec![], vec![2], vec![3], vec![1, 2], vec![5], vec![4], vec![1]];
        let groups = [(vec![2, 3], vec![1, 2, 3]), (vec![4, 5], vec![4, 5])];
        assert_eq!(cycles(&reads), groups.map(|(shortest, group)| Cycle { shortest, group }));
    }

    #[test]
    fn a_cycle_begins_where_a_later_column_is_read() {
        let cycle = Cycle { shortest: vec![0, 2, 1], group: vec![0, 1, 2] };
        assert_eq!(cycles(&[vec![2], vec![0], vec![1]]), [cycle]);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let reads: Vec<Vec<usize>> =
            (0..20_000).map(|node: usize| node.checked_sub(1).into_iter().collect()).collect();
        assert_eq!(order(&reads).map(|order| order.len()), Some(20_000));
    }
}
