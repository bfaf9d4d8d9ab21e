//! Opens and recovers a file store, or verifies it. Opening takes the lock, creates a new store, and updates the log
//! for interrupted writes and for values that were added by hand.
//!
//! The log is replaced as a whole, so a crash during recovery is the same as one before or after it.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::deletion;
use super::disk::Disk;
use super::format::{FORMAT, StoreFormat, clear, lock};
use super::known::{ADOPT, KnownSteps, count, is_defined};
use super::layout::{
    FolderLocation, IoContext, StoreFolder, check_column, check_folder, corrupt, damaged, entry,
    none_if_missing, ok_if_exists, replace, stage, text,
};
use super::listing::{Adoption, Unlogged, list};
use super::log::{self, Cells, Checksum, Log, LoggedEntry};
use super::own_files::OwnFiles;
use crate::declare::Name;
use crate::store::{Defect, StoreError};

/// The most bytes of a file that is added by hand. A file of any size must not fill the memory.
const MAX_ADOPTED: u64 = 1 << 26;

/// The most attempts to lock a folder that others delete.
const ATTEMPTS: usize = 8;

/// A store that was opened and recovered.
pub(super) struct Opened<D: Disk> {
    pub(super) layout: StoreFolder,
    pub(super) own: OwnFiles<D>,
    /// The stored cells, with the adopted ones.
    pub(super) cells: Cells,
    /// The cells of files that were added by hand, which have no lines yet.
    pub(super) adopted: Vec<(Name, usize)>,
    /// The content of the file `known`.
    pub(super) known: KnownSteps,
    pub(super) is_defined: bool,
}

pub(super) fn open<D: Disk>(location: &FolderLocation<D>) -> Result<Opened<D>, StoreError> {
    let disk = location.disk.clone();
    let (layout, lock) = enter(&disk, &location.path)?;
    // Cleared under the lock, since a live owner still needs the staged files.
    let staging = clear(&disk, &layout)?;
    // Read again, under the lock: another process may have created, upgraded or deleted the store meanwhile.
    let found = StoreFormat::read(&disk, &layout)?;
    if found == StoreFormat::Deleted {
        deletion::finish(&disk, &layout)?;
    }
    if matches!(found, StoreFormat::Missing | StoreFormat::Deleted) {
        make(&disk, &layout)?;
    }
    // The last owner may have died between writing and syncing.
    disk.sync_path(layout.own()).context("writing", layout.own())?;
    let known = KnownSteps::read(&disk, &layout)?;
    let is_defined = is_defined(&disk, &layout)?;
    let (cells, adopted) = recover(&disk, &layout, known, is_defined)?;
    known.check_definition(&layout, is_defined, count(&cells))?;
    // Upgraded after recovery, so a store that cannot be recovered stays readable by the version that wrote it.
    if matches!(found, StoreFormat::Known(known) if known < FORMAT) {
        upgrade(&disk, &layout)?;
    }
    // Opened after recovery and not before, since recovery may replace the file at this path.
    let own = OwnFiles::new(&disk, &layout, lock, staging)?;
    Ok(Opened { layout, own, cells, adopted, known, is_defined })
}

/// Takes the lock of the folder, and creates a missing folder.
fn enter<D: Disk>(disk: &D, path: &Path) -> Result<(StoreFolder, D::Lock), StoreError> {
    let mut attempts = 0;
    loop {
        // The format is read first, since a store of a newer version must not be changed.
        let found = match none_if_missing(disk.canonical(path)).context("looking for", path)? {
            Some(root) => StoreFormat::read(disk, &StoreFolder::new(root))?,
            None => StoreFormat::Missing,
        };
        if found == StoreFormat::Missing {
            make_root(disk, path)?;
        }
        attempts += 1;
        match lock_folder(disk, path) {
            // A deletion removed the folder meanwhile.
            Err(StoreError::Io { source, .. })
                if source.kind() == io::ErrorKind::NotFound && attempts < ATTEMPTS => {}
            entered => return entered,
        }
    }
}

fn lock_folder<D: Disk>(disk: &D, path: &Path) -> Result<(StoreFolder, D::Lock), StoreError> {
    // Links are resolved once, so a later change of a link does not move an open store.
    let layout = StoreFolder::new(disk.canonical(path).context("looking for", path)?);
    ok_if_exists(disk.create_dir(layout.own())).context("making", layout.own())?;
    check_folder(disk, layout.own())?;
    let lock = lock(disk, &layout)?;
    Ok((layout, lock))
}

/// Creates the folder and the parents, and makes all durable.
fn make_root<D: Disk>(disk: &D, path: &Path) -> Result<(), StoreError> {
    let Some(parent) = path.parent() else { return Ok(()) };
    // The parent of `chats` is the empty path, which cannot be opened.
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let is_there = none_if_missing(disk.canonical(path)).context("looking for", path)?.is_some();
    if !is_there {
        make_root(disk, parent)?;
        ok_if_exists(disk.create_dir(path)).context("making", path)?;
    }
    // Synced also if the folder existed: the process that made the folder may have died before the sync.
    match disk.sync_path(parent) {
        // The folder existed, and belongs to another user.
        Err(error) if is_there && error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        synced => synced.context("writing", parent),
    }
}

/// Creates the files of a new store. The format comes last: with a format, the store exists.
fn make<D: Disk>(disk: &D, layout: &StoreFolder) -> Result<(), StoreError> {
    disk.sync_path(layout.root()).context("writing", layout.root())?;
    let path = layout.cells();
    let empty = log::write(&Cells::new());
    match none_if_missing(disk.read(&path, empty.len() as u64 + 1)).context("reading", &path)? {
        None => {
            // An earlier version deleted a flow and left this file: the next flow begins without cells.
            none_if_missing(disk.remove(&layout.known())).context("removing", &layout.known())?;
            publish(disk, layout, empty.as_bytes(), &path)?;
        }
        // The process that created the log died before writing the format.
        Some(bytes) if bytes == empty.as_bytes() => {}
        // There were cells, so there was a format. A new store in this place would hide them.
        Some(_) => return Err(damaged(&layout.format(), "it is missing")),
    }
    disk.sync_path(layout.own()).context("writing", layout.own())?;
    publish(disk, layout, format!("{FORMAT}\n").as_bytes(), &layout.format())
}

/// Upgrades from format 1, whose log had no receipts. Nothing else differs.
fn upgrade<D: Disk>(disk: &D, layout: &StoreFolder) -> Result<(), StoreError> {
    let staged = layout.staged(0);
    stage(disk, &staged, format!("{FORMAT}\n").as_bytes())?;
    replace(disk, layout, &staged, &layout.format())
}

/// Creates a file that is complete from the beginning. Fails on a file system without hard links, before any value is
/// stored.
fn publish<D: Disk>(disk: &D, layout: &StoreFolder, bytes: &[u8], path: &Path) -> Result<(), StoreError> {
    let staged = layout.staged(0);
    stage(disk, &staged, bytes)?;
    disk.link(&staged, path).context("making", path)?;
    disk.remove(&staged).context("removing", &staged)
}

/// Reads the log.
fn read_log<D: Disk>(disk: &D, layout: &StoreFolder) -> Result<Log, StoreError> {
    let path = layout.cells();
    let damaged = |reason: String| damaged(&path, format!("{reason}; restore it, or {ADOPT}"));
    let bytes = none_if_missing(disk.reader(&path)).context("reading", &path)?;
    let bytes = bytes.ok_or_else(|| damaged("it is missing".into()))?;
    Log::read(bytes).context("reading", &path)?.map_err(damaged)
}

/// Finds out which cells are stored, and replaces a log that differs. Returns these cells, and the adopted ones.
fn recover<D: Disk>(
    disk: &D,
    layout: &StoreFolder,
    known: KnownSteps,
    is_defined: bool,
) -> Result<(Cells, Vec<(Name, usize)>), StoreError> {
    let log = read_log(disk, layout)?;
    let is_whole = log.is_whole();
    let adoption = Adoption::of(&log, is_defined);
    let Log { mut cells, unconfirmed, .. } = log;
    let mut columns = BTreeSet::new();
    for (column, step, logged) in unconfirmed {
        // The folder is checked before the value is looked for: a value that is not found would be forgotten.
        if logged.value.is_some() {
            check_column(disk, layout, &column, step)?;
        }
        match entry(disk, layout, &column, step, &logged) {
            Ok(_) => drop(cells.entry(column.clone()).or_default().insert(step, logged)),
            // The value was never confirmed, so it was never stored.
            Err(StoreError::Corrupt { .. }) => {}
            Err(error) => return Err(error),
        }
        columns.insert(column);
    }
    // Checked before files without a line are adopted: such files may be values whose lines are missing.
    known.check_cells(layout, count(&cells))?;
    let Unlogged { adopted, wrong } = Unlogged::find(layout, list(disk, layout)?, &cells, adoption);
    if let Some(error) = wrong.into_iter().next() {
        return Err(error);
    }
    // Read before the log is replaced: an error leaves the store as it was.
    let values = adopted.iter().map(|(column, step)| adopt(disk, layout, column, *step));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    if !is_whole {
        rewrite(disk, layout, &layout.staged(0), &columns, &cells)?;
    }
    for ((column, step), logged) in adopted.iter().zip(values) {
        cells.entry(column.clone()).or_default().insert(*step, logged);
    }
    Ok((cells, adopted))
}

/// Replaces the log by one of these cells. Values of these columns may not be durable yet.
pub(super) fn rewrite<D: Disk>(
    disk: &D,
    layout: &StoreFolder,
    staged: &Path,
    columns: &BTreeSet<Name>,
    cells: &Cells,
) -> Result<(), StoreError> {
    // The names in these folders may not be durable, and the new log confirms the values.
    for folder in columns.iter().map(|column| layout.column(column)).chain([layout.root().to_owned()]) {
        // A column that has only skipped cells has no folder.
        none_if_missing(disk.sync_path(&folder)).context("writing", &folder)?;
    }
    // A new file, since nobody knows how much of the old file is durable.
    stage(disk, staged, log::write(cells).as_bytes())?;
    replace(disk, layout, staged, &layout.cells())
}

/// The entry of a file that was added by hand. The next write adds the line: until then the file may be wrong, and be
/// taken away again.
fn adopt<D: Disk>(
    disk: &D,
    layout: &StoreFolder,
    column: &Name,
    step: usize,
) -> Result<LoggedEntry, StoreError> {
    let path = layout.value(column, step);
    let bytes = disk.read(&path, MAX_ADOPTED + 1).context("reading", &path)?;
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
    let FolderLocation { disk, path } = location;
    let layout = StoreFolder::new(disk.canonical(path).context("looking for", path)?);
    if matches!(StoreFormat::read(disk, &layout)?, StoreFormat::Missing | StoreFormat::Deleted) {
        return Ok(Vec::new());
    }
    // Read in this order: the line of a value is written before its name, and the number of cells afterwards.
    let known = KnownSteps::read(disk, &layout)?;
    let files = list(disk, &layout)?;
    let is_defined = is_defined(disk, &layout)?;
    let mut log = read_log(disk, &layout)?;
    let adoption = Adoption::of(&log, is_defined);
    let mut wrong = Vec::new();
    for (column, steps) in &log.cells {
        let mut values = steps.iter().filter(|(_, logged)| logged.value.is_some());
        let checked = values.next().map_or(Ok(()), |(first, _)| check_column(disk, &layout, column, *first));
        if let Err(error) = checked {
            wrong.push(error);
            continue;
        }
        let entries = steps.iter().map(|(step, logged)| entry(disk, &layout, column, *step, logged));
        wrong.extend(entries.filter_map(Result::err));
    }
    // A write of these cells may be under way, so the values are not checked, and the files count as logged.
    for (column, step, logged) in log.unconfirmed {
        log.cells.entry(column).or_default().insert(step, logged);
    }
    known.check_cells(&layout, count(&log.cells))?;
    known.check_definition(&layout, is_defined, count(&log.cells))?;
    wrong.extend(Unlogged::find(&layout, files, &log.cells, adoption).wrong);
    let defect = |error| match error {
        StoreError::Corrupt { column, step, reason } => Ok(Defect { column, step, reason }),
        other => Err(other),
    };
    wrong.into_iter().map(defect).collect()
}
