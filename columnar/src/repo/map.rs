//! The files of the repository as they were read, and their entries.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use super::entry::entry;
use super::error::FileFault;
use super::index::{FileChange, FileNumber, Index};
use super::life::ScanLife;
use super::parse::parse;
use super::syntax::Language;
use super::walk::FoundFiles;
use crate::history::Value;
use crate::history::tokens::Counter;

/// The tokens of the fence and the line breaks around an entry.
const FENCE_TOKENS: usize = 4;

/// A file enters if it is among the first ones that have this part of the limit, in percent, and leaves if it is not among
/// the first ones that have all of it. In between, an edit elsewhere moves it neither in nor out.
const ENTRANCE: usize = 90;

/// The files of a repository, with their references and the entries made so far.
#[derive(Debug, Default)]
pub(super) struct Map {
    pub(super) found: FoundFiles,
    /// Whether all files were looked at once.
    pub(super) is_scanned: bool,
    pub(super) index: Index,
    /// The entries of files that are not known to be out of date; `None` if there is nothing to show.
    entries: HashMap<FileNumber, Option<MadeEntry>>,
}

/// The entry of a file.
#[derive(Debug)]
struct MadeEntry {
    text: Value,
    /// The tokens of the text, of the path and of the fence.
    tokens: usize,
}

/// The entries within a limit.
pub(super) struct Chosen {
    /// Their texts, by path.
    pub(super) entries: BTreeMap<Arc<str>, Value>,
    /// The number of other files that could have an entry.
    pub(super) others: usize,
}

impl Map {
    /// Walks through the repository, and reads the files that changed. Returns whether files came or went. A fault of the
    /// root changes nothing. A scan that is stopped leaves the files to the next one.
    pub(super) fn scan(&mut self, root: &Path, life: &ScanLife) -> Result<bool, FileFault> {
        let before = std::mem::replace(&mut self.found, FoundFiles::all(root, life)?);
        self.is_scanned = true;
        let mut changed: BTreeSet<Arc<str>> = BTreeSet::new();
        for (path, stamp) in &self.found.files {
            if stamp.is_none() || before.files.get(path) != Some(stamp) {
                changed.insert(Arc::clone(path));
            } else if let Some(fault) = before.skipped.get(&**path) {
                self.found.skipped.insert(path.to_string(), *fault);
            }
        }
        let gone = before.files.keys().filter(|path| !self.found.files.contains_key(*path));
        changed.extend(gone.cloned());
        let moved = !before.files.keys().eq(self.found.files.keys());
        self.read(root, changed, life).map(|()| moved)
    }

    /// Reads some files, and those in folders. Returns whether files came or went. A fault of the root changes nothing.
    /// A look that is stopped leaves the files to the next scan.
    pub(super) fn look_at(
        &mut self,
        root: &Path,
        paths: &BTreeSet<String>,
        life: &ScanLife,
    ) -> Result<bool, FileFault> {
        let now = FoundFiles::some(root, paths, life)?;
        let mut before = BTreeSet::new();
        let mut is_skipped = BTreeSet::new();
        for path in paths {
            before.extend(at_or_below(&self.found.files, path).cloned());
            is_skipped.extend(at_or_below(&self.found.skipped, path).cloned());
        }
        let moved = !before.iter().eq(now.files.keys());
        for path in &before {
            self.found.files.remove(path);
        }
        for path in &is_skipped {
            self.found.skipped.remove(path);
        }
        before.extend(now.files.keys().cloned());
        self.found.files.extend(now.files);
        self.found.skipped.extend(now.skipped);
        self.read(root, before, life).map(|()| moved)
    }

    /// Chooses entries. `is_shown` says which are shown now.
    pub(super) fn choose(
        &mut self,
        limit: usize,
        counter: &dyn Counter,
        is_shown: impl Fn(&str) -> bool,
    ) -> Chosen {
        let entrance = limit / 100 * ENTRANCE + limit % 100 * ENTRANCE / 100;
        let mut sum: usize = 0;
        let mut chosen = BTreeMap::new();
        for file in self.index.ranking() {
            let made = self.entries.entry(file.id).or_insert_with(|| {
                let text = entry(&self.index, file)?;
                let texts = counter.count(&text).saturating_add(counter.count(&file.path));
                let tokens = texts.saturating_add(FENCE_TOKENS);
                Some(MadeEntry { text: text.into(), tokens })
            });
            let Some(made) = made else { continue };
            sum = sum.saturating_add(made.tokens);
            if sum > limit {
                break;
            }
            if sum <= entrance || is_shown(&file.path) {
                chosen.insert(Arc::clone(&file.path), made.text.clone());
            }
        }
        let tangled = self.found.skipped.values().filter(|fault| **fault == FileFault::Tangled).count();
        Chosen { others: self.index.len() - chosen.len() + tangled, entries: chosen }
    }

    /// Reads files, or finds that they are gone.
    fn read(&mut self, root: &Path, paths: BTreeSet<Arc<str>>, life: &ScanLife) -> Result<(), FileFault> {
        let known = paths.into_iter().filter_map(|path| Language::of(&path).map(|language| (path, language)));
        let (there, gone): (Vec<_>, Vec<_>) =
            known.partition(|(path, _)| self.found.files.contains_key(path));
        let mut changes: Vec<FileChange> =
            gone.into_iter().map(|(path, _)| FileChange { path, symbols: None }).collect();
        let parsed = parse(root, &there, life);
        if parsed.is_err() {
            // No stamp: the next scan reads them.
            self.found.files.extend(there.into_iter().map(|(path, _)| (path, None)));
            self.is_scanned = false;
        }
        let end = parsed.as_ref().map(|_| ()).map_err(|fault| *fault);
        for (path, language, read) in parsed.unwrap_or_default() {
            let symbols = match read {
                Ok((stamp, symbols)) => {
                    self.found.files.insert(Arc::clone(&path), stamp);
                    if symbols.is_err() {
                        self.found.skipped.insert(path.to_string(), FileFault::Tangled);
                    }
                    symbols.ok().flatten().map(|symbols| (language, symbols))
                }
                Err(fault) => {
                    self.found.skipped.insert(path.to_string(), fault);
                    None
                }
            };
            changes.push(FileChange { path, symbols });
        }
        for id in self.index.apply(changes) {
            self.entries.remove(&id);
        }
        end
    }
}

/// The paths that are a path, or below it if it was a folder.
fn at_or_below<'m, K: Borrow<str> + Ord, V>(
    map: &'m BTreeMap<K, V>,
    path: &str,
) -> impl Iterator<Item = &'m K> {
    let folder = format!("{path}/");
    let below = map.range::<str, _>((Bound::Included(&*folder), Bound::Unbounded)).map(|(path, _)| path);
    let below = below.take_while(move |path| (*path).borrow().starts_with(&folder));
    map.get_key_value(path).map(|(path, _)| path).into_iter().chain(below)
}
