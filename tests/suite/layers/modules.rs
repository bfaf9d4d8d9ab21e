//! The modules of a crate, read from its sources, and the file that defines a name.

use std::collections::BTreeMap;

use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta, UseTree, Visibility};

/// The sources of a crate: text by path below `src`.
pub(super) type Sources = BTreeMap<String, String>;

/// A path in code, one identifier each.
pub(super) type Segments = Vec<String>;

pub(super) type ModuleId = usize;

/// A module, in a file of its own or inline.
#[derive(Debug)]
pub(super) struct Module {
    /// Empty for the root of the crate.
    pub(super) path: Segments,
    pub(super) file: String,
    parent: Option<ModuleId>,
    names: BTreeMap<String, Vec<Definition>>,
    globs: Vec<Segments>,
}

/// The meaning of a name in a module. It may have several: a function and a module, or one for each `cfg`.
#[derive(Clone, Debug)]
enum Definition {
    Item,
    Module(ModuleId),
    Import(Segments),
}

/// The target of a path.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Target {
    /// An item that this module defines.
    Item(ModuleId),
    Module(ModuleId),
    /// A path into another crate, without renames.
    External(Segments),
}

/// All modules of a crate, those of tests excepted. The root is the first one.
#[allow(missing_debug_implementations, reason = "syntax has none")]
pub(super) struct Modules {
    pub(super) all: Vec<Module>,
    /// Files and their syntax, with the module that a file is.
    pub(super) files: Vec<(ModuleId, syn::File)>,
    /// Files that are compiled for tests alone; modules of theirs are beside them.
    pub(super) tests: Vec<String>,
}

impl Modules {
    /// Reads the modules from the file of the root on.
    pub(super) fn new(sources: &Sources, root: &str) -> Self {
        let mut modules = Self { all: Vec::new(), files: Vec::new(), tests: Vec::new() };
        modules.file(sources, root.to_owned(), Vec::new(), None);
        modules
    }

    fn file(
        &mut self,
        sources: &Sources,
        file: String,
        path: Segments,
        parent: Option<ModuleId>,
    ) -> ModuleId {
        let text = sources.get(&file).unwrap_or_else(|| panic!("{file} is missing"));
        let syntax = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let module = self.module(sources, &syntax.items, file, path, parent);
        self.files.push((module, syntax));
        module
    }

    fn module(
        &mut self,
        sources: &Sources,
        items: &[Item],
        file: String,
        path: Segments,
        parent: Option<ModuleId>,
    ) -> ModuleId {
        let id = self.all.len();
        self.all.push(Module { path, file, parent, names: BTreeMap::new(), globs: Vec::new() });
        for item in items {
            match item {
                Item::Mod(item) if is_test(&item.attrs) && item.content.is_none() => {
                    let file = self.all[id].file_of(sources, &item.ident.to_string(), &item.attrs);
                    self.tests.push(file);
                }
                item if is_test(attributes(item)) => {}
                Item::Mod(item) => {
                    let name = item.ident.to_string();
                    let path = [self.all[id].path.clone(), vec![name.clone()]].concat();
                    let child = match &item.content {
                        Some((_, items)) => {
                            self.module(sources, items, self.all[id].file.clone(), path, Some(id))
                        }
                        None => {
                            let file = self.all[id].file_of(sources, &name, &item.attrs);
                            self.file(sources, file, path, Some(id))
                        }
                    };
                    self.all[id].define(name, Definition::Module(child));
                }
                Item::Use(item) => {
                    for import in imports(&item.tree) {
                        self.all[id].import(import);
                    }
                }
                item => {
                    if let Some(name) = defined(item) {
                        self.all[id].define(name, Definition::Item);
                    }
                }
            }
        }
        id
    }

    /// The innermost module of this path, in this file.
    pub(super) fn child(&self, parent: ModuleId, name: &str) -> Option<ModuleId> {
        let path = [self.all[parent].path.clone(), vec![name.to_owned()]].concat();
        let file = &self.all[parent].file;
        self.all.iter().position(|module| module.path == path && module.file == *file)
    }

    /// All that a path in a module means; nothing if it is a local name, a generic or of the prelude.
    pub(super) fn resolve(&self, module: ModuleId, path: &[String]) -> Vec<Target> {
        self.resolve_to(module, path, 16)
    }

    /// Re-exports may form a circle, so the depth is limited.
    fn resolve_to(&self, module: ModuleId, path: &[String], depth: usize) -> Vec<Target> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        let mut targets = match first.as_str() {
            "crate" => vec![Target::Module(0)],
            "self" => vec![Target::Module(module)],
            "super" => self.all[module].parent.map(Target::Module).into_iter().collect(),
            "Self" => return Vec::new(),
            name => {
                let known = self.lookup(module, name, depth);
                let is_crate = name.starts_with(char::is_lowercase) && !rest.is_empty();
                if known.is_empty() && is_crate {
                    return vec![Target::External(path.to_vec())];
                }
                known
            }
        };
        for (at, name) in rest.iter().enumerate() {
            let is_last = at + 1 == rest.len();
            targets = (targets.into_iter())
                .flat_map(|target| match target {
                    Target::Module(module) if name == "super" => {
                        self.all[module].parent.map(Target::Module).into_iter().collect()
                    }
                    Target::Module(module) if name == "self" => vec![Target::Module(module)],
                    Target::Module(module) => self.lookup(module, name, depth),
                    Target::External(path) => {
                        vec![Target::External([path, vec![name.clone()]].concat())]
                    }
                    // A variant, or an associated item.
                    item @ Target::Item(_) => vec![item],
                })
                .collect();
            if !is_last && targets.iter().any(|target| !matches!(target, Target::Item(_))) {
                // `flow` is a module and a function; a path goes on through the module.
                targets.retain(|target| !matches!(target, Target::Item(_)));
            }
        }
        if targets.iter().any(|target| !matches!(target, Target::Module(_))) {
            targets.retain(|target| !matches!(target, Target::Module(_)));
        }
        targets.sort();
        targets.dedup();
        targets
    }

    fn lookup(&self, id: ModuleId, name: &str, depth: usize) -> Vec<Target> {
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        let module = &self.all[id];
        if let Some(definitions) = module.names.get(name) {
            return (definitions.iter())
                .flat_map(|definition| match definition {
                    Definition::Item => vec![Target::Item(id)],
                    Definition::Module(module) => vec![Target::Module(*module)],
                    Definition::Import(path) => self.resolve_import(id, name, path, depth),
                })
                .collect();
        }
        let globs = module.globs.iter().flat_map(|path| self.resolve_to(id, path, depth));
        globs
            .flat_map(|target| match target {
                Target::Module(module) if module != id => self.lookup(module, name, depth),
                _ => Vec::new(),
            })
            .collect()
    }

    fn resolve_import(&self, id: ModuleId, name: &str, path: &[String], depth: usize) -> Vec<Target> {
        // `pub use insta;` imports a crate under its own name.
        let is_itself = matches!(path, [first] if first == name);
        let targets = if is_itself { Vec::new() } else { self.resolve_to(id, path, depth) };
        if targets.is_empty() && path.len() == 1 { vec![Target::External(path.to_vec())] } else { targets }
    }
}

impl Module {
    fn define(&mut self, name: String, definition: Definition) {
        self.names.entry(name).or_default().push(definition);
    }

    fn import(&mut self, import: Import) {
        match import.name {
            Some(name) => self.define(name, Definition::Import(import.path)),
            None if import.is_glob => self.globs.push(import.path),
            None => {}
        }
    }

    fn file_of(&self, sources: &Sources, name: &str, attributes: &[Attribute]) -> String {
        let (folder, file) = self.file.rsplit_once('/').unwrap_or(("", &self.file));
        let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        if let Some(path) = attributes.iter().find_map(path_attribute) {
            return folder + &path;
        }
        let below = match file {
            "lib.rs" | "main.rs" | "mod.rs" => folder,
            file => format!("{folder}{}/", file.trim_end_matches(".rs")),
        };
        let files = [format!("{below}{name}.rs"), format!("{below}{name}/mod.rs")];
        files.into_iter().find(|file| sources.contains_key(file)).unwrap_or_else(|| {
            panic!("no file for the module `{name}` of {}", self.file);
        })
    }
}

/// One import of a `use`, which may have many.
#[derive(Clone, Debug)]
pub(super) struct Import {
    pub(super) path: Segments,
    /// The name in the module; a glob and `as _` have none.
    name: Option<String>,
    pub(super) is_glob: bool,
    pub(super) line: usize,
}

/// The imports of a tree of `use`.
pub(super) fn imports(tree: &UseTree) -> Vec<Import> {
    let mut found = Vec::new();
    collect_imports(tree, &mut Vec::new(), &mut found);
    found
}

fn collect_imports(tree: &UseTree, prefix: &mut Segments, found: &mut Vec<Import>) {
    let mut add = |ident: Option<&syn::Ident>, name: Option<String>, line| {
        let mut path = prefix.clone();
        // `use a::{self}` imports `a`.
        path.extend(ident.filter(|ident| *ident != "self").map(ToString::to_string));
        let name = name.map(|name| if name == "self" { path.last().cloned().unwrap_or(name) } else { name });
        found.push(Import { path, name: name.filter(|name| name != "_"), is_glob: ident.is_none(), line });
    };
    match tree {
        UseTree::Name(tree) => {
            add(Some(&tree.ident), Some(tree.ident.to_string()), tree.ident.span().start().line);
        }
        UseTree::Rename(tree) => {
            add(Some(&tree.ident), Some(tree.rename.to_string()), tree.ident.span().start().line);
        }
        UseTree::Glob(tree) => add(None, None, tree.star_token.span.start().line),
        UseTree::Path(tree) => {
            prefix.push(tree.ident.to_string());
            collect_imports(&tree.tree, prefix, found);
            prefix.pop();
        }
        UseTree::Group(tree) => {
            for tree in &tree.items {
                collect_imports(tree, prefix, found);
            }
        }
    }
}

/// The name that an item adds to its module.
fn defined(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// A re-export is not a dependency of its file: it only passes a name on.
pub(super) fn is_reexport(visibility: &Visibility) -> bool {
    !matches!(visibility, Visibility::Inherited)
}

/// Whether an item is compiled for tests alone.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => requires_test(&list.tokens.to_string()),
        _ => false,
    })
}

/// Whether a condition of `cfg` holds in tests alone. `any(test, …)` and `not(test)` do not.
fn requires_test(condition: &str) -> bool {
    let condition: String = condition.chars().filter(|char| !char.is_whitespace()).collect();
    let all = condition.strip_prefix("all(").and_then(|rest| rest.strip_suffix(')'));
    condition == "test" || all.is_some_and(|all| all.split(',').any(|part| part == "test"))
}

fn path_attribute(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("path") => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    }
}
