//! What is done to a store, and what may be there when that was cut short.

use std::collections::BTreeMap;

use super::super::backend::FileBackend;
use super::super::disk::Disk;
use super::super::layout::Location;
use super::name;
use crate::store::worker::{Backend, NewCell};
use crate::store::{Entry, StoreError};

/// A column, a step, and a value unless it is skipped.
pub(super) type Cell = (&'static str, usize, Option<&'static str>);

#[derive(Clone, Debug)]
pub(super) enum Act {
    /// Once more, if need be. Takes over what somebody put there.
    Open(Vec<Cell>),
    Define(&'static str),
    /// Cells that are stored together.
    Put(Vec<Cell>),
}

/// A life with everything in it: columns that are new and that are not, steps in any order, cells that are
/// stored together, skipped ones among them, a definition that is replaced.
pub(super) fn life() -> Vec<Act> {
    vec![
        Act::Open(vec![]),
        Act::Define("a"),
        Act::Put(vec![("user", 0, Some("hi"))]),
        Act::Put(vec![("map", 2, Some("x")), ("user", 1, Some("")), ("map", 0, None)]),
        Act::Define("bc"),
        Act::Put(vec![("map", 1, None)]),
        Act::Put(vec![("user", 5, Some("é"))]),
    ]
}

/// A short one.
pub(super) fn day() -> Vec<Act> {
    let cells = vec![("map", 2, Some("x")), ("user", 0, Some("hi"))];
    vec![Act::Open(vec![]), Act::Define("a"), Act::Put(cells), Act::Define("b")]
}

/// Those of `map` say what they cost.
pub(super) fn entry((column, step, text): Cell) -> Entry {
    let entry = text.map_or(Entry::SKIPPED, Entry::from);
    if column == "map" { entry.with_receipt(format!("{{\"calls\":1,\"ms\":{step}}}")) } else { entry }
}

/// Does what is done, and tells of each act that it is.
pub(super) fn live<D: Disk>(
    location: &Location<D>,
    acts: &[Act],
    mut done: impl FnMut(),
) -> Result<(), StoreError> {
    let mut store = None;
    for act in acts {
        match (act, &mut store) {
            (Act::Open(_), _) => {
                drop(store.take());
                store = Some(FileBackend::open(location)?);
            }
            (Act::Define(text), Some(store)) => store.define(text)?,
            (Act::Put(cells), Some(store)) => {
                let cell = |cell: &Cell| NewCell { column: name(cell.0), step: cell.1, entry: entry(*cell) };
                store.put(cells.iter().map(cell).collect())?;
            }
            (_, None) => unreachable!("it is opened first"),
        }
        done();
    }
    Ok(())
}

/// What is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    cells: BTreeMap<(String, usize), Entry>,
    definition: Option<String>,
    unreadable: usize,
}

/// Opens a store and looks at everything that is in it.
pub(super) fn look<D: Disk>(location: &Location<D>) -> Result<Seen, StoreError> {
    let mut store = FileBackend::open(location)?;
    let mut seen = Seen { cells: BTreeMap::new(), definition: store.definition()?, unreadable: 0 };
    for column in ["user", "map", "notes"] {
        let stored_steps = store.stored_steps(&name(column))?;
        for step in (0..stored_steps.prefix).chain(stored_steps.beyond) {
            match store.load(&name(column), step..step + 1) {
                Ok(entries) => entries.into_iter().for_each(|(step, entry)| {
                    seen.cells.insert((column.to_owned(), step), entry);
                }),
                Err(_) => seen.unreadable += 1,
            }
        }
    }
    Ok(seen)
}

/// How much of it must not be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Was confirmed, and is not there, or cannot be read.
    pub(super) lost: usize,
    /// Is something else than was put.
    pub(super) torn: usize,
    /// The definition is none of those that it may be.
    pub(super) undefined: usize,
}

/// Holds what is there against what was done when so many acts were confirmed, and the next one may have begun.
pub(super) fn judge(seen: &Seen, acts: &[Act], confirmed: usize) -> Verdict {
    let (mut may, mut must) = (BTreeMap::new(), Vec::new());
    let mut definitions = vec![None];
    for (at, act) in acts.iter().enumerate().take(confirmed + 1) {
        match act {
            Act::Define(text) => {
                if at < confirmed {
                    definitions.clear();
                }
                definitions.push(Some((*text).to_owned()));
            }
            Act::Put(cells) | Act::Open(cells) => {
                for cell in cells {
                    let logged = entry(*cell);
                    let cell = (cell.0.to_owned(), cell.1);
                    may.insert(cell.clone(), logged);
                    must.extend((at < confirmed).then_some(cell));
                }
            }
        }
    }
    Verdict {
        lost: seen.unreadable + must.iter().filter(|cell| !seen.cells.contains_key(*cell)).count(),
        torn: seen.cells.iter().filter(|(cell, entry)| may.get(*cell) != Some(*entry)).count(),
        undefined: usize::from(!definitions.contains(&seen.definition)),
    }
}
