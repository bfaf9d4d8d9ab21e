//! Power is lost between any two operations of a store, and while what was lost is being found out.

use std::collections::{BTreeMap, HashSet};

use super::model::{Image, Model, Wrong};
use super::power::{STAGING, images_after_loss, tree};
use super::{name, place};
use crate::store::file::folder::Folder;
use crate::store::worker::{Medium, NewCell};
use crate::store::{Entry, StoreError};

/// What is done to a store.
#[derive(Clone, Debug)]
enum Act {
    /// Again, after it was closed.
    Open,
    Define(&'static str),
    /// Cells that are stored together.
    Put(Vec<(&'static str, usize, Option<&'static str>)>),
    /// Somebody puts a text there while the store is closed.
    Drop(&'static str, &'static str),
}

/// What was seen in all states.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    states: usize,
    /// What was confirmed, and is not there, or cannot be read.
    lost: usize,
    /// Something else is there than was put.
    torn: usize,
    /// The definition is none of those that it may be.
    undefined: usize,
    /// The store cannot be opened.
    shut: usize,
    /// What one opening found, the next one did not.
    changed: usize,
}

type Seen = (BTreeMap<(String, usize), Entry>, Option<String>);

/// A life with everything in it: columns that are new and that are not, steps in any order, cells that are
/// stored together, skipped ones among them, a definition that is replaced.
fn life() -> Vec<Act> {
    vec![
        Act::Open,
        Act::Define("a"),
        Act::Put(vec![("user", 0, Some("hi"))]),
        Act::Put(vec![("map", 2, Some("x")), ("user", 1, Some("")), ("map", 0, None)]),
        Act::Define("bc"),
        Act::Put(vec![("map", 1, None)]),
        Act::Put(vec![("user", 5, Some("é"))]),
    ]
}

/// One in which people put their own texts there.
fn by_hand() -> Vec<Act> {
    vec![
        Act::Open,
        Act::Put(vec![("user", 0, Some("hi"))]),
        Act::Drop("user/1.txt", "by hand"),
        Act::Drop("notes/0.txt", "new"),
        Act::Open,
        Act::Put(vec![("user", 2, Some("on"))]),
    ]
}

/// A short one.
fn day() -> Vec<Act> {
    vec![Act::Open, Act::Define("a"), Act::Put(vec![("map", 2, Some("x")), ("user", 0, Some("hi"))]), Act::Define("b")]
}

fn entry(text: Option<&str>) -> Entry {
    text.map_or(Entry::Skipped, |text| Entry::Value(text.into()))
}

/// Lives a life, and returns what there was on the way.
fn live(acts: &[Act], model: &Model) -> Result<(), StoreError> {
    let mut store = None;
    for act in acts {
        match act {
            Act::Open => {
                drop(store.take());
                store = Some(Folder::open(&place(model))?);
            }
            Act::Define(text) => store.as_mut().expect("it is open").define(text)?,
            Act::Put(cells) => {
                let cells = cells.iter().map(|(column, step, text)| NewCell {
                    column: name(column),
                    step: *step,
                    entry: entry(*text),
                });
                store.as_mut().expect("it is open").put(cells.collect())?;
            }
            Act::Drop(path, text) => {
                drop(store.take());
                model.write(&format!("/chats/today/{path}"), text.as_bytes());
            }
        }
        model.confirm();
    }
    Ok(())
}

/// Opens what was left, and returns what is there.
fn look(model: &Model) -> Result<(Seen, usize), StoreError> {
    let mut store = Folder::open(&place(model))?;
    let (mut cells, mut unreadable) = (BTreeMap::new(), 0);
    for column in ["user", "map", "notes"] {
        let extent = store.extent(&name(column))?;
        for step in (0..extent.prefix).chain(extent.beyond) {
            match store.load(&name(column), step..step + 1) {
                Ok(entries) => cells.extend(entries.into_iter().map(|(step, entry)| ((column.to_owned(), step), entry))),
                Err(_) => unreadable += 1,
            }
        }
    }
    Ok(((cells, store.definition()?), unreadable))
}

struct Explorer<'a> {
    acts: &'a [Act],
    found: Found,
    visited: HashSet<(BTreeMap<String, Option<Vec<u8>>>, usize)>,
}

impl Explorer<'_> {
    /// Checks what may be left of what was recorded, and then of what is done about it.
    fn explore(&mut self, recorded: Vec<(Image, usize)>, limits: &[usize]) {
        let Some((limit, deeper)) = limits.split_first() else { return };
        for (image, confirmed) in recorded {
            for left in images_after_loss(&image, *limit) {
                if self.visited.insert((tree(&left), confirmed)) {
                    self.recover(left, confirmed, deeper);
                }
            }
        }
    }

    fn recover(&mut self, left: Image, confirmed: usize, deeper: &[usize]) {
        self.found.states += 1;
        let model = Model::of(left);
        if !deeper.is_empty() {
            model.record();
        }
        let Ok((seen, unreadable)) = look(&model) else {
            self.found.shut += 1;
            return;
        };
        let recorded = if deeper.is_empty() { Vec::new() } else { model.recorded() };
        self.found.lost += unreadable;
        self.judge(&seen, confirmed);
        // What was seen once is seen by everybody after that.
        model.settle(STAGING);
        for left in images_after_loss(&model.image(), 10) {
            if look(&Model::of(left)).map(|(again, _)| again).ok().as_ref() != Some(&seen) {
                self.found.changed += 1;
            }
        }
        self.explore(recorded.into_iter().map(|(image, _)| (image, confirmed)).collect(), deeper);
    }

    fn judge(&mut self, (cells, definition): &Seen, confirmed: usize) {
        let (mut may, mut must) = (BTreeMap::new(), Vec::new());
        let mut definitions = vec![None];
        for (at, act) in self.acts.iter().enumerate().take(confirmed + 1) {
            match act {
                Act::Open => {}
                Act::Define(text) => {
                    if at < confirmed {
                        definitions.clear();
                    }
                    definitions.push(Some((*text).to_owned()));
                }
                Act::Put(put) => {
                    for (column, step, text) in put {
                        may.insert(((*column).to_owned(), *step), entry(*text));
                        if at < confirmed {
                            must.push(((*column).to_owned(), *step));
                        }
                    }
                }
                Act::Drop(path, text) => {
                    let (column, step) = path.strip_suffix(".txt").and_then(|path| path.split_once('/')).expect("a cell");
                    may.insert((column.to_owned(), step.parse().expect("a step")), entry(Some(text)));
                }
            }
        }
        self.found.undefined += usize::from(!definitions.contains(definition));
        self.found.lost += must.iter().filter(|cell| !cells.contains_key(*cell)).count();
        self.found.torn += cells.iter().filter(|(cell, entry)| may.get(*cell) != Some(*entry)).count();
    }
}

fn explored(model: &Model, acts: &[Act], limits: &[usize]) -> Found {
    model.record();
    live(acts, model).expect("nothing fails");
    let mut explorer = Explorer { acts, found: Found::default(), visited: HashSet::new() };
    explorer.explore(model.recorded(), limits);
    println!("{:?}", explorer.found);
    explorer.found
}

#[test]
fn c1_d6_what_is_confirmed_outlives_a_loss_of_power_at_any_moment_and_nothing_is_torn() {
    for acts in [life(), by_hand()] {
        let found = explored(&Model::default(), &acts, &[1_000]);
        assert!(found.states > 1_000);
        assert_eq!(found, Found { states: found.states, ..Found::default() });
    }
}

#[test]
fn c3_power_is_lost_again_while_what_was_lost_is_found_out() {
    let found = explored(&Model::default(), &day(), &[60, 10]);
    assert!(found.states > 1_000);
    assert_eq!(found, Found { states: found.states, ..Found::default() });
}

#[test]
fn stores_that_are_known_to_be_wrong_are_found_out() {
    let found = |wrong| {
        let model = Model::default();
        live(&day()[..1], &model).expect("nothing fails");
        explored(&model.wrong(wrong), &day(), &[60])
    };
    for wrong in [
        Wrong::NoSync,
        Wrong::NoSyncOfValues,
        Wrong::NoSyncOfLog,
        Wrong::NoSyncOfFolders,
        Wrong::InPlace,
    ] {
        assert!(found(wrong).lost > 0, "{wrong:?}");
    }
    assert!(found(Wrong::RemoveFirst).undefined > 0);
}
