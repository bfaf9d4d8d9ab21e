//! What lies in the folders of columns beside what the log knows. Files that are not named after a number are
//! nobody's business.

use std::collections::{BTreeMap, BTreeSet};

use super::disk::{Disk, Kind};
use super::folder::{corrupt, damaged};
use super::layout::{Doing, Layout};
use super::log::{self, Cells};
use crate::name::Name;
use crate::store::StoreError;

/// The names in the folders of columns.
pub(super) type Files = BTreeMap<Name, Vec<(String, Kind)>>;

pub(super) fn list<D: Disk>(disk: &D, layout: &Layout) -> Result<Files, StoreError> {
    let mut files = Files::new();
    for (name, kind) in disk.list(layout.root()).doing("listing", layout.root())? {
        if let (Ok(column), Kind::Folder) = (Name::new(&name), kind) {
            let folder = layout.column(&column);
            files.insert(column, disk.list(&folder).doing("listing", &folder)?);
        }
    }
    Ok(files)
}

/// Values that are not in the log.
pub(super) struct Loose {
    /// Those that continue their columns.
    pub(super) next: Vec<(Name, usize)>,
    /// What else looks like a value, and what to do about it.
    pub(super) wrong: Vec<StoreError>,
}

impl Loose {
    pub(super) fn find(layout: &Layout, files: Files, cells: &Cells) -> Self {
        let mut loose = Self { next: Vec::new(), wrong: Vec::new() };
        for (column, files) in files {
            let known = |step: &usize| cells.get(&column).is_some_and(|steps| steps.contains_key(step));
            let mut steps = BTreeSet::new();
            for (file, kind) in files {
                let Some(digits) = digits(&file) else { continue };
                let path = layout.column(&column).join(&file);
                match log::number(digits) {
                    None => {
                        loose.wrong.push(damaged(&path, "no step is called that; rename it, or move it away"))
                    }
                    Some(step) if known(&step) => {}
                    Some(_) if kind != Kind::File => {
                        loose.wrong.push(damaged(&path, "it is not a file; move it away"))
                    }
                    Some(step) => drop(steps.insert(step)),
                }
            }
            if steps.is_empty() {
                continue;
            }
            let mut next = 0;
            while known(&next) || steps.contains(&next) {
                if steps.remove(&next) {
                    loose.next.push((column.clone(), next));
                }
                next += 1;
            }
            for step in steps {
                let what = format!(
                    "was not put there by a flow, and the next step is {next}; rename it, or move it away"
                );
                loose.wrong.push(corrupt(&column, step, &layout.value(&column, step), &what));
            }
        }
        loose
    }
}

/// What stands before the ending of a file that is named after a number.
fn digits(file: &str) -> Option<&str> {
    let digits = file.strip_suffix(".txt")?;
    (!digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())).then_some(digits)
}
