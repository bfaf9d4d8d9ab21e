//! How a store in files is opened: becomes the owner, makes what is missing of a new store, and brings the log
//! into line with what became of the last writes, and with values that somebody put there by hand.
//!
//! A crash in the middle of it is the same as one before it, or after it: the log is replaced as a whole.

use std::collections::BTreeSet;
use std::fs::TryLockError;
use std::io;
use std::path::Path;

use super::backend::{FileBackend, Location, corrupt, damaged, entry, replace, stage, text};
use super::disk::{Disk, Kind};
use super::layout::{IoContext, Layout, none_if_missing, ok_if_exists};
use super::listing::{Unlogged, list};
use super::log::{self, Cells, Checksum, Log, LoggedEntry};
use crate::declare::Name;
use crate::store::StoreError;

/// The format that this file and its neighbours write.
pub(super) const FORMAT: u32 = 2;

pub(super) fn open<D: Disk>(location: &Location<D>) -> Result<FileBackend<D>, StoreError> {
    let (disk, path) = (location.disk.clone(), &location.path);
    // What a later version wrote is left as it is, so this comes before everything else.
    let known = match none_if_missing(disk.canonical(path)).context("looking for", path)? {
        Some(root) => format(&disk, &Layout::new(root))?,
        None => None,
    };
    if known.is_none() {
        make_root(&disk, path)?;
    }
    let layout = Layout::new(disk.canonical(path).context("looking for", path)?);
    ok_if_exists(disk.create_dir(layout.own())).context("making", layout.own())?;
    let lock = lock(&disk, &layout)?;
    clear(&disk, &layout)?;
    let known = format(&disk, &layout)?;
    if known.is_none() {
        make(&disk, &layout)?;
    }
    // What is read here may have been written a moment ago, by somebody who did not live to see it durable.
    disk.sync_path(layout.own()).context("writing", layout.own())?;
    let cells = recover(&disk, &layout)?;
    if known.is_some_and(|known| known < FORMAT) {
        upgrade(&disk, &layout)?;
    }
    let log = disk.append(&layout.cells()).context("opening", &layout.cells())?;
    Ok(FileBackend { disk, layout, lock, log, cells, staged: 0 })
}

/// The format, if the store has been made.
pub(super) fn format<D: Disk>(disk: &D, layout: &Layout) -> Result<Option<u32>, StoreError> {
    let path = layout.format();
    let Some(bytes) = none_if_missing(disk.read(&path, 64)).context("reading", &path)? else {
        return Ok(None);
    };
    let number = str::from_utf8(&bytes).ok().and_then(|text| log::number(text.trim_end()));
    match number {
        Some(1..=FORMAT) => Ok(number),
        Some(found) if found > FORMAT => Err(StoreError::Unsupported {
            location: layout.root().display().to_string(),
            found,
            known: FORMAT,
        }),
        _ => Err(damaged(&path, "it is not the number of a format")),
    }
}

fn lock<D: Disk>(disk: &D, layout: &Layout) -> Result<D::Lock, StoreError> {
    let path = layout.lock();
    match disk.lock(&path) {
        Ok(lock) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            Err(StoreError::Locked { location: layout.root().display().to_string() })
        }
        Err(TryLockError::Error(error)) => Err(error).context("locking, which keeps other flows out,", &path),
    }
}

/// Makes the folder, and those that it is in, so that they last.
fn make_root<D: Disk>(disk: &D, path: &Path) -> Result<(), StoreError> {
    let Some(parent) = path.parent() else { return Ok(()) };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let is_there = none_if_missing(disk.canonical(path)).context("looking for", path)?.is_some();
    if !is_there {
        make_root(disk, parent)?;
        ok_if_exists(disk.create_dir(path)).context("making", path)?;
    }
    match disk.sync_path(parent) {
        // The folder was there, and may have been made a moment ago, but not by this process or its like.
        Err(error) if is_there && error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        synced => synced.context("writing", parent),
    }
}

/// Removes what was staged and is not needed any more.
fn clear<D: Disk>(disk: &D, layout: &Layout) -> Result<(), StoreError> {
    let staging = layout.staging();
    ok_if_exists(disk.create_dir(&staging)).context("making", &staging)?;
    for (name, kind) in disk.list(&staging).context("listing", &staging)? {
        if kind == Kind::File && log::number::<usize>(&name).is_some() {
            let path = staging.join(name);
            disk.remove(&path).context("removing", &path)?;
        }
    }
    Ok(())
}

/// Makes what a store consists of. It is one when it has its format, which comes last.
fn make<D: Disk>(disk: &D, layout: &Layout) -> Result<(), StoreError> {
    disk.sync_path(layout.root()).context("writing", layout.root())?;
    let (path, empty) = (layout.cells(), log::write(&Cells::new()));
    match none_if_missing(disk.read(&path, u64::MAX)).context("reading", &path)? {
        None => publish(disk, layout, empty.as_bytes(), &path)?,
        Some(bytes) if bytes == empty.as_bytes() => {}
        Some(_) => return Err(damaged(&layout.format(), "it is not there any more")),
    }
    disk.sync_path(layout.own()).context("writing", layout.own())?;
    publish(disk, layout, format!("{FORMAT}\n").as_bytes(), &layout.format())
}

/// Says that the log may have what it had not in earlier formats. Nothing else is another than it was there.
fn upgrade<D: Disk>(disk: &D, layout: &Layout) -> Result<(), StoreError> {
    let staged = stage(disk, layout, 0, format!("{FORMAT}\n").as_bytes())?;
    replace(disk, layout, &staged, &layout.format())
}

/// Writes a new file that is whole from the beginning. Where files cannot have two names, nothing could ever be
/// stored, and this is where it is found out.
fn publish<D: Disk>(disk: &D, layout: &Layout, bytes: &[u8], path: &Path) -> Result<(), StoreError> {
    let staged = stage(disk, layout, 0, bytes)?;
    disk.link(&staged, path).context("making", path)?;
    disk.remove(&staged).context("removing", &staged)
}

/// The log, as it is.
pub(super) fn read_log<D: Disk>(disk: &D, layout: &Layout) -> Result<Log, StoreError> {
    let path = layout.cells();
    let bytes = none_if_missing(disk.read(&path, u64::MAX)).context("reading", &path)?;
    let bytes = bytes.ok_or_else(|| damaged(&path, "it is not there any more"))?;
    Log::parse(&bytes).map_err(|reason| damaged(&path, reason))
}

/// Finds out what is stored, and sees to it that the log says so and that it lasts.
fn recover<D: Disk>(disk: &D, layout: &Layout) -> Result<Cells, StoreError> {
    let log = read_log(disk, layout)?;
    let is_whole = log.is_whole();
    let Log { mut cells, unconfirmed, torn } = log;
    let mut columns = BTreeSet::new();
    for (column, step, logged) in unconfirmed {
        match entry(disk, layout, &column, step, &logged) {
            Ok(_) => drop(cells.entry(column.clone()).or_default().insert(step, logged)),
            // It was not confirmed to anybody, so it has never been.
            Err(StoreError::Corrupt { .. }) => {}
            Err(error) => return Err(error),
        }
        columns.insert(column);
    }
    let Unlogged { next, wrong } = Unlogged::find(layout, list(disk, layout)?, &cells, torn);
    if let Some(error) = wrong.into_iter().next() {
        return Err(error);
    }
    for (column, step) in next {
        let logged = adopt(disk, layout, &column, step)?;
        cells.entry(column.clone()).or_default().insert(step, logged);
        columns.insert(column);
    }
    if is_whole && columns.is_empty() {
        return Ok(cells);
    }
    for folder in columns.iter().map(|column| layout.column(column)).chain([layout.root().to_owned()]) {
        // A column of skipped cells has no folder.
        none_if_missing(disk.sync_path(&folder)).context("writing", &folder)?;
    }
    // Not mended in place: of what was not written for certain, nothing is built upon.
    let staged = stage(disk, layout, 0, log::write(&cells).as_bytes())?;
    replace(disk, layout, &staged, &layout.cells())?;
    Ok(cells)
}

/// What somebody put there by hand, and may have put there just now.
fn adopt<D: Disk>(disk: &D, layout: &Layout, column: &Name, step: usize) -> Result<LoggedEntry, StoreError> {
    let path = layout.value(column, step);
    let bytes = disk.read(&path, u64::MAX).context("reading", &path)?;
    let checksum = Checksum::of(&bytes);
    text(bytes).ok_or_else(|| corrupt(column, step, &path, "is not UTF-8; write it in UTF-8"))?;
    disk.sync_path(&path).context("writing", &path)?;
    Ok(LoggedEntry { value: Some(checksum), receipt: None })
}
