//! `cargo columnar fmt`: formats the flows in Rust files, which rustfmt does not touch.
//!
//! ```text
//! file ──▶ source ──▶ document, examples ──▶ flow ──▶ entries, declaration ──▶ list ──▶ rust ──▶ rustfmt
//!                            │                                                              (one process for all files)
//!                            └─ the parser of the macro: a flow with mistakes stays as it is
//! ```
//!
//! No token and no comment changes, beside what rustfmt changes in Rust and commas at the ends of lists: `same`
//! compares each flow with the earlier text.

// The files of the macro ask the compiler for positions, where there is one.
extern crate proc_macro;

mod align;
mod declaration;
mod document;
mod entries;
mod examples;
mod files;
mod flow;
mod list;
mod rust;
mod rustfmt;
mod same;
mod source;
#[cfg(test)]
mod tests;

// The program reads each flow that the macro reads, so it has the parser of the macro, and is in the package of the macro.
// It is beside `src`: the macro has no module and no dependency of it, and only its feature asks for places of tokens.
#[allow(dead_code, reason = "the macro uses all of it")]
#[path = "../src/diagnostics.rs"]
mod diagnostics;
#[allow(dead_code, reason = "the macro uses all of it")]
#[path = "../src/ident.rs"]
mod ident;
#[allow(dead_code, reason = "the macro uses all of it")]
#[path = "../src/keywords.rs"]
mod keywords;
#[allow(dead_code, unused_imports, reason = "the macro uses all of it")]
#[path = "../src/syntax/mod.rs"]
mod syntax;

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use document::{Formatted, SourceText};
use files::Packages;
use rustfmt::{Config, Snippets};

const USAGE: &str = "\
Formats the bodies of `flow!` in Rust files.

usage: cargo columnar fmt [--check] [--exclude PATH]... [PATH]...

  --check         change nothing; the exit code is 1 if a file is not formatted
  --exclude PATH  leave out a file, or all files in a folder
  PATH            a Rust or Markdown file, or a folder for all Rust files in it; without one, the packages of the
                  workspace";

/// The command of the user.
#[derive(Debug, Default)]
struct Arguments {
    is_check: bool,
    excluded: Vec<PathBuf>,
    paths: Vec<PathBuf>,
}

fn main() -> ExitCode {
    match arguments() {
        Ok(None) => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        Ok(Some(arguments)) => match run(&arguments) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => failed(&error),
        },
        Err(error) => failed(&format!("{error}\n\n{USAGE}")),
    }
}

fn failed(error: &dyn Display) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}

/// The arguments, or `None` if help is asked for.
fn arguments() -> Result<Option<Arguments>, String> {
    let mut words = std::env::args_os().skip(1).peekable();
    // `cargo columnar fmt` starts `cargo-columnar columnar fmt`.
    words.next_if(|word| word == "columnar");
    match words.next() {
        Some(word) if word == "fmt" => {}
        Some(word) if word == "--help" || word == "-h" => return Ok(None),
        Some(word) => return Err(format!("`{}` is no command; the only one is `fmt`", word.display())),
        None => return Err("the command is missing; the only one is `fmt`".to_owned()),
    }
    let mut arguments = Arguments::default();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--check") => arguments.is_check = true,
            Some("--exclude") => {
                arguments.excluded.push(words.next().ok_or("`--exclude` needs a path after it")?.into());
            }
            Some("--help" | "-h") => return Ok(None),
            Some(flag) if flag.starts_with('-') => {
                return Err(format!("`{flag}` is no option; possible are --check, --exclude PATH"));
            }
            _ => arguments.paths.push(word.into()),
        }
    }
    Ok(Some(arguments))
}

/// A file with flows.
struct RustFile {
    path: PathBuf,
    text: String,
    formatted: Formatted,
}

impl RustFile {
    fn format(&mut self, snippets: &Snippets) {
        let is_markdown = self.path.extension() == Some(OsStr::new("md"));
        let source = if is_markdown { SourceText::Markdown } else { SourceText::File };
        self.formatted = document::file(&self.text, snippets, source);
    }
}

/// Formats or checks all files. Returns whether nothing is left to do.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let mut packages = match arguments.paths.as_slice() {
        [] => Packages::of_workspace(None)?,
        // Named files may be in no package.
        _ => Packages::of_workspace(None).unwrap_or_default(),
    };
    let mut paths = BTreeSet::new();
    for path in &arguments.paths {
        packages.named(path, &mut paths)?;
    }
    if arguments.paths.is_empty() {
        paths = packages.files()?;
    }
    for excluded in &arguments.excluded {
        let excluded = std::path::absolute(excluded).map_err(|error| error.to_string())?;
        paths.retain(|path| !path.starts_with(&excluded));
    }
    let mut is_done = true;
    let mut sources = Vec::new();
    for path in paths {
        match std::fs::read_to_string(&path) {
            Ok(text) => sources.push((path, text)),
            // The other files are formatted all the same.
            Err(error) => is_done &= unusable(&path, &error),
        }
    }
    for (mut snippets, mut files) in by_config(&mut packages, sources)? {
        loop {
            files.iter_mut().for_each(|file| file.format(&snippets));
            if !snippets.format_missing() {
                break;
            }
        }
        for file in &files {
            is_done &= finish(file, arguments.is_check).unwrap_or_else(|error| unusable(&file.path, &error));
        }
    }
    Ok(is_done)
}

/// Says that a file cannot be read or written. There is something left to do.
fn unusable(path: &Path, error: &std::io::Error) -> bool {
    eprintln!("error: {}: {error}", path.display());
    false
}

/// The files with flows, grouped by the settings that rustfmt uses.
fn by_config(
    packages: &mut Packages,
    sources: Vec<(PathBuf, String)>,
) -> Result<Vec<(Snippets, Vec<RustFile>)>, String> {
    let mut groups = HashMap::<_, Vec<RustFile>>::new();
    for (path, text) in sources {
        if text.contains("flow!") {
            let key = (settings(&path), packages.edition(&path));
            groups.entry(key).or_default().push(RustFile { path, text, formatted: Formatted::default() });
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    // The output has one order.
    groups.sort_by(|(a, _), (b, _)| a.cmp(b));
    let groups = groups
        .into_iter()
        .map(|((folder, edition), files)| Ok((Snippets::new(Config::of(&folder, &edition)?), files)));
    groups.collect()
}

/// The folder whose settings rustfmt uses for a file: the nearest folder with a file of settings.
fn settings(path: &Path) -> PathBuf {
    let nearest = path
        .ancestors()
        .skip(1)
        .find(|folder| ["rustfmt.toml", ".rustfmt.toml"].iter().any(|name| folder.join(name).is_file()));
    // Without such a file, rustfmt uses the settings of the user, in every folder.
    nearest.or_else(|| path.ancestors().last()).unwrap_or(Path::new(".")).to_owned()
}

/// Writes a file, or says that it would change. Returns whether nothing is left to do.
fn finish(file: &RustFile, is_check: bool) -> std::io::Result<bool> {
    let RustFile { path, text, formatted } = file;
    let folder = std::env::current_dir().unwrap_or_default();
    let shown = path.strip_prefix(folder).unwrap_or(path);
    if !formatted.problems.is_empty() {
        let mut problems: Vec<_> = formatted.problems.iter().collect();
        problems.sort_by_key(|problem| problem.at);
        for problem in problems {
            let (line, column) = position(&text.replace("\r\n", "\n"), problem.at);
            eprintln!("{}:{line}:{column}: {}", shown.display(), problem.message);
        }
        return Ok(false);
    }
    if formatted.text == *text {
        return Ok(true);
    }
    if is_check {
        println!("{}:{}: a flow is not formatted", shown.display(), first_difference(text, &formatted.text));
        return Ok(false);
    }
    files::replace(path, &formatted.text)?;
    println!("{}", shown.display());
    Ok(true)
}

/// Line and column of a place, from 1 on.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// The first line that differs, from 1 on.
fn first_difference(before: &str, after: &str) -> usize {
    before.lines().zip(after.lines()).take_while(|(before, after)| before == after).count() + 1
}
