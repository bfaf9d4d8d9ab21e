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
#[derive(Default)]
pub(super) struct Loose {
    /// Those that continue their columns.
    pub(super) next: Vec<(Name, usize)>,
    /// What else looks like a value, and what to do about it.
    pub(super) wrong: Vec<StoreError>,
}

impl Loose {
    /// Where the log is torn, it may have known them, so nothing is taken over.
    pub(super) fn find(layout: &Layout, files: Files, cells: &Cells, torn: bool) -> Self {
        let mut loose = Self::default();
        let nothing = BTreeMap::new();
        for (column, files) in files {
            let logged = cells.get(&column).unwrap_or(&nothing);
            let mut steps = BTreeSet::new();
            for (file, kind) in files {
                let Some(digits) = digits(&file) else { continue };
                let mut odd = |what| loose.wrong.push(damaged(&layout.column(&column).join(&file), what));
                match log::number(digits) {
                    Some(step) if logged.contains_key(&step) => {}
                    Some(step) if kind == Kind::File => drop(steps.insert(step)),
                    Some(_) => odd("it is not a file; move it away"),
                    None => odd("no step is called that; rename it, or move it away"),
                }
            }
            let stranger = |step: usize, what: &str| {
                let what = format!("was not put there by a flow, and {what}");
                corrupt(&column, step, &layout.value(&column, step), &what)
            };
            if torn {
                let what = "the log ends in the middle of a line; move it away until the store was opened";
                loose.wrong.extend(steps.into_iter().map(|step| stranger(step, what)));
                continue;
            }
            let mut next = 0;
            while !steps.is_empty() && (logged.contains_key(&next) || steps.contains(&next)) {
                if steps.remove(&next) {
                    loose.next.push((column.clone(), next));
                }
                next += 1;
            }
            let what = format!("the next step is {next}; rename it, or move it away");
            loose.wrong.extend(steps.into_iter().map(|step| stranger(step, &what)));
        }
        loose
    }
}

/// What stands before the ending of a file that is named after a number.
fn digits(file: &str) -> Option<&str> {
    let digits = file.strip_suffix(".txt")?;
    (!digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())).then_some(digits)
}
