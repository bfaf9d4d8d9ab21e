//! Files that somebody else may have put there: the status, and opening never through a link, and never a pipe or a
//! device, which may keep the reader waiting or have no end.

pub(crate) mod status;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

#[cfg(unix)]
use rustix::fs::OFlags;

use self::status::{FileKind, FileStatus};

/// The kind of something at a path that is no file of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WrongKind {
    #[error("it is a link, a folder, a pipe or a device, and no file; move it away, and restore the file")]
    NotAFile,
    #[error("it is not a folder, or is a link to one; move it away, and restore the folder")]
    NotAFolder,
    #[error(
        "the file has a second name, a hard link, that a write would change as well; replace it by a copy"
    )]
    SecondName,
}

impl WrongKind {
    /// The kind in an error of [`open`].
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl From<WrongKind> for io::Error {
    fn from(kind: WrongKind) -> Self {
        Self::other(kind)
    }
}

/// Opens a regular file, and returns the status. The path may have links, but not in the last part.
///
/// # Errors
///
/// [`WrongKind`] if there is something else.
pub(crate) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<(File, FileStatus)> {
    // On other systems no flag refuses a link.
    #[cfg(not(unix))]
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Err(WrongKind::NotAFile.into());
    }
    let file = match without_following(options).open(path) {
        // Systems word the refusal of a link and of a pipe in several ways.
        Err(_) if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) => {
            return Err(WrongKind::NotAFile.into());
        }
        opened => opened?,
    };
    // The status of the open file: by now, another file may be at the path.
    let status = FileStatus::of(&file)?;
    if status.kind == FileKind::File { Ok((file, status)) } else { Err(WrongKind::NotAFile.into()) }
}

/// open(2): `O_NOFOLLOW` refuses a link, and with `O_NONBLOCK` opening a pipe does not wait for the other end. Neither
/// flag changes how a regular file is read and written.
#[cfg(unix)]
fn without_following(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        options,
        (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed(),
    )
}

#[cfg(not(unix))]
fn without_following(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Sets `O_NONBLOCK`, with which opening a pipe does not wait for the other end: open(2).
#[cfg(unix)]
pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, OFlags::NONBLOCK.bits().cast_signed())
}
