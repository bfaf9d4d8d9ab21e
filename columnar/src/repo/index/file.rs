//! One file of the index, with its links.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::names::{FileId, NameId, Names};
use super::packages::{is_of, packages};
use crate::repo::paths::folder;
use crate::repo::syntax::{Language, Reach, Symbol, SymbolKind, Symbols};

/// The number of files that refer to a file, the highest first, then its path.
pub(super) type Rank = (Reverse<usize>, Arc<str>, FileId);

/// A file that parses.
#[derive(Debug)]
pub(in crate::repo) struct File {
    pub(in crate::repo) path: Arc<str>,
    pub(in crate::repo) symbols: Symbols,
    language: &'static Language,
    pub(super) is_test: bool,
    pub(super) defines: BTreeSet<NameId>,
    /// The words of its path. An import of the file has some of the last ones.
    path_words: BTreeSet<NameId>,
    clues: BTreeSet<NameId>,
    /// The words of its own imports.
    import_words: BTreeSet<NameId>,
    /// The packages that a file of Go imports.
    packages: Vec<Box<str>>,
    /// The names that it uses, each with the other file that it refers to.
    links: BTreeMap<NameId, Option<FileId>>,
    /// The files with links to this one, each with their number.
    referrers: BTreeMap<FileId, usize>,
    /// The number of referrers that are no tests.
    references: usize,
}

impl File {
    pub(super) fn new(
        path: Arc<str>,
        language: &'static Language,
        symbols: Symbols,
        names: &mut Names,
    ) -> Self {
        let defines = outer_symbols(&symbols).map(|symbol| names.add(&symbol.name)).collect();
        let uses = symbols.uses.iter().chain(symbols.defined.iter().flat_map(|symbol| &symbol.uses));
        let links = uses.map(|name| (names.add(name), None)).collect();
        let path_words = words(&path).map(|word| names.add(word)).collect();
        let clues = clues(&path).map(|word| names.add(word)).collect();
        let imports = symbols.imports.iter().flat_map(|import| words(import));
        let import_words = imports.map(|word| names.add(word)).collect();
        let is_test = is_test(&path);
        let imports = symbols.imports.iter().map(AsRef::as_ref);
        let packages = if language.reach == Reach::Packages { packages(imports) } else { Vec::new() };
        let referrers = BTreeMap::new();
        let references = 0;
        Self {
            path,
            symbols,
            language,
            is_test,
            defines,
            path_words,
            clues,
            import_words,
            packages,
            links,
            referrers,
            references,
        }
    }

    /// The number of files that refer to this one, tests not counted.
    pub(in crate::repo) const fn references(&self) -> usize {
        self.references
    }

    pub(super) fn uses(&self) -> impl Iterator<Item = NameId> {
        self.links.keys().copied()
    }

    pub(super) fn links(&self) -> impl Iterator<Item = (NameId, Option<FileId>)> {
        self.links.iter().map(|(name, target)| (*name, *target))
    }

    pub(super) fn target(&self, name: NameId) -> Option<FileId> {
        self.links.get(&name).copied().flatten()
    }

    pub(super) fn set_target(&mut self, name: NameId, target: Option<FileId>) {
        self.links.insert(name, target);
    }

    pub(super) fn referrers(&self) -> impl Iterator<Item = FileId> {
        self.referrers.keys().copied()
    }

    pub(super) fn has_referrer(&self, file: FileId) -> bool {
        self.referrers.contains_key(&file)
    }

    /// Takes the links over from an earlier state of the same file.
    pub(super) fn keep_links(&mut self, earlier: Self) {
        for (name, target) in &mut self.links {
            *target = earlier.target(*name);
        }
        self.referrers = earlier.referrers;
        self.references = earlier.references;
    }

    /// Adds or removes a link from a file.
    pub(super) fn count_link(&mut self, (from, is_test): (FileId, bool), is_added: bool) {
        let is_counted = usize::from(!is_test);
        let links = self.referrers.entry(from).or_insert_with(|| {
            self.references += is_counted;
            0
        });
        *links = if is_added { *links + 1 } else { links.saturating_sub(1) };
        if *links == 0 {
            self.referrers.remove(&from);
            self.references -= is_counted;
        }
    }

    pub(super) fn rank(&self, id: FileId) -> Rank {
        (Reverse(self.references), Arc::clone(&self.path), id)
    }

    /// Whether a name in this file may refer to another file that defines it: an import has the name, or an import or a
    /// path in the text has a word for the file. Files of one package or with one header need neither. In Go, an import
    /// names the folder of a package.
    pub(super) fn may_mean(&self, name: NameId, other: &Self) -> bool {
        let is_named = |word| self.import_words.contains(word) || self.links.contains_key(word);
        let language = self.language;
        let reach = language.reach;
        let is_near = reach != Reach::Imports && folder(&self.path) == folder(&other.path);
        let is_shown = language.family == other.language.family && (self.is_test || !other.is_test);
        let is_imported = || match reach {
            Reach::Packages => self.packages.iter().any(|package| is_of(package, &other.path)),
            _ => self.import_words.contains(&name) || other.clues.iter().any(is_named),
        };
        is_shown && (is_near || is_imported())
    }

    /// How near another file is: by the words of the imports that are in its path, then by the folders in common.
    pub(super) fn nearness(&self, other: &Self) -> (usize, usize) {
        let named = self.import_words.intersection(&other.path_words).count();
        let folders = folder(&self.path).split('/').zip(folder(&other.path).split('/'));
        let common = folders.take_while(|(a, b)| a == b).count();
        (named, common)
    }

    /// The path without the extension.
    pub(super) fn stem(&self) -> &str {
        self.path.rsplit_once('.').map_or(&self.path, |(stem, _)| stem)
    }
}

/// The symbols that are in no class, trait or implementation, so that their names refer to their file.
fn outer_symbols(symbols: &Symbols) -> impl Iterator<Item = &Symbol> {
    let mut closed = usize::MAX;
    symbols.defined.iter().filter(move |symbol| {
        if symbol.depth > closed {
            return false;
        }
        closed = if symbol.kind == SymbolKind::Module { usize::MAX } else { symbol.depth };
        !matches!(symbol.kind, SymbolKind::Module | SymbolKind::Impl)
    })
}

/// The words by which an import may name a file: the words of the stem and of the folder, without the usual ones.
fn clues(path: &str) -> impl Iterator<Item = &str> {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let special = stem.rsplit('/').filter(|part| !USUAL.contains(part)).take(2);
    special.flat_map(words)
}

/// The parts of a text that may be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c != '_' && !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Names of files and folders that no import needs.
const USUAL: [&str; 9] = ["__init__", "include", "index", "lib", "main", "mod", "pkg", "src", "tests"];

/// Whether a file has tests or benchmarks, by its name and its folders.
fn is_test(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_folder =
        |folder| matches!(folder, "__tests__" | "benches" | "spec" | "test" | "testdata" | "tests");
    let stem = name.split('.').next().unwrap_or(name);
    let is_name = stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || matches!(stem, "test" | "tests" | "conftest");
    let is_middle = name.split('.').skip(1).any(|part| matches!(part, "test" | "spec"));
    folders.split('/').any(is_folder) || is_name || is_middle
}
