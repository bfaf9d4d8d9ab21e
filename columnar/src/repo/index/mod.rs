//! The references between files, by the names that they define and use.
//!
//! ```text
//! symbols that changed ──▶ links that changed ──▶ files whose entries may differ
//! ```
//!
//! Names are resolved without types, so only names of symbols outside of classes, traits and implementations count. A
//! call of a method `push` could mean any type; the name of its type is nearly always in the file as well.
//!
//! Pure: files with the same symbols have the same references, in any order of arrival.

mod clusters;
mod file;
mod names;
mod packages;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::syntax::{Language, Symbols};
pub(super) use file::File;
use file::{FileLink, Rank};
pub(super) use names::FileNumber;
use names::{NameId, NameTable};

/// A name with more definitions refers to no file.
const MOST_DEFINERS: usize = 8;

/// The files that parse, and the references between them.
#[derive(Debug, Default)]
pub(super) struct Index {
    ids: BTreeMap<Arc<str>, FileNumber>,
    files: HashMap<FileNumber, File>,
    names: NameTable,
    ranking: BTreeSet<Rank>,
}

/// The files that refer to a symbol or a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Referrers<'i> {
    /// The paths of those that are no tests, in order.
    pub(super) paths: Vec<&'i str>,
    pub(super) tests: usize,
}

/// The new symbols of a file; `None` if it is gone or does not parse.
pub(super) struct FileChange {
    pub(super) path: Arc<str>,
    pub(super) symbols: Option<(&'static Language, Symbols)>,
}

impl<'i> Referrers<'i> {
    fn of(users: impl Iterator<Item = &'i File>) -> Self {
        let mut referrers = Self::default();
        for user in users {
            if user.is_test {
                referrers.tests += 1;
            } else {
                referrers.paths.push(&user.path);
            }
        }
        referrers.paths.sort_unstable();
        referrers
    }
}

impl Index {
    /// Replaces the symbols of files. Returns the files whose entries may differ, also those that are gone.
    pub(super) fn apply(&mut self, changes: impl IntoIterator<Item = FileChange>) -> BTreeSet<FileNumber> {
        let mut stale = BTreeSet::new();
        let mut names = BTreeSet::new();
        for FileChange { path, symbols } in changes {
            let next = FileNumber(self.ids.len());
            let id = *self.ids.entry(Arc::clone(&path)).or_insert(next);
            let file =
                symbols.map(|(language, symbols)| File::new(id, path, language, symbols, &mut self.names));
            stale.insert(id);
            self.replace(id, file, &mut names, &mut stale);
        }
        let mut users = stale.clone();
        for name in names {
            users.extend(self.names.users(name));
        }
        for user in users {
            self.relink(user, &mut stale);
        }
        stale
    }

    /// The number of files.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// The files by the number of those that refer to them, tests not counted: the highest first, then by path.
    pub(super) fn ranking(&self) -> impl Iterator<Item = &File> {
        self.ranking.iter().filter_map(|(_, _, id)| self.files.get(id))
    }

    /// The paths of the other files that some names in a file refer to, in order.
    pub(super) fn targets<'s>(&self, file: &File, uses: impl Iterator<Item = &'s str>) -> Vec<&str> {
        let names = uses.filter_map(|name| self.names.get(name));
        let targets: BTreeSet<FileNumber> = names.filter_map(|name| file.target(name)).collect();
        let mut paths: Vec<&str> = targets.iter().filter_map(|id| Some(&*self.files.get(id)?.path)).collect();
        paths.sort_unstable();
        paths
    }

    /// The paths of the files in which a name refers to this one, in order. Tests are left out.
    pub(super) fn referrers_by_name(&self, file: &File, name: &str) -> Vec<&str> {
        let Some(name) = self.names.get(name) else { return Vec::new() };
        let users = self.names.users(name).filter_map(|user| self.files.get(&user));
        Referrers::of(users.filter(|user| user.target(name) == Some(file.id))).paths
    }

    /// The files that refer to this one.
    pub(super) fn referrers(&self, file: &File) -> Referrers<'_> {
        Referrers::of(file.referrers.keys().filter_map(|user| self.files.get(user)))
    }

    /// Puts or removes a file, and collects the names whose definitions changed. The links of other files to it stay until
    /// these are [linked again](Self::relink).
    fn replace(
        &mut self,
        id: FileNumber,
        mut file: Option<File>,
        names: &mut BTreeSet<NameId>,
        stale: &mut BTreeSet<FileNumber>,
    ) {
        let old = self.files.remove(&id);
        let defined = old.as_ref().map(|old| old.defines.clone()).unwrap_or_default();
        let defines = file.as_ref().map(|file| file.defines.clone()).unwrap_or_default();
        let used: BTreeSet<_> = old.iter().flat_map(File::uses).collect();
        let uses: BTreeSet<_> = file.iter().flat_map(File::uses).collect();
        for name in defined.symmetric_difference(&defines) {
            self.names.set_definer(*name, id, defines.contains(name));
            names.insert(*name);
        }
        for name in used.symmetric_difference(&uses) {
            self.names.set_user(*name, id, uses.contains(name));
        }
        if let Some(old) = old {
            self.ranking.remove(&old.rank());
            let gone = used.difference(&uses).filter_map(|name| old.target(*name));
            gone.for_each(|target| self.link(old.link_to(target), false, stale));
            if let Some(file) = &mut file {
                file.keep_links(old);
            }
        }
        if let Some(file) = file {
            self.ranking.insert(file.rank());
            self.files.insert(id, file);
        }
    }

    /// Resolves the names in a file again, and collects the files whose links changed.
    fn relink(&mut self, id: FileNumber, stale: &mut BTreeSet<FileNumber>) {
        let Some(file) = self.files.get(&id) else { return };
        let resolved = file.links.iter().map(|(name, target)| (*name, *target, self.resolve(file, *name)));
        let changed: Vec<_> = resolved.filter(|(_, old, new)| old != new).collect();
        for (name, old, new) in changed {
            let Some(file) = self.files.get_mut(&id) else { continue };
            file.links.insert(name, new);
            let old = old.map(|target| file.link_to(target));
            let new = new.map(|target| file.link_to(target));
            stale.insert(id);
            old.into_iter().for_each(|link| self.link(link, false, stale));
            new.into_iter().for_each(|link| self.link(link, true, stale));
        }
    }

    /// Adds or removes one link.
    fn link(&mut self, link: FileLink, is_added: bool, stale: &mut BTreeSet<FileNumber>) {
        stale.insert(link.to);
        let Some(target) = self.files.get_mut(&link.to) else { return };
        self.ranking.remove(&target.rank());
        target.count_link(link, is_added);
        self.ranking.insert(target.rank());
    }

    /// The file that a name in a file refers to: the only one that defines it or, of several, the one that the imports
    /// name, or the nearest one.
    fn resolve(&self, user: &File, name: NameId) -> Option<FileNumber> {
        let definers = self.names.definers(name)?;
        if definers.len() > MOST_DEFINERS || definers.contains(&user.id) {
            return None;
        }
        let candidates = definers.iter().filter_map(|id| self.files.get(id));
        let candidates = candidates.filter(|file| user.may_mean(name, file));
        let mut best: Vec<_> = candidates.map(|file| (user.nearness(file), file)).collect();
        let nearest = best.iter().map(|(nearness, _)| *nearness).max()?;
        best.retain(|(nearness, _)| *nearness == nearest);
        let (_, first) = best.first()?;
        // A header and its source define the same names. The header is later in the order of paths.
        let is_one = best.iter().all(|(_, file)| file.stem() == first.stem());
        best.iter().map(|(_, file)| file).max_by_key(|file| &file.path).filter(|_| is_one).map(|file| file.id)
    }
}
