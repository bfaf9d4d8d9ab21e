//! The files of a folder, and the update that leads to them. Hidden entries are left out, and no link is followed.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, File};
use std::io::{self, Read as _};
use std::path::Path;

use columnar::BoxError;
use columnar::documents::{Documents, Key, Kind, Update};

/// The size of the largest file that is read, in bytes.
pub(crate) const LARGEST: usize = 200_000;

/// The files of a folder at one moment.
#[derive(Default)]
pub(crate) struct Scan {
    files: BTreeMap<Key, String>,
    /// The paths that are no documents, each with the reason.
    pub(crate) skipped: BTreeMap<String, String>,
}

impl Scan {
    /// Reads a folder and all folders inside.
    ///
    /// # Errors
    ///
    /// The errors of the folder itself. Without them, all documents would seem to be removed.
    pub(crate) fn of(root: &Path) -> io::Result<Self> {
        let mut scan = Self::default();
        scan.folder(root, "")?;
        Ok(scan)
    }

    /// The update from these documents to the scanned ones.
    pub(crate) fn update_of(&self, documents: &Documents) -> Update {
        let changed =
            self.files.iter().filter(|(key, text)| documents.get(key).is_none_or(|known| **known != ***text));
        let update =
            changed.fold(Update::new(), |update, (key, text)| update.file(key.path(), text.as_str()));
        let gone = documents.iter().filter(|(key, _)| !self.files.contains_key(key));
        gone.fold(update, |update, (key, _)| update.remove(key.kind(), key.path()))
    }

    /// Adds the entries of a folder. The paths of the entries begin with the prefix.
    fn folder(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let path = format!("{prefix}{}", name.display());
            if path.rsplit('/').next().is_some_and(|name| name.starts_with('.')) {
                continue;
            }
            let added = match name.to_str() {
                Some(_) => self.entry(&entry, &path),
                None => Err("its name is not UTF-8".into()),
            };
            if let Err(reason) = added {
                self.skipped.insert(path, reason.to_string());
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &DirEntry, path: &str) -> Result<(), BoxError> {
        // The type of a link itself, not of the file at the end of the link.
        let kind = entry.file_type()?;
        if kind.is_dir() {
            return Ok(self.folder(&entry.path(), &format!("{path}/"))?);
        }
        if kind.is_symlink() {
            return Err("it is a link".into());
        }
        if !kind.is_file() {
            return Err("it is no file".into());
        }
        let key = Key::new(Kind::File, path)?;
        // A key has `/` in place of `\`, so two files could have the same one.
        if key.path() != path {
            return Err(format!("its name would be read as {}", key.path()).into());
        }
        self.files.insert(key, text(&entry.path())?);
        Ok(())
    }
}

fn text(path: &Path) -> Result<String, BoxError> {
    let mut bytes = Vec::new();
    // One byte too many shows that the file is too large, also if the file grows meanwhile.
    File::open(path)?.take(LARGEST as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > LARGEST {
        return Err(format!("it has more than {} kB", LARGEST / 1000).into());
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".into())
}
