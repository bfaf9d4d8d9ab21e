//! One file of the index, with its links.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::names::{FileNumber, NameId, NameTable};
use super::packages::{is_of, packages};
use crate::repo::paths::folder;
use crate::repo::syntax::{Language, LanguageFamily, Symbol, SymbolKind, Symbols};

/// The number of files that refer to a file, the highest first, then its path.
pub(super) type Rank = (Reverse<usize>, Arc<str>, FileNumber);

/// One name in a file that refers to another file.
#[derive(Clone, Copy)]
pub(super) struct FileLink {
    pub(super) from: FileNumber,
    pub(super) is_of_test: bool,
    pub(super) to: FileNumber,
}

/// A file that parses.
#[derive(Debug)]
pub(in crate::repo) struct File {
    pub(in crate::repo) id: FileNumber,
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
    pub(super) links: BTreeMap<NameId, Option<FileNumber>>,
    /// The files with links to this one, each with their number.
    pub(super) referrers: BTreeMap<FileNumber, usize>,
    /// The number of referrers that are no tests.
    pub(super) references: usize,
}

impl File {
    pub(super) fn new(
        id: FileNumber,
        path: Arc<str>,
        language: &'static Language,
        symbols: Symbols,
        names: &mut NameTable,
    ) -> Self {
        let uses = symbols.uses.iter().chain(symbols.defined.iter().flat_map(|symbol| &symbol.uses));
        let links = uses.map(|name| (names.add(name), None)).collect();
        let imports = symbols.imports.iter().map(AsRef::as_ref);
        let is_of_packages = language.family == LanguageFamily::Go;
        Self {
            id,
            language,
            is_test: is_test(&path),
            defines: outer_symbols(&symbols).map(|symbol| names.add(&symbol.name)).collect(),
            path_words: words(&path).map(|word| names.add(word)).collect(),
            clues: clues(&path).map(|word| names.add(word)).collect(),
            import_words: imports.clone().flat_map(words).map(|word| names.add(word)).collect(),
            packages: if is_of_packages { packages(imports) } else { Vec::new() },
            links,
            referrers: BTreeMap::new(),
            references: 0,
            path,
            symbols,
        }
    }

    pub(super) fn uses(&self) -> impl Iterator<Item = NameId> {
        self.links.keys().copied()
    }

    pub(super) fn target(&self, name: NameId) -> Option<FileNumber> {
        self.links.get(&name).copied().flatten()
    }

    /// Takes the links over from an earlier state of the same file.
    pub(super) fn keep_links(&mut self, earlier: Self) {
        for (name, target) in &mut self.links {
            *target = earlier.target(*name);
        }
        self.referrers = earlier.referrers;
        self.references = earlier.references;
    }

    /// Adds or removes a link to this file.
    pub(super) fn count_link(&mut self, link: FileLink, is_added: bool) {
        let is_counted = usize::from(!link.is_of_test);
        let links = self.referrers.entry(link.from).or_insert_with(|| {
            self.references += is_counted;
            0
        });
        *links = if is_added { *links + 1 } else { links.saturating_sub(1) };
        if *links == 0 {
            self.referrers.remove(&link.from);
            self.references -= is_counted;
        }
    }

    /// A link from this file.
    pub(super) const fn link_to(&self, to: FileNumber) -> FileLink {
        FileLink { from: self.id, is_of_test: self.is_test, to }
    }

    pub(super) fn rank(&self) -> Rank {
        (Reverse(self.references), Arc::clone(&self.path), self.id)
    }

    /// Whether a name in this file may refer to another file that defines it: an import has the name, or an import or a
    /// path in the text has a word for the file. Most names of methods are in the standard library as well, so a name alone
    /// would lead to wrong files, and a file that is used through inferred types alone is missed. Files of one package or with one header need neither. In Go, an import
    /// names the folder of a package.
    pub(super) fn may_mean(&self, name: NameId, other: &Self) -> bool {
        let family = self.language.family;
        if family != other.language.family || other.is_test && !self.is_test {
            return false;
        }
        let is_near = matches!(family, LanguageFamily::C | LanguageFamily::Go)
            && folder(&self.path) == folder(&other.path);
        is_near
            || match family {
                LanguageFamily::Go => self.packages.iter().any(|package| is_of(package, &other.path)),
                _ if self.import_words.contains(&name) => true,
                _ => {
                    let mut clues = other.clues.iter();
                    clues.any(|word| self.import_words.contains(word) || self.links.contains_key(word))
                }
            }
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
    let mut folders = folders.split('/');
    let is_folder = folders
        .any(|folder| matches!(folder, "__tests__" | "benches" | "spec" | "test" | "testdata" | "tests"));
    let stem = name.split('.').next().unwrap_or(name);
    let is_name = stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || matches!(stem, "test" | "tests" | "conftest");
    let is_middle = name.split('.').skip(1).any(|part| matches!(part, "test" | "spec"));
    is_folder || is_name || is_middle
}
