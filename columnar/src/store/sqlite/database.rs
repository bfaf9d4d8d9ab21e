//! The SQLite file: creation, recognition, settings and format.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::error::SqliteError;
use super::log::{self, beside};
use super::schema::{self, APPLICATION, FORMAT, PAGE, WITH_ATTACHMENTS};
use crate::declare::default_limits::SQLITE_BUSY;
use crate::declare::error::shown;
use crate::store::StoreError;
use crate::store::files::status::FileStatus;
use crate::store::lock::owner_only;

/// The pause between two attempts to change the journal mode.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// A flow in a file.
#[derive(Clone)]
pub(crate) struct FileLocation {
    pub(super) file: PathBuf,
    pub(super) flow: String,
}

impl fmt::Display for FileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the flow `{}` in {}", self.flow.escape_debug(), shown(&self.file))
    }
}

/// The path of a file without links, so that all paths to a file are one. The file may be missing, but not the folder.
pub(super) fn resolve(file: &Path) -> io::Result<PathBuf> {
    match (fs::canonicalize(file), file.file_name()) {
        (Err(error), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
            // The parent of `chats.db` is the empty path.
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            Ok(fs::canonicalize(folder.unwrap_or(Path::new(".")))?.join(name))
        }
        (resolved, _) => resolved,
    }
}

/// Opens a file, and creates a missing file. Errors name the location for which the file is opened.
pub(super) fn open(path: &Path, location: &dyn fmt::Display) -> Result<Connection, SqliteError> {
    log::check(path)?;
    check_links(path)?;
    let is_log_left =
        log::is_left(path).map_err(|error| SqliteError::io(format!("opening {location}"), error))?;
    let mut db = connect(path)?;
    db.busy_timeout(SQLITE_BUSY)?;
    // sqlite.org/pragma.html: a schema that another program has edited runs no unsafe functions, and reading notices
    // damaged pages.
    db.pragma_update(None, "trusted_schema", false)?;
    db.pragma_update(None, "cell_size_check", true)?;
    // The text of a deleted flow is overwritten.
    db.pragma_update(None, "secure_delete", true)?;
    // Read in one transaction: another flow may create the file between two queries.
    let found = format(&*db.transaction()?, path, location)?;
    if found.is_none_or(|found| found < FORMAT) {
        if found.is_none() {
            // SQLite takes a page size only while the file is empty.
            db.pragma_update(None, "page_size", PAGE)?;
        }
        // A transaction that reads before it writes fails without a wait if there is another writer.
        let making = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another flow may have been quicker.
        match format(&making, path, location)? {
            None => {
                let length = fs::metadata(path)
                    .map_err(|error| SqliteError::io(format!("opening {location}"), error))?
                    .len();
                if length > 0 {
                    // A truncated file must not be overwritten.
                    return Err(SqliteError::Damaged("it is not empty, and there is nothing in it"));
                }
                schema::make(&making)?;
            }
            Some(FORMAT..) => {}
            Some(_) => schema::upgrade(&making)?,
        }
        making.commit()?;
    }
    // A commit waits for the disk, also on systems that need an extra flag for it.
    // With a write-ahead log, `normal` would lose the last commits in a loss of power.
    db.pragma_update(None, "synchronous", "full")?;
    db.pragma_update(None, "fullfsync", true)?;
    db.pragma_update(None, "checkpoint_fullfsync", true)?;
    let journal = enable_wal(&db)?;
    if journal != "wal" {
        return Err(StoreError::other(format!("{} cannot have a log beside it", shown(path))).into());
    }
    // The first read makes the log and the index.
    format(&db, path, location)?;
    schema::check(&db, path)?;
    if is_log_left {
        schema::check_pages(&db, path)?;
    }
    Ok(db)
}

/// Fails if the file has several names. A program that opens the file by another name has another log, and other
/// locks.
#[cfg(unix)]
fn check_links(path: &Path) -> Result<(), SqliteError> {
    if names_of(path) > 1 {
        finish_copy(path);
    }
    let names = names_of(path);
    if names > 1 {
        let message = format!(
            "{} has {names} names, and programs that use another one would not see its log; remove the other links, or \
             open a copy",
            shown(path)
        );
        return Err(StoreError::other(message).into());
    }
    Ok(())
}

#[cfg(unix)]
fn names_of(path: &Path) -> u64 {
    fs::metadata(path).map_or(1, |metadata| std::os::unix::fs::MetadataExt::nlink(&metadata))
}

/// Does nothing, since other systems do not tell the number of names.
#[cfg(not(unix))]
fn check_links(_: &Path) -> Result<(), SqliteError> {
    Ok(())
}

/// The name of a copy until it is complete.
pub(super) fn part_path(copy: &Path) -> PathBuf {
    beside(copy, "-part")
}

/// Removes the part name of a copy that has its own name, too: the backup was interrupted when the copy was complete.
pub(super) fn finish_copy(copy: &Path) {
    let part = part_path(copy);
    let [copy, own] = [copy, &part].map(|path| FileStatus::at(path).ok().map(|status| status.id));
    if cfg!(unix) && copy.is_some() && copy == own {
        // If the removal fails, the file cannot be opened, and the error tells why.
        let _ = fs::remove_file(part);
    }
}

/// Switches to a write-ahead log, and returns the journal mode. The switch needs the file exclusively for a moment,
/// and SQLite does not wait for that by itself.
fn enable_wal(db: &Connection) -> Result<String, SqliteError> {
    let since = Instant::now();
    loop {
        match db.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0)) {
            Err(rusqlite::Error::SqliteFailure(error, _))
                if error.code == ErrorCode::DatabaseBusy && since.elapsed() < SQLITE_BUSY =>
            {
                thread::sleep(RETRY_INTERVAL);
            }
            journal => return Ok(journal?),
        }
    }
}

fn connect(path: &Path) -> Result<Connection, SqliteError> {
    // Closing any other descriptor of the file ends the locks that SQLite holds on the file in this process. So a
    // descriptor is made only here, while no other thread of this process opens the file.
    static MAKING: Mutex<()> = Mutex::new(());
    let _alone = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    // SQLite would create a file that others can read. The log and the shared memory get the mode of this file.
    match owner_only(OpenOptions::new().write(true).create_new(true)).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(SqliteError::io(format!("opening {}", shown(path)), error));
        }
        _ => {}
    }
    // One thread uses the connection. The path has no links, so a link is refused.
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    Ok(Connection::open_with_flags(path, flags)?)
}

/// The format of the file; `None` for an empty one.
fn format(db: &Connection, path: &Path, location: &dyn fmt::Display) -> Result<Option<u32>, SqliteError> {
    let application: i32 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let format: i32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if application == APPLICATION {
        return match u32::try_from(format) {
            // Both numbers are written in one transaction, so one alone means that the file was edited.
            Ok(0) | Err(_) => Err(SqliteError::Damaged("it has no format")),
            Ok(known @ 1..=WITH_ATTACHMENTS) => Ok(Some(known)),
            Ok(found) => {
                let location = location.to_string();
                Err(StoreError::Unsupported { location, found, known: WITH_ATTACHMENTS }.into())
            }
        };
    }
    let tables: i64 = db.query_row("select count(*) from sqlite_schema", (), |row| row.get(0))?;
    if (application, format, tables) == (0, 0, 0) {
        return Ok(None);
    }
    Err(StoreError::other(format!("{} is a database of another program", shown(path))).into())
}
