//! A file system in memory that knows the possible states after a power loss, with fault injection and deliberate
//! misbehaviour.

use std::collections::BTreeMap;
use std::fs::TryLockError;
use std::io::{self, BufRead, Cursor, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::disk::{Disk, FileKind, FileStatus};
use super::super::known::{self, KnownSteps};
use super::super::log::Log;
use crate::store::files::WrongKind;
use crate::store::files::status::FileIdentity;

/// A file system, shared by all clones.
#[derive(Clone, Default)]
pub(super) struct Model(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    image: Image,
    operations: Vec<(&'static str, PathBuf)>,
    fault: Option<Fault>,
    misbehaving: Option<Misbehaviour>,
    locked: bool,
    /// The image before each changing operation, with the number of confirmed actions.
    recorded: Option<Vec<(Image, usize)>>,
    confirmed: usize,
}

/// All files and folders, the root first.
#[derive(Clone)]
pub(super) struct Image {
    nodes: Vec<Node>,
}

#[derive(Clone)]
pub(super) enum Node {
    File {
        data: Vec<u8>,
        durable: Vec<u8>,
        /// A write to the disk failed, so earlier writes are never repeated.
        doomed: bool,
    },
    Folder {
        names: BTreeMap<String, usize>,
        durable: BTreeMap<String, usize>,
        /// The changes of names since the names were durable.
        since: Vec<(String, Option<usize>)>,
    },
}

/// A fault, once or from then on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    /// The number of the operation, from 0.
    pub(super) at: usize,
    pub(super) kind: ErrorKind,
    /// Whether the operation takes effect nevertheless.
    pub(super) after: bool,
    pub(super) lasts: bool,
}

/// The misbehaviour of a file system, or of a store on top of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misbehaviour {
    /// Nothing is ever made durable.
    NoSync,
    /// Values are never made durable.
    NoSyncOfValues,
    /// The log is never made durable.
    NoSyncOfLog,
    /// Names are never made durable.
    NoSyncOfFolders,
    /// Values are written in place.
    InPlace,
    /// A name is given even if it exists.
    RenameOver,
    /// A replaced file is removed first.
    RemoveFirst,
    /// The number of cells is known before the cells are durable in the log.
    KnownBeforeLog,
    /// A definition is known before it is there.
    KnownBeforeDefinition,
}

impl Default for Image {
    fn default() -> Self {
        Self { nodes: vec![Node::folder(BTreeMap::new())] }
    }
}

impl Node {
    pub(super) fn file(data: Vec<u8>) -> Self {
        Self::File { durable: data.clone(), data, doomed: false }
    }

    pub(super) fn folder(names: BTreeMap<String, usize>) -> Self {
        Self::Folder { durable: names.clone(), names, since: Vec::new() }
    }
}

impl Model {
    pub(super) fn of(image: Image) -> Self {
        Self(Arc::new(Mutex::new(State { image, ..State::default() })))
    }

    pub(super) fn misbehaving(self, misbehaving: Misbehaviour) -> Self {
        self.state().misbehaving = Some(misbehaving);
        self
    }

    pub(super) fn fail(&self, fault: Option<Fault>) {
        self.state().fault = fault;
    }

    pub(super) fn record(&self) {
        self.state().recorded = Some(Vec::new());
    }

    /// Counts a confirmed action.
    pub(super) fn confirm(&self) {
        self.state().confirmed += 1;
    }

    /// Makes the names of a folder durable.
    pub(super) fn settle(&self, folder: &str) {
        let image = &mut self.state().image;
        if let Ok(node) = image.find(Path::new(folder)) {
            image.sync(node);
        }
    }

    /// The recorded images, and the final one.
    pub(super) fn recorded(&self) -> Vec<(Image, usize)> {
        let mut state = self.state();
        let mut recorded = state.recorded.take().expect("it was recorded");
        recorded.push((state.image.clone(), state.confirmed));
        recorded
    }

    pub(super) fn image(&self) -> Image {
        self.state().image.clone()
    }

    /// The names in a folder.
    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        self.state().image.names(Path::new(folder)).expect("a folder").keys().cloned().collect()
    }

    /// The operations so far, in order.
    pub(super) fn operations(&self) -> Vec<(&'static str, PathBuf)> {
        self.state().operations.clone()
    }

    /// Adds a file by hand. Then all files are durable.
    pub(super) fn write(&self, path: &str, data: &[u8]) {
        let mut state = self.state();
        let path = Path::new(path);
        let folders: Vec<&Path> = path.ancestors().skip(1).collect();
        for folder in folders.into_iter().rev().filter(|folder| folder.parent().is_some()) {
            if state.image.find(folder).is_err() {
                state.image.add(folder, Node::folder(BTreeMap::new())).expect("it can be made");
            }
        }
        state.image.add(path, Node::file(data.to_vec())).expect("it can be made");
        for node in 0..state.image.nodes.len() {
            state.image.sync(node);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs an operation that changes nothing.
    fn read_store<T>(
        &self,
        reason: &'static str,
        path: &Path,
        read_store: impl FnOnce(&Image) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = self.state();
        match state.begin(reason, path) {
            Some(fault) => Err(fault.kind.into()),
            None => read_store(&state.image),
        }
    }

    /// Runs an operation that changes something.
    fn change<T>(
        &self,
        reason: &'static str,
        path: &Path,
        change: impl FnOnce(&mut Image, Option<Misbehaviour>) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = self.state();
        let misbehaving = state.misbehaving;
        let State { image, recorded, confirmed, .. } = &mut *state;
        if let Some(recorded) = recorded {
            recorded.push((image.clone(), *confirmed));
        }
        match state.begin(reason, path) {
            Some(fault) => {
                if fault.after {
                    change(&mut state.image, misbehaving)?;
                }
                Err(fault.kind.into())
            }
            None => change(&mut state.image, misbehaving),
        }
    }
}

impl State {
    fn begin(&mut self, reason: &'static str, path: &Path) -> Option<Fault> {
        let at = self.operations.len();
        self.operations.push((reason, path.to_owned()));
        self.fault.filter(|fault| fault.at == at || fault.lasts && fault.at < at)
    }
}

impl Image {
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(super) fn from_nodes(nodes: Vec<Node>) -> Self {
        Self { nodes }
    }

    pub(super) fn find(&self, path: &Path) -> io::Result<usize> {
        let mut at = 0;
        for part in path.components() {
            if let Component::Normal(name) = part {
                let Node::Folder { names, .. } = &self.nodes[at] else {
                    return Err(ErrorKind::NotADirectory.into());
                };
                at = *names.get(name.to_str().expect("a text")).ok_or(ErrorKind::NotFound)?;
            }
        }
        Ok(at)
    }

    fn data(&self, path: &Path) -> io::Result<&[u8]> {
        match &self.nodes[self.find(path)?] {
            Node::File { data, .. } => Ok(data),
            Node::Folder { .. } => Err(WrongKind::NotAFile.into()),
        }
    }

    fn names(&self, path: &Path) -> io::Result<&BTreeMap<String, usize>> {
        match &self.nodes[self.find(path)?] {
            Node::File { .. } => Err(ErrorKind::NotADirectory.into()),
            Node::Folder { names, .. } => Ok(names),
        }
    }

    /// Sets the node of a name, or removes the name.
    fn name(&mut self, path: &Path, node: Option<usize>) -> io::Result<()> {
        let folder = self.find(path.parent().expect("not the root"))?;
        let name = path.file_name().and_then(|name| name.to_str()).expect("it has a name");
        let Node::Folder { names, since, .. } = &mut self.nodes[folder] else {
            return Err(ErrorKind::NotADirectory.into());
        };
        match node {
            Some(node) => names.insert(name.to_owned(), node),
            None => names.remove(name),
        };
        since.push((name.to_owned(), node));
        Ok(())
    }

    fn status(&self, node: usize) -> FileStatus {
        let (kind, len) = match &self.nodes[node] {
            Node::File { data, .. } => (FileKind::File, data.len() as u64),
            Node::Folder { .. } => (FileKind::Folder, 0),
        };
        let names = self.nodes.iter().filter_map(|folder| match folder {
            Node::Folder { names, .. } => Some(names.values().filter(|at| **at == node).count() as u64),
            Node::File { .. } => None,
        });
        FileStatus { kind, id: FileIdentity::new(0, node as u64), names: names.sum(), len }
    }

    fn add(&mut self, path: &Path, node: Node) -> io::Result<usize> {
        if self.find(path).is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.name(path, Some(self.nodes.len()))?;
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    /// Writes the file `known`: the number of cells of this log, and whether there is a definition.
    fn know(&mut self, log: &Path, is_defined: bool) -> io::Result<()> {
        let Log { cells, unconfirmed, .. } = Log::parse(self.data(log)?).map_err(io::Error::other)?;
        let known = KnownSteps { cells: known::count(&cells) + unconfirmed.len(), is_defined };
        self.nodes.push(Node::File { data: known.text().into_bytes(), durable: Vec::new(), doomed: false });
        self.name(&log.with_file_name("known"), Some(self.nodes.len() - 1))
    }

    fn sync(&mut self, node: usize) {
        match &mut self.nodes[node] {
            Node::File { doomed: true, .. } => {}
            Node::File { data, durable, .. } => durable.clone_from(data),
            Node::Folder { names, durable, since } => {
                durable.clone_from(names);
                since.clear();
            }
        }
    }
}

/// An open file.
pub(super) struct Open {
    model: Model,
    path: PathBuf,
    node: usize,
}

impl Write for Open {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let node = self.node;
        let append = |image: &mut Image, bytes: &[u8]| match &mut image.nodes[node] {
            Node::File { data, .. } => data.extend_from_slice(bytes),
            Node::Folder { .. } => unreachable!("it is a file"),
        };
        // A write that fails has written the first half.
        let fails = {
            let state = self.model.state();
            let at = state.operations.len();
            state.fault.is_some_and(|fault| (fault.at == at || fault.lasts && fault.at < at) && fault.after)
        };
        // A write may be short.
        let part = &bytes[..bytes.len().min(if fails { bytes.len() / 2 } else { 64 })];
        self.model.change("write", &self.path, |image, misbehaving| {
            append(image, part);
            if misbehaving == Some(Misbehaviour::KnownBeforeLog) && self.path.ends_with("cells") {
                image.know(&self.path, false)?;
            }
            Ok(part.len())
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A lock, which a drop releases.
pub(super) struct Lock(Model);

impl Drop for Lock {
    fn drop(&mut self) {
        self.0.state().locked = false;
    }
}

impl Disk for Model {
    type File = Open;
    type Lock = Lock;

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.read_store("canonical", path, |image| image.find(path).map(|_| path.to_owned()))
    }

    fn lock(&self, path: &Path) -> Result<Lock, TryLockError> {
        let made = self.change("lock", path, |image, _| match image.find(path) {
            Ok(_) => Ok(()),
            Err(_) => image.add(path, Node::file(Vec::new())).map(|_| ()),
        });
        made.map_err(TryLockError::Error)?;
        if std::mem::replace(&mut self.state().locked, true) {
            return Err(TryLockError::WouldBlock);
        }
        Ok(Lock(self.clone()))
    }

    fn is_locked_by(&self, path: &Path, _: &Lock) -> io::Result<bool> {
        self.read_store("is locked", path, |image| image.find(path).map(|_| true))
    }

    /// Lists in reverse, since any order is possible.
    fn list(&self, folder: &Path) -> io::Result<Vec<(String, FileKind)>> {
        self.read_store("list", folder, |image| {
            let kind = |node: &usize| match image.nodes[*node] {
                Node::File { .. } => FileKind::File,
                Node::Folder { .. } => FileKind::Folder,
            };
            Ok(image.names(folder)?.iter().rev().map(|(name, node)| (name.clone(), kind(node))).collect())
        })
    }

    fn read(&self, path: &Path, at_most: u64) -> io::Result<Vec<u8>> {
        let at_most = usize::try_from(at_most).unwrap_or(usize::MAX);
        self.read_store("read", path, |image| {
            image.data(path).map(|data| data[..data.len().min(at_most)].to_vec())
        })
    }

    fn status(&self, path: &Path) -> io::Result<FileStatus> {
        self.read_store("status", path, |image| image.find(path).map(|node| image.status(node)))
    }

    fn status_of(&self, file: &Open) -> io::Result<FileStatus> {
        self.read_store("status", &file.path, |image| Ok(image.status(file.node)))
    }

    fn reader(&self, path: &Path) -> io::Result<impl BufRead> {
        self.read_store("read", path, |image| image.data(path).map(|data| Cursor::new(data.to_vec())))
    }

    fn create(&self, path: &Path) -> io::Result<Open> {
        let empty = Node::File { data: Vec::new(), durable: Vec::new(), doomed: false };
        let node = self.change("create", path, |image, _| image.add(path, empty))?;
        Ok(Open { model: self.clone(), path: path.to_owned(), node })
    }

    fn append(&self, path: &Path) -> io::Result<Open> {
        let node =
            self.read_store("append", path, |image| image.data(path).and_then(|_| image.find(path)))?;
        Ok(Open { model: self.clone(), path: path.to_owned(), node })
    }

    fn sync(&self, file: &Open) -> io::Result<()> {
        let is_log = file.path.ends_with("cells");
        let synced = self.change("sync", &file.path, |image, misbehaving| {
            let skips = match misbehaving {
                Some(Misbehaviour::NoSync) => true,
                Some(Misbehaviour::NoSyncOfValues) => !is_log,
                Some(Misbehaviour::NoSyncOfLog) => is_log,
                _ => false,
            };
            if !skips {
                image.sync(file.node);
            }
            Ok(())
        });
        if synced.is_err()
            && let Node::File { doomed, .. } = &mut self.state().image.nodes[file.node]
        {
            *doomed = true;
        }
        synced
    }

    fn sync_path(&self, path: &Path) -> io::Result<()> {
        self.change("sync", path, |image, misbehaving| {
            let node = image.find(path)?;
            if !matches!(misbehaving, Some(Misbehaviour::NoSync | Misbehaviour::NoSyncOfFolders)) {
                image.sync(node);
            }
            Ok(())
        })
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.change("create", path, |image, _| image.add(path, Node::folder(BTreeMap::new())).map(|_| ()))
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change("link", to, |image, misbehaving| {
            let node = image.find(from)?;
            if misbehaving == Some(Misbehaviour::RenameOver) {
                image.name(to, Some(node))?;
                return image.name(from, None);
            }
            if image.find(to).is_ok() {
                return Err(ErrorKind::AlreadyExists.into());
            }
            if misbehaving == Some(Misbehaviour::InPlace) {
                let data = image.data(from)?.to_vec();
                return image.add(to, Node::File { data, durable: Vec::new(), doomed: false }).map(|_| ());
            }
            image.name(to, Some(node))
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change("rename", to, |image, misbehaving| {
            let node = image.find(from)?;
            if misbehaving == Some(Misbehaviour::RemoveFirst) {
                image.name(to, None)?;
            }
            if misbehaving == Some(Misbehaviour::KnownBeforeDefinition) && to.ends_with("definition") {
                image.know(&to.with_file_name("cells"), true)?;
            }
            image.name(to, Some(node))?;
            image.name(from, None)
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change("remove", path, |image, _| {
            image.data(path).map(|_| ()).and_then(|()| image.name(path, None))
        })
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.change("remove", path, |image, _| {
            if !image.names(path)?.is_empty() {
                return Err(ErrorKind::DirectoryNotEmpty.into());
            }
            image.name(path, None)
        })
    }
}
