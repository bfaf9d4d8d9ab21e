//! The files that belong to a repository: those that git would add, without links.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use ignore::WalkBuilder;

use super::error::FileFault;
use super::life::ScanLife;
use super::read::{Stamp, document_path, stamp};

/// The folders in which version control keeps its own files.
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// The files that a walk found.
#[derive(Debug, Default)]
pub(super) struct FoundFiles {
    pub(super) files: BTreeMap<Arc<str>, Stamp>,
    /// The entries that are no documents.
    pub(super) skipped: BTreeMap<String, FileFault>,
}

impl FoundFiles {
    /// Walks through the whole repository. A root that is no folder any more is an error.
    pub(super) fn all(root: &Path, life: &ScanLife) -> Result<Self, FileFault> {
        check_folder(root)?;
        let mut found = Self::default();
        found.walk(root, life, |_| true)?;
        Ok(found)
    }

    /// Finds which of some files belong to the repository, and all files in folders. No other folder is listed, except the
    /// ones around a folder, whose rules count.
    pub(super) fn some(root: &Path, paths: &BTreeSet<String>, life: &ScanLife) -> Result<Self, FileFault> {
        check_folder(root)?;
        let mut found = Self::default();
        let now = SystemTime::now();
        let mut rules = builder(root).build_matchers();
        let mut folders = Vec::new();
        for path in paths {
            if Path::new(path).iter().any(is_version_control)
                || rules.iter_mut().any(|rules| rules.matched(path, false).is_ignore())
            {
                continue;
            }
            let path = root.join(path);
            let Ok(status) = path.symlink_metadata() else { continue };
            // A walk enters no link, and finds a name in the case that it has on the disk.
            let place = if status.is_symlink() { path.parent() } else { Some(&*path) };
            if place.is_some_and(|place| place.canonicalize().is_ok_and(|real| real == place)) {
                found.add(root, &path, Some(status.file_type()), || stamp(&status, now));
                folders.extend(status.is_dir().then_some(path));
            }
        }
        if !folders.is_empty() {
            found.walk(root, life, move |path| {
                folders.iter().any(|folder| path.starts_with(folder) || folder.starts_with(path))
            })?;
        }
        Ok(found)
    }

    /// Walks through the part of the repository that a filter permits.
    fn walk(
        &mut self,
        root: &Path,
        life: &ScanLife,
        permits: impl Fn(&Path) -> bool + Send + Sync + 'static,
    ) -> Result<(), FileFault> {
        let mut builder = builder(root);
        builder.filter_entry(move |entry| !is_version_control(entry.file_name()) && permits(entry.path()));
        let now = SystemTime::now();
        for entry in builder.build() {
            if life.is_over() {
                return Err(FileFault::Stopped);
            }
            match entry {
                Ok(entry) => self.add(root, entry.path(), entry.file_type(), || {
                    entry.metadata().ok().and_then(|status| stamp(&status, now))
                }),
                Err(error) => self.fail(root, &error)?,
            }
        }
        Ok(())
    }

    fn add(&mut self, root: &Path, path: &Path, kind: Option<FileType>, stamp: impl FnOnce() -> Stamp) {
        let Some(kind) = kind.filter(|kind| !kind.is_dir()) else { return };
        let fault = match document_path(root, path) {
            Err(fault) => fault,
            Ok(_) if kind.is_symlink() => FileFault::Link,
            Ok(_) if !kind.is_file() => FileFault::Special,
            Ok(path) => {
                self.files.insert(path.into(), stamp());
                return;
            }
        };
        self.skipped.insert(shown(root, path), fault);
    }

    /// A folder that cannot be read, or rules that are no rules. It is an error if it is the root: a walk without it would
    /// look as if all files were removed.
    fn fail(&mut self, root: &Path, error: &ignore::Error) -> Result<(), FileFault> {
        let Some(source) = error.io_error() else { return Ok(()) };
        let path = path_of(error);
        if path.as_deref() == Some(root) {
            return Err(io::Error::from(source.kind()).into());
        }
        let path = path.map_or_else(|| ".".to_owned(), |path| shown(root, &path));
        self.skipped.insert(path, FileFault::Unreadable(source.kind()));
        Ok(())
    }
}

/// Refuses a root that is no folder, or that cannot be read.
pub(super) fn check_folder(root: &Path) -> Result<(), FileFault> {
    match fs::read_dir(root) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(FileFault::NoFolder),
        Err(error) => Err(error.into()),
    }
}

/// The rules of the repository.
fn builder(root: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    let top = root.ancestors().find(|folder| [".git", ".jj"].iter().any(|name| folder.join(name).exists()));
    // Many projects keep checks and settings in hidden files.
    builder.hidden(false);
    // Rules end at the top of a repository, which may be in the folder of another one. A folder that is in no repository
    // has rules as well, and nothing says how far those above it reach: a home folder may ignore everything.
    builder.require_git(top.is_some()).parents(top.is_some_and(|top| top != root));
    builder
}

fn is_version_control(name: &OsStr) -> bool {
    VERSION_CONTROL.iter().any(|folder| name == *folder)
}

fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

fn path_of(error: &ignore::Error) -> Option<PathBuf> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path.clone()),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}
