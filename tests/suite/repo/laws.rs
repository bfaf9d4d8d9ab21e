//! Laws of updates, on random edits.

use columnar::documents::Kind;
use columnar::repo::Repository;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::folder::Folder;

/// A failure becomes a test with a name, not a seed in a file.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases: 60, ..ProptestConfig::default() }
}

const PATHS: [&str; 11] = [
    "a.rs",
    "b.rs",
    "src/a.rs",
    "src/c.rs",
    "src/deep/d.rs",
    "src/.hg/a.rs",
    ".hidden/a.rs",
    "tests/e.rs",
    "f.py",
    "g/f.py",
    "notes.txt",
];
const NAMES: [&str; 5] = ["alpha", "beta", "gamma", "delta", "epsilon"];

/// Rules of ignored files, and the files that may have them.
const RULES: [&str; 12] = [
    "*", "*.rs", "!a.rs", "src", "/src/", "src/deep", "deep/", "!deep/", "g/*", "!g/f.py", "**/f.py",
    ".hidden",
];
const RULE_FILES: [&str; 6] =
    [".gitignore", ".ignore", ".git/info/exclude", "src/.gitignore", "src/.ignore", "src/deep/.gitignore"];

/// Files by which a folder is the top of a repository.
const REPOSITORIES: [&str; 3] = [".git/HEAD", "src/.git/HEAD", "src/deep/.git/HEAD"];

/// One edit of a file: its definitions, its uses and its imports, or its end.
#[derive(Clone, Debug)]
enum Edit {
    Write {
        path: &'static str,
        defines: Vec<&'static str>,
        uses: Vec<&'static str>,
        imports: Vec<&'static str>,
    },
    Remove(&'static str),
    Select(Vec<&'static str>),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let names = || vec(select(&NAMES[..]), 0..3);
    let write = (select(&PATHS[..]), names(), names(), vec(select(&PATHS[..]), 0..2));
    let write = write.prop_map(|(path, defines, uses, imports)| Edit::Write { path, defines, uses, imports });
    let edit = prop_oneof![
        6 => write,
        1 => select(&PATHS[..]).prop_map(Edit::Remove),
        1 => vec(select(&PATHS[..]), 0..3).prop_map(Edit::Select),
    ];
    vec(edit, 1..12)
}

fn rules() -> impl Strategy<Value = Vec<(&'static str, Vec<&'static str>)>> {
    vec((select(&RULE_FILES[..]), vec(select(&RULES[..]), 1..4)), 0..4)
}

impl Edit {
    /// Edits the folder, and returns the path.
    fn apply(&self, folder: &mut Folder) -> Option<&'static str> {
        match self {
            Self::Write { path, defines, uses, imports } => {
                folder.write(path, text(path, defines, uses, imports));
                Some(path)
            }
            Self::Remove(path) => {
                if folder.path().join(path).exists() {
                    folder.remove(path);
                }
                Some(path)
            }
            Self::Select(paths) => {
                folder.repo.select(paths);
                None
            }
        }
    }
}

fn text(path: &str, defines: &[&str], uses: &[&str], imports: &[&str]) -> String {
    let modules = imports.iter().map(|path| path.split('.').next().unwrap());
    let mut lines = Vec::new();
    if path.starts_with(['f', 'g']) {
        lines.extend(modules.map(|module| format!("import {}", module.replace('/', "."))));
        lines.push("def outer():\n    pass".to_owned());
        lines.extend(uses.iter().map(|name| format!("    {name}()")));
        lines.extend(defines.iter().map(|name| format!("def {name}():\n    pass")));
    } else {
        lines.extend(modules.map(|module| format!("use crate::{};", module.replace('/', "::"))));
        lines.push("fn outer() {".to_owned());
        lines.extend(uses.iter().map(|name| format!("    {name}();")));
        lines.push("}".to_owned());
        lines.extend(defines.iter().map(|name| format!("fn {name}() {{}}")));
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(config())]

    /// An index that follows edits has the entries of one that reads everything at once, and leaves out the same files.
    #[test]
    fn edits_one_by_one_lead_to_the_documents_of_a_scan(
        rules in rules(),
        edits in edits(),
        whole in any::<bool>(),
        repositories in vec(select(&REPOSITORIES[..]), 0..3),
    ) {
        let mut folder = Folder::of(&[]);
        for path in repositories {
            folder.write(path, "ref: refs/heads/main");
        }
        for (path, rules) in &rules {
            folder.write(path, rules.join("\n"));
        }
        folder.scan();
        for edit in &edits {
            let path = edit.apply(&mut folder);
            let update = if whole { folder.repo.scan() } else { folder.repo.changed(path) };
            match update {
                Ok(update) => folder.documents = folder.documents.apply(&update).unwrap().0,
                // A selected file that is not there: another selection goes on from the same documents.
                Err(error) => {
                    prop_assert!(!error.faults().is_empty());
                    let there: Vec<String> = folder.repo.selected()
                        .filter(|path| folder.path().join(path).exists()).map(str::to_owned).collect();
                    let update = folder.repo.select(there).changed(path).unwrap();
                    folder.documents = folder.documents.apply(&update).unwrap().0;
                }
            }
        }
        let selected: Vec<&str> = folder.repo.selected().collect();
        let mut fresh = Repository::open(folder.path()).unwrap();
        fresh.select(selected).scan().unwrap();
        let texts = |documents: &columnar::documents::Documents| {
            let all = documents.iter().map(|(key, text)| (key.to_string(), text.to_string()));
            (all.collect::<Vec<_>>(), documents.tree().cloned(), documents.legend().cloned())
        };
        prop_assert_eq!(texts(&folder.documents), texts(fresh.documents()));
        prop_assert_eq!(texts(folder.repo.documents()), texts(fresh.documents()));
        // Every selected file is shown as it is on disk.
        for (path, text) in folder.of_kind(Kind::File) {
            prop_assert_eq!(std::fs::read_to_string(folder.path().join(path)).unwrap(), text);
        }
    }
}
