//! Copies a file while its flows are written.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use rusqlite::Connection;

use super::database;
use super::deletion;
use super::error::SqliteError;
use super::log::{beside, index_path, log_path};
use super::open_file::transact;
use crate::declare::error::shown;
use crate::store::StoreError;
use crate::store::lock::owner_only;

/// Copies all flows of a file into a new one, which is complete and durable, or absent.
pub(super) fn backup(file: &Path, to: &Path) -> Result<(), StoreError> {
    let operation = format!("copying {} to {}", shown(file), shown(to));
    let failed = |source| StoreError::Io { operation: operation.clone(), source };
    let file = database::resolve(file).map_err(failed)?;
    let to = database::resolve(to).map_err(failed)?;
    if fs::metadata(&file).map_err(failed)?.len() == 0 {
        return Err(StoreError::other(format!("{} is empty: there is nothing to copy", shown(&file))));
    }
    // SQLite would follow a link, and would fill an empty file.
    if fs::symlink_metadata(&to).is_ok() {
        database::finish_copy(&to);
        return Err(failed(io::ErrorKind::AlreadyExists.into()));
    }
    check_leftovers(&to)?;
    let part = database::part_path(&to);
    let journal = beside(&part, "-journal");
    let made = owner_only(OpenOptions::new().write(true).create_new(true)).open(&part);
    made.map_err(|source| StoreError::Io {
        operation: format!(
            "making {}, which another copy uses, or one that was interrupted and can be removed with {}",
            shown(&part),
            shown(&journal)
        ),
        source,
    })?;
    // The journal of an interrupted copy, which was removed without it.
    let _ = fs::remove_file(&journal);
    let writing = format!("writing {} as a copy of", shown(&to));
    let copied = copy(&file, &part).map_err(|error| error.into_store_error(&shown(&file), &writing));
    let named = copied.and_then(|()| check_leftovers(&to)).and_then(|()| {
        // Unlike a rename, a link fails if the name exists.
        fs::hard_link(&part, &to).map_err(failed)
    });
    let removed = match fs::remove_file(&part) {
        // An opener of the copy has removed the first name already.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(failed),
    };
    let _ = fs::remove_file(&journal);
    named.and(removed)?;
    sync_folder(&to).map_err(failed)
}

/// Fails if files belong to an earlier file with the name of the copy. SQLite would read such files as a part of the
/// copy.
fn check_leftovers(to: &Path) -> Result<(), StoreError> {
    let paths = [log_path(to), index_path(to), beside(to, "-journal")];
    let there = paths.iter().filter(|path| fs::symlink_metadata(path).is_ok());
    let names: Vec<_> = there.map(|path| shown(path).to_string()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{} would be read as a part of the copy {}, and may have values of an earlier file with its name: remove or \
         rename it first",
        names.join(" and "),
        shown(to)
    );
    Err(StoreError::other(message))
}

/// Copies into an empty file, and waits for the disk.
fn copy(file: &Path, part: &Path) -> Result<(), SqliteError> {
    let path = part.to_str().ok_or_else(|| StoreError::other("the path of the copy is no UTF-8"))?;
    // `vacuum into` copies rows, in one read transaction, and no free pages.
    database::open(file, &shown(file))?.execute("vacuum into ?", [path])?;
    let db = Connection::open(part)?;
    db.pragma_update(None, "secure_delete", true)?;
    // The copy may show a moment in the middle of a deletion.
    while deletion::is_left(&db)? {
        transact(&db, deletion::purge)?;
    }
    drop(db);
    // Not before the connection is closed: closing this descriptor would end the locks of the connection.
    let synced = File::options().write(true).open(part).and_then(|file| file.sync_all());
    synced.map_err(|error| SqliteError::io(format!("writing {}", shown(part)), error))
}

#[cfg(unix)]
fn sync_folder(file: &Path) -> io::Result<()> {
    file.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// Does nothing, since a folder cannot be synced on other systems.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
