//! The repositories: copies of real ones, in which files can be edited, and generated ones of any size.

use std::env;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use columnar::repo::MAX_FILE_BYTES;
use ignore::WalkBuilder;
use tempfile::TempDir;

/// Folders with files that other programs made.
const MADE: [&str; 4] = [".git", "__pycache__", "site-packages", "target"];

/// Crates that are one program together, and have more than a thousand files.
const CRATES: [&str; 24] = [
    "bytes",
    "futures-channel",
    "futures-core",
    "futures-executor",
    "futures-io",
    "futures-sink",
    "futures-task",
    "futures-util",
    "h2",
    "http",
    "http-body",
    "http-body-util",
    "hyper",
    "hyper-rustls",
    "hyper-util",
    "mio",
    "reqwest",
    "rustls",
    "rustls-pki-types",
    "tokio",
    "tokio-rustls",
    "tokio-util",
    "tower",
    "tracing",
];

/// A copy of a repository.
pub(crate) struct Subject {
    pub(crate) name: String,
    folder: TempDir,
}

impl Subject {
    /// This repository, those of the arguments or else those of the machine.
    pub(crate) fn all(arguments: &[String]) -> Vec<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are in a folder");
        let mut all = vec![Self::copy("columnar", &[here.to_owned()])];
        for path in arguments.iter().map(Path::new) {
            let name = path
                .file_name()
                .map_or("root".into(), |name| name.to_string_lossy().replace(['.', '-'], "_"));
            if path.is_dir() {
                all.push(Self::copy(&name, &[path.to_owned()]));
            } else {
                println!("SKIPPED {name}: {} is no folder", path.display());
            }
        }
        if arguments.is_empty() {
            match python_library() {
                Some(path) => all.push(Self::copy("python", &[path])),
                None => {
                    println!("SKIPPED python: `python3` does not run, so its standard library is not known");
                }
            }
            let crates = crates();
            if crates.is_empty() {
                println!("SKIPPED crates: the registry of cargo has none of {}", CRATES.join(", "));
            } else {
                all.push(Self::copy("crates", &crates));
            }
        }
        all
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The same files in another folder.
    pub(crate) fn again(&self) -> Self {
        Self::copy(&self.name, &[self.root().to_owned()])
    }

    /// Copies the files that the library would read. Several folders are beside each other in the copy.
    fn copy(name: &str, sources: &[PathBuf]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for source in sources {
            let to = match sources {
                [_] => folder.path().to_owned(),
                _ => folder.path().join(source.file_name().expect("a crate has a name")),
            };
            copy_all(source, &to);
        }
        Self { name: name.to_owned(), folder }
    }
}

fn copy_all(source: &Path, to: &Path) {
    let walk = WalkBuilder::new(source)
        .hidden(false)
        .require_git(false)
        // The library of python may be in a folder that its installer ignores.
        .parents(false)
        .filter_entry(|entry| MADE.iter().all(|folder| entry.file_name() != *folder))
        .build();
    for entry in walk.filter_map(Result::ok) {
        let is_small =
            entry.metadata().is_ok_and(|status| status.is_file() && status.len() <= MAX_FILE_BYTES);
        let Some(path) = entry.path().strip_prefix(source).ok().filter(|_| is_small) else { continue };
        let Ok(bytes) = fs::read(entry.path()) else { continue };
        write_settled(&to.join(path), &bytes);
    }
}

/// Writes a file as if that was long ago. The library reads files that were just written again.
fn write_settled(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
    fs::write(path, bytes).expect("a file");
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::options().write(true).open(path).and_then(|file| file.set_modified(then)).expect("a time");
}

fn python_library() -> Option<PathBuf> {
    let shown =
        Command::new("python3").args(["-c", "import os; print(os.path.dirname(os.__file__))"]).output();
    let path = PathBuf::from(String::from_utf8(shown.ok()?.stdout).ok()?.trim());
    path.is_dir().then_some(path)
}

/// The newest version of each crate.
fn crates() -> Vec<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".cargo")));
    let sources = home.map(|home| home.join("registry/src")).unwrap_or_default();
    let folders = |path: &Path| {
        let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = folders(&sources).iter().flat_map(|registry| folders(registry)).collect();
    all.sort();
    let newest = |name: &&str| {
        let is_named = |path: &&PathBuf| {
            let version = path.file_name()?.to_str()?.strip_prefix(name)?.strip_prefix('-')?;
            version.starts_with(|c: char| c.is_ascii_digit()).then_some(())
        };
        all.iter().rfind(|path| is_named(path).is_some()).cloned()
    };
    CRATES.iter().filter_map(newest).collect()
}

/// A generated repository of this number of files.
pub(crate) fn generate(root: &Path, files: usize) {
    for file in 0..files {
        write_settled(&root.join(path(file)), text(file, 0).as_bytes());
    }
}

/// The path of a file of a generated repository, whose folders have at most fifty entries.
pub(crate) fn path(file: usize) -> String {
    format!("src/{}/file{file:05}.rs", folder(file, "/"))
}

fn folder(file: usize, separator: &str) -> String {
    format!("area{:02}{separator}part{:02}", file / 1000, file / 50 % 20)
}

/// Its text after some edits. It uses files that many others use, and its neighbour.
pub(crate) fn text(file: usize, edit: usize) -> String {
    let mut text = String::new();
    let others = [file / 2, file / 7, file + 1];
    for other in others.iter().filter(|other| **other != file) {
        let _ = writeln!(text, "use crate::{}::file{other:05}::work{other:05};", folder(*other, "::"));
    }
    let _ = write!(
        text,
        "
pub struct State{file:05} {{
    count: usize,
}}

impl State{file:05} {{
    pub fn add(&mut self, edit{edit}: usize) {{
        self.count += edit{edit};
    }}
}}

pub fn work{file:05}(count: usize) -> usize {{
    let mut state = State{file:05} {{ count }};
"
    );
    for other in others {
        let _ = writeln!(text, "    state.add(work{other:05}({edit}));");
    }
    text + "    state.count\n}\n"
}
