//! Updates: the first scan has everything, and each later one the changes.

use std::fs;

use columnar::documents::{Documents, Key, Kind};
use columnar::prelude::*;
use columnar::repo::Repository;
use columnar::testing::script;
use columnar::tiers::Tier;

use super::folder::Folder;

const FILES: [(&str, &str); 4] = [
    ("README.md", "A calculator."),
    ("src/lexer.rs", "pub struct Token;\npub fn lex(text: &str) -> Vec<Token> { vec![] }\n"),
    ("src/main.rs", "use crate::parser::parse;\nfn main() { parse(\"1\"); }\n"),
    (
        "src/parser.rs",
        "use crate::lexer::{Token, lex};\npub fn parse(text: &str) -> Vec<Token> { lex(text) }\n",
    ),
];

const NOTHING: [&str; 0] = [];

#[test]
fn a_scan_without_changes_is_an_empty_update() {
    let mut folder = Folder::of(&FILES);
    assert_eq!(folder.scan(), ["symbol:src/lexer.rs", "symbol:src/main.rs", "symbol:src/parser.rs"]);
    assert_eq!(&**folder.documents.tree().unwrap(), "README.md\nsrc/ lexer.rs, main.rs, parser.rs");
    assert!(folder.repo.scan().unwrap().is_empty());
    assert!(folder.repo.changed(["src/main.rs", "README.md"]).unwrap().is_empty());
}

#[test]
fn a_selected_file_is_put_and_a_deselected_one_is_removed() {
    let mut folder = Folder::of(&FILES);
    folder.scan();
    let root = folder.path().to_owned();
    folder.repo.select([root.canonicalize().unwrap().join("README.md"), "./src/main.rs".into()]);
    assert_eq!(folder.changed(&[]), ["file:README.md", "file:src/main.rs"]);
    assert_eq!(folder.repo.selected().collect::<Vec<_>>(), ["README.md", "src/main.rs"]);
    // The entry of a selected file stays in the set, and no context shows it.
    assert!(folder.entry("src/main.rs").is_some());
    folder.repo.select(["src/main.rs"]);
    assert_eq!(folder.changed(&[]), ["file:README.md"]);
}

#[test]
fn an_edit_changes_its_file_and_the_entries_of_its_neighbours() {
    let mut folder = Folder::of(&FILES);
    folder.scan();
    // The body of a function: no entry shows it.
    folder.write("src/lexer.rs", "pub struct Token;\npub fn lex(text: &str) -> Vec<Token> { Vec::new() }\n");
    assert_eq!(folder.scan(), NOTHING);
    // Its parameters.
    folder
        .write("src/lexer.rs", "pub struct Token;\npub fn lex(text: String) -> Vec<Token> { Vec::new() }\n");
    assert_eq!(folder.scan(), ["symbol:src/lexer.rs"]);
    // Another file refers to it.
    folder.write("src/main.rs", "use crate::lexer::lex;\nfn main() { lex(\"1\"); }\n");
    assert_eq!(folder.scan(), ["symbol:src/lexer.rs", "symbol:src/main.rs", "symbol:src/parser.rs"]);
    // A function with the name of another one.
    folder.write("src/other.rs", "pub fn parse() {}\n");
    folder.scan();
    folder.remove("src/lexer.rs");
    assert_eq!(folder.scan(), ["symbol:src/lexer.rs", "symbol:src/main.rs", "symbol:src/parser.rs"]);
    assert_eq!(&**folder.documents.tree().unwrap(), "README.md\nsrc/ main.rs, other.rs, parser.rs");
}

#[test]
fn changed_looks_at_the_named_files_alone() {
    let mut folder = Folder::of(&FILES);
    folder.scan();
    folder.write("src/lexer.rs", "pub fn lex() {}\n");
    folder.write("src/main.rs", "fn main() {}\nfn other() {}\n");
    folder.write("src/new/file.rs", "fn new_file() {}\n");
    assert_eq!(folder.changed(&["src/new/file.rs"]), ["symbol:src/new/file.rs"]);
    assert_eq!(folder.repo.paths().count(), 5);
    assert!(folder.changed(&["src/main.rs"]).contains(&"symbol:src/main.rs".to_owned()));
    folder.remove("src/new/file.rs");
    assert_eq!(folder.changed(&["src/new/file.rs"]), ["symbol:src/new/file.rs"]);
    assert!(folder.scan().contains(&"symbol:src/lexer.rs".to_owned()));
}

/// Ignored files stay out, whatever names them: a scan, or a program that has just written them.
#[test]
fn t26_ignored_files_stay_out_unless_they_are_selected() {
    let mut folder = Folder::of(&FILES);
    folder.write(".gitignore", "target/\n*.log\n");
    folder.write("src/.gitignore", "generated.rs\n");
    for path in ["target/debug/out.rs", "a.log", "src/generated.rs", ".git/config.rs", "src/.hidden.rs"] {
        folder.write(path, "fn some() {}\n");
    }
    folder.scan();
    let tree = ".gitignore, README.md\nsrc/ .gitignore, .hidden.rs, lexer.rs, main.rs, parser.rs";
    assert_eq!(&**folder.documents.tree().unwrap(), tree);
    assert_eq!(folder.changed(&["target/debug/out.rs", "src/generated.rs", ".git/config.rs"]), NOTHING);
    folder.repo.select(["src/generated.rs"]);
    assert_eq!(folder.scan(), ["file:src/generated.rs"]);
    assert_eq!(&**folder.documents.tree().unwrap(), tree);
}

/// A home folder of dotfiles ignores everything, and a repository in it was empty without an error. A submodule lacked the
/// files that its parent ignores.
#[test]
fn t26_rules_end_at_the_top_of_a_repository() {
    let outer = Folder::of(&[
        (".gitignore", "*\n"),
        ("proj/.git/HEAD", ""),
        ("proj/.gitignore", "gen.rs\n"),
        ("proj/gen.rs", ""),
        ("proj/in/b.rs", ""),
        ("proj/in/gen.rs", ""),
        ("proj/module/.git", "gitdir: ../.git/modules/module"),
        ("proj/module/gen.rs", ""),
        ("plain/.gitignore", "gen.rs\n"),
        ("plain/a.rs", ""),
        ("plain/gen.rs", ""),
    ]);
    let found = |folder: &str| {
        let mut repo = Repository::open(outer.path().join(folder)).unwrap();
        repo.scan().unwrap();
        let paths: Vec<String> = repo.paths().map(str::to_owned).collect();
        // The same by their names.
        let all = ["gen.rs", "in/gen.rs", "in/b.rs", "b.rs", "a.rs", "module/gen.rs", "in", "module"];
        repo.changed(all).unwrap();
        assert_eq!(repo.paths().collect::<Vec<_>>(), paths, "{folder}");
        paths
    };
    assert_eq!(found("proj"), [".gitignore", "in/b.rs", "module/gen.rs"]);
    assert_eq!(found("proj/in"), ["b.rs"]);
    assert_eq!(found("plain"), [".gitignore", "a.rs"]);
    assert!(found("").is_empty());
}

/// Watchers report folders. A folder was no file, so its files stayed as they were.
#[test]
fn a_changed_folder_stands_for_its_files() {
    let mut folder = Folder::of(&FILES);
    folder.scan();
    let root = folder.path().to_owned();
    folder.write("src/new/one.rs", "fn one() {}\n");
    folder.write("src/new/two.rs", "fn two() {}\n");
    folder.write("srcs/other.rs", "fn other() {}\n");
    assert_eq!(folder.changed(&["src/new"]), ["symbol:src/new/one.rs", "symbol:src/new/two.rs"]);
    assert_eq!(folder.repo.paths().count(), 6);
    fs::remove_dir_all(root.join("src/new")).unwrap();
    folder.write("src/new", "A file.");
    assert_eq!(folder.changed(&["src/new"]), ["symbol:src/new/one.rs", "symbol:src/new/two.rs"]);
    assert!(folder.documents.tree().unwrap().contains("new"));
    fs::remove_dir_all(root.join("src")).unwrap();
    assert_eq!(
        folder.changed(&["src"]),
        ["symbol:src/lexer.rs", "symbol:src/main.rs", "symbol:src/parser.rs"]
    );
    assert_eq!(folder.repo.paths().collect::<Vec<_>>(), ["README.md"]);
    // The folder of the repository is all of it.
    let root = root.display().to_string();
    assert_eq!(folder.changed(&[&root]), ["symbol:srcs/other.rs"]);
}

/// The tree had that one file, and no other.
#[test]
fn a_change_before_the_first_scan_is_one() {
    let mut folder = Folder::of(&FILES);
    assert_eq!(folder.changed(&["README.md"]).len(), 3);
    assert_eq!(folder.repo.paths().count(), 4);
}

/// Two files of one length and one time, as an archive has them, exchanged their names, and a program wrote a file and set
/// its old time again. The map had the old entries for ever, since length and time were the same.
#[cfg(unix)]
#[test]
fn changes_that_keep_length_and_time_are_found() {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    let mut folder = Folder::of(&[("a.rs", "fn alpha() {}"), ("b.rs", "fn gamma() {}")]);
    let path = |name: &str| folder.path().join(name);
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    let age = |name: &str| File::options().write(true).open(path(name)).unwrap().set_modified(old).unwrap();
    ["a.rs", "b.rs"].into_iter().for_each(age);
    let names = [path("a.rs"), path("b.rs"), path("c.txt")];
    folder.scan();
    for (from, to) in [(0, 2), (1, 0), (2, 1)] {
        fs::rename(&names[from], &names[to]).unwrap();
    }
    assert_eq!(folder.scan(), ["symbol:a.rs", "symbol:b.rs"]);
    assert_eq!(folder.entry("a.rs"), Some("f gamma()"));
    fs::write(&names[0], "fn delta() {}").unwrap();
    File::options().write(true).open(&names[0]).unwrap().set_modified(old).unwrap();
    assert_eq!(folder.scan(), ["symbol:a.rs"]);
}

/// The root was a link, as the folder for temporary files is on some systems. A path in it, as the caller wrote the root,
/// was an error, since it does not begin with the folder behind the link.
#[cfg(unix)]
#[test]
fn an_absolute_path_may_begin_with_the_root_as_it_was_named() {
    let folder = Folder::of(&FILES);
    let outer = tempfile::tempdir().unwrap();
    let link = outer.path().join("link");
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    let mut repo = Repository::open(&link).unwrap();
    for root in [&*link, &*folder.path().canonicalize().unwrap()] {
        repo.select([root.join("src/main.rs")]).scan().unwrap();
        assert_eq!(repo.selected().collect::<Vec<_>>(), ["src/main.rs"]);
        assert!(repo.changed([root.join("src/main.rs")]).unwrap().is_empty());
    }
    assert!(repo.select([outer.path().join("src/main.rs")]).scan().is_err());
}

#[test]
fn a_repository_goes_on_from_documents() {
    let mut folder = Folder::of(&FILES);
    folder.repo.select(["README.md"]);
    folder.scan();
    folder.write("src/main.rs", "fn main() {}\n");
    folder.remove("src/lexer.rs");

    let mut repo = Repository::open(folder.path()).unwrap();
    let update = repo.resume(&folder.documents).scan().unwrap();
    let (documents, changes) = folder.documents.apply(&update).unwrap();
    assert!(changes.added().is_empty());
    assert_eq!(repo.selected().collect::<Vec<_>>(), ["README.md"]);
    // As if it had gone on.
    folder.scan();
    assert_eq!(documents, folder.documents);
    // From nothing it starts again.
    let update = repo.resume(&Documents::new()).select(["README.md"]).scan().unwrap();
    let documents = Documents::new().apply(&update).unwrap().0;
    assert!(documents.iter().eq(folder.documents.iter()));
}

/// Files that refer to each other in both directions stay together, also through others. `c` refers to `b` and is in no
/// cluster, since nothing of them refers to it.
#[test]
fn t15_clusters_are_files_that_refer_to_each_other() {
    let mut folder = Folder::of(&[
        ("a.py", "from b import beta\n\ndef alpha():\n    beta()\n"),
        ("b.py", "from a import alpha\nfrom d import delta\n\ndef beta():\n    alpha()\n    delta()\n"),
        ("c.py", "from b import beta\n\ndef gamma():\n    beta()\n"),
        ("d.py", "from b import beta\n\ndef delta():\n    beta()\n"),
    ]);
    folder.scan();
    let key = |path| Key::new(Kind::Symbol, path).unwrap();
    let cluster = |path| folder.documents.cluster(&key(path)).unwrap();
    assert_eq!(cluster("a.py").id, cluster("b.py").id);
    assert_eq!(cluster("a.py").id, cluster("d.py").id);
    assert_ne!(cluster("a.py").id, cluster("c.py").id);
    assert_eq!(["a.py", "b.py", "c.py", "d.py"].map(|path| cluster(path).references), [1, 3, 0, 1]);
}

#[tokio::test]
async fn a_flow_shows_selected_files_and_entries_of_the_others() {
    let mut folder = Folder::of(&FILES);
    let coder = flow! {
        source files: Documents;
        source user;
        column reply(files.tiered().target(0), user, self) = script(["Yes."; 5]);
    };
    folder.repo.select(["src/main.rs"]);
    for step in 0..5 {
        if step == 3 {
            folder.repo.select(["src/lexer.rs"]);
        }
        coder.files.push(folder.repo.scan().unwrap()).await.unwrap();
        coder.user.push("Is that all?").await.unwrap();
    }
    coder.run().await.unwrap();
    let tier = |step: usize, kind, path| {
        let (messages, key) = (coder.reply.messages(step).unwrap(), Key::new(kind, path).unwrap());
        messages
            .parts()
            .find_map(|part| part.items().any(|item| *item.key == key).then(|| part.tier()).flatten())
    };
    assert_eq!(tier(0, Kind::File, "src/main.rs"), Some(Tier::Active));
    assert_eq!(tier(0, Kind::Symbol, "src/main.rs"), None);
    assert!(tier(0, Kind::Symbol, "src/lexer.rs").is_some_and(Tier::is_cached));
    assert_eq!(tier(3, Kind::Symbol, "src/lexer.rs"), None);
    assert_eq!(tier(3, Kind::File, "src/lexer.rs"), Some(Tier::Active));
    // It has the N of the file.
    assert_eq!(tier(3, Kind::Symbol, "src/main.rs"), Some(Tier::Active));
    assert_eq!(tier(4, Kind::Symbol, "src/main.rs"), Some(Tier::L3));
    let system = coder.reply.messages(0).unwrap().system("You write Rust.");
    assert!(
        system.contains("# Repository Structure") && system.contains("t: trait or interface"),
        "{system}"
    );
}
