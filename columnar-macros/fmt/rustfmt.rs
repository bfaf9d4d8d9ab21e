//! Rust in flows, formatted by rustfmt: many snippets with one process.
//!
//! A layout asks for a snippet and gets an empty text the first time. When all snippets of a file are known, one process
//! formats them, and the layout is made again. So a snippet whose width depends on others comes in a second round.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::str::FromStr;

/// The settings of rustfmt in a folder.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    folder: PathBuf,
    edition: String,
    pub(crate) max_width: usize,
    /// The spaces that a level of indentation is wide.
    pub(crate) tab_spaces: usize,
    hard_tabs: bool,
}

impl Config {
    /// Asks rustfmt for the settings in this folder.
    pub(crate) fn of(folder: &Path, edition: &str) -> Result<Self, String> {
        // For a file in the folder, which need not exist: for the folder itself, rustfmt gives the settings of the
        // parent.
        let output = rustfmt(folder).args(["--print-config", "current", "flow.rs"]).output();
        let output = output.map_err(|error| format!("rustfmt could not be started: {error}"))?;
        Ok(Self {
            folder: folder.to_owned(),
            edition: edition.to_owned(),
            max_width: setting(&output, "max_width")?,
            tab_spaces: setting::<usize>(&output, "tab_spaces")?.max(1),
            hard_tabs: setting(&output, "hard_tabs")?,
        })
    }

    /// The spaces of this many levels.
    pub(crate) fn indent(&self, level: usize) -> String {
        if self.hard_tabs { "\t".repeat(level) } else { " ".repeat(level * self.tab_spaces) }
    }

    /// The levels that these spaces are.
    pub(crate) fn level(&self, spaces: &str) -> usize {
        let width: usize = spaces.chars().map(|space| if space == '\t' { self.tab_spaces } else { 1 }).sum();
        width / self.tab_spaces
    }

    pub(crate) fn width(&self, level: usize) -> usize {
        level * self.tab_spaces
    }
}

/// A setting in the output of rustfmt.
fn setting<T: FromStr>(output: &Output, name: &str) -> Result<T, String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let setting = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
    let setting = setting
        .ok_or_else(|| format!("rustfmt names no {name}: {}", String::from_utf8_lossy(&output.stderr)))?;
    setting.parse().map_err(|_| format!("rustfmt has {name} = {setting}"))
}

/// Statements or items at a level of indentation, which is at least 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Snippet {
    pub(crate) level: usize,
    pub(crate) code: String,
}

/// The snippets of a file.
#[derive(Debug)]
pub(crate) struct Snippets {
    pub(crate) config: Config,
    formatted: HashMap<Snippet, Result<String, String>>,
    missing: RefCell<Vec<Snippet>>,
}

impl Snippets {
    pub(crate) fn new(config: Config) -> Self {
        Self { config, formatted: HashMap::new(), missing: RefCell::default() }
    }

    /// The snippet as rustfmt formats it, without the spaces before the first line; or the reason why rustfmt could
    /// not. Empty if the snippet must be formatted first.
    pub(crate) fn get(&self, level: usize, code: String) -> Result<&str, &str> {
        let snippet = Snippet { level, code };
        match self.formatted.get(&snippet) {
            Some(result) => result.as_ref().map(String::as_str).map_err(String::as_str),
            None => {
                self.missing.borrow_mut().push(snippet);
                Ok("")
            }
        }
    }

    /// Whether a snippet must be formatted before a layout is right.
    pub(crate) fn is_missing(&self) -> bool {
        !self.missing.borrow().is_empty()
    }

    /// Formats all missing snippets. Returns whether there were any.
    pub(crate) fn format_missing(&mut self) -> bool {
        let missing = self.missing.take();
        if missing.is_empty() {
            return false;
        }
        let results = run_or_split(&self.config, &missing);
        self.formatted.extend(missing.into_iter().zip(results));
        true
    }
}

/// The results of all snippets. One snippet that is no Rust fails all, so a search by halves finds that snippet.
fn run_or_split(config: &Config, snippets: &[Snippet]) -> Vec<Result<String, String>> {
    match (run(config, snippets), snippets.split_at_checked(snippets.len() / 2)) {
        (Ok(results), _) => results.into_iter().map(Ok).collect(),
        (Err(_), Some((first @ [_, ..], second))) => {
            let mut results = run_or_split(config, first);
            results.extend(run_or_split(config, second));
            results
        }
        (Err(message), _) => vec![Err(message)],
    }
}

fn run(config: &Config, snippets: &[Snippet]) -> Result<Vec<String>, String> {
    let mut source = String::new();
    for (at, Snippet { level, code }) in snippets.iter().enumerate() {
        let modules = level.saturating_sub(1);
        // The marks are on separate lines, no matter what rustfmt makes of the code.
        let open = "mod columnar {\n".repeat(modules);
        let close = "}\n".repeat(modules);
        let _ = write!(source, "{open}fn {}() {{\n{code}\n{};\n}}\n{close}", begin(at), end(at));
    }
    let output = format(config, source)?;
    let texts = (0..snippets.len()).map(|at| cut(&output, at));
    texts.collect::<Option<_>>().ok_or_else(|| "rustfmt lost a snippet".to_owned())
}

/// The text between the two marks of a snippet.
fn cut(output: &str, at: usize) -> Option<String> {
    let (_, after) = output.split_once(&format!("fn {}() {{\n", begin(at)))?;
    let (inside, _) = after.split_once(&format!("{};\n", end(at)))?;
    Some(inside.trim().to_owned())
}

fn begin(at: usize) -> String {
    format!("columnar_begins_{at}_here")
}

fn end(at: usize) -> String {
    format!("columnar_ends_{at}_here")
}

fn format(config: &Config, source: String) -> Result<String, String> {
    let mut command = rustfmt(&config.folder);
    command.args(["--emit", "stdout", "--edition", &config.edition]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("rustfmt could not be started: {error}"))?;
    // A thread writes, since the process may write output before it has read all.
    let writer = child.stdin.take().map(|mut stdin| {
        std::thread::spawn(move || {
            // A process that ends early says why itself.
            let _ = stdin.write_all(source.as_bytes());
        })
    });
    let output = child.wait_with_output().map_err(|error| format!("rustfmt failed: {error}"))?;
    if let Some(writer) = writer {
        // The thread has no panic to pass on.
        let _ = writer.join();
    }
    if output.stdout.is_empty() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let first = errors.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message");
        return Err(first.trim_start_matches("error: ").to_owned());
    }
    String::from_utf8(output.stdout).map_err(|_| "rustfmt returned no UTF-8".to_owned())
}

/// The rustfmt of the toolchain, found as `cargo fmt` finds it.
fn rustfmt(folder: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("RUSTFMT").unwrap_or_else(|| "rustfmt".into()));
    command.current_dir(folder);
    command
}
