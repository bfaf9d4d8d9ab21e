//! Scripts of store operations, and the contents that may result when a script is interrupted.

use std::collections::BTreeMap;

use super::super::backend::FileBackend;
use super::super::disk::Disk;
use super::super::layout::FolderLocation;
use super::name;
use crate::history::{Attachment, Text};
use crate::model::usage::{AttachmentRef, CellReceipt};
use crate::store::thread::NewCell;
use crate::store::worker::Backend;
use crate::store::{Entry, StoreError, attachment_refs};

/// A column, a step, and a value unless the cell is skipped.
pub(super) type Cell = (&'static str, usize, Option<&'static str>);

#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Opens the store, again if necessary. Opening adopts these files.
    Open(Vec<Cell>),
    Define(&'static str),
    /// Cells that are stored together.
    Put(Vec<Cell>),
    /// Closes and deletes the store.
    Delete,
}

/// The text of the cells that have an attachment.
pub(super) const ATTACHED: &str = "é";

/// The attachment of a cell.
pub(super) fn attached((_, _, text): Cell) -> Option<Attachment> {
    (text == Some(ATTACHED)).then(attachment)
}

fn attachment() -> Attachment {
    Attachment::new("a note of some lines\n".repeat(4)).expect("a text")
}

/// A script with all features: new and existing columns, steps in any order, batches of cells, skipped cells, attachments,
/// and a replaced definition.
pub(super) fn script() -> Vec<Action> {
    vec![
        Action::Open(vec![]),
        Action::Define("a"),
        Action::Put(vec![("user", 0, Some("hi"))]),
        Action::Put(vec![("map", 2, Some("x")), ("user", 1, Some("")), ("map", 0, None)]),
        Action::Define("bc"),
        Action::Put(vec![("map", 1, None)]),
        Action::Put(vec![("user", 5, Some(ATTACHED))]),
        Action::Put(vec![("map", 3, Some(ATTACHED))]),
    ]
}

/// A short script.
pub(super) fn short_script() -> Vec<Action> {
    let cells = vec![("map", 2, Some("x")), ("user", 0, Some("hi"))];
    vec![Action::Open(vec![]), Action::Define("a"), Action::Put(cells), Action::Define("b")]
}

/// A flow that is deleted, and another one in its place.
pub(super) fn deletion() -> Vec<Action> {
    vec![
        Action::Open(vec![]),
        Action::Define("a"),
        Action::Put(vec![("map", 1, Some("x")), ("user", 0, Some("hi")), ("map", 0, None)]),
        Action::Put(vec![("map", 2, Some(ATTACHED))]),
        Action::Delete,
        Action::Open(vec![]),
        Action::Put(vec![("map", 0, Some("y"))]),
    ]
}

/// The entry of a cell. Entries of `map` have receipts.
pub(super) fn entry((column, step, text): Cell) -> Entry {
    let entry = text.map_or(Entry::SKIPPED, Entry::from);
    if let Some(attachment) = attached((column, step, text)) {
        let attachments = AttachmentRef::of(&Text::new(ATTACHED).with(attachment).into());
        return entry.with_receipt(CellReceipt { attachments, ..CellReceipt::default() }.to_string());
    }
    if column == "map" { entry.with_receipt(format!("{{\"calls\":1,\"ms\":{step}}}")) } else { entry }
}

/// Runs a script, and reports each completed action.
pub(super) fn run_script<D: Disk>(
    location: &FolderLocation<D>,
    actions: &[Action],
    mut done: impl FnMut(),
) -> Result<(), StoreError> {
    let mut store = None;
    for action in actions {
        match (action, &mut store) {
            (Action::Open(_), _) => {
                drop(store.take());
                store = Some(FileBackend::open(location)?);
            }
            (Action::Delete, _) => {
                drop(store.take());
                FileBackend::delete(location)?;
            }
            (Action::Define(text), Some(store)) => store.define(text)?,
            (Action::Put(cells), Some(store)) => {
                for attachment in cells.iter().filter_map(|cell| attached(*cell)) {
                    store.put_blob(attachment.digest(), &attachment.shared_bytes())?;
                }
                let cell = |cell: &Cell| NewCell { column: name(cell.0), step: cell.1, entry: entry(*cell) };
                store.put(cells.iter().map(cell).collect())?;
            }
            (_, None) => unreachable!("it is opened first"),
        }
        done();
    }
    Ok(())
}

/// The contents of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    cells: BTreeMap<(String, usize), Entry>,
    definition: Option<String>,
    unreadable: usize,
    /// Whether the attachment is there that an entry names, or that a deleted flow has left.
    has_attachment: bool,
}

impl Contents {
    /// Whether an entry names an attachment.
    fn is_attached(&self) -> bool {
        self.cells.values().any(|entry| !attachment_refs(entry).is_empty())
    }

    /// The stored steps of a column.
    pub(super) fn steps(&self, column: &str) -> Vec<usize> {
        self.cells.keys().filter(|(name, _)| name == column).map(|(_, step)| *step).collect()
    }
}

/// Opens a store and reads its contents.
pub(super) fn read_store<D: Disk>(location: &FolderLocation<D>) -> Result<Contents, StoreError> {
    let mut store = FileBackend::open(location)?;
    let definition = store.definition()?;
    let mut contents = Contents { definition, ..Contents::default() };
    for column in ["user", "map", "notes"] {
        let stored_steps = store.stored_steps(&name(column))?;
        for step in (0..stored_steps.prefix).chain(stored_steps.beyond) {
            match store.load(&name(column), step..step + 1) {
                Ok(entries) => entries.into_iter().for_each(|(step, entry)| {
                    contents.cells.insert((column.to_owned(), step), entry);
                }),
                Err(_) => contents.unreadable += 1,
            }
        }
    }
    // An attachment whose entry was not stored is there or not.
    if contents.is_attached() || contents.cells.is_empty() {
        let blob = store.load_blob(attachment().digest())?;
        contents.has_attachment = blob.is_some_and(|bytes| *bytes == *attachment().bytes());
    }
    Ok(contents)
}

/// The number of entries that violate each guarantee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Violations {
    /// Confirmed entries that are missing or unreadable.
    pub(super) lost: usize,
    /// Entries that differ from the put ones.
    pub(super) torn: usize,
    /// 1 if an entry names an attachment that is not there, or the attachment of a deleted flow is.
    pub(super) unattached: usize,
    /// 1 if the definition is neither the old nor the new one.
    pub(super) undefined: usize,
}

/// Compares the contents with a script: this number of actions are confirmed, and the next action may have begun.
pub(super) fn check(contents: &Contents, actions: &[Action], confirmed: usize) -> Violations {
    // No cell of a deleted flow is there.
    let deleted = actions.iter().take(confirmed).rposition(|action| matches!(action, Action::Delete));
    let (actions, confirmed) = match deleted {
        Some(at) => (&actions[at + 1..], confirmed - at - 1),
        None => (actions, confirmed),
    };
    // A flow whose deletion has begun is there as a whole, or not at all.
    if matches!(actions.get(confirmed), Some(Action::Delete)) && *contents == Contents::default() {
        return Violations::default();
    }
    let mut may = BTreeMap::new();
    let mut must = Vec::new();
    let mut definitions = vec![None];
    for (at, action) in actions.iter().enumerate().take(confirmed + 1) {
        match action {
            Action::Define(text) => {
                if at < confirmed {
                    definitions.clear();
                }
                definitions.push(Some((*text).to_owned()));
            }
            Action::Put(cells) | Action::Open(cells) => {
                for cell in cells {
                    let logged = entry(*cell);
                    let cell = (cell.0.to_owned(), cell.1);
                    may.insert(cell.clone(), logged);
                    must.extend((at < confirmed).then_some(cell));
                }
            }
            Action::Delete => {}
        }
    }
    Violations {
        lost: contents.unreadable + must.iter().filter(|cell| !contents.cells.contains_key(*cell)).count(),
        torn: contents.cells.iter().filter(|(cell, entry)| may.get(*cell) != Some(*entry)).count(),
        unattached: usize::from(contents.is_attached() != contents.has_attachment),
        undefined: usize::from(!definitions.contains(&contents.definition)),
    }
}
