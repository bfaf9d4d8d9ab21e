//! The possible states of a file system after a power loss.
//!
//! Each change of a name since the folder was durable may be there or not. Of the bytes that were appended to a file
//! since the last sync, any prefix may be there, with or without zeros instead of the rest, or any suffix after zeros.
//! In the folder of staged files, whose names do not matter, changes take effect in order, which limits the number of
//! states.

use std::collections::{BTreeMap, BTreeSet};

use std::path::Path;

use super::model::{Image, Node};

pub(super) const STAGING: &str = "/chats/today/.columnar/staged";

/// The states after a power loss: all states, or about this number, evenly spaced.
pub(super) fn states_after_loss(image: &Image, limit: usize) -> Vec<Image> {
    let mut choices: Vec<Vec<Choice>> = Vec::new();
    let staging = image.find(Path::new(STAGING)).unwrap_or(usize::MAX);
    let named = named(image, staging);
    for (at, node) in image.nodes().iter().enumerate() {
        match node {
            Node::File { data, durable, .. } if data != durable && named.contains(&at) => {
                let contents = if data.starts_with(KNOWN) { torn_or_not(data) } else { torn(durable, data) };
                choices.push(contents.into_iter().map(|data| Choice::Data(at, data)).collect());
            }
            Node::File { .. } => {}
            Node::Folder { durable, since, .. } if at == staging => {
                let mut names = durable.clone();
                let mut options = vec![Choice::Names(at, names.clone())];
                for (name, node) in since {
                    set(&mut names, name, *node);
                    options.push(Choice::Names(at, names.clone()));
                }
                choices.push(options);
            }
            Node::Folder { durable, since, .. } => {
                for name in since.iter().map(|(name, _)| name).collect::<BTreeSet<_>>() {
                    let later = since.iter().filter(|(other, _)| other == name).map(|(_, node)| *node);
                    let outcomes: BTreeSet<Option<usize>> =
                        later.chain([durable.get(name).copied()]).collect();
                    let names = outcomes.into_iter().map(|node| Choice::Name(at, name.clone(), node));
                    choices.push(names.collect());
                }
            }
        }
    }
    let total = choices.iter().map(Vec::len).fold(1_usize, usize::saturating_mul);
    let stride = (total / limit) | 1;
    (0..total).step_by(stride).map(|number| chosen(image, &choices, number)).collect()
}

/// The nodes that have a name, or may have one after a power loss, outside of the folder of staged files, which nobody
/// reads.
fn named(image: &Image, staging: usize) -> BTreeSet<usize> {
    let folders = image.nodes().iter().enumerate().filter_map(|(at, node)| match node {
        Node::Folder { names, durable, since } if at != staging => Some((names, durable, since)),
        _ => None,
    });
    let named = folders.flat_map(|(names, durable, since)| {
        let since = since.iter().filter_map(|(_, node)| *node);
        names.values().chain(durable.values()).copied().chain(since)
    });
    named.collect()
}

/// The first bytes of the file with the known number of cells.
const KNOWN: &[u8] = b"cells ";

/// The possible contents of the file with the known number, which is never made durable. Any part of it says nothing,
/// so one part stands for all: each would multiply all other states.
fn torn_or_not(data: &[u8]) -> BTreeSet<Vec<u8>> {
    let half = data.len() / 2;
    BTreeSet::from([[&data[..half], &vec![0; data.len() - half]].concat(), data.to_vec()])
}

enum Choice {
    Data(usize, Vec<u8>),
    Name(usize, String, Option<usize>),
    Names(usize, BTreeMap<String, usize>),
}

fn set(names: &mut BTreeMap<String, usize>, name: &str, node: Option<usize>) {
    match node {
        Some(node) => names.insert(name.to_owned(), node),
        None => names.remove(name),
    };
}

fn chosen(image: &Image, choices: &[Vec<Choice>], mut number: usize) -> Image {
    let mut nodes: Vec<Node> = (image.nodes().iter())
        .map(|node| match node {
            Node::File { durable, .. } => Node::file(durable.clone()),
            Node::Folder { durable, .. } => Node::folder(durable.clone()),
        })
        .collect();
    for options in choices {
        match &options[number % options.len()] {
            Choice::Data(at, data) => nodes[*at] = Node::file(data.clone()),
            Choice::Name(at, name, node) => {
                let Node::Folder { durable, .. } = &nodes[*at] else {
                    unreachable!("only folders have names")
                };
                let mut names = durable.clone();
                set(&mut names, name, *node);
                nodes[*at] = Node::folder(names);
            }
            Choice::Names(at, names) => nodes[*at] = Node::folder(names.clone()),
        }
        number /= options.len();
    }
    Image::from_nodes(nodes)
}

/// The possible contents of a file after appends.
fn torn(durable: &[u8], data: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::new();
    for cut in durable.len()..=data.len() {
        let (front, back) = data.split_at(cut);
        found.insert(front.to_vec());
        found.insert([front, &vec![0; back.len()]].concat());
        found.insert([durable, &vec![0; front.len() - durable.len()], back].concat());
    }
    found
}

/// All files and folders by path. Folders have no bytes, and the bytes of staged files do not matter.
pub(super) type Tree = BTreeMap<String, Option<Vec<u8>>>;

pub(super) fn tree(image: &Image) -> Tree {
    let mut tree = BTreeMap::new();
    let mut open = vec![(String::new(), 0)];
    while let Some((path, at)) = open.pop() {
        match &image.nodes()[at] {
            Node::File { data, .. } => {
                let is_staged = Path::new(&path).starts_with(STAGING);
                tree.insert(path, Some(if is_staged { Vec::new() } else { data.clone() }));
            }
            Node::Folder { names, .. } => {
                open.extend(names.iter().map(|(name, node)| (format!("{path}/{name}"), *node)));
                tree.insert(path, None);
            }
        }
    }
    tree
}
