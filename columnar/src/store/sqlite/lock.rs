//! The lock of a flow: a file lock of the operating system, which ends with its process. SQLite cannot lock a part of
//! a file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::error::SqliteError;

/// A lock on a file that exists for this purpose alone.
pub(super) struct Lock {
    path: PathBuf,
    /// Unlocked when it is closed.
    _file: File,
}

impl Lock {
    /// Takes the lock; `None` if another handle has it.
    pub(super) fn take(path: &Path) -> Result<Option<Self>, SqliteError> {
        Self::take_by(path, File::try_lock)
            .map_err(|error| SqliteError::io(format!("locking {}", path.display()), error))
    }

    /// With another way of locking.
    pub(super) fn take_by(
        path: &Path,
        lock: impl Fn(&File) -> Result<(), TryLockError>,
    ) -> io::Result<Option<Self>> {
        loop {
            let file = open(path)?;
            match lock(&file) {
                Ok(()) if is_there(&file)? => return Ok(Some(Self { path: path.to_owned(), _file: file })),
                // Its last owner removed the file after it was opened here, so the next round creates a new one.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    owner_only(&mut options);
    options.open(path)
}

#[cfg(unix)]
pub(super) fn owner_only(options: &mut OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

#[cfg(not(unix))]
pub(super) fn owner_only(_: &mut OpenOptions) {}

#[cfg(unix)]
fn is_there(file: &File) -> io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) > 0)
}

/// Outside Unix the file is never removed.
#[cfg(not(unix))]
fn is_there(_: &File) -> io::Result<bool> {
    Ok(true)
}

impl Drop for Lock {
    fn drop(&mut self) {
        if cfg!(unix) {
            // While it is locked. If it stays, the next owner uses it again.
            let _ = fs::remove_file(&self.path);
        }
    }
}
