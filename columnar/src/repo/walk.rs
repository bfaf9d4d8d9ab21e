//! The files that belong to a repository: those that git would add, without links.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::FileType;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use ignore::WalkBuilder;

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
        let walk = builder(root).filter_entry(|entry| !is_version_control(entry.file_name())).build();
        let (mut found, now) = (Self::default(), SystemTime::now());
        for entry in walk {
            match entry {
                Ok(entry) => {
                    let stamp = || entry.metadata().ok().and_then(|status| stamp(&status, now));
                    found.add(root, entry.path(), entry.file_type(), stamp);
                }
                Err(error) => found.fail(root, &error),
            }
        }
        found
    }

    /// Finds those of some files that belong to the repository. No folder is listed.
    pub(super) fn some(root: &Path, paths: &BTreeSet<String>) -> Self {
        let (mut found, now) = (Self::default(), SystemTime::now());
        let mut rules = builder(root).build_matchers();
        for path in paths {
            let mut is_ignored = || rules.iter_mut().any(|rules| rules.matched(path, false).is_ignore());
            if Path::new(path).iter().any(is_version_control) || is_ignored() {
                continue;
            }
            let path = root.join(path);
            let Ok(status) = path.symlink_metadata() else { continue };
            // A walk enters no link, and finds a name in the case that it has on the disk.
            let place = if status.is_symlink() { path.parent() } else { Some(&*path) };
            if place.is_some_and(|place| place.canonicalize().is_ok_and(|real| real == place)) {
                found.add(root, &path, Some(status.file_type()), || stamp(&status, now));
            }
        }
        found
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

    /// A folder that cannot be read, or rules that are no rules.
    fn fail(&mut self, root: &Path, error: &ignore::Error) {
        let Some(source) = error.io_error() else { return };
        let path = path_of(error).map_or_else(|| ".".to_owned(), |path| shown(root, &path));
        self.skipped.insert(path, FileFault::Unreadable(source.kind()));
    }
}

/// The rules of the repository.
fn builder(root: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    // Many projects keep checks and settings in hidden files. The files of a folder that is no repository of git have rules
    // as well.
    builder.hidden(false).require_git(false);
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
