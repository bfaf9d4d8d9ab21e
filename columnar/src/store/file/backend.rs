//! The backend of the file store, once it is open: reads values, and stores batches of cells.
//!
//! ```text
//! stage values ─▶ lines in the log ─▶ link values to their names ─▶ `done` in the log ─▶ unstage
//!       sync             sync                   sync folders
//! ```
//!
//! A value gets its name only when it is complete and in the log, and keeps it. Confirmed values are durable, with
//! or without `done`: recovery checks the values of lines that no `done` follows.

use std::collections::BTreeSet;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::deletion;
use super::disk::{Disk, Kind};
use super::known::{Known, count};
use super::layout::{
    IoContext, Layout, Location, check_column, damaged, entry, none_if_missing, ok_if_exists, replace, stage,
};
use super::log::{self, Cells, Checksum, LoggedEntry};
use super::recovery::{self, Opened};
use crate::declare::Name;
use crate::error::shown;
use crate::store::thread::NewCell;
use crate::store::worker::Backend;
use crate::store::{Entry, Put, StoreError, StoredSteps};

/// The most bytes of a definition. A damaged file of any size must not fill the memory.
const MAX_DEFINITION: usize = 1 << 26;

/// An open folder.
pub(crate) struct FileBackend<D: Disk> {
    disk: D,
    layout: Layout,
    lock: D::Lock,
    log: D::File,
    cells: Cells,
    /// As it is written.
    known: Known,
    /// Whether a definition is stored.
    is_defined: bool,
    /// Whether a write has failed or is under way, so that `cells` may not be what is stored.
    is_failed: bool,
    /// The name of the next staged file.
    staged: usize,
}

impl<D: Disk> Backend for FileBackend<D> {
    type Location = Location<D>;

    fn open(location: &Location<D>) -> Result<Self, StoreError> {
        let Opened { layout, lock, log, cells, known, is_defined } = recovery::open(location)?;
        let disk = location.disk.clone();
        let mut backend =
            Self { disk, layout, lock, log, cells, known, is_defined, is_failed: false, staged: 0 };
        backend.update_known();
        Ok(backend)
    }

    fn definition(&mut self) -> Result<Option<String>, StoreError> {
        let path = self.layout.definition();
        // With its first line, which has a length and a checksum.
        let limit = MAX_DEFINITION as u64 + 64;
        let Some(bytes) = none_if_missing(self.disk.read(&path, limit)).context("reading", &path)? else {
            return Ok(None);
        };
        let text = String::from_utf8(bytes).ok();
        let with_checksum = text.as_deref().and_then(|text| text.split_once('\n'));
        match with_checksum {
            Some((checksum, text)) if Checksum::parse(checksum) == Some(Checksum::of(text.as_bytes())) => {
                Ok(Some(text.to_owned()))
            }
            _ => Err(damaged(&path, "it is not as it was written")),
        }
    }

    fn define(&mut self, definition: &str) -> Result<(), StoreError> {
        self.is_failed = true;
        if definition.len() > MAX_DEFINITION {
            return Err(StoreError::other(format!("a definition has at most {MAX_DEFINITION} bytes")));
        }
        self.check_root()?;
        let with_checksum = format!("{}\n{definition}", Checksum::of(definition.as_bytes()));
        let staged = self.stage(with_checksum.as_bytes())?;
        replace(&self.disk, &self.layout, &staged, &self.layout.definition())?;
        self.is_failed = false;
        // Later definitions change nothing here.
        if !std::mem::replace(&mut self.is_defined, true) {
            self.update_known();
        }
        Ok(())
    }

    fn stored_steps(&mut self, column: &Name) -> Result<StoredSteps, StoreError> {
        Ok(self.cells.get(column).into_iter().flat_map(|steps| steps.keys().copied()).collect())
    }

    fn load(&mut self, column: &Name, steps: Range<usize>) -> Result<Vec<(usize, Entry)>, StoreError> {
        // `BTreeMap::range` panics if a range ends before it begins.
        let Some(cells) = self.cells.get(column).filter(|_| !steps.is_empty()) else { return Ok(Vec::new()) };
        let mut values = cells.range(steps.clone()).filter(|(_, logged)| logged.value.is_some());
        if let Some((first, _)) = values.next() {
            check_column(&self.disk, &self.layout, column, *first)?;
        }
        let entry = |(step, logged): (&usize, &LoggedEntry)| {
            Ok((*step, entry(&self.disk, &self.layout, column, *step, logged)?))
        };
        cells.range(steps).map(entry).collect()
    }

    fn put(&mut self, cells: Vec<NewCell>) -> Result<Vec<Put>, StoreError> {
        let mut taken = BTreeSet::new();
        // Before `store`, which adds to `cells`. Of two entries for one cell in a batch the first one wins.
        let is_new: Vec<bool> = (cells.iter())
            .map(|cell| {
                self.logged(&cell.column, cell.step).is_none() && taken.insert((&cell.column, cell.step))
            })
            .collect();
        let new: Vec<&NewCell> =
            cells.iter().zip(&is_new).filter(|(_, new)| **new).map(|(cell, _)| cell).collect();
        if !new.is_empty() {
            self.is_failed = true;
            self.check_root()?;
            self.store(&new)?;
            self.is_failed = false;
        }
        let put = |(cell, new): (&NewCell, bool)| match self.logged(&cell.column, cell.step) {
            Some(logged) if !new => {
                Ok(Put::Exists(entry(&self.disk, &self.layout, &cell.column, cell.step, logged)?))
            }
            _ => Ok(Put::Stored),
        };
        cells.iter().zip(is_new).map(put).collect()
    }

    fn delete(location: &Location<D>) -> Result<(), StoreError> {
        deletion::delete(location)
    }
}

impl<D: Disk> FileBackend<D> {
    fn logged(&self, column: &Name, step: usize) -> Option<&LoggedEntry> {
        self.cells.get(column)?.get(&step)
    }

    /// Writes what is known by now. A failure does no harm: then less is known when the store is opened again.
    fn update_known(&mut self) {
        let known = Known { cells: count(&self.cells), is_defined: self.is_defined };
        if known != self.known {
            let staged = self.next_staged();
            if known.write(&self.disk, &self.layout, &staged).is_ok() {
                self.known = known;
            }
        }
    }

    /// Fails if the folder was moved or replaced, which its path does not show.
    fn check_root(&self) -> Result<(), StoreError> {
        let path = self.layout.lock();
        match none_if_missing(self.disk.is_locked_by(&path, &self.lock)).context("looking at", &path)? {
            Some(true) => Ok(()),
            Some(false) => Err(unwritable(self.layout.root(), "it was replaced by another folder")),
            None => Err(unwritable(self.layout.root(), "it is missing")),
        }
    }

    /// Stores cells that are not stored yet, no two of them the same.
    fn store(&mut self, cells: &[&NewCell]) -> Result<(), StoreError> {
        let columns: BTreeSet<&Name> =
            cells.iter().filter(|cell| is_value(cell)).map(|cell| &cell.column).collect();
        self.make_columns(&columns)?;
        let mut lines = String::new();
        let mut links = Vec::new();
        let mut logged = Vec::with_capacity(cells.len());
        for NewCell { column, step, entry } in cells.iter().copied() {
            if let Some(value) = &entry.value {
                links.push((self.stage(value.as_bytes())?, self.layout.value(column, *step)));
            }
            let entry = LoggedEntry::of(entry);
            lines.push_str(&log::cell(column, *step, &entry));
            logged.push((column, *step, entry));
        }
        // A crash from here on leaves lines without confirmed values, which recovery keeps or drops.
        self.append(&lines)?;
        self.disk.sync(&self.log).context("writing", &self.layout.cells())?;
        // The lines are durable by now: a file without a line looks as if a person had added it. A link,
        // unlike a rename, fails if the name exists, so a file that appeared meanwhile is not overwritten.
        for (staged, value) in &links {
            self.disk.link(staged, value).context("making", value)?;
        }
        for column in columns {
            let folder = self.layout.column(column);
            self.disk.sync_path(&folder).context("writing", &folder)?;
        }
        for (column, step, entry) in logged {
            self.cells.entry(column.clone()).or_default().insert(step, entry);
        }
        // Not synced: without this line, recovery compares the values with their lines.
        self.append(&log::done(count(&self.cells)))?;
        for (staged, _) in links {
            // A failure does no harm: recovery removes staged files.
            let _ = self.disk.remove(&staged);
        }
        Ok(())
    }

    /// Creates the folders of columns, and makes them durable.
    fn make_columns(&self, columns: &BTreeSet<&Name>) -> Result<(), StoreError> {
        let mut made = false;
        for column in columns {
            let folder = self.layout.column(column);
            // A folder that holds a value is durable already. If it is missing, values are lost.
            if !self
                .cells
                .get(*column)
                .is_some_and(|steps| steps.values().any(|logged| logged.value.is_some()))
            {
                ok_if_exists(self.disk.create_dir(&folder)).context("making", &folder)?;
                made = true;
            }
            // Through a link, values would get into a folder that is not the store's.
            if self.disk.kind(&folder).context("looking at", &folder)? != Kind::Folder {
                return Err(unwritable(&folder, "it is not a folder"));
            }
        }
        if made {
            let root = self.layout.root();
            self.disk.sync_path(root).context("writing", root)?;
        }
        Ok(())
    }

    fn stage(&mut self, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let path = self.next_staged();
        stage(&self.disk, &path, bytes)?;
        Ok(path)
    }

    /// The path of the next staged file.
    fn next_staged(&mut self) -> PathBuf {
        let path = self.layout.staged(self.staged);
        self.staged += 1;
        path
    }

    fn append(&mut self, lines: &str) -> Result<(), StoreError> {
        self.log.write_all(lines.as_bytes()).context("writing", &self.layout.cells())
    }
}

impl<D: Disk> Drop for FileBackend<D> {
    fn drop(&mut self) {
        // While it is locked, and in no other folder.
        if !self.is_failed && self.known.cells != count(&self.cells) && self.check_root().is_ok() {
            self.update_known();
        }
    }
}

fn is_value(cell: &NewCell) -> bool {
    !cell.entry.is_skipped()
}

/// The error of a folder that was moved, replaced or removed.
fn unwritable(path: &Path, reason: &str) -> StoreError {
    StoreError::other(format!("{} cannot be written to: {reason}", shown(path)))
}
