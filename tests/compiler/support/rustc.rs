//! Runs rustc and rustdoc on programs that use the library.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use serde::Deserialize;

/// Compiles programs against the library that this test or benchmark was built with.
#[derive(Debug)]
pub struct Rustc {
    program: String,
    deps: PathBuf,
    library: PathBuf,
    folder: PathBuf,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Diagnostic {
    /// `error`, `warning` or another level.
    pub level: String,
    /// The text as it is printed.
    #[serde(rename = "rendered")]
    pub text: String,
}

impl Rustc {
    /// Finds the compiler and the library. Programs and build products go into `folder`, which is emptied.
    ///
    /// # Panics
    ///
    /// If there is no library, or the folder cannot be written.
    pub fn new(folder: &Path) -> Self {
        let program = env::current_exe().expect("this program is a file");
        let deps = program.parent().expect("in a folder").to_owned();
        let library = newest(&deps, "libcolumnar-", ".rlib").expect("this program is linked with it");
        if folder.exists() {
            fs::remove_dir_all(folder).expect("the target folder can be written to");
        }
        fs::create_dir_all(folder).expect("the target folder can be written to");
        let program = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
        Self { program, deps, library, folder: folder.to_owned() }
    }

    /// Writes a program and returns its path.
    ///
    /// # Panics
    ///
    /// If the folder cannot be written.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.join(name).with_extension("rs");
        fs::write(&path, text).expect("the target folder can be written to");
        path
    }

    /// Compiles a library with these options.
    ///
    /// # Errors
    ///
    /// The errors of the compiler, as text.
    ///
    /// # Panics
    ///
    /// If there is no compiler.
    pub fn compile(&self, source: &Path, options: &[&str]) -> Result<(), String> {
        self.run(source, &[&["--cap-lints=allow"][..], options].concat(), &[]).map(|_| ())
    }

    /// Compiles a library that has errors, and returns the diagnostics.
    ///
    /// # Panics
    ///
    /// If there is no compiler, or it accepts the library.
    pub fn diagnostics(&self, source: &Path) -> Vec<Diagnostic> {
        let options = ["--emit=metadata", "--error-format=json"];
        let printed = self.run(source, &options, &[]).expect_err("the library has errors");
        printed.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
    }

    /// The time that the expansion of the macros of a program takes.
    ///
    /// # Panics
    ///
    /// If the compiler rejects the program, or does not print the times of its passes.
    pub fn expansion(&self, source: &Path) -> Duration {
        let (options, unstable) =
            (["--cap-lints=allow", "--emit=metadata", "-Ztime-passes"], [("RUSTC_BOOTSTRAP", "1")]);
        let printed = self.run(source, &options, &unstable).expect("the program is valid");
        // As in `time:   0.122; rss:   43MB ->   85MB (  +42MB)	macro_expand_crate`.
        let line = printed.lines().find(|line| line.ends_with("macro_expand_crate"));
        let seconds = line.and_then(|line| line.split([':', ';']).nth(1)?.trim().parse().ok());
        Duration::from_secs_f64(seconds.expect("the compiler prints the times of its passes"))
    }

    /// Writes the documentation of a library, without that of what it uses, and returns the folder with its pages.
    ///
    /// # Errors
    ///
    /// The errors and warnings of rustdoc, as text.
    ///
    /// # Panics
    ///
    /// If there is no rustdoc.
    pub fn document(&self, source: &Path, options: &[&str]) -> Result<PathBuf, String> {
        let rustdoc = env::var("RUSTDOC").unwrap_or_else(|_| "rustdoc".into());
        self.start(&rustdoc, source, &[&["-Dwarnings"][..], options].concat(), &[])?;
        Ok(self.folder.join(source.file_stem().expect("a source is a file")))
    }

    /// The output of the compiler; an error if it fails.
    fn run(&self, source: &Path, options: &[&str], env: &[(&str, &str)]) -> Result<String, String> {
        self.start(&self.program, source, options, env)
    }

    fn start(
        &self,
        program: &str,
        source: &Path,
        options: &[&str],
        env: &[(&str, &str)],
    ) -> Result<String, String> {
        let output = Command::new(program)
            .envs(env.iter().copied())
            .args(["--edition=2024", "--crate-type=lib", "--out-dir"])
            .arg(&self.folder)
            .arg("--extern")
            .arg(format!("columnar={}", self.library.display()))
            .arg("-L")
            .arg(format!("dependency={}", self.deps.display()))
            .args(options)
            .arg(source)
            .output()
            .expect("there is a compiler");
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(printed) } else { Err(printed) }
    }
}

pub(crate) fn newest(folder: &Path, start: &str, end: &str) -> Option<PathBuf> {
    let files = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let matches = |name: &str| name.starts_with(start) && name.ends_with(end);
    let found = files.filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(matches));
    found.max_by_key(|path| path.metadata().and_then(|metadata| metadata.modified()).ok())
}
