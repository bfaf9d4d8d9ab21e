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
use crate::store::files::status::FileIdentity;

/// The lock, the log, and the folder of staged files.
pub(super) struct OwnFiles<D: Disk> {
    lock: D::Lock,
    log: D::File,
    /// The status of the log, with the written length.
    log_status: FileStatus,
    staging: FileIdentity,
}

impl<D: Disk> OwnFiles<D> {
    pub(super) fn new(
        folder: &StoreFolder<D>,
        lock: D::Lock,
        staging: FileIdentity,
    ) -> Result<Self, StoreError> {
        let (log, log_status) = open_log(folder)?;
        Ok(Self { lock, log, log_status, staging })
    }

    /// Fails if the folder, or one of these files, was moved or replaced. Nothing is written after such a failure.
    pub(super) fn check(&self, folder: &StoreFolder<D>) -> Result<(), StoreError> {
        let lock = &folder.lock;
        match none_if_missing(folder.disk.is_locked_by(lock, &self.lock)).context("looking at", lock)? {
            Some(true) => {}
            Some(false) => return Err(unwritable(&folder.root, "it was replaced by another folder")),
            None => return Err(unwritable(&folder.root, "it is missing")),
        }
        // A link to the folder leads to the same lock.
        let own = folder.disk.status(&folder.own).context("looking at", &folder.own)?;
        if own.kind != FileKind::Folder {
            return Err(unwritable(&folder.own, "it is not a folder"));
        }
        let reason = match folder.status(&folder.staging)? {
            Some(status) if status.kind != FileKind::Folder => "it is not a folder",
            Some(status) if status.id != self.staging => "it was replaced by another folder",
            Some(_) => return self.check_log(folder),
            None => "it is missing",
        };
        Err(unwritable(&folder.staging, reason))
    }

    /// Fails if the log is not the file that was opened, or not as written.
    pub(super) fn check_log(&self, folder: &StoreFolder<D>) -> Result<(), StoreError> {
        let reason = match folder.status(&folder.cells)? {
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
        Err(unwritable(&folder.cells, reason))
    }

    /// Opens the log again, after the store itself has replaced the log.
    pub(super) fn open_log(&mut self, folder: &StoreFolder<D>) -> Result<(), StoreError> {
        (self.log, self.log_status) = open_log(folder)?;
        Ok(())
    }

    /// Appends lines to the log.
    pub(super) fn append(&mut self, folder: &StoreFolder<D>, lines: &str) -> Result<(), StoreError> {
        self.log.write_all(lines.as_bytes()).context("writing", &folder.cells)?;
        self.log_status.len += lines.len() as u64;
        Ok(())
    }

    /// Makes the log durable.
    pub(super) fn sync(&self, folder: &StoreFolder<D>) -> Result<(), StoreError> {
        folder.disk.sync(&self.log).context("writing", &folder.cells)
    }
}

fn open_log<D: Disk>(folder: &StoreFolder<D>) -> Result<(D::File, FileStatus), StoreError> {
    let path = &folder.cells;
    let log = folder.disk.append(path).context("opening", path)?;
    let status = folder.disk.status_of(&log).context("looking at", path)?;
    Ok((log, status))
}

/// The error of a file or folder that was moved, replaced or removed while the store was open.
pub(super) fn unwritable(path: &Path, reason: &str) -> StoreError {
    StoreError::other(format!("{} cannot be written to: {reason}", shown(path)))
}
