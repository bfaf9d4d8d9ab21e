//! The log beside the file, checked before SQLite reads it.
//!
//! SQLite recovers the transactions before the first frame that is not as written, and drops all others without an
//! error. That is right for the transaction that a crash interrupted, which nobody had confirmed. Two signs tell
//! whether confirmed transactions would be dropped:
//!
//! - Another transaction follows in the log. A writer begins a transaction only when the one before has been
//!   confirmed.
//! - The index of the log, `-shm`, has more frames. After the death of a process, the index is exact. After a loss of
//!   power, the index may show any earlier moment, so it is no sign beside a later log. It is a sign beside an earlier
//!   log, since a log is durable before its index has a frame. A log that was emptied, or whose header cannot be read,
//!   cannot be told from a later one. So the index is made durable before a log is emptied here, when all frames are
//!   written back. The header is written at once: it is part of one sector, and durable before the first frame is
//!   written.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(unix)]
use rustix::process::{Flock, FlockType, fcntl_getlk};

use super::error::SqliteError;
use super::frames::{FrameFormat, HEADER, INDEX, LogIndex, LogScan, Salts, fill, scan};
use crate::declare::error::shown;
use crate::store::StoreError;
use crate::store::files::status::FileStatus;

/// The path of the log of a file.
pub(super) fn log_path(file: &Path) -> PathBuf {
    beside(file, "-wal")
}

/// The path of the index of the log.
pub(super) fn index_path(file: &Path) -> PathBuf {
    beside(file, "-shm")
}

/// A path with another end.
pub(super) fn beside(file: &Path, end: &str) -> PathBuf {
    let mut path = OsString::from(file);
    path.push(end);
    path.into()
}

/// Fails if confirmed values would be lost when SQLite opens the file. The file need not exist.
pub(super) fn check(file: &Path) -> Result<(), SqliteError> {
    let look =
        || look(file).map_err(|error| SqliteError::io(format!("reading {}", shown(&log_path(file))), error));
    // Another process may be writing. A frame that was half written at the first look is whole at the second look.
    let defect = match look()? {
        Some(_) => look()?,
        None => None,
    };
    match defect {
        None => Ok(()),
        Some(defect) => Err(defect.error(file).into()),
    }
}

enum LogDefect {
    /// The number of frames that can be read, and the number of transactions that cannot be read.
    Damaged {
        frames: u32,
        transactions: usize,
    },
    /// The number of frames that can be read, and the number of confirmed frames.
    Short {
        frames: u32,
        confirmed: u32,
    },
    /// The log is an earlier one, and this number of frames of a later one was confirmed.
    Earlier {
        confirmed: u32,
    },
    Missing,
    /// The log has transactions, and the file is missing or empty.
    Alone,
}

impl LogDefect {
    fn error(&self, file: &Path) -> StoreError {
        let log = log_path(file);
        let index = index_path(file);
        let file = shown(file).to_string();
        let index = shown(&index).to_string();
        let restore = format!("restore {file} and its log from a backup and remove {index}");
        let drop =
            ["copy these files and run `sqlite3 ", &file, " 'pragma wal_checkpoint(truncate)'`"].concat();
        let reason = match self {
            Self::Damaged { frames, transactions } => format!(
                "{transactions} confirmed transactions after its frame {frames} cannot be recovered; {restore}, or, to go \
                 on without them, {drop}"
            ),
            Self::Short { frames, confirmed } => format!(
                "{confirmed} of its frames were confirmed, and {frames} can be recovered; {restore}, or, to go on \
                 without the others, {drop}"
            ),
            Self::Missing => format!(
                "it is missing, and confirmed values were in it alone; {restore}, or, to go on without them, remove \
                 {index} alone"
            ),
            Self::Earlier { confirmed } => format!(
                "it is an earlier one: {confirmed} frames of a later one were confirmed, and {index} belongs to that; \
                 {restore}"
            ),
            Self::Alone => format!(
                "it has values of {file}, which is missing or empty; {restore}, or, to go on without them, remove it"
            ),
        };
        StoreError::damaged(&shown(&log), reason)
    }
}

fn look(file: &Path) -> io::Result<Option<LogDefect>> {
    // Read before the log, which thus has all that the index has.
    let index = index(&index_path(file))?;
    let mut log = match File::open(log_path(file)) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // SQLite removes the index before the log.
            let is_due = index.is_some_and(|index| index.is_due());
            return Ok((is_due && !is_empty(file)?).then_some(LogDefect::Missing));
        }
        log => log?,
    };
    let mut header = [0; HEADER];
    if !fill(&mut log, &mut header)? {
        // Read again, after the log: SQLite begins the index anew before it empties the log.
        let index = self::index(&index_path(file))?.filter(is_surely_due);
        let emptied = index.map(|index| LogDefect::Short { frames: 0, confirmed: index.frames });
        return Ok(if is_empty(file)? { None } else { emptied });
    }
    let format = FrameFormat::parse(&header);
    let (scan, salts) = match &format {
        Some(format) => (scan(&mut log, format)?, format.salts),
        None => without_header(&mut log, &header)?,
    };
    let defect = defect(&scan, format.is_some(), salts, index.as_ref());
    // Looked at after the log: the file had tables before it had a log.
    let defect = match defect {
        None if scan.transactions > 0 && is_empty(file)? => Some(LogDefect::Alone),
        defect => defect,
    };
    // Another process has begun the log anew, and recovered it before.
    let mut again = [0; HEADER];
    log.seek(SeekFrom::Start(0))?;
    let is_same = fill(&mut log, &mut again)? && again == header;
    Ok(defect.filter(|_| is_same))
}

fn defect(
    scan: &LogScan,
    has_header: bool,
    salts: Option<Salts>,
    index: Option<&LogIndex>,
) -> Option<LogDefect> {
    let frames = scan.recovered;
    if scan.is_continued {
        return Some(LogDefect::Damaged { frames, transactions: scan.lost });
    }
    let index = index?;
    let salts = salts.unwrap_or_default();
    let confirmed = index.frames;
    if salts == index.salts || !has_header && is_surely_due(index) {
        (frames < confirmed).then_some(LogDefect::Short { frames, confirmed })
    } else {
        (has_header && is_surely_due(index) && index.is_after(salts))
            .then_some(LogDefect::Earlier { confirmed })
    }
}

/// Whether confirmed frames are in the log alone, even if a loss of power left an older index.
fn is_surely_due(index: &LogIndex) -> bool {
    IS_INDEX_SYNCED && index.is_due()
}

/// The transactions of a log whose header is damaged. SQLite recovers none of these. A writer syncs the header before
/// the first frame, so the transactions were begun when the header was whole.
fn without_header(log: &mut File, header: &[u8; HEADER]) -> io::Result<(LogScan, Option<Salts>)> {
    let mut frame = [0; 16];
    let salts = if fill(log, &mut frame)? { frame.last_chunk().copied() } else { None };
    for format in FrameFormat::guesses(header) {
        log.seek(SeekFrom::Start(HEADER as u64))?;
        let LogScan { is_verified, transactions, lost, .. } = scan(log, &format)?;
        if is_verified {
            let lost = transactions + lost;
            return Ok((LogScan { lost, is_continued: lost > 0, ..LogScan::default() }, salts));
        }
    }
    Ok((LogScan::default(), salts))
}

/// Whether a file is missing or empty.
pub(super) fn is_empty(file: &Path) -> io::Result<bool> {
    match fs::metadata(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        metadata => Ok(metadata?.len() == 0),
    }
}

/// Whether a log was left that is not empty: its process was killed, and no other process has the file open.
pub(super) fn is_left(file: &Path) -> io::Result<bool> {
    Ok(!is_empty(&log_path(file))? && with_index(&index_path(file), |index| is_used(index))? != Some(true))
}

/// Whether another process has the index open. Each connection of SQLite holds a lock on a byte of the index, `DMS` in
/// the source of SQLite.
#[cfg(unix)]
fn is_used(index: &File) -> io::Result<bool> {
    let byte = Flock { start: 128, length: 1, ..Flock::from(FlockType::WriteLock) };
    Ok(fcntl_getlk(index, &byte)?.is_some())
}

/// Believes that nobody has the index open. On other systems a lock cannot be looked at.
#[cfg(not(unix))]
fn is_used(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// Whether the index is synced. On other systems a file that is only read cannot be made durable.
const IS_INDEX_SYNCED: bool = cfg!(unix);

/// Makes the index of a log durable, before the log is emptied. After a failure, a loss of power may leave an empty
/// log with an older index, which is refused although nothing is lost.
pub(super) fn sync_index(file: &Path) -> io::Result<()> {
    if !IS_INDEX_SYNCED {
        return Ok(());
    }
    // Others may read an index meanwhile.
    let index = with_index(&index_path(file), |index| Ok(Arc::clone(index)))?;
    index.map_or(Ok(()), |index| index.sync_all())
}

/// Whether a log of this length lacks written frames. Nobody else may write meanwhile.
pub(super) fn is_cut(file: &Path, length: u64) -> io::Result<bool> {
    Ok(index(&index_path(file))?.is_some_and(|index| index.log_length() > length))
}

/// Closes the index of a log that SQLite has removed.
pub(super) fn forget_index(file: &Path) {
    let _ = with_index(&index_path(file), |_| Ok(()));
}

/// The index of a log, unless it is missing or not whole.
fn index(path: &Path) -> io::Result<Option<LogIndex>> {
    let read = with_index(path, |file| {
        let mut file = &**file;
        let mut bytes = [0; INDEX];
        file.seek(SeekFrom::Start(0))?;
        Ok(if fill(&mut file, &mut bytes)? { LogIndex::parse(&bytes) } else { None })
    });
    read.map(Option::flatten)
}

/// Uses the file of an index, unless it is missing.
fn with_index<T>(path: &Path, run: impl FnOnce(&Arc<File>) -> io::Result<T>) -> io::Result<Option<T>> {
    /// The open indexes. Closing a descriptor of such a file would end the locks that SQLite has on it in this
    /// process. So each stays open until another file is at the path.
    static OPEN: Mutex<BTreeMap<PathBuf, Arc<File>>> = Mutex::new(BTreeMap::new());
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = match FileStatus::behind(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            open.remove(path);
            return Ok(None);
        }
        status => status?.id,
    };
    let is_open = match open.get(path) {
        Some(file) => FileStatus::of(file)?.id == found,
        None => false,
    };
    if !is_open {
        match File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => open.insert(path.to_owned(), Arc::new(file?)),
        };
    }
    let Some(file) = open.get(path) else { return Ok(None) };
    let done = run(file);
    // On other systems an open file cannot be removed, and a lock belongs to a descriptor.
    if cfg!(not(unix)) {
        open.remove(path);
    }
    done.map(Some)
}
