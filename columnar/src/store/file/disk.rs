//! The operations on a file system that the file store uses. Tests have disks that lose power, fail, or pause so that
//! the process can be killed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

pub(super) use crate::store::files::status::{FileKind, FileStatus};
use crate::store::files::{self, WrongKind};
use crate::store::lock::{FileLock, owner_only};

/// File system operations. A crash can come between any two operations; each operation is one system call, or as good
/// as one.
///
/// A path to a file never ends in a link, a folder, a pipe or a device: opening such a path fails with [`WrongKind`],
/// and waits for nobody. The other parts of a path are links only if somebody else changes the folder meanwhile.
pub(crate) trait Disk: Clone + Send + 'static {
    /// A file that is appended to.
    type File: Write + Send;
    /// An exclusive lock, which ends when dropped.
    type Lock: Send;

    /// The path without links.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// Locks a file, and creates a missing one; `WouldBlock` if the file is locked already.
    fn lock(&self, path: &Path) -> Result<Self::Lock, TryLockError>;

    /// Whether the path leads to the file that is locked.
    fn is_locked_by(&self, path: &Path, lock: &Self::Lock) -> io::Result<bool>;

    /// The status of the file at a path. Links are not followed.
    fn status(&self, path: &Path) -> io::Result<FileStatus>;

    /// The status of an open file, not of the path.
    fn status_of(&self, file: &Self::File) -> io::Result<FileStatus>;

    /// The entries of a folder, in any order, without names that are not UTF-8.
    fn list(&self, folder: &Path) -> io::Result<Vec<(String, FileKind)>>;

    /// The first bytes of a file, at most `at_most`, and no more than the file has when opened.
    fn read(&self, path: &Path, at_most: u64) -> io::Result<Vec<u8>>;

    /// A reader of a file, which returns no more bytes than the file has when opened.
    fn reader(&self, path: &Path) -> io::Result<impl BufRead>;

    /// Creates a file; fails if the file exists.
    fn create(&self, path: &Path) -> io::Result<Self::File>;

    /// Opens an existing file that has no other name.
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

    /// Removes an empty folder; fails if the folder is not empty.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
}

/// The file system of this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local;

impl Disk for Local {
    type File = File;
    type Lock = FileLock;

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn lock(&self, path: &Path) -> Result<FileLock, TryLockError> {
        FileLock::take(path)
    }

    fn is_locked_by(&self, path: &Path, lock: &FileLock) -> io::Result<bool> {
        lock.is_at(path)
    }

    fn status(&self, path: &Path) -> io::Result<FileStatus> {
        FileStatus::at(path)
    }

    fn status_of(&self, file: &File) -> io::Result<FileStatus> {
        FileStatus::of(file)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<(String, FileKind)>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            // Names of columns and values are ASCII, so no other name belongs to the store.
            if let Ok(name) = entry.file_name().into_string() {
                names.push((name, entry.file_type()?.into()));
            }
        }
        Ok(names)
    }

    fn read(&self, path: &Path, at_most: u64) -> io::Result<Vec<u8>> {
        let (file, status) = files::open(OpenOptions::new().read(true), path)?;
        let mut bytes = Vec::new();
        file.take(at_most.min(status.len)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn reader(&self, path: &Path) -> io::Result<impl BufRead> {
        let (file, status) = files::open(OpenOptions::new().read(true), path)?;
        Ok(BufReader::new(file.take(status.len)))
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        // `create_new` is `O_EXCL`: a link at this path is an error, and nothing is written through the link.
        owner_only(OpenOptions::new().write(true).create_new(true)).open(path)
    }

    fn append(&self, path: &Path) -> io::Result<File> {
        let (file, status) = files::open(OpenOptions::new().append(true), path)?;
        if status.names == 1 { Ok(file) } else { Err(WrongKind::SecondName.into()) }
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    #[cfg(unix)]
    fn sync_path(&self, path: &Path) -> io::Result<()> {
        // A folder can be opened for reading only, and `fsync` accepts such a descriptor.
        files::without_waiting(OpenOptions::new().read(true)).open(path)?.sync_all()
    }

    /// Does nothing, since other systems have no such operation.
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

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}
