//! The status of a file: the kind, the identity, the names and the length, but not the times.
//!
//! Since Linux 6.13, a program that asks for the times of a file makes the next write take an exact time, which
//! `fsync` then has to make durable beside the data. A store looks at files at each write. Unused times would cost the
//! store a third of the speed, and the standard library always asks for times.

use std::fs::{self, File, FileType, Metadata};
use std::io;
use std::path::Path;

/// The present status of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStatus {
    pub(crate) kind: FileKind,
    pub(crate) id: FileIdentity,
    /// The number of names.
    pub(crate) names: u64,
    /// The length in bytes.
    pub(crate) len: u64,
}

/// The kind of an entry of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    File,
    Folder,
    /// A link, or a rarer kind.
    Other,
}

/// The identity of a file, which does not depend on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity(u64, u64);

impl FileStatus {
    /// Looks at the file, folder or link at a path. Links are not followed.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(status) = linux::at(path) {
            return status;
        }
        Ok(Self::from(&fs::symlink_metadata(path)?))
    }

    /// Looks at an open file, not at the path.
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(status) = linux::of(file) {
            return status;
        }
        Ok(Self::from(&file.metadata()?))
    }

    /// Looks at the file to which a path leads. Links are followed.
    #[cfg(feature = "sqlite")]
    pub(crate) fn behind(path: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(status) = linux::behind(path) {
            return status;
        }
        Ok(Self::from(&fs::metadata(path)?))
    }
}

impl From<&Metadata> for FileStatus {
    fn from(metadata: &Metadata) -> Self {
        let (id, names) = identity(metadata);
        Self { kind: metadata.file_type().into(), id, names, len: metadata.len() }
    }
}

impl From<FileType> for FileKind {
    fn from(kind: FileType) -> Self {
        if kind.is_file() {
            Self::File
        } else if kind.is_dir() {
            Self::Folder
        } else {
            Self::Other
        }
    }
}

impl FileIdentity {
    #[cfg(test)]
    pub(crate) const fn new(device: u64, file: u64) -> Self {
        Self(device, file)
    }
}

/// The identity and the number of names. An inode number is unique only within a device.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> (FileIdentity, u64) {
    use std::os::unix::fs::MetadataExt;

    (FileIdentity(metadata.dev(), metadata.ino()), metadata.nlink())
}

/// A fixed identity: outside Unix an open file cannot be moved or replaced, and the standard library does not know the
/// number of names.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> (FileIdentity, u64) {
    (FileIdentity(0, 0), 1)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsFd;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, makedev, statx};
    use rustix::io::Errno;
    use rustix::path::Arg;

    use super::{FileIdentity, FileKind, FileStatus};

    pub(super) fn at(path: &Path) -> Option<io::Result<FileStatus>> {
        look(CWD, path, AtFlags::SYMLINK_NOFOLLOW)
    }

    pub(super) fn of(file: &File) -> Option<io::Result<FileStatus>> {
        look(file, c"", AtFlags::EMPTY_PATH)
    }

    #[cfg(feature = "sqlite")]
    pub(super) fn behind(path: &Path) -> Option<io::Result<FileStatus>> {
        look(CWD, path, AtFlags::empty())
    }

    /// Looks with `statx`; `None` where there is no such call: on old kernels, and in containers that forbid unknown
    /// calls.
    fn look(folder: impl AsFd, path: impl Arg, flags: AtFlags) -> Option<io::Result<FileStatus>> {
        let mask = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::NLINK | StatxFlags::SIZE;
        let found = match statx(folder, path, flags, mask) {
            Err(Errno::NOSYS | Errno::PERM) => return None,
            Err(error) => return Some(Err(error.into())),
            Ok(found) => found,
        };
        let kind = match FileType::from_raw_mode(found.stx_mode.into()) {
            FileType::RegularFile => FileKind::File,
            FileType::Directory => FileKind::Folder,
            _ => FileKind::Other,
        };
        let device = makedev(found.stx_dev_major, found.stx_dev_minor);
        let names = found.stx_nlink.into();
        let len = found.stx_size;
        Some(Ok(FileStatus { kind, id: FileIdentity(device, found.stx_ino), names, len }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ways to look at a file must agree: a system without the faster way uses the other.
    #[test]
    fn a_status_is_that_of_the_standard_library() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        let link = folder.path().join("link");
        let second = folder.path().join("second");
        fs::write(&file, "seven b").expect("it can be written");
        fs::hard_link(&file, &second).expect("it can have two names");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&file, &link).expect("it can be linked");
        for path in
            [&file, &link, &second, &link.join("below"), &folder.path().join("missing"), folder.path()]
        {
            let expected = fs::symlink_metadata(path).map(|metadata| FileStatus::from(&metadata));
            assert_eq!(
                FileStatus::at(path).map_err(|error| error.kind()),
                expected.map_err(|error| error.kind())
            );
        }
        let open = File::open(&file).expect("it is there");
        assert_eq!(FileStatus::of(&open).expect("it is open"), FileStatus::at(&file).expect("it is there"));
        assert_eq!(FileStatus::at(&file).expect("it is there").names, if cfg!(unix) { 2 } else { 1 });
        #[cfg(feature = "sqlite")]
        assert_eq!(
            FileStatus::behind(&link).expect("it leads there"),
            FileStatus::of(&open).expect("it is open")
        );
    }
}
