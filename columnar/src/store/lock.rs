//! A locked file, and files that only the owner can read.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use crate::store::files;
use crate::store::files::status::FileStatus;

/// A locked file. The lock ends with the process. Dropping unlocks explicitly, since closing is not enough: a child
/// process that is just being started has the file open, too, for a moment.
#[derive(Debug)]
pub(crate) struct FileLock(File);

impl FileLock {
    /// Locks a file, and creates a missing one; `WouldBlock` if the file is locked already. A link is no file.
    pub(super) fn take(path: &Path) -> Result<Self, TryLockError> {
        Self::take_by(path, File::try_lock)
    }

    /// Locks a file as [`take`](Self::take) does, with another way of locking.
    pub(super) fn take_by(
        path: &Path,
        lock: impl Fn(&File) -> Result<(), TryLockError>,
    ) -> Result<Self, TryLockError> {
        // Creating a file needs write access; nothing is ever written to a lock file.
        let file = files::open(owner_only(OpenOptions::new().append(true).create(true)), path);
        let (file, _) = file.map_err(TryLockError::Error)?;
        lock(&file)?;
        Ok(Self(file))
    }

    /// Whether the path leads to the locked file.
    pub(super) fn is_at(&self, path: &Path) -> io::Result<bool> {
        // The status of a link is about the link, which is not the locked file.
        Ok(FileStatus::at(path)?.id == FileStatus::of(&self.0)?.id)
    }

    /// The number of names of the locked file.
    #[cfg(all(feature = "sqlite", unix))]
    pub(super) fn names(&self) -> io::Result<u64> {
        Ok(FileStatus::of(&self.0)?.names)
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // If unlocking fails, closing the file unlocks a little later.
        let _ = self.0.unlock();
    }
}

/// Options by which only the owner can read a created file.
pub(super) fn owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Locking a path created the file that a link there leads to, and waited for the other end of a pipe.
    #[cfg(unix)]
    #[test]
    fn s18_neither_a_link_nor_a_pipe_is_locked() {
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("link");
        let pipe = folder.path().join("pipe");
        let elsewhere = folder.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, &link).expect("it can be linked");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("`mkfifo` is there");
        assert!(made.success());
        for path in [&link, &pipe] {
            let refused = FileLock::take(path).expect_err("it is no file");
            let TryLockError::Error(error) = refused else { panic!("{refused}") };
            assert_eq!(files::WrongKind::of(&error), Some(files::WrongKind::NotAFile));
        }
        assert!(!elsewhere.exists());
        // A link to the locked file is another path.
        let lock = FileLock::take(&elsewhere).expect("it is free");
        assert!(lock.is_at(&elsewhere).expect("it is there") && !lock.is_at(&link).expect("it is there"));
    }

    /// Between the fork and the start of the program, a child has all files of the parent.
    #[test]
    fn s6_a_child_process_that_has_just_started_holds_no_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        let lock = FileLock::take(&path).expect("the lock is free");
        assert!(matches!(FileLock::take(&path), Err(TryLockError::WouldBlock)));
        let of_the_child = lock.0.try_clone().expect("it can be open twice");
        drop(lock);
        let lock = FileLock::take(&path).expect("its owner is gone");
        drop(of_the_child);
        assert!(matches!(FileLock::take(&path), Err(TryLockError::WouldBlock)), "the new owner has it");
        drop(lock);
    }
}
