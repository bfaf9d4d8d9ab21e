//! How a store in files is opened: becomes the owner, makes what is missing of a new store, and brings the log
//! into line with what became of the last writes, and with values that somebody put there by hand.
//!
//! A crash in the middle of it is the same as one before it, or after it: the log is replaced as a whole.

use std::collections::BTreeSet;
use std::fs::TryLockError;
use std::io;
use std::path::Path;

use super::disk::{Disk, Kind};
use super::folder::{Folder, Place, corrupt, damaged, entry, replace, stage, text};
use super::layout::{Doing, Layout, if_there, unless_there};
use super::listing::{Loose, list};
use super::log::{self, Cells, Kept, Log, Seal};
use crate::declare::Name;
use crate::store::StoreError;

/// The format that this file and its neighbours write.
pub(super) const FORMAT: u32 = 2;

pub(super) fn open<D: Disk>(place: &Place<D>) -> Result<Folder<D>, StoreError> {
    let (disk, path) = (place.disk.clone(), &place.path);
    // What a later version wrote is left as it is, so this comes before everything else.
    let known = match if_there(disk.canonical(path)).doing("looking for", path)? {
        Some(root) => format(&disk, &Layout::new(root))?,
        None => None,
    };
    if known.is_none() {
        make_root(&disk, path)?;
    }
    let layout = Layout::new(disk.canonical(path).doing("looking for", path)?);
    unless_there(disk.create_dir(layout.own())).doing("making", layout.own())?;
    let lock = lock(&disk, &layout)?;
    clear(&disk, &layout)?;
    let known = format(&disk, &layout)?;
    if known.is_none() {
        make(&disk, &layout)?;
    }
    // What is read here may have been written a moment ago, by somebody who did not live to see it durable.
    disk.sync_path(layout.own()).doing("writing", layout.own())?;
    let cells = recover(&disk, &layout)?;
    if known.is_some_and(|known| known < FORMAT) {
        upgrade(&disk, &layout)?;
    }
    let log = disk.append(&layout.cells()).doing("opening", &layout.cells())?;
    Ok(Folder { disk, layout, lock, log, cells, staged: 0 })
}

/// The format, if the store has been made.
pub(super) fn format<D: Disk>(disk: &D, layout: &Layout) -> Result<Option<u32>, StoreError> {
    let path = layout.format();
    let Some(bytes) = if_there(disk.read(&path, 64)).doing("reading", &path)? else { return Ok(None) };
    let number = str::from_utf8(&bytes).ok().and_then(|text| log::number(text.trim_end()));
    match number {
        Some(1..=FORMAT) => Ok(number),
        Some(found) if found > FORMAT => {
            Err(StoreError::Unsupported { place: layout.root().display().to_string(), found, known: FORMAT })
        }
        _ => Err(damaged(&path, "it is not the number of a format")),
    }
}

fn lock<D: Disk>(disk: &D, layout: &Layout) -> Result<D::Lock, StoreError> {
    let path = layout.lock();
    match disk.lock(&path) {
        Ok(lock) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            Err(StoreError::Locked { place: layout.root().display().to_string() })
        }
        Err(TryLockError::Error(error)) => Err(error).doing("locking, which keeps other flows out,", &path),
    }
}

/// Makes the folder, and those that it is in, so that they last.
fn make_root<D: Disk>(disk: &D, path: &Path) -> Result<(), StoreError> {
    let Some(parent) = path.parent() else { return Ok(()) };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let is_there = if_there(disk.canonical(path)).doing("looking for", path)?.is_some();
    if !is_there {
        make_root(disk, parent)?;
        unless_there(disk.create_dir(path)).doing("making", path)?;
    }
    match disk.sync_path(parent) {
        // The folder was there, and may have been made a moment ago, but not by this process or its like.
        Err(error) if is_there && error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        synced => synced.doing("writing", parent),
    }
}

/// Removes what was staged and is not needed any more.
fn clear<D: Disk>(disk: &D, layout: &Layout) -> Result<(), StoreError> {
    let staging = layout.staging();
    unless_there(disk.create_dir(&staging)).doing("making", &staging)?;
    for (name, kind) in disk.list(&staging).doing("listing", &staging)? {
        if kind == Kind::File && log::number::<usize>(&name).is_some() {
            let path = staging.join(name);
            disk.remove(&path).doing("removing", &path)?;
        }
    }
    Ok(())
}

/// Makes what a store consists of. It is one when it has its format, which comes last.
fn make<D: Disk>(disk: &D, layout: &Layout) -> Result<(), StoreError> {
    disk.sync_path(layout.root()).doing("writing", layout.root())?;
    let (path, empty) = (layout.cells(), log::write(&Cells::new()));
    match if_there(disk.read(&path, u64::MAX)).doing("reading", &path)? {
        None => publish(disk, layout, empty.as_bytes(), &path)?,
        Some(bytes) if bytes == empty.as_bytes() => {}
        Some(_) => return Err(damaged(&layout.format(), "it is not there any more")),
    }
    disk.sync_path(layout.own()).doing("writing", layout.own())?;
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
    disk.link(&staged, path).doing("making", path)?;
    disk.remove(&staged).doing("removing", &staged)
}

/// The log, as it is.
pub(super) fn read_log<D: Disk>(disk: &D, layout: &Layout) -> Result<Log, StoreError> {
    let path = layout.cells();
    let bytes = if_there(disk.read(&path, u64::MAX)).doing("reading", &path)?;
    let bytes = bytes.ok_or_else(|| damaged(&path, "it is not there any more"))?;
    Log::parse(&bytes).map_err(|what| damaged(&path, what))
}

/// Finds out what is stored, and sees to it that the log says so and that it lasts.
fn recover<D: Disk>(disk: &D, layout: &Layout) -> Result<Cells, StoreError> {
    let log = read_log(disk, layout)?;
    let is_whole = log.is_whole();
    let Log { mut cells, begun, torn } = log;
    let mut columns = BTreeSet::new();
    for (column, step, kept) in begun {
        match entry(disk, layout, &column, step, &kept) {
            Ok(_) => drop(cells.entry(column.clone()).or_default().insert(step, kept)),
            // It was not confirmed to anybody, so it has never been.
            Err(StoreError::Corrupt { .. }) => {}
            Err(error) => return Err(error),
        }
        columns.insert(column);
    }
    let Loose { next, wrong } = Loose::find(layout, list(disk, layout)?, &cells, torn);
    if let Some(error) = wrong.into_iter().next() {
        return Err(error);
    }
    for (column, step) in next {
        let kept = adopt(disk, layout, &column, step)?;
        cells.entry(column.clone()).or_default().insert(step, kept);
        columns.insert(column);
    }
    if is_whole && columns.is_empty() {
        return Ok(cells);
    }
    for folder in columns.iter().map(|column| layout.column(column)).chain([layout.root().to_owned()]) {
        // A column of skipped cells has no folder.
        if_there(disk.sync_path(&folder)).doing("writing", &folder)?;
    }
    // Not mended in place: of what was not written for certain, nothing is built upon.
    let staged = stage(disk, layout, 0, log::write(&cells).as_bytes())?;
    replace(disk, layout, &staged, &layout.cells())?;
    Ok(cells)
}

/// What somebody put there by hand, and may have put there just now.
fn adopt<D: Disk>(disk: &D, layout: &Layout, column: &Name, step: usize) -> Result<Kept, StoreError> {
    let path = layout.value(column, step);
    let bytes = disk.read(&path, u64::MAX).doing("reading", &path)?;
    let seal = Seal::of(&bytes);
    text(bytes).ok_or_else(|| corrupt(column, step, &path, "is not UTF-8; write it in UTF-8"))?;
    disk.sync_path(&path).doing("writing", &path)?;
    Ok(Kept { value: Some(seal), receipt: None })
}
