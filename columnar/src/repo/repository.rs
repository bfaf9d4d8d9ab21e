//! The driver: it reads the repository, and keeps the documents to which its updates led.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

use super::entry::legend;
use super::error::{FileFault, RepoError};
use super::life::{ScanHandle, ScanLife};
use super::map::{Chosen, Map};
use super::read::{document_path, read};
use super::tree::tree;
use super::walk::check_folder;
use crate::context::documents::{Documents, KeyFault, Kind, Update};
use crate::declare::default_limits::MAP_TOKENS;
use crate::history::Value;
use crate::history::tokens::{Counter, Estimate};

/// A repository on disk, from which the updates of a source of documents are made. See the [module](super).
pub struct Repository {
    root: PathBuf,
    /// The root as the caller named it. It may lead through links, and `root` leads through none.
    named: PathBuf,
    limit: usize,
    tree_limit: usize,
    counter: Arc<dyn Counter>,
    /// The selected paths as the caller named them.
    selection: BTreeSet<PathBuf>,
    map: Map,
    /// The life of the next scan.
    life: ScanLife,
    /// Whether files came or went since the last update.
    moved: bool,
    /// The documents after all updates: the only record of what is shown. A flow that was opened again, or a push that failed,
    /// has a set of documents and nothing else.
    documents: Documents,
}

impl Repository {
    /// A repository in a folder. Nothing is read yet.
    ///
    /// ```
    /// use columnar::repo::Repository;
    ///
    /// let error = Repository::open("/nonexistent").expect_err("there is no such folder");
    /// assert_eq!(error.to_string(), "`/nonexistent` is missing: name a folder that exists and that you may read");
    /// ```
    ///
    /// # Errors
    ///
    /// [`RepoError`] with the path if it is no folder, or cannot be opened.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, RepoError> {
        let path = root.as_ref();
        let root = path.canonicalize().map_err(FileFault::from);
        let root = root.and_then(|root| check_folder(&root).map(|()| root));
        let root = root.map_err(|fault| RepoError::of_root(path, fault))?;
        Ok(Self {
            root,
            named: absolute(path).unwrap_or_default(),
            limit: MAP_TOKENS,
            tree_limit: usize::MAX,
            counter: Arc::new(Estimate),
            selection: BTreeSet::new(),
            map: Map::default(),
            life: ScanLife::default(),
            moved: true,
            documents: Documents::new(),
        })
    }

    /// Sets the limit of the map, in tokens; 32,000 without it. With 0 there is no map. The file tree and the selected files
    /// do not count.
    #[must_use]
    pub const fn limit(mut self, tokens: usize) -> Self {
        self.limit = tokens;
        self
    }

    /// Sets the limit of the file tree, in tokens. Without it, the tree names every file. A tree that is cut counts the files
    /// of the longest folders, and its last line says how many files it does not name. With 0 there is no tree.
    ///
    /// In tiers the tree is sent at the full price with each request, and the map at the price of the cache.
    ///
    /// ```
    /// use columnar::repo::Repository;
    ///
    /// let folder = tempfile::tempdir()?;
    /// for page in 0..100 {
    ///     std::fs::write(folder.path().join(format!("page_{page}.html")), "")?;
    /// }
    /// let mut repo = Repository::open(&folder)?.tree_limit(50);
    /// repo.scan()?;
    /// let tree = repo.documents().tree().expect("the limit is above 0");
    /// assert_eq!(tree.as_str(), "100 files\nNot named: 100 of 100 files");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn tree_limit(mut self, tokens: usize) -> Self {
        self.tree_limit = tokens;
        self
    }

    /// Sets the counter of both limits; [`Estimate`] without it.
    #[must_use]
    pub fn counter(mut self, counter: impl Counter + 'static) -> Self {
        self.counter = Arc::new(counter);
        self
    }

    /// Continues from documents: the next update leads from them to the repository as it is then. Its files are selected.
    ///
    /// For a flow that was opened again, or one whose push failed.
    ///
    /// ```
    /// use columnar::documents::Documents;
    /// use columnar::repo::Repository;
    ///
    /// let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("a.rs"), "fn a() {}")?;
    /// let mut repo = Repository::open(&folder)?;
    /// let update = repo.select(["a.rs"]).scan()?;
    ///
    /// // Later, in another process.
    /// let (documents, _) = Documents::new().apply(&update)?;
    /// let mut repo = Repository::open(&folder)?;
    /// assert!(repo.resume(&documents).scan()?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resume(&mut self, documents: &Documents) -> &mut Self {
        (self.documents, self.moved) = (documents.clone(), true);
        self.selection = self.selected().map(PathBuf::from).collect();
        self
    }

    /// Selects the files that are shown in full, instead of those before. Their paths are relative to the repository, or
    /// absolute and inside of it. The next update has them.
    pub fn select<P: AsRef<Path>>(&mut self, paths: impl IntoIterator<Item = P>) -> &mut Self {
        self.selection = paths.into_iter().map(|path| path.as_ref().to_owned()).collect();
        self
    }

    /// A handle of the next scan, which stops if the handle is dropped: between two files and inside of a long one. The scan
    /// is the error [`FileFault::Stopped`] then, and the next one reads what was left.
    ///
    /// A future keeps the handle of a scan on another thread, and stops the scan when the future is dropped.
    ///
    /// ```
    /// use columnar::repo::{FileFault, Repository};
    ///
    /// let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("a.rs"), "fn a() {}")?;
    /// let mut repo = Repository::open(&folder)?;
    /// let handle = repo.handle();
    /// let scan = std::thread::spawn(move || (repo.scan(), repo));
    /// let (update, mut repo) = scan.join().expect("no panic");
    /// assert!(update.is_ok());
    /// drop(handle);
    ///
    /// drop(repo.handle());
    /// let error = repo.scan().expect_err("nobody waits for it");
    /// assert!(matches!(error.faults(), [(_, FileFault::Stopped)]));
    /// assert!(repo.scan().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn handle(&mut self) -> ScanHandle {
        let (handle, life) = ScanHandle::new();
        self.life = life;
        handle
    }

    /// Reads the repository, and returns the update from the documents so far. It is empty if nothing changed.
    ///
    /// # Errors
    ///
    /// [`RepoError`] with all selected files that cannot be shown, or with the path of the repository if its folder is gone.
    /// The documents stay as they were.
    pub fn scan(&mut self) -> Result<Update, RepoError> {
        let life = std::mem::take(&mut self.life);
        let moved = self.map.scan(&self.root, &life);
        self.update(moved)
    }

    /// Reads some files, and returns the update from the documents so far: for files that were just edited, created or
    /// removed. A folder means all files in it, also those that are gone. Other changes are for the next
    /// [`scan`](Self::scan). Before the first scan, and for the folder of the repository itself, it is one.
    ///
    /// ```
    /// use columnar::repo::Repository;
    ///
    /// let folder = tempfile::tempdir()?;
    /// std::fs::create_dir(folder.path().join("src"))?;
    /// std::fs::write(folder.path().join("src/a.rs"), "fn a() {}")?;
    /// let mut repo = Repository::open(&folder)?;
    /// repo.scan()?;
    /// std::fs::remove_dir_all(folder.path().join("src"))?;
    /// repo.changed(["src"])?;
    /// assert!(repo.documents().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RepoError`] with the errors of files that cannot be in a repository, with all selected files that cannot be shown, or
    /// with the path of the repository if its folder is gone. The documents stay as they were.
    pub fn changed<P: AsRef<Path>>(
        &mut self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Update, RepoError> {
        let mut inside = BTreeSet::new();
        let mut faults = Vec::new();
        let mut is_whole = !self.map.is_scanned;
        for path in paths {
            match self.document_path(path.as_ref()) {
                Ok(path) => drop(inside.insert(path)),
                Err(FileFault::Name(KeyFault::Empty)) => is_whole = true,
                Err(fault) => faults.push((path.as_ref().display().to_string(), fault)),
            }
        }
        RepoError::check(faults)?;
        if is_whole {
            return self.scan();
        }
        let life = std::mem::take(&mut self.life);
        let moved = self.map.look_at(&self.root, &inside, &life);
        self.update(moved)
    }

    /// The paths of all files of the repository at the last scan, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.map.found.files.keys().map(AsRef::as_ref)
    }

    /// The paths that are shown in full since the last update, in order.
    pub fn selected(&self) -> impl Iterator<Item = &str> {
        shown(&self.documents, Kind::File).map(|(path, _)| path)
    }

    /// The files that were left out, each with the reason, in order: those with names that no document can have and those
    /// that cannot be read, links, and files of a known language that are binary, too large or not UTF-8. Files that are too
    /// tangled to parse are in the file tree, and have no entry.
    pub fn skipped(&self) -> impl Iterator<Item = (&str, FileFault)> {
        self.map.found.skipped.iter().map(|(path, fault)| (path.as_str(), *fault))
    }

    /// The documents after all updates.
    pub const fn documents(&self) -> &Documents {
        &self.documents
    }

    /// The update from the documents so far to the files and the selection. `moved` tells whether files came or went.
    fn update(&mut self, moved: Result<bool, FileFault>) -> Result<Update, RepoError> {
        // A scan that stopped may have seen files come and go.
        self.moved |= *moved.as_ref().unwrap_or(&true);
        moved.map_err(|fault| RepoError::of_root(&self.root, fault))?;
        let files = self.selected_texts()?;
        let update = self.update_of_files(files);
        let update = self.update_of_map(update);
        let (documents, _) = match self.documents.apply(&update) {
            Ok(applied) => applied,
            Err(error) => unreachable!("all paths were checked: {error}"),
        };
        (self.documents, self.moved) = (documents, false);
        Ok(update)
    }

    /// The path of a document that the caller named: relative, or absolute with the root as it is or as the caller named it.
    fn document_path(&self, path: &Path) -> Result<String, FileFault> {
        let is_named = !self.named.as_os_str().is_empty();
        let inner = path.strip_prefix(&self.named).ok().filter(|_| is_named && path.is_absolute());
        document_path(&self.root, inner.unwrap_or(path))
    }

    fn selected_texts(&self) -> Result<BTreeMap<String, String>, RepoError> {
        let mut texts = BTreeMap::new();
        let mut faults = Vec::new();
        for selected in &self.selection {
            let text = self
                .document_path(selected)
                .and_then(|path| read(&self.root, &path).map(|(text, _)| (path, text)));
            match text {
                Ok((path, text)) => drop(texts.insert(path, text)),
                Err(fault) => faults.push((selected.display().to_string(), fault)),
            }
        }
        RepoError::check(faults).map(|()| texts)
    }

    fn update_of_files(&self, texts: BTreeMap<String, String>) -> Update {
        let shown: BTreeMap<&str, &Value> = shown(&self.documents, Kind::File).collect();
        let gone = shown.keys().filter(|path| !texts.contains_key(**path));
        let update = gone.fold(Update::new(), |update, path| update.remove(Kind::File, path));
        texts.into_iter().fold(update, |update, (path, text)| match shown.get(&*path) {
            Some(shown) if ***shown == *text => update,
            _ => update.file(path, text),
        })
    }

    fn update_of_map(&mut self, mut update: Update) -> Update {
        // The legend has its longest form, so that its length does not move entries.
        let entry_limit = self.limit.saturating_sub(self.counter.count(&legend(usize::MAX)));
        let shown: BTreeMap<&str, &Value> = shown(&self.documents, Kind::Symbol).collect();
        let Chosen { entries, others } =
            self.map.choose(entry_limit, &*self.counter, |path| shown.contains_key(path));
        let clusters = if shown.is_empty() { self.map.index.clusters() } else { BTreeMap::new() };
        for path in shown.keys().filter(|path| !entries.contains_key(**path)) {
            update = update.remove(Kind::Symbol, path);
        }
        let legend = if entries.is_empty() { String::new() } else { legend(others) };
        for (path, text) in entries {
            if shown.get(&*path) != Some(&&text) {
                update = update.symbol(&*path, text);
                if let Some((cluster, references)) = clusters.get(&path) {
                    update = update.cluster(*cluster, *references);
                }
            }
        }
        if self.documents.legend().map_or("", |shown| shown) != legend {
            update = update.legend(legend);
        }
        if self.moved {
            let tree = tree(self.paths(), self.tree_limit, &*self.counter);
            if self.documents.tree().map_or("", |shown| shown) != tree {
                update = update.tree(tree);
            }
        }
        update
    }
}

/// The documents of a kind, in the order of their paths.
fn shown(documents: &Documents, kind: Kind) -> impl Iterator<Item = (&str, &Value)> {
    let all = documents.iter().filter(move |(key, _)| key.kind() == kind);
    all.map(|(key, text)| (key.path(), text))
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { root, limit, documents, .. } = self;
        f.debug_struct("Repository")
            .field("root", root)
            .field("limit", limit)
            .field("documents", documents)
            .finish_non_exhaustive()
    }
}
