//! The operations on a file system that the file store uses. Tests implement them with disks that lose power,
//! fail, or pause so that the process can be killed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// File system operations. A crash can come between any two; each is one system call, or as good as one.
pub(crate) trait Disk: Clone + Send + 'static {
    /// A file that is appended to.
    type File: Write + Send;
    /// An exclusive lock, which is released when it is dropped.
    type Lock: Send;

    /// The path without links.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// Locks a file and creates it if it is missing; `WouldBlock` if it is locked already.
    fn lock(&self, path: &Path) -> Result<Self::Lock, TryLockError>;

    /// Whether the path leads to the file that is locked.
    fn is_locked_by(&self, path: &Path, lock: &Self::Lock) -> io::Result<bool>;

    /// The kind of the file at a path. Links are not followed.
    fn kind(&self, path: &Path) -> io::Result<Kind>;

    /// The entries of a folder, in any order, without names that are not UTF-8.
    fn list(&self, folder: &Path) -> io::Result<Vec<(String, Kind)>>;

    /// The first bytes of a file, at most `at_most`.
    fn read(&self, path: &Path, at_most: u64) -> io::Result<Vec<u8>>;

    /// Creates a file; fails if it exists.
    fn create(&self, path: &Path) -> io::Result<Self::File>;

    /// Opens an existing file.
    fn append(&self, path: &Path) -> io::Result<Self::File>;

    /// Makes written bytes durable.
    fn sync(&self, file: &Self::File) -> io::Result<()>;

    /// Makes durable a file that another process wrote, or the names in a folder.
    fn sync_path(&self, path: &Path) -> io::Result<()>;

    /// Creates a folder.
    fn create_dir(&self, path: &Path) -> io::Result<()>;

    /// Gives a file a second name; fails if the name exists.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Atomically replaces `to` with `from`.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a name of a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// The kind of an entry of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    /// A link, or something rarer.
    Other,
}

/// The file system of this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local;

/// A locked file. It is unlocked explicitly when dropped, since closing is not enough: a child process that is just
/// being started has the file open, too, for a moment.
#[derive(Debug)]
pub(crate) struct FileLock(File);

impl Drop for FileLock {
    fn drop(&mut self) {
        // If this fails, closing the file unlocks it, a little later.
        let _ = self.0.unlock();
    }
}

impl Disk for Local {
    type File = File;
    type Lock = FileLock;

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn lock(&self, path: &Path) -> Result<FileLock, TryLockError> {
        // Creating a file needs write access; nothing is ever written to this one.
        let file = owner_only(OpenOptions::new().append(true).create(true)).open(path);
        let file = file.map_err(TryLockError::Error)?;
        file.try_lock()?;
        Ok(FileLock(file))
    }

    #[cfg(unix)]
    fn is_locked_by(&self, path: &Path, lock: &FileLock) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt;

        // An inode number is unique only within its device.
        let (there, locked) = (fs::metadata(path)?, lock.0.metadata()?);
        Ok((there.dev(), there.ino()) == (locked.dev(), locked.ino()))
    }

    /// Outside Unix an open file cannot be moved or replaced.
    #[cfg(not(unix))]
    fn is_locked_by(&self, path: &Path, _: &FileLock) -> io::Result<bool> {
        fs::metadata(path).map(|_| true)
    }

    fn kind(&self, path: &Path) -> io::Result<Kind> {
        Ok(kind_of(fs::symlink_metadata(path)?.file_type()))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<(String, Kind)>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            // Names of columns and values are ASCII, so no other name belongs to the store.
            if let Ok(name) = entry.file_name().into_string() {
                names.push((name, kind_of(entry.file_type()?)));
            }
        }
        Ok(names)
    }

    fn read(&self, path: &Path, at_most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(at_most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        // `create_new` is `O_EXCL`: a link at this path is an error, and nothing is written through it.
        owner_only(OpenOptions::new().write(true).create_new(true)).open(path)
    }

    fn append(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().append(true).open(path)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    #[cfg(unix)]
    fn sync_path(&self, path: &Path) -> io::Result<()> {
        // A folder can be opened for reading only, and `fsync` accepts such a descriptor.
        File::open(path)?.sync_all()
    }

    /// Other systems have no such operation.
    #[cfg(not(unix))]
    fn sync_path(&self, path: &Path) -> io::Result<()> {
        fs::metadata(path).map(|_| ())
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut folder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
        folder.create(path)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

fn kind_of(kind: fs::FileType) -> Kind {
    if kind.is_file() {
        Kind::File
    } else if kind.is_dir() {
        Kind::Folder
    } else {
        Kind::Other
    }
}

/// Files that are created are readable by their owner alone.
fn owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between its beginning and its program, a child has all files of its parent.
    #[test]
    fn s6_a_child_process_that_has_just_started_holds_no_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        let lock = Local.lock(&path).expect("the lock is free");
        assert!(matches!(Local.lock(&path), Err(TryLockError::WouldBlock)));
        let of_the_child = lock.0.try_clone().expect("it can be open twice");
        drop(lock);
        let lock = Local.lock(&path).expect("its owner is gone");
        drop(of_the_child);
        assert!(matches!(Local.lock(&path), Err(TryLockError::WouldBlock)), "the new owner has it");
        drop(lock);
    }
}
