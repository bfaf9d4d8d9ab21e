//! The rules about layers, held against the references of a crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::modules::{ModuleId, Modules, Sources, Target};
use super::references::{Kind, Reference, references};

/// The rules of one crate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'r> {
    /// The folder of its sources, for messages.
    pub(super) folder: &'r str,
    /// The file of its root, which is above all layers: `lib.rs`, `main.rs`.
    pub(super) root: &'r str,
    /// Its top-level modules, the lowest first.
    pub(super) layers: &'r [&'r str],
    /// The layers whose functions depend on their arguments alone.
    pub(super) pure: &'r [&'r str],
    /// Paths that a pure layer does not use.
    pub(super) impure: &'r [&'r str],
}

/// The references that were checked, and those that break a rule.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) files: usize,
    /// References to another file of the crate.
    pub(super) checked: usize,
    pub(super) violations: Vec<Violation>,
}

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Violation {
    /// A top-level module that is not in the table.
    NoLayer {
        module: String,
    },
    /// A layer of the table that is no module.
    NoModule {
        layer: String,
    },
    /// A file that no module has, so it is not checked.
    NoParent {
        file: String,
    },
    /// A path within the crate that the checker does not find, so it would check nothing.
    Unresolved {
        location: Location,
        path: String,
    },
    Upward {
        location: Location,
        path: String,
        layer: String,
        target: String,
    },
    Impure {
        location: Location,
        path: String,
        layer: String,
    },
    /// Files of a room that depend on each other; one reference for each dependency.
    Circle {
        files: Vec<String>,
        dependencies: Vec<String>,
    },
}

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Location {
    file: String,
    line: usize,
}

/// Checks a crate against its rules.
pub(super) fn check(sources: &Sources, rules: &Rules<'_>) -> Report {
    let modules = Modules::new(sources, rules.root);
    let mut checker = Checker {
        modules: &modules,
        rules,
        violations: BTreeSet::new(),
        dependencies: BTreeMap::new(),
        checked: 0,
    };
    checker.table();
    for reference in references(&modules) {
        checker.reference(&reference);
    }
    checker.circles();
    let files: BTreeSet<&String> =
        modules.files.iter().map(|(module, _)| &modules.all[*module].file).collect();
    let is_of_tests = |file: &str| {
        modules.tests.iter().any(|tests| {
            let folder = tests.trim_end_matches("mod.rs").trim_end_matches(".rs");
            file == tests
                || file.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
        })
    };
    let overlooked = sources.keys().filter(|file| !files.contains(file) && !is_of_tests(file));
    checker.violations.extend(overlooked.map(|file| Violation::NoParent { file: file.clone() }));
    Report {
        files: files.len(),
        checked: checker.checked,
        violations: checker.violations.into_iter().collect(),
    }
}

struct Checker<'c> {
    modules: &'c Modules,
    rules: &'c Rules<'c>,
    violations: BTreeSet<Violation>,
    /// Between two files of a room, with the first reference.
    dependencies: BTreeMap<(String, String), String>,
    checked: usize,
}

impl Checker<'_> {
    fn room(&self, module: ModuleId) -> &str {
        let module = &self.modules.all[module];
        if module.file == self.rules.root { self.rules.root } else { &module.path[0] }
    }

    /// The height of a room. A room that has none is reported once, by the table.
    fn height(&self, room: &str) -> usize {
        self.rules.layers.iter().position(|layer| *layer == room).unwrap_or(self.rules.layers.len())
    }

    fn table(&mut self) {
        let rooms: BTreeSet<&str> = (0..self.modules.all.len()).map(|id| self.room(id)).collect();
        let layers: BTreeSet<&str> = self.rules.layers.iter().copied().chain([self.rules.root]).collect();
        let without_layer = rooms.difference(&layers);
        let without_module = layers.difference(&rooms);
        self.violations = (without_layer.map(|room| Violation::NoLayer { module: (*room).to_owned() }))
            .chain(without_module.map(|layer| Violation::NoModule { layer: (*layer).to_owned() }))
            .collect();
    }

    fn reference(&mut self, reference: &Reference) {
        let from = &self.modules.all[reference.module];
        let location =
            Location { file: format!("{}/{}", self.rules.folder, from.file), line: reference.line };
        let path = reference.path.join("::");
        let targets = self.modules.resolve(reference.module, &reference.path);
        let is_within = matches!(reference.path[0].as_str(), "crate" | "self" | "super");
        if targets.is_empty() && is_within {
            self.violations.insert(Violation::Unresolved { location, path });
            return;
        }
        let layer = self.room(reference.module).to_owned();
        for target in targets {
            match target {
                Target::External(external) => self.external(&location, &layer, &external.join("::")),
                Target::Item(module) => {
                    self.internal(&location, &layer, &path, module);
                    self.dependency(reference, module, &location, &path);
                }
                // A parent module is named to reach something in it, which is a reference of its own.
                Target::Module(module) => self.internal(&location, &layer, &path, module),
            }
        }
    }

    fn internal(&mut self, location: &Location, layer: &str, path: &str, target: ModuleId) {
        let target = self.room(target).to_owned();
        self.checked += usize::from(target != layer);
        if self.height(&target) > self.height(layer) {
            let (location, path, layer) = (location.clone(), path.to_owned(), layer.to_owned());
            self.violations.insert(Violation::Upward { location, path, layer, target });
        }
    }

    fn external(&mut self, location: &Location, layer: &str, path: &str) {
        // The same items have several paths.
        let standard = path.strip_prefix("core::").or_else(|| path.strip_prefix("alloc::"));
        let path = standard.map_or_else(|| path.to_owned(), |rest| format!("std::{rest}"));
        let is_impure = |impure: &str| {
            path.strip_prefix(impure).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        if self.rules.pure.contains(&layer) && self.rules.impure.iter().any(|impure| is_impure(impure)) {
            let (location, layer) = (location.clone(), layer.to_owned());
            self.violations.insert(Violation::Impure { location, path, layer });
        }
    }

    fn dependency(&mut self, reference: &Reference, target: ModuleId, location: &Location, path: &str) {
        let passes_on = matches!(reference.kind, Kind::Reexport | Kind::Glob);
        let from = &self.modules.all[reference.module].file;
        let to = &self.modules.all[target].file;
        if passes_on || from == to || self.room(reference.module) != self.room(target) {
            return;
        }
        self.checked += 1;
        let dependency = (from.clone(), to.clone());
        self.dependencies.entry(dependency).or_insert_with(|| format!("{location} `{path}` is in {to}"));
    }

    /// Reports the files that reach each other.
    fn circles(&mut self) {
        let dependencies = self.dependencies.clone();
        let order: BTreeSet<&(String, String)> = dependencies.keys().collect();
        let files: BTreeSet<&String> = order.iter().flat_map(|(from, to)| [from, to]).collect();
        let reach: BTreeMap<&String, BTreeSet<String>> =
            files.iter().map(|file| (*file, reachable(&order, file))).collect();
        for file in files {
            let circle: Vec<String> =
                reach[file].iter().filter(|other| reach[*other].contains(file)).cloned().collect();
            if circle.contains(file) {
                let inside = |(from, to): &&&(String, String)| circle.contains(from) && circle.contains(to);
                let found = order.iter().filter(inside).map(|key| dependencies[*key].clone()).collect();
                self.violations.insert(Violation::Circle { files: circle.clone(), dependencies: found });
            }
        }
    }
}

/// The files that a file depends on, directly or not.
fn reachable(dependencies: &BTreeSet<&(String, String)>, file: &String) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        for (_, to) in dependencies.iter().filter(|(from, _)| from == file) {
            if reached.insert(to.clone()) {
                open.push(to);
            }
        }
    }
    reached
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:", self.file, self.line)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLayer { module } => {
                write!(
                    f,
                    "the module `{module}` has no layer; add it to the table of tests/suite/layers/mod.rs"
                )
            }
            Self::NoModule { layer } => {
                write!(
                    f,
                    "the layer `{layer}` is no module; remove it from the table of tests/suite/layers/mod.rs"
                )
            }
            Self::NoParent { file } => write!(f, "no module has the file {file}; declare it, or delete it"),
            Self::Unresolved { location, path } => {
                write!(
                    f,
                    "{location} `{path}` is not found, so it is not checked; extend tests/suite/layers/modules.rs"
                )
            }
            Self::Upward { location, path, layer, target } => write!(
                f,
                "{location} `{path}` points up, from the layer `{layer}` to `{target}`; move the item down into \
                 `{layer}` or a lower layer, or move the code that needs it up into `{target}`"
            ),
            Self::Impure { location, path, layer } => write!(
                f,
                "{location} `{path}` is in the layer `{layer}`, which is pure: time, randomness, I/O and the order of \
                 hash maps are not; take the value as an argument, or use a `BTreeMap`"
            ),
            Self::Circle { files, dependencies } => write!(
                f,
                "these files depend on each other in a circle: {}; move the items that both sides need into a file \
                 of their own, or merge the files\n    {}",
                files.join(", "),
                dependencies.join("\n    ")
            ),
        }
    }
}
