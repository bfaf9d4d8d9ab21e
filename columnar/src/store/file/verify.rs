//! Looks at everything that is stored, and changes nothing. Whoever owns the store may go on writing meanwhile.

use super::disk::Disk;
use super::folder::{Place, entry};
use super::layout::{Doing, Layout};
use super::listing::{Loose, list};
use super::opening::{format, read_log};
use crate::store::Defect;
use crate::store::StoreError;

/// What opening the store or loading its cells would tell of cells.
pub(super) fn verify<D: Disk>(place: &Place<D>) -> Result<Vec<Defect>, StoreError> {
    let Place { disk, path } = place;
    let layout = Layout::new(disk.canonical(path).doing("looking for", path)?);
    if format(disk, &layout)?.is_none() {
        return Ok(Vec::new());
    }
    // In this order, since a value has its line before it has its name.
    let files = list(disk, &layout)?;
    let mut log = read_log(disk, &layout)?;
    let mut wrong = Vec::new();
    for (column, steps) in &log.cells {
        let entries = steps.iter().map(|(step, kept)| entry(disk, &layout, column, *step, kept));
        wrong.extend(entries.filter_map(Result::err));
    }
    for (column, step, kept) in log.begun {
        log.cells.entry(column).or_default().insert(step, kept);
    }
    wrong.extend(Loose::find(&layout, files, &log.cells, log.torn).wrong);
    let defect = |error| match error {
        StoreError::Corrupt { column, step, what } => Ok(Defect { column, step, what }),
        other => Err(other),
    };
    wrong.into_iter().map(defect).collect()
}
