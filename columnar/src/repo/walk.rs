//! The files that belong to a repository: those that git would add, without links.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use ignore::{DirEntry, WalkBuilder};

use super::error::FileFault;
use super::read::{Stamp, document_path, stamp};

/// The folders in which version control keeps its own files.
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// The files that a walk found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) files: BTreeMap<Arc<str>, Stamp>,
    /// The entries that are no documents.
    pub(super) skipped: BTreeMap<String, FileFault>,
}

impl Found {
    /// Walks through the whole repository.
    pub(super) fn all(root: &Path) -> Self {
        Self::walk(root, |_| true)
    }

    /// Finds those of some files that belong to the repository. Only the folders on the way to them are read.
    pub(super) fn some(root: &Path, paths: &BTreeSet<String>) -> Self {
        let mut on_the_way = BTreeSet::new();
        for path in paths {
            on_the_way.extend(root.join(path).ancestors().map(Path::to_owned));
        }
        Self::walk(root, move |entry| on_the_way.contains(entry.path()))
    }

    fn walk(root: &Path, is_wanted: impl Fn(&DirEntry) -> bool + Send + Sync + 'static) -> Self {
        let is_version_control = |name: &OsStr| VERSION_CONTROL.iter().any(|folder| name == *folder);
        let walk = WalkBuilder::new(root)
            // Many projects keep checks and settings in hidden files.
            .hidden(false)
            // The files of a folder that is no repository of git have rules as well.
            .require_git(false)
            .filter_entry(move |entry| !is_version_control(entry.file_name()) && is_wanted(entry))
            .build();
        let (mut found, now) = (Self::default(), SystemTime::now());
        for entry in walk {
            match entry {
                Ok(entry) => found.add(root, &entry, now),
                Err(error) => found.fail(root, &error),
            }
        }
        found
    }

    fn add(&mut self, root: &Path, entry: &DirEntry, now: SystemTime) {
        let Some(kind) = entry.file_type().filter(|kind| !kind.is_dir()) else { return };
        let fault = match document_path(root, entry.path()) {
            Err(fault) => fault,
            Ok(_) if kind.is_symlink() => FileFault::Link,
            Ok(_) if !kind.is_file() => FileFault::Special,
            Ok(path) => {
                let stamp = entry.metadata().ok().and_then(|metadata| stamp(&metadata, now));
                self.files.insert(path.into(), stamp);
                return;
            }
        };
        self.skipped.insert(shown(root, entry.path()), fault);
    }

    /// A folder that cannot be read, or rules that are no rules.
    fn fail(&mut self, root: &Path, error: &ignore::Error) {
        let Some(source) = error.io_error() else { return };
        let path = path_of(error).map_or_else(|| ".".to_owned(), |path| shown(root, &path));
        self.skipped.insert(path, FileFault::Unreadable(source.kind()));
    }
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
