//! The files that an open store writes by a handle or a path: whether each is still the file that was opened.
//!
//! Somebody may move, replace, cut or link these files meanwhile. A handle does not show that, and lines that are
//! written by it are lost with the file.

use std::io::Write;
use std::path::Path;

use super::disk::{Disk, FileKind, FileStatus};
use super::layout::{IoContext, StoreFolder, none_if_missing};
use crate::declare::error::shown;
use crate::store::StoreError;
use crate::store::files::status::FileId;

/// The lock, the log, and the folder of staged files.
pub(super) struct OwnFiles<D: Disk> {
    lock: D::Lock,
    log: D::File,
    /// The status of the log, with the written length.
    log_status: FileStatus,
    staging: FileId,
}

impl<D: Disk> OwnFiles<D> {
    pub(super) fn new(
        disk: &D,
        layout: &StoreFolder,
        lock: D::Lock,
        staging: FileId,
    ) -> Result<Self, StoreError> {
        let (log, log_status) = open_log(disk, layout)?;
        Ok(Self { lock, log, log_status, staging })
    }

    /// Fails if the folder, or one of these files, was moved or replaced. Nothing is written after such a failure.
    pub(super) fn check(&self, disk: &D, layout: &StoreFolder) -> Result<(), StoreError> {
        let root = layout.root();
        let path = layout.lock();
        match none_if_missing(disk.is_locked_by(&path, &self.lock)).context("looking at", &path)? {
            Some(true) => {}
            Some(false) => return Err(unwritable(root, "it was replaced by another folder")),
            None => return Err(unwritable(root, "it is missing")),
        }
        // A link to the folder leads to the same lock.
        let own = disk.kind(layout.own()).context("looking at", layout.own())?;
        if own != FileKind::Folder {
            return Err(unwritable(layout.own(), "it is not a folder"));
        }
        let path = layout.staging();
        match none_if_missing(disk.status(&path)).context("looking at", &path)? {
            Some(status) if status.kind != FileKind::Folder => Err(unwritable(&path, "it is not a folder")),
            Some(status) if status.id != self.staging => {
                Err(unwritable(&path, "it was replaced by another folder"))
            }
            Some(_) => self.check_log(disk, layout),
            None => Err(unwritable(&path, "it is missing")),
        }
    }

    /// Fails if the log is not the file that was opened, or not as written.
    pub(super) fn check_log(&self, disk: &D, layout: &StoreFolder) -> Result<(), StoreError> {
        let path = layout.cells();
        let reason = match none_if_missing(disk.status(&path)).context("looking at", &path)? {
            Some(status) if status == self.log_status => return Ok(()),
            None => "it is missing",
            Some(status) if status.kind != FileKind::File => {
                "it is a link, a folder, a pipe or a device, and no file"
            }
            Some(status) if status.id != self.log_status.id => "it was replaced by another file",
            Some(status) if status.names != 1 => "it has a second name, a hard link",
            Some(status) if status.len < self.log_status.len => "it was cut",
            Some(_) => "another program wrote to it",
        };
        Err(unwritable(&path, reason))
    }

    /// Opens the log again, after the store itself has replaced the log.
    pub(super) fn open_log(&mut self, disk: &D, layout: &StoreFolder) -> Result<(), StoreError> {
        (self.log, self.log_status) = open_log(disk, layout)?;
        Ok(())
    }

    /// Appends lines to the log.
    pub(super) fn append(&mut self, layout: &StoreFolder, lines: &str) -> Result<(), StoreError> {
        self.log.write_all(lines.as_bytes()).context("writing", &layout.cells())?;
        self.log_status.len += lines.len() as u64;
        Ok(())
    }

    /// Makes the log durable.
    pub(super) fn sync(&self, disk: &D, layout: &StoreFolder) -> Result<(), StoreError> {
        disk.sync(&self.log).context("writing", &layout.cells())
    }
}

fn open_log<D: Disk>(disk: &D, layout: &StoreFolder) -> Result<(D::File, FileStatus), StoreError> {
    let path = layout.cells();
    let log = disk.append(&path).context("opening", &path)?;
    let status = disk.status_of(&log).context("looking at", &path)?;
    Ok((log, status))
}

/// The error of a file or folder that was moved, replaced or removed while the store was open.
pub(super) fn unwritable(path: &Path, reason: &str) -> StoreError {
    StoreError::other(format!("{} cannot be written to: {reason}", shown(path)))
}
