//! The backend of an open file store, which reads values and stores batches of cells.
//!
//! ```text
//! stage values ─▶ lines in the log ─▶ link values to their names ─▶ `done` in the log ─▶ unstage
//!       sync             sync                   sync folders
//! ```
//!
//! A value gets a name only when it is complete and in the log, and keeps the name. Confirmed values are durable, with
//! or without `done`: recovery checks the values of lines that no `done` follows.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::attachments::AttachmentFiles;
use super::deletion;
use super::disk::{Disk, FileKind};
use super::known::{KnownSteps, count};
use super::layout::{FolderLocation, IoContext, create_dir, damaged};
use super::log::{self, Checksum, LoggedEntry};
use super::own_files::unwritable;
use super::recovery::{self, Opened, rewrite};
use crate::declare::Name;
use crate::store::thread::NewCell;
use crate::store::worker::Backend;
use crate::store::{Put, StepEntries, StoreError, StoredSteps};

/// The most bytes of a definition. A damaged file of any size must not fill the memory.
const MAX_DEFINITION: usize = 1 << 26;

/// An open folder.
pub(crate) struct FileBackend<D: Disk> {
    open: Opened<D>,
    /// Whether a write has failed or is under way, so that `open.cells` may not be what is stored.
    is_failed: bool,
    /// The name of the next staged file.
    staged: usize,
    attachments: AttachmentFiles,
}

impl<D: Disk> Backend for FileBackend<D> {
    type Location = FolderLocation<D>;

    fn open(location: &FolderLocation<D>) -> Result<Self, StoreError> {
        let open = recovery::open(location)?;
        let mut backend = Self { open, is_failed: false, staged: 0, attachments: AttachmentFiles::default() };
        backend.update_known();
        Ok(backend)
    }

    fn open_to_read(location: &FolderLocation<D>) -> Result<Self, StoreError> {
        let open = recovery::open_to_read(location)?;
        Ok(Self { open, is_failed: false, staged: 0, attachments: AttachmentFiles::default() })
    }

    fn definition(&mut self) -> Result<Option<String>, StoreError> {
        let path = &self.open.folder.definition;
        // The limit counts the first line, too, which has a length and a checksum.
        let Some(bytes) = self.open.folder.read(path, MAX_DEFINITION as u64 + 64)? else { return Ok(None) };
        let text = String::from_utf8(bytes).ok();
        let with_checksum = text.as_deref().and_then(|text| text.split_once('\n'));
        match with_checksum {
            Some((checksum, text)) if Checksum::parse(checksum) == Some(Checksum::of(text.as_bytes())) => {
                Ok(Some(text.to_owned()))
            }
            _ => Err(damaged(path, "it is not as it was written")),
        }
    }

    fn define(&mut self, definition: &str) -> Result<(), StoreError> {
        self.is_failed = true;
        if definition.len() > MAX_DEFINITION {
            return Err(StoreError::other(format!("a definition has at most {MAX_DEFINITION} bytes")));
        }
        self.open.check_own()?;
        self.log_adopted()?;
        let with_checksum = format!("{}\n{definition}", Checksum::of(definition.as_bytes()));
        let staged = self.next_staged();
        let folder = &self.open.folder;
        folder.replace(&folder.definition, &staged, with_checksum.as_bytes())?;
        self.is_failed = false;
        // Later definitions change nothing here.
        if !std::mem::replace(&mut self.open.is_defined, true) {
            self.update_known();
        }
        Ok(())
    }

    fn stored_steps(&mut self, column: &Name) -> Result<StoredSteps, StoreError> {
        Ok(self.open.cells.get(column).into_iter().flat_map(|steps| steps.keys().copied()).collect())
    }

    fn load(&mut self, column: &Name, steps: Range<usize>) -> Result<StepEntries, StoreError> {
        let Opened { folder, cells, .. } = &self.open;
        // `BTreeMap::range` panics if a range ends before it begins.
        let Some(cells) = cells.get(column).filter(|_| !steps.is_empty()) else { return Ok(Vec::new()) };
        let mut values = cells.range(steps.clone()).filter(|(_, logged)| logged.value.is_some());
        if let Some((first, _)) = values.next() {
            folder.check_column(column, *first)?;
        }
        cells.range(steps).map(|(step, logged)| Ok((*step, folder.entry(column, *step, logged)?))).collect()
    }

    fn put(&mut self, cells: Vec<NewCell>) -> Result<Vec<Put>, StoreError> {
        if self.open.own.is_none() {
            return Err(StoreError::ReadOnly);
        }
        let mut taken = BTreeSet::new();
        // Found before `store`, which adds to the cells. Of two entries for one cell in a batch the first one wins.
        let is_new = cells.iter().map(|cell| {
            self.logged(&cell.column, cell.step).is_none() && taken.insert((&cell.column, cell.step))
        });
        let is_new: Vec<bool> = is_new.collect();
        let new: Vec<&NewCell> =
            cells.iter().zip(&is_new).filter(|(_, new)| **new).map(|(cell, _)| cell).collect();
        if !new.is_empty() || !self.open.adopted.is_empty() {
            self.is_failed = true;
            self.open.check_own()?;
            self.log_adopted()?;
            if !new.is_empty() {
                self.store(&new)?;
            }
            self.is_failed = false;
        }
        let puts = cells.iter().zip(is_new).map(|(cell, new)| match self.logged(&cell.column, cell.step) {
            Some(logged) if !new => {
                Ok(Put::Exists(self.open.folder.entry(&cell.column, cell.step, logged)?))
            }
            _ => Ok(Put::Stored),
        });
        puts.collect()
    }

    fn put_blob(&mut self, digest: &str, bytes: &Arc<[u8]>) -> Result<(), StoreError> {
        self.is_failed = true;
        let [format, staged] = [self.next_staged(), self.next_staged()];
        self.open.check_own()?;
        let Self { open: Opened { folder, .. }, attachments, .. } = self;
        attachments.put(folder, [&format, &staged], digest, bytes)?;
        self.is_failed = false;
        Ok(())
    }

    fn load_blob(&mut self, digest: &str) -> Result<Option<Arc<[u8]>>, StoreError> {
        self.attachments.load(&self.open.folder, digest)
    }

    fn delete(location: &FolderLocation<D>) -> Result<(), StoreError> {
        deletion::delete(location)
    }
}

impl<D: Disk> FileBackend<D> {
    fn logged(&self, column: &Name, step: usize) -> Option<&LoggedEntry> {
        self.open.cells.get(column)?.get(&step)
    }

    /// Writes what is known by now. After a failure, less is known when the store is opened again, which does no harm.
    fn update_known(&mut self) {
        let known = KnownSteps { cells: self.logged_cells(), is_defined: self.open.is_defined };
        if known == self.open.known {
            return;
        }
        let staged = self.next_staged();
        if known.write(&self.open.folder, &staged).is_ok() {
            self.open.known = known;
        }
    }

    /// The number of cells in the log.
    fn logged_cells(&self) -> usize {
        count(&self.open.cells) - self.open.adopted.len()
    }

    /// Writes the lines of files that were added by hand, and makes the files durable. A flow that writes has accepted
    /// the files, and its new values may depend on them.
    fn log_adopted(&mut self) -> Result<(), StoreError> {
        if self.open.adopted.is_empty() {
            return Ok(());
        }
        let staged = self.next_staged();
        let Opened { folder, own: Some(own), cells, adopted, .. } = &mut self.open else {
            return Err(StoreError::ReadOnly);
        };
        for (column, step) in adopted.iter() {
            // The program that wrote the file need not have synced it.
            folder.sync(&folder.value(column, *step))?;
        }
        let columns = adopted.iter().map(|(column, _)| column.clone()).collect();
        // The log is replaced as a whole: after a torn line, files without lines are not adopted.
        rewrite(folder, &staged, &columns, cells)?;
        own.open_log(folder)?;
        adopted.clear();
        Ok(())
    }

    /// Stores different cells, none of which is stored yet.
    fn store(&mut self, new: &[&NewCell]) -> Result<(), StoreError> {
        let columns: BTreeSet<&Name> =
            new.iter().filter(|cell| !cell.entry.is_skipped()).map(|cell| &cell.column).collect();
        self.make_columns(&columns)?;
        let mut lines = String::new();
        let mut links = Vec::new();
        let mut logged = Vec::with_capacity(new.len());
        for NewCell { column, step, entry } in new.iter().copied() {
            if let Some(value) = &entry.value {
                let staged = self.next_staged();
                self.open.folder.stage(&staged, value.as_bytes())?;
                links.push((staged, self.open.folder.value(column, *step)));
            }
            let entry = LoggedEntry::of(entry);
            let line = log::cell(column, *step, &entry);
            if line.len() as u64 > log::MAX_LINE {
                let reason = format!("the receipt of `{column}` at step {step} is longer than any receipt");
                return Err(StoreError::other(reason));
            }
            lines.push_str(&line);
            logged.push((column, *step, entry));
        }
        let Opened { folder, own: Some(own), cells, .. } = &mut self.open else {
            return Err(StoreError::ReadOnly);
        };
        // A crash from here on leaves lines without confirmed values, which recovery keeps or drops.
        own.append(folder, &lines)?;
        own.sync(folder)?;
        // Checked again, since writing took a while: without a line, a value would not be confirmed.
        own.check_log(folder)?;
        // The lines are durable by now: a file without a line looks as if a person had added it. A link, unlike a
        // rename, fails if the name exists. So a file that appeared meanwhile is not overwritten.
        for (staged, value) in &links {
            folder.disk.link(staged, value).context("making", value)?;
        }
        for column in columns {
            folder.sync(&folder.column(column))?;
        }
        for (column, step, entry) in logged {
            cells.entry(column.clone()).or_default().insert(step, entry);
        }
        // Not synced: without this line, recovery compares the values with the earlier lines.
        own.append(folder, &log::done(count(cells)))?;
        for (staged, _) in links {
            // A failure does no harm: recovery removes staged files.
            let _ = folder.disk.remove(&staged);
        }
        Ok(())
    }

    /// Creates the folders of columns, and makes them durable.
    fn make_columns(&self, columns: &BTreeSet<&Name>) -> Result<(), StoreError> {
        let Opened { folder, cells, .. } = &self.open;
        let mut made = false;
        for column in columns {
            let path = folder.column(column);
            // A folder that holds a value is durable already. If such a folder is missing, values are lost.
            if cells.get(*column).is_none_or(|steps| steps.values().all(|logged| logged.value.is_none())) {
                create_dir(&folder.disk, &path)?;
                made = true;
            }
            // Through a link, values would get into a folder of somebody else.
            if folder.disk.status(&path).context("looking at", &path)?.kind != FileKind::Folder {
                return Err(unwritable(&path, "it is not a folder"));
            }
        }
        if made { folder.sync(&folder.root) } else { Ok(()) }
    }

    /// The path of the next staged file.
    fn next_staged(&mut self) -> PathBuf {
        let path = self.open.folder.staged(self.staged);
        self.staged += 1;
        path
    }
}

impl<D: Disk> Drop for FileBackend<D> {
    fn drop(&mut self) {
        // Written only while the folder is locked, and into no other folder.
        let is_known = self.open.known.cells == self.logged_cells();
        if !self.is_failed && !is_known && self.open.check_own().is_ok() {
            self.update_known();
        }
    }
}
