//! The lock of a flow: a locked file beside the database. The lock ends with the process. SQLite cannot lock a part of
//! a file.
//!
//! The flows that a process has open share one locked file, which has a name for each flow. So only the first lock
//! takes a descriptor, and a flow is free when its name is gone.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use std::{fmt, io};

use super::error::SqliteError;
use crate::declare::error::shown;
use crate::store::StoreError;
use crate::store::lock::FileLock;

/// The most attempts to take a lock that another process holds, perhaps only for the moment in which it removes
/// another name of the file.
const ATTEMPTS: usize = 5;

/// The pause between two attempts.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// The lock of a flow.
pub(super) struct FlowLock {
    path: PathBuf,
    file: Arc<FileLock>,
}

impl FlowLock {
    /// Takes the lock; `None` if another handle has it. `beside` is a lock that this process holds, if there is one.
    pub(super) fn take(path: &Path, beside: Option<&Self>) -> Result<Option<Self>, SqliteError> {
        Self::take_by(path, beside, File::try_lock)
            .map_err(|error| SqliteError::io(format!("locking {}", shown(path)), error))
    }

    /// Takes the lock as [`take`](Self::take) does, with another way of locking.
    pub(super) fn take_by(
        path: &Path,
        beside: Option<&Self>,
        lock: impl Fn(&File) -> Result<(), TryLockError>,
    ) -> io::Result<Option<Self>> {
        let mut attempts = 0;
        loop {
            if let Some(lock) = beside.and_then(|beside| beside.link(path).ok()) {
                return Ok(Some(lock));
            }
            match FileLock::take_by(path, &lock) {
                // The last owner removed the name after the file was opened here.
                Ok(file) if !leads_to(path, &file)? => {}
                // The owner was killed. While this name is locked, the other names would seem to be locked, too.
                // Nobody else removes the name meanwhile, since the file is locked.
                Ok(file) if has_other_names(&file)? => fs::remove_file(path)?,
                Ok(file) => return Ok(Some(Self { path: path.to_owned(), file: Arc::new(file) })),
                Err(TryLockError::WouldBlock) => {
                    attempts += 1;
                    if attempts == ATTEMPTS {
                        return Ok(None);
                    }
                    thread::sleep(RETRY_INTERVAL);
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Fails if the name was removed, or leads to another file, which another process may have locked.
    pub(super) fn check(&self, location: &dyn fmt::Display) -> Result<(), SqliteError> {
        let is_here = leads_to(&self.path, &self.file)
            .map_err(|error| SqliteError::io(format!("looking at {}", shown(&self.path)), error))?;
        if is_here {
            return Ok(());
        }
        let message = format!(
            "{}, the lock of {location}, was removed or replaced, so another process may own the flow: close it here, \
             and open it again",
            shown(&self.path)
        );
        Err(StoreError::other(message).into())
    }

    /// Gives the locked file another name; fails if the name exists. Where a file can have only one name, or has too
    /// many already, the next lock is a new file.
    #[cfg(unix)]
    fn link(&self, path: &Path) -> io::Result<Self> {
        fs::hard_link(&self.path, path)?;
        if !leads_to(path, &self.file)? {
            // Another process has replaced the name of this lock.
            fs::remove_file(path)?;
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Self { path: path.to_owned(), file: Arc::clone(&self.file) })
    }

    /// Fails, since outside Unix the names of an open file cannot be removed, and descriptors are not scarce.
    #[cfg(not(unix))]
    fn link(&self, _: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

fn leads_to(path: &Path, file: &FileLock) -> io::Result<bool> {
    match file.is_at(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        is_at => is_at,
    }
}

#[cfg(unix)]
fn has_other_names(file: &FileLock) -> io::Result<bool> {
    Ok(file.names()? > 1)
}

#[cfg(not(unix))]
fn has_other_names(_: &FileLock) -> io::Result<bool> {
    Ok(false)
}

impl Drop for FlowLock {
    fn drop(&mut self) {
        // If the folder was moved, the name may belong to another owner.
        if cfg!(unix) && leads_to(&self.path, &self.file).unwrap_or(false) {
            // Removed while locked. If the name stays, the flow is free when the process closes the file or ends.
            let _ = fs::remove_file(&self.path);
        }
    }
}
