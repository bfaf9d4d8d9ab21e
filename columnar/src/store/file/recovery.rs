//! Opens and recovers a file store, or verifies it. Opening takes the lock, creates a new store, and updates the log
//! for interrupted writes and for values that were added by hand.
//!
//! The log is replaced as a whole, so a crash during recovery is the same as one before or after it.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::attachments::AttachmentFiles;
use super::deletion;
use super::disk::Disk;
use super::format::{FORMAT, StoreFormat, clear, has_empty_log, lock};
use super::known::{ADOPT, KnownSteps, count};
use super::layout::{
    FolderLocation, IoContext, StoreFolder, corrupt, create_dir, damaged, none_if_missing, text,
};
use super::listing::{Adoption, Unlogged, list};
use super::log::{self, Cells, Checksum, Log, LoggedEntry};
use super::own_files::OwnFiles;
use crate::declare::Name;
use crate::declare::error::shown;
use crate::store::{Defect, StoreError};

/// The most bytes of a file that is added by hand. A file of any size must not fill the memory.
const MAX_ADOPTED: u64 = 1 << 26;

/// The most attempts to lock a folder that others delete.
const ATTEMPTS: usize = 8;

/// A store that was opened and recovered.
pub(super) struct Opened<D: Disk> {
    pub(super) folder: StoreFolder<D>,
    /// The files that the owner writes; `None` for a reader.
    pub(super) own: Option<OwnFiles<D>>,
    /// The stored cells, with the adopted ones.
    pub(super) cells: Cells,
    /// The cells of files that were added by hand, which have no lines in the log yet.
    pub(super) adopted: Vec<(Name, usize)>,
    /// The content of the file `known`.
    pub(super) known: KnownSteps,
    /// Whether a definition is stored.
    pub(super) is_defined: bool,
}

impl<D: Disk> Opened<D> {
    /// Fails if these files are not the ones that were opened, or were opened by a reader.
    pub(super) fn check_own(&self) -> Result<(), StoreError> {
        self.own.as_ref().ok_or(StoreError::ReadOnly)?.check(&self.folder)
    }
}

pub(super) fn open<D: Disk>(location: &FolderLocation<D>) -> Result<Opened<D>, StoreError> {
    let (folder, lock) = enter(location)?;
    // Cleared under the lock, since a live owner still needs the staged files.
    let staging = clear(&folder)?;
    // Read again, under the lock: another process may have created, upgraded or deleted the store meanwhile.
    let found = StoreFormat::read(&folder)?;
    if found == StoreFormat::Deleted {
        deletion::finish(&folder)?;
    }
    if matches!(found, StoreFormat::Missing | StoreFormat::Deleted) {
        make(&folder)?;
    }
    // The last owner may have died between writing and syncing.
    folder.sync(&folder.own)?;
    let known = KnownSteps::read(&folder)?;
    let is_defined = folder.status(&folder.definition)?.is_some();
    let (cells, adopted) = recover(&folder, known, is_defined)?;
    known.check_definition(&folder, is_defined, count(&cells))?;
    // Upgraded from format 1, whose log had no receipts; nothing else differs. Upgraded after recovery, so a store that
    // cannot be recovered stays readable by the version that wrote it.
    if matches!(found, StoreFormat::Known(known) if known < FORMAT) {
        folder.replace(&folder.format, &folder.staged(0), format!("{FORMAT}\n").as_bytes())?;
    }
    // Opened after recovery and not before, since recovery may replace the file at this path.
    let own = OwnFiles::new(&folder, lock, staging)?;
    Ok(Opened { folder, own: Some(own), cells, adopted, known, is_defined })
}

/// Opens a store to be read. The owner may write meanwhile.
pub(super) fn open_to_read<D: Disk>(location: &FolderLocation<D>) -> Result<Opened<D>, StoreError> {
    let folder = location.folder().context("looking for", &location.path)?;
    if matches!(StoreFormat::read(&folder)?, StoreFormat::Missing | StoreFormat::Deleted) {
        return Err(StoreError::absent(&shown(&folder.root)));
    }
    // Read before the log: the number of cells is written after their lines.
    let known = KnownSteps::read(&folder)?;
    let is_defined = folder.status(&folder.definition)?.is_some();
    let Log { mut cells, unconfirmed, .. } = read_log(&folder)?;
    let mut gaps = BTreeSet::new();
    for (column, step, logged) in unconfirmed {
        // The next value of a write that is under way or was interrupted has no file yet, and then no later one counts.
        if !gaps.contains(&column) && folder.entry(&column, step, &logged).is_ok() {
            cells.entry(column).or_default().insert(step, logged);
        } else {
            gaps.insert(column);
        }
    }
    known.check_cells(&folder, count(&cells))?;
    known.check_definition(&folder, is_defined, count(&cells))?;
    Ok(Opened { folder, own: None, cells, adopted: Vec::new(), known, is_defined })
}

/// Takes the lock of the folder, and creates a missing folder.
fn enter<D: Disk>(location: &FolderLocation<D>) -> Result<(StoreFolder<D>, D::Lock), StoreError> {
    let FolderLocation { disk, path } = location;
    let mut attempts = 0;
    loop {
        // The format is read first, since a store of a newer version must not be changed.
        let found = match none_if_missing(location.folder()).context("looking for", path)? {
            Some(folder) => StoreFormat::read(&folder)?,
            None => StoreFormat::Missing,
        };
        if found == StoreFormat::Missing {
            make_root(disk, path)?;
        }
        attempts += 1;
        match lock_folder(location) {
            // A deletion removed the folder meanwhile.
            Err(StoreError::Io { source, .. })
                if source.kind() == io::ErrorKind::NotFound && attempts < ATTEMPTS => {}
            entered => return entered,
        }
    }
}

fn lock_folder<D: Disk>(location: &FolderLocation<D>) -> Result<(StoreFolder<D>, D::Lock), StoreError> {
    let folder = location.folder().context("looking for", &location.path)?;
    create_dir(&folder.disk, &folder.own)?;
    folder.check_folder(&folder.own)?;
    let lock = lock(&folder)?;
    Ok((folder, lock))
}

/// Creates the folder and the parents, and makes all durable.
fn make_root<D: Disk>(disk: &D, path: &Path) -> Result<(), StoreError> {
    let Some(parent) = path.parent() else { return Ok(()) };
    // The parent of `chats` is the empty path, which cannot be opened.
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let is_there = none_if_missing(disk.canonical(path)).context("looking for", path)?.is_some();
    if !is_there {
        make_root(disk, parent)?;
        create_dir(disk, path)?;
    }
    // Synced also if the folder existed: the process that made the folder may have died before the sync.
    match disk.sync_path(parent) {
        // The folder existed, and belongs to another user.
        Err(error) if is_there && error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        synced => synced.context("writing", parent),
    }
}

/// Creates the files of a new store. The format comes last: with a format, the store exists.
fn make<D: Disk>(folder: &StoreFolder<D>) -> Result<(), StoreError> {
    folder.sync(&folder.root)?;
    if !has_empty_log(folder)? {
        // An earlier version deleted a flow and left this file: the next flow begins without cells.
        folder.remove(&folder.known)?;
        publish(folder, log::write(&Cells::new()).as_bytes(), &folder.cells)?;
    }
    folder.sync(&folder.own)?;
    publish(folder, format!("{FORMAT}\n").as_bytes(), &folder.format)
}

/// Creates a file that is complete from the beginning. Fails on a file system without hard links, before any value is
/// stored.
fn publish<D: Disk>(folder: &StoreFolder<D>, bytes: &[u8], path: &Path) -> Result<(), StoreError> {
    let staged = folder.staged(0);
    folder.stage(&staged, bytes)?;
    folder.disk.link(&staged, path).context("making", path)?;
    folder.remove(&staged)
}

/// Reads the log.
fn read_log<D: Disk>(folder: &StoreFolder<D>) -> Result<Log, StoreError> {
    let path = &folder.cells;
    let log = match none_if_missing(folder.disk.reader(path)).context("reading", path)? {
        Some(bytes) => Log::read(bytes).context("reading", path)?,
        None => Err("it is missing".into()),
    };
    log.map_err(|reason| damaged(path, format!("{reason}; restore it, or {ADOPT}")))
}

/// Finds out which cells are stored, and replaces a log that differs. Returns these cells, and the adopted ones.
fn recover<D: Disk>(
    folder: &StoreFolder<D>,
    known: KnownSteps,
    is_defined: bool,
) -> Result<(Cells, Vec<(Name, usize)>), StoreError> {
    let log = read_log(folder)?;
    let is_whole = log.is_whole();
    let adoption = Adoption::of(&log, is_defined);
    let Log { mut cells, unconfirmed, .. } = log;
    let mut columns = BTreeSet::new();
    let mut gaps = BTreeSet::new();
    for (column, step, logged) in unconfirmed {
        // A loss of power keeps any names of a write. A source has no gaps, so the values after a lost one are lost too.
        if gaps.contains(&column) {
            folder.remove(&folder.value(&column, step))?;
            continue;
        }
        // The folder is checked before the value is looked for: a value that is not found would be forgotten.
        if logged.value.is_some() {
            folder.check_column(&column, step)?;
        }
        match folder.entry(&column, step, &logged) {
            Ok(_) => drop(cells.entry(column.clone()).or_default().insert(step, logged)),
            // The value was never confirmed, so it was never stored.
            Err(StoreError::Corrupt { .. }) => drop(gaps.insert(column.clone())),
            Err(error) => return Err(error),
        }
        columns.insert(column);
    }
    // Checked before files without a line are adopted: such files may be values whose lines are missing.
    known.check_cells(folder, count(&cells))?;
    let Unlogged { adopted, wrong } = Unlogged::find(folder, list(folder)?, &cells, adoption);
    if let Some(error) = wrong.into_iter().next() {
        return Err(error);
    }
    // Read before the log is replaced: an error leaves the store as it was.
    let values = adopted.iter().map(|(column, step)| adopt(folder, column, *step));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    if !is_whole {
        rewrite(folder, &folder.staged(0), &columns, &cells)?;
    }
    for ((column, step), logged) in adopted.iter().zip(values) {
        cells.entry(column.clone()).or_default().insert(*step, logged);
    }
    Ok((cells, adopted))
}

/// Replaces the log by one of these cells. Values of these columns may not be durable yet.
pub(super) fn rewrite<D: Disk>(
    folder: &StoreFolder<D>,
    staged: &Path,
    columns: &BTreeSet<Name>,
    cells: &Cells,
) -> Result<(), StoreError> {
    // The names in these folders may not be durable, and the new log confirms the values.
    for path in columns.iter().map(|column| folder.column(column)).chain([folder.root.clone()]) {
        // A column that has only skipped cells has no folder.
        none_if_missing(folder.disk.sync_path(&path)).context("writing", &path)?;
    }
    // A new file, since nobody knows how much of the old file is durable.
    folder.replace(&folder.cells, staged, log::write(cells).as_bytes())
}

/// The entry of a file that was added by hand. The next write adds the line: until then the file may be wrong, and be
/// taken away again.
fn adopt<D: Disk>(folder: &StoreFolder<D>, column: &Name, step: usize) -> Result<LoggedEntry, StoreError> {
    let path = folder.value(column, step);
    let bytes = folder.disk.read(&path, MAX_ADOPTED + 1).context("reading", &path)?;
    if bytes.len() as u64 > MAX_ADOPTED {
        let reason = "has more than 64 MiB, and a file that is added by hand has at most that; move it away";
        return Err(corrupt(column, step, &path, reason));
    }
    let checksum = Checksum::of(&bytes);
    text(bytes).ok_or_else(|| corrupt(column, step, &path, "is not UTF-8; write it in UTF-8"))?;
    Ok(LoggedEntry { value: Some(checksum), receipt: None })
}

/// Verifies a store without a change: returns the defects that opening the store or loading the cells would report.
/// The owner may write meanwhile.
pub(super) fn verify<D: Disk>(location: &FolderLocation<D>) -> Result<Vec<Defect>, StoreError> {
    let folder = location.folder().context("looking for", &location.path)?;
    if matches!(StoreFormat::read(&folder)?, StoreFormat::Missing | StoreFormat::Deleted) {
        return Ok(Vec::new());
    }
    // Read in this order: the line of a value is written before its name, and the number of cells afterwards.
    let known = KnownSteps::read(&folder)?;
    let files = list(&folder)?;
    let is_defined = folder.status(&folder.definition)?.is_some();
    let mut log = read_log(&folder)?;
    let adoption = Adoption::of(&log, is_defined);
    let mut wrong = Vec::new();
    let mut attachments = AttachmentFiles::default();
    for (column, steps) in &log.cells {
        let first = steps.iter().find(|(_, logged)| logged.value.is_some());
        if let Some(error) = first.and_then(|(first, _)| folder.check_column(column, *first).err()) {
            wrong.push(error);
            continue;
        }
        for (step, logged) in steps {
            let entry = folder.entry(column, *step, logged);
            wrong.extend(entry.and_then(|entry| attachments.check(&folder, column, *step, &entry)).err());
        }
    }
    // A write of these cells may be under way, so the values are not checked, and the files count as logged.
    for (column, step, logged) in log.unconfirmed {
        log.cells.entry(column).or_default().insert(step, logged);
    }
    known.check_cells(&folder, count(&log.cells))?;
    known.check_definition(&folder, is_defined, count(&log.cells))?;
    wrong.extend(Unlogged::find(&folder, files, &log.cells, adoption).wrong);
    let defects = wrong.into_iter().map(|error| match error {
        StoreError::Corrupt { column, step, reason } => Ok(Defect { column, step, reason }),
        other => Err(other),
    });
    defects.collect()
}
