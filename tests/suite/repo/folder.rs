//! A repository in a temporary folder, and the documents to which its updates lead.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use columnar::documents::{Documents, Kind, Update};
use columnar::repo::{FileFault, RepoError, Repository};
use tempfile::TempDir;

pub(super) struct Folder {
    root: TempDir,
    pub(super) repo: Repository,
    /// The documents after all updates, found by applying them.
    pub(super) documents: Documents,
}

impl Folder {
    /// A folder with files, each with its path.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            write(root.path(), path, text);
        }
        let repo = Repository::open(&root).unwrap();
        Self { root, repo, documents: Documents::new() }
    }

    pub(super) fn with(mut self, change: impl FnOnce(Repository) -> Repository) -> Self {
        self.repo = change(self.repo);
        self
    }

    pub(super) fn path(&self) -> &Path {
        self.root.path()
    }

    pub(super) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        write(self.path(), path, text);
    }

    pub(super) fn remove(&self, path: &str) {
        fs::remove_file(self.path().join(path)).unwrap();
    }

    /// Scans, and returns the kinds and paths that the update changed.
    pub(super) fn scan(&mut self) -> Vec<String> {
        let update = self.repo.scan().unwrap();
        self.apply(&update)
    }

    pub(super) fn changed(&mut self, paths: &[&str]) -> Vec<String> {
        let update = self.repo.changed(paths).unwrap();
        self.apply(&update)
    }

    fn apply(&mut self, update: &Update) -> Vec<String> {
        let (documents, changes) = self.documents.apply(update).unwrap();
        self.documents = documents;
        assert_eq!(&self.documents, self.repo.documents());
        let keys = [changes.added(), changes.changed(), changes.removed()].concat();
        let mut keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        keys.sort();
        keys
    }

    pub(super) fn faults(&mut self) -> Vec<(String, FileFault)> {
        let before = self.repo.documents().clone();
        let error: RepoError = self.repo.scan().unwrap_err();
        assert_eq!(self.repo.documents(), &before);
        error.faults().to_vec()
    }

    /// The entry of a file.
    pub(super) fn entry(&self, path: &str) -> Option<&str> {
        self.of_kind(Kind::Symbol).get(path).copied()
    }

    /// The texts of a kind, by path.
    pub(super) fn of_kind(&self, kind: Kind) -> BTreeMap<&str, &str> {
        let all = self.documents.iter().filter(|(key, _)| key.kind() == kind);
        all.map(|(key, text)| (key.path(), &**text)).collect()
    }
}

pub(super) fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
