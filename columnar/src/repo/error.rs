//! The files that cannot be documents, each with the reason.

use std::fmt;
use std::io;
use std::path::Path;

use super::MAX_FILE_BYTES;
use crate::context::documents::KeyFault;
use crate::declare::error::Printable;

/// The faults after this many are counted, and not listed.
const LISTED: usize = 20;

/// The advice for a repository that cannot be opened.
const ROOT_ADVICE: &str = "name a folder that exists and that you may read";

/// All faults of the selected files, or of the repository itself. The call made no update.
///
/// ```
/// use columnar::repo::{FileFault, Repository};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("logo.png"), [0x89, b'P', b'N', b'G', 0])?;
/// let mut repo = Repository::open(&folder)?;
/// let error = repo.select(["logo.png", "src/lib.rs"]).scan().expect_err("neither can be shown");
/// assert_eq!(error.to_string(), "`logo.png` is binary: do not select it\n\
///     `src/lib.rs` is missing: create it, or do not select it");
/// assert!(matches!(error.faults(), [(_, FileFault::Binary), (_, FileFault::Missing)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoError {
    faults: Vec<(String, FileFault)>,
    /// Whether the path leads to the repository itself.
    is_root: bool,
}

impl RepoError {
    /// An error, unless there are no faults.
    pub(super) fn check(faults: Vec<(String, FileFault)>) -> Result<(), Self> {
        if faults.is_empty() { Ok(()) } else { Err(Self { faults, is_root: false }) }
    }

    /// The error of a repository that cannot be opened.
    pub(super) fn of_root(root: &Path, fault: FileFault) -> Self {
        Self { faults: vec![(root.display().to_string(), fault)], is_root: true }
    }

    /// The paths with their faults, in the order of the paths; never empty.
    pub fn faults(&self) -> &[(String, FileFault)] {
        &self.faults
    }
}

impl fmt::Display for RepoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (path, fault)) in self.faults.iter().take(LISTED).enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            let is_open = *fault == FileFault::Stopped;
            let advice = if self.is_root && !is_open { ROOT_ADVICE } else { fault.advice() };
            write!(f, "`{}` {fault}: {advice}", Printable(path))?;
        }
        match self.faults.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

impl std::error::Error for RepoError {}

/// The reason why a file is no document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileFault {
    /// There is no such file.
    #[error("is missing")]
    Missing,
    /// It is a folder.
    #[error("is a folder")]
    Folder,
    /// The path of a repository leads to something else.
    #[error("is no folder")]
    NoFolder,
    /// It is no regular file: a device, a socket or a pipe.
    #[error("is no regular file")]
    Special,
    /// It is a link, or in a folder that is one. Links are not followed.
    #[error("is a link, or inside of one")]
    Link,
    /// It is outside of the repository.
    #[error("is outside of the repository")]
    Outside,
    /// Its name is no path of a document.
    #[error("has a name that no document can have")]
    Name(KeyFault),
    /// Its name is not UTF-8. The path has replacement characters.
    #[error("has a name that is not UTF-8")]
    NameEncoding,
    /// Its name contains a `\`, which separates folders in the paths of documents.
    #[error("has a `\\` in its name")]
    Backslash,
    /// It contains a character that no text has.
    #[error("is binary")]
    Binary,
    /// Its bytes are not UTF-8.
    #[error("is not UTF-8")]
    Encoding,
    /// It is larger than [`MAX_FILE_BYTES`].
    #[error("has more than {} kB", MAX_FILE_BYTES / 1000)]
    TooLarge,
    /// It changed whenever it was read.
    #[error("changes while it is read")]
    Changing,
    /// It has no entry in the map: it takes more work to parse than code of its length does.
    #[error("is too tangled to parse")]
    Tangled,
    /// The [handle](super::ScanHandle) of the scan was dropped.
    #[error("was not scanned to the end")]
    Stopped,
    /// The system does not let it be read.
    #[error("cannot be read ({0})")]
    Unreadable(io::ErrorKind),
}

impl FileFault {
    /// The way to an update without the fault.
    const fn advice(self) -> &'static str {
        match self {
            Self::Missing => "create it, or do not select it",
            Self::Folder => "name its files",
            Self::NoFolder => ROOT_ADVICE,
            Self::Link => "name the file that it leads to",
            Self::Outside => "name a file of the repository",
            Self::Name(_) | Self::NameEncoding => "rename it, or do not select it",
            Self::Backslash => "rename it, or write `/` between folders",
            Self::Tangled => "select it, or split it",
            Self::Stopped => "scan again",
            Self::Changing => "try again when its writer is done",
            Self::Unreadable(_) => "change its permissions, or do not select it",
            Self::Special | Self::Binary | Self::Encoding | Self::TooLarge => "do not select it",
        }
    }
}

impl From<io::Error> for FileFault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            kind => Self::Unreadable(kind),
        }
    }
}
