//! The cost of operations does not grow with the store.

use std::collections::BTreeMap;

use super::super::backend::FileBackend;
use super::super::log::{self, Cells, LoggedEntry};
use super::model::{Image, Model, Node};
use super::{location, name};
use crate::store::Entry;
use crate::store::thread::NewCell;
use crate::store::worker::Backend;

/// A store with this number of steps of `user`.
fn stored(steps: usize) -> Model {
    let value = LoggedEntry::of(&Entry::from("hi"));
    let cells: Cells = [(name("user"), (0..steps).map(|step| (step, value.clone())).collect())].into();
    let model = Model::default();
    drop(FileBackend::open(&location(&model)).expect("it opens"));
    let mut nodes = model.image().nodes().to_vec();
    let log = find(&nodes, &["chats", "today", ".columnar", "cells"]);
    let today = find(&nodes, &["chats", "today"]);
    nodes[log] = Node::file(log::write(&cells).into_bytes());
    let first = nodes.len();
    nodes.extend((0..steps).map(|_| Node::file(b"hi".to_vec())));
    nodes.push(Node::folder((0..steps).map(|step| (format!("{step}.txt"), first + step)).collect()));
    let Node::Folder { names, .. } = &nodes[today] else { panic!("it is a folder") };
    let mut names: BTreeMap<String, usize> = names.clone();
    names.insert("user".into(), nodes.len() - 1);
    nodes[today] = Node::folder(names);
    Model::of(Image::from_nodes(nodes))
}

fn find(nodes: &[Node], path: &[&str]) -> usize {
    path.iter().fold(0, |at, name| {
        let Node::Folder { names, .. } = &nodes[at] else { panic!("it is a folder") };
        names[*name]
    })
}

#[test]
fn q4_the_cost_of_opening_and_of_a_step_does_not_depend_on_the_number_of_steps() {
    let operations = |steps: usize| {
        let model = stored(steps);
        let mut store = FileBackend::open(&location(&model)).expect("it opens");
        assert_eq!(store.stored_steps(&name("user")).expect("it is open").prefix, steps);
        assert_eq!(
            store.load(&name("user"), steps - 1..steps).expect("it is there"),
            [(steps - 1, Entry::from("hi"))]
        );
        store
            .put(vec![NewCell { column: name("user"), step: steps, entry: Entry::SKIPPED }])
            .expect("it is put");
        model.operations().into_iter().map(|(reason, _)| reason).collect::<Vec<_>>()
    };
    let few = operations(10);
    assert!(few.len() > 10, "{few:?}");
    assert_eq!(operations(100_000), few);
}
