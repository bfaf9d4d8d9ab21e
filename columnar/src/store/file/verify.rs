//! Looks at everything that is stored, and changes nothing. Whoever owns the store may go on writing meanwhile.

use super::disk::Disk;
use super::folder::{Place, entry};
use super::layout::{Doing, Layout};
use super::listing::{Loose, list};
use super::opening::{format, read_log};
use crate::store::StoreError;

/// All that is wrong, as opening the store or loading these cells would tell.
pub(super) fn verify<D: Disk>(place: &Place<D>) -> Result<Vec<StoreError>, StoreError> {
    let Place { disk, path } = place;
    let layout = Layout::new(disk.canonical(path).doing("looking for", path)?);
    let mut defects = Vec::new();
    match format(disk, &layout) {
        Ok(Some(_)) => {}
        Ok(None) => return Ok(defects),
        Err(error) => return damage(error).map(|error| vec![error]),
    }
    // In this order, since a value has its line before it has its name.
    let files = list(disk, &layout)?;
    let mut log = match read_log(disk, &layout) {
        Ok(log) => log,
        Err(error) => return damage(error).map(|error| vec![error]),
    };
    for (column, steps) in &log.cells {
        for (step, kept) in steps {
            if let Err(error) = entry(disk, &layout, column, *step, *kept) {
                defects.push(damage(error)?);
            }
        }
    }
    for (column, step, kept) in log.begun.drain(..) {
        log.cells.entry(column).or_default().insert(step, kept);
    }
    defects.extend(Loose::find(&layout, files, &log.cells, log.torn).wrong);
    Ok(defects)
}

/// What is wrong with the store, and not with looking at it.
fn damage(error: StoreError) -> Result<StoreError, StoreError> {
    match error {
        StoreError::Corrupt { .. } | StoreError::Damaged { .. } => Ok(error),
        other => Err(other),
    }
}
