//! The files to format: the named files, or all files of the packages of the workspace.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The edition of a file that is in no package.
const NO_PACKAGE: &str = "2024";

/// The known packages, by folder, with the edition of each.
#[derive(Debug, Default)]
pub(crate) struct Packages {
    editions: HashMap<PathBuf, String>,
    target: Option<PathBuf>,
}

impl Packages {
    /// The packages of a workspace: of the present folder, or of a manifest.
    pub(crate) fn of_workspace(manifest: Option<&Path>) -> Result<Self, String> {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        if let Some(manifest) = manifest {
            command.arg("--manifest-path").arg(manifest);
        }
        let output = command.output().map_err(|error| format!("cargo could not be started: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim_end().to_owned());
        }
        let metadata: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("cargo metadata returned no JSON: {error}"))?;
        let target = metadata.get("target_directory").and_then(Value::as_str).map(PathBuf::from);
        let packages = metadata.get("packages").and_then(Value::as_array).into_iter().flatten();
        let editions = packages.filter_map(|package| {
            let manifest = Path::new(package.get("manifest_path")?.as_str()?);
            Some((manifest.parent()?.to_owned(), package.get("edition")?.as_str()?.to_owned()))
        });
        Ok(Self { editions: editions.collect(), target })
    }

    /// The Rust files of all packages.
    pub(crate) fn files(&self) -> Result<BTreeSet<PathBuf>, String> {
        let mut files = BTreeSet::new();
        for folder in self.editions.keys() {
            self.walk(folder, Nested::Other, &mut files)?;
        }
        Ok(files)
    }

    /// The files that a path names: one file, or all files in a folder.
    pub(crate) fn named(&self, path: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), String> {
        // Absolute, as cargo names its folders.
        let path = std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
        if path.is_dir() {
            return self.walk(&path, Nested::Same, files);
        }
        if !path.is_file() {
            return Err(format!("{}: there is no such file", path.display()));
        }
        files.insert(path);
        Ok(())
    }

    /// The edition of a file. The package of a file outside of the workspace is asked for, and kept.
    pub(crate) fn edition(&mut self, file: &Path) -> String {
        let Some(folder) = file.ancestors().skip(1).find(|folder| folder.join("Cargo.toml").is_file()) else {
            return NO_PACKAGE.to_owned();
        };
        if !self.editions.contains_key(folder) {
            let others = Self::of_workspace(Some(&folder.join("Cargo.toml"))).unwrap_or_default();
            self.editions.extend(others.editions);
            // The manifest of a workspace alone, or one that cargo cannot read.
            self.editions.entry(folder.to_owned()).or_insert_with(|| NO_PACKAGE.to_owned());
        }
        self.editions.get(folder).map_or(NO_PACKAGE, String::as_str).to_owned()
    }

    fn walk(&self, folder: &Path, nested: Nested, files: &mut BTreeSet<PathBuf>) -> Result<(), String> {
        let failed = |error| format!("{}: {error}", folder.display());
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            let kind = entry.file_type().map_err(failed)?;
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            // Links are not followed, so that no folder is walked twice.
            if kind.is_file() && path.extension() == Some(OsStr::new("rs")) {
                files.insert(path);
            } else if kind.is_dir() && !is_hidden && !self.is_left_out(&path, nested) {
                self.walk(&path, nested, files)?;
            }
        }
        Ok(())
    }

    fn is_left_out(&self, folder: &Path, nested: Nested) -> bool {
        let is_target = self.target.as_deref() == Some(folder) || folder.join("CACHEDIR.TAG").is_file();
        is_target || nested == Nested::Other && folder.join("Cargo.toml").is_file()
    }
}

/// The kind of a package in the folder of another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nested {
    /// A part of a folder that was named.
    Same,
    /// A separate package, in the workspace or not.
    Other,
}

/// Replaces the text of a file by another one, as a whole: an interruption leaves the earlier text or the new one. The
/// permissions stay, and a link leads to the new text.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let permissions = fs::metadata(&path)?.permissions();
    if permissions.readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut staged = path.clone().into_os_string();
    staged.push(format!(".{}.staged", std::process::id()));
    let staged = PathBuf::from(staged);
    let mut file = OpenOptions::new().write(true).create_new(true).open(&staged)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.set_permissions(permissions));
    let replaced = written.and_then(|()| file.sync_all()).and_then(|()| fs::rename(&staged, &path));
    if replaced.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&staged);
    }
    replaced
}
