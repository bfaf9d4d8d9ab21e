//! Verifies a file store without changing it. Its owner may write meanwhile.

use super::backend::{Location, entry};
use super::disk::Disk;
use super::layout::{IoContext, Layout};
use super::listing::{Unlogged, list};
use super::opening::{format, read_log};
use crate::store::Defect;
use crate::store::StoreError;

/// The defects that opening the store or loading its cells would report.
pub(super) fn verify<D: Disk>(location: &Location<D>) -> Result<Vec<Defect>, StoreError> {
    let Location { disk, path } = location;
    let layout = Layout::new(disk.canonical(path).context("looking for", path)?);
    if format(disk, &layout)?.is_none() {
        return Ok(Vec::new());
    }
    // In this order, since the line of a value is written before its name.
    let files = list(disk, &layout)?;
    let mut log = read_log(disk, &layout)?;
    let mut wrong = Vec::new();
    for (column, steps) in &log.cells {
        let entries = steps.iter().map(|(step, logged)| entry(disk, &layout, column, *step, logged));
        wrong.extend(entries.filter_map(Result::err));
    }
    for (column, step, logged) in log.unconfirmed {
        log.cells.entry(column).or_default().insert(step, logged);
    }
    wrong.extend(Unlogged::find(&layout, files, &log.cells, log.torn).wrong);
    let defect = |error| match error {
        StoreError::Corrupt { column, step, reason } => Ok(Defect { column, step, reason }),
        other => Err(other),
    };
    wrong.into_iter().map(defect).collect()
}
