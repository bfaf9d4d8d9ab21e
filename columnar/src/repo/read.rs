//! One file of the repository, read as a whole or not at all.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Component, Path};
use std::time::{Duration, SystemTime};

use super::MAX_FILE_BYTES;
use super::error::FileFault;
use crate::context::documents::{Key, Kind};
use crate::store::files::{self, WrongKind};

/// The attempts to read a file that changes meanwhile.
const ATTEMPTS: usize = 4;

/// A time of modification that is younger does not tell two writes apart: file systems have coarse clocks.
const CLOCK_STEP: Duration = Duration::from_secs(2);

/// The state of a file that shows its changes: equal stamps are equal texts. `None` if the state does not show them.
pub(super) type Stamp = Option<(u64, SystemTime, SystemTime)>;

/// The stamp of a file whose status was read now.
pub(super) fn stamp(metadata: &Metadata, now: SystemTime) -> Stamp {
    let modified = metadata.modified().ok()?;
    let touched = touched(metadata)?;
    let is_settled = now.duration_since(modified.max(touched)).is_ok_and(|age| age > CLOCK_STEP);
    is_settled.then_some((metadata.len(), modified, touched))
}

/// The time at which the status of a file changed. No program sets it, as programs that unpack or copy files set the time of
/// modification, and it changes when another file takes the name.
#[cfg(unix)]
fn touched(metadata: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt as _;
    let seconds = Duration::from_secs(metadata.ctime().unsigned_abs());
    let rest = Duration::from_nanos(metadata.ctime_nsec().unsigned_abs());
    SystemTime::UNIX_EPOCH.checked_add(seconds + rest)
}

#[cfg(not(unix))]
fn touched(metadata: &Metadata) -> Option<SystemTime> {
    metadata.modified().ok()
}

/// The path of a file as a document has it, from one that is relative to the root or absolute.
pub(super) fn document_path(root: &Path, path: &Path) -> Result<String, FileFault> {
    let inner =
        if path.is_absolute() { path.strip_prefix(root).map_err(|_| FileFault::Outside)? } else { path };
    let text = inner.to_str().ok_or(FileFault::NameEncoding)?;
    if inner.components().any(|part| part == Component::ParentDir) {
        return Err(FileFault::Outside);
    }
    let key = Key::new(Kind::File, text).map_err(|error| FileFault::Name(error.fault()))?;
    // A key has `/` in place of `\`. Where `\` is no separator, two files could have the same key.
    let names = inner.components().filter(|part| *part != Component::CurDir);
    let is_same = names.eq(Path::new(key.path()).components());
    if is_same { Ok(key.path().to_owned()) } else { Err(FileFault::Backslash) }
}

/// The text of a file, and its stamp. No link is followed, in no folder of the path.
pub(super) fn read(root: &Path, path: &str) -> Result<(String, Stamp), FileFault> {
    check_folders(root, path)?;
    let path = root.join(path);
    let mut last = None;
    for _ in 0..ATTEMPTS {
        let Some((bytes, stamp)) = read_once(&path)? else { continue };
        // A write that goes on, or that came within one step of the clock, does not show in the status. So the bytes of a
        // file that was written lately must be the same twice.
        if stamp.is_some() || last.as_ref() == Some(&bytes) {
            return Ok((text(bytes)?, stamp));
        }
        last = Some(bytes);
    }
    Err(FileFault::Changing)
}

/// The bytes of a file; `None` if its status changed meanwhile.
fn read_once(path: &Path) -> Result<Option<(Vec<u8>, Stamp)>, FileFault> {
    let now = SystemTime::now();
    let opened = files::open(OpenOptions::new().read(true), path);
    let (mut file, _) = opened.map_err(|error| wrong_kind(path, &error).unwrap_or_else(|| error.into()))?;
    let before = file.metadata()?;
    if before.len() > MAX_FILE_BYTES {
        return Err(FileFault::TooLarge);
    }
    let mut bytes = Vec::new();
    // One byte too many shows that the file grows, also if it has no end.
    (&mut file).take(before.len() + 1).read_to_end(&mut bytes)?;
    let after = file.metadata()?;
    let is_same = before.len() == after.len()
        && before.modified().ok() == after.modified().ok()
        && bytes.len() as u64 == after.len();
    Ok(is_same.then(|| (bytes, stamp(&after, now))))
}

/// Refuses a path with a link among its folders.
fn check_folders(root: &Path, path: &str) -> Result<(), FileFault> {
    let mut folder = root.to_owned();
    let (folders, _) = path.rsplit_once('/').unwrap_or_default();
    for name in folders.split('/').filter(|name| !name.is_empty()) {
        folder.push(name);
        if fs::symlink_metadata(&folder)?.is_symlink() {
            return Err(FileFault::Link);
        }
    }
    Ok(())
}

/// The kind of an entry that is no regular file.
fn wrong_kind(path: &Path, error: &io::Error) -> Option<FileFault> {
    WrongKind::of(error)?;
    let kind = fs::symlink_metadata(path).ok()?.file_type();
    Some(match kind {
        kind if kind.is_symlink() => FileFault::Link,
        kind if kind.is_dir() => FileFault::Folder,
        _ => FileFault::Special,
    })
}

fn text(bytes: Vec<u8>) -> Result<String, FileFault> {
    if bytes.contains(&0) {
        return Err(FileFault::Binary);
    }
    String::from_utf8(bytes).map_err(|_| FileFault::Encoding)
}
