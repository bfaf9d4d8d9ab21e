//! Sessions recorded from the history of a repository, as sizes without any text.
//!
//! The history has six parts of as many commits each. A session is the last commits in a part by the author with most
//! commits there: of one parent, with one to eight files, none of which is larger than 20,000 tokens. A token is four
//! bytes. A person asks for a commit with its message, adds the files that the session has not shown yet, and the reply
//! contains the diff; the next step shows the new texts.
//!
//! ```text
//! session FIRST..LAST               commits
//! MESSAGE REPLY DOCUMENT …          a step, in tokens
//!         7:1200                    document 7 is put with 1,200 tokens
//!         7:1250:96                 the same as an edit, whose diff has 96 tokens
//!         -7                        document 7 is removed
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SESSIONS: usize = 6;
const MOST_FILES: usize = 8;
const MOST_TOKENS: usize = 20_000;

/// The tokens of a reply beside the diff, and of a call of a tool.
const TALK: usize = 40;
const TOOL: usize = 10;
const CALL: usize = 30;

/// The way of working that a recorded session has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkStyle {
    /// A person asks for each of 35 commits and adds the files.
    Person,
    /// The same with a map of the symbols of all files. The symbols of a file are hidden when the file is shown.
    Map,
    /// An agent makes 25 commits: each file is read in a step of its own, and changed in another.
    Agent,
}

impl WorkStyle {
    /// The way of working with a name.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Person, Self::Map, Self::Agent].into_iter().find(|it| it.name() == name)
    }

    /// The name in the header of a record.
    pub fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Map => "map",
            Self::Agent => "agent",
        }
    }

    fn commits(self) -> usize {
        if self == Self::Agent { 25 } else { 35 }
    }
}

/// The record of the sessions in the history of a checkout or of a bare repository, up to the commit that is checked out.
/// The record says the address of the repository.
///
/// # Errors
///
/// If git does not start, or fails.
pub fn record(folder: &Path, style: WorkStyle, address: &str) -> io::Result<String> {
    let git = Git(folder.to_owned());
    let head = git.text(&["rev-parse", "HEAD"])?;
    let log =
        git.text(&["log", "--min-parents=1", "--max-parents=1", "--reverse", "--format=%H %ae", "HEAD"])?;
    let log: Vec<(&str, &str)> = log.lines().filter_map(|line| line.split_once(' ')).collect();
    let mut record = format!(
        "# repository {address}
# commit {head}# style {}
",
        style.name()
    );
    for part in 0..SESSIONS {
        let part =
            log.get(log.len() * part / SESSIONS..log.len() * (part + 1) / SESSIONS).unwrap_or_default();
        let commits = commits_of(&git, part, style.commits())?;
        if let (Some(first), Some(last)) = (commits.first(), commits.last()) {
            let range = format!("session {:.12}..{:.12}\n", first.hash, last.hash);
            record.push_str(&range);
            record.push_str(&Recorder::of(&git, style, &commits)?.lines);
        }
    }
    Ok(record)
}

/// The last commits in a part of the history by the author with most commits there, the oldest first.
fn commits_of(git: &Git, part: &[(&str, &str)], count: usize) -> io::Result<Vec<SizedCommit>> {
    let mut authors: BTreeMap<&str, usize> = BTreeMap::new();
    part.iter().for_each(|(_, author)| *authors.entry(author).or_default() += 1);
    // Of equally busy authors, the first by name.
    let busiest = authors.iter().rev().max_by_key(|(_, commits)| **commits).map(|(author, _)| *author);
    let mut commits = Vec::new();
    for (hash, _) in part.iter().rev().filter(|(_, author)| Some(*author) == busiest) {
        commits.extend(git.commit(hash)?.filter(|_| commits.len() < count));
        if commits.len() == count {
            break;
        }
    }
    commits.reverse();
    Ok(commits)
}

/// A commit with the sizes of what it changes.
struct SizedCommit {
    hash: String,
    message: usize,
    files: Vec<FileSizes>,
}

/// The tokens of a file in a commit.
struct FileSizes {
    path: String,
    /// `None` if the commit adds the file.
    before: Option<usize>,
    /// `None` if the commit removes the file.
    after: Option<usize>,
    diff: usize,
}

/// The commands of git in a folder.
struct Git(PathBuf);

impl Git {
    fn bytes(&self, args: &[&str], input: &str) -> io::Result<Vec<u8>> {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.0).args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        // The input is short enough for a pipe.
        child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(input.as_bytes()))?;
        let run = child.wait_with_output()?;
        let failed = || io::Error::other(format!("git {} failed in {}", args.join(" "), self.0.display()));
        if run.status.success() { Ok(run.stdout) } else { Err(failed()) }
    }

    fn text(&self, args: &[&str]) -> io::Result<String> {
        Ok(String::from_utf8_lossy(&self.bytes(args, "")?).into_owned())
    }

    /// A commit; `None` if it has too many files, or no text.
    fn commit(&self, hash: &str) -> io::Result<Option<SizedCommit>> {
        let message = tokens(self.text(&["show", "-s", "--format=%B", hash])?.trim().len());
        let show = ["show", "--format=", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"];
        let output = ["--raw", "--no-abbrev", "--patch", "-U3", hash];
        let shown = self.bytes(&[&show[..], &output[..]].concat(), "")?;
        let changes: Vec<RawChange> = RawChange::all(&shown);
        if changes.len() > 10 * MOST_FILES {
            return Ok(None);
        }
        let blobs: String = changes.iter().flat_map(|it| [&it.old, "\n", &it.new, "\n"]).collect();
        let sizes = self.bytes(&["cat-file", "--batch-check=%(objectsize)"], &blobs)?;
        let sizes = String::from_utf8_lossy(&sizes);
        // The blob of a file that does not exist is missing.
        let mut sizes = sizes.lines().map(|line| line.parse().ok().map(tokens));
        let mut files = Vec::new();
        for RawChange { path, diff, .. } in changes {
            let (before, after) = (sizes.next().flatten(), sizes.next().flatten());
            let largest = before.max(after).unwrap_or_default();
            if let Some(diff) = diff.map(tokens).filter(|_| (1..=MOST_TOKENS).contains(&largest)) {
                files.push(FileSizes { path, before, after, diff });
            }
        }
        let is_fit = (1..=MOST_FILES).contains(&files.len());
        Ok(is_fit.then(|| SizedCommit { hash: hash.to_owned(), message, files }))
    }

    /// The tokens of the symbols of each file of Rust before a commit.
    fn symbols(&self, hash: &str) -> io::Result<Vec<(String, usize)>> {
        let tree = self.text(&["ls-tree", "-r", "--format=%(objectname) %(path)", &format!("{hash}^")])?;
        let mut symbols = Vec::new();
        for (blob, path) in tree.lines().filter_map(|line| line.split_once(' ')) {
            if Path::new(path).extension().is_some_and(|extension| extension == "rs") {
                let text = self.text(&["cat-file", "blob", blob])?;
                let size =
                    text.lines().filter(|line| names_symbol(line)).map(|line| line.trim().len() + 1).sum();
                symbols.push((path.to_owned(), tokens(size) + tokens(path.len())));
            }
        }
        Ok(symbols)
    }
}

/// Whether a line begins an item, nearly as a parser would find.
fn names_symbol(line: &str) -> bool {
    const ITEMS: [&str; 9] =
        ["fn", "struct", "enum", "trait", "impl", "type", "mod", "static", "macro_rules!"];
    let mut words = line
        .split_whitespace()
        .skip_while(|word| word.starts_with("pub") || matches!(*word, "unsafe" | "async" | "const"));
    words.next().is_some_and(|word| {
        ITEMS
            .iter()
            .any(|item| word.strip_prefix(item).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
    })
}

/// A change as git lists it.
struct RawChange {
    path: String,
    old: String,
    new: String,
    /// The bytes of the hunks of a text; `None` for other files.
    diff: Option<usize>,
}

impl RawChange {
    /// The changes in the output of `git show --raw --patch`: a line for each, then the patches in the same order.
    fn all(shown: &[u8]) -> Vec<Self> {
        let (mut changes, mut patch): (Vec<Self>, usize) = (Vec::new(), 0);
        let mut is_hunk = false;
        for line in shown.split(|byte| *byte == b'\n') {
            if patch == 0 && line.starts_with(b":") {
                changes.extend(Self::of_raw(&String::from_utf8_lossy(line)));
            } else if line.starts_with(b"diff --git ") {
                (patch, is_hunk) = (patch + 1, false);
            } else if let Some(change) = patch.checked_sub(1).and_then(|at| changes.get_mut(at)) {
                is_hunk |= line.starts_with(b"@@ ");
                match &mut change.diff {
                    Some(bytes) if is_hunk => *bytes += line.len() + 1,
                    diff if line.starts_with(b"Binary files") => *diff = None,
                    _ => {}
                }
            }
        }
        changes
    }

    fn of_raw(line: &str) -> Option<Self> {
        let (meta, path) = line.strip_prefix(':')?.split_once('\t')?;
        let words: Vec<&str> = meta.split(' ').collect();
        let [old_mode, new_mode, old, new, _] = words.as_slice() else { return None };
        // A link or a module is no text.
        let is_file =
            [old_mode, new_mode].into_iter().all(|mode| matches!(*mode, "100644" | "100755" | "000000"));
        let diff = is_file.then_some(0);
        Some(Self { path: path.to_owned(), old: (*old).to_owned(), new: (*new).to_owned(), diff })
    }
}

fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

/// A session while it is recorded.
#[derive(Default)]
struct Recorder {
    lines: String,
    numbers: BTreeMap<String, usize>,
    shown: BTreeSet<String>,
    /// The documents whose symbols the map shows.
    mapped: BTreeSet<String>,
    /// The changes that the next step shows.
    pending: Vec<String>,
}

impl Recorder {
    fn of(git: &Git, style: WorkStyle, commits: &[SizedCommit]) -> io::Result<Self> {
        let mut recorder = Self::default();
        if let Some(first) = commits.first().filter(|_| style == WorkStyle::Map) {
            for (path, size) in git.symbols(&first.hash)? {
                let number = recorder.number(&symbols_of(&path));
                recorder.pending.push(format!("{number}:{size}"));
                recorder.mapped.insert(path);
            }
        }
        for commit in commits {
            match style {
                WorkStyle::Agent => recorder.ask_agent(commit),
                WorkStyle::Person | WorkStyle::Map => recorder.ask(commit),
            }
        }
        Ok(recorder)
    }

    /// A step with the changes that are pending.
    fn step(&mut self, message: usize, reply: usize) {
        let words = [message.to_string(), reply.to_string()].into_iter().chain(self.pending.drain(..));
        let line = words.collect::<Vec<_>>().join(" ");
        writeln!(self.lines, "{line}").expect("a string takes all");
    }

    /// A step that shows the files and replies with all diffs.
    fn ask(&mut self, commit: &SizedCommit) {
        commit.files.iter().for_each(|file| self.open(file));
        self.step(commit.message, TALK + commit.files.iter().map(|file| file.diff).sum::<usize>());
        commit.files.iter().for_each(|file| self.change(file));
    }

    /// A step for each file that is read, and for each diff.
    fn ask_agent(&mut self, commit: &SizedCommit) {
        self.step(commit.message, CALL);
        for file in &commit.files {
            self.open(file);
            if !self.pending.is_empty() {
                self.step(TOOL, CALL);
            }
        }
        for file in &commit.files {
            self.step(TOOL, CALL + file.diff);
            self.change(file);
        }
    }

    /// Shows a file that the session has not shown yet.
    fn open(&mut self, file: &FileSizes) {
        let Some(before) = file.before.filter(|_| !self.shown.contains(&file.path)) else { return };
        let number = self.number(&file.path);
        // A file may come back that the step before removed.
        self.pending.retain(|change| *change != format!("-{number}"));
        self.pending.push(format!("{number}:{before}"));
        self.shown.insert(file.path.clone());
        if self.mapped.remove(&file.path) {
            let number = self.number(&symbols_of(&file.path));
            self.pending.push(format!("-{number}"));
        }
    }

    fn change(&mut self, file: &FileSizes) {
        let number = self.number(&file.path);
        self.pending.push(match (file.before, file.after) {
            (Some(_), Some(after)) => format!("{number}:{after}:{}", file.diff),
            (None, Some(after)) => format!("{number}:{after}"),
            (_, None) => format!("-{number}"),
        });
        if file.after.is_some() {
            self.shown.insert(file.path.clone());
        } else {
            self.shown.remove(&file.path);
        }
    }

    fn number(&mut self, document: &str) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(document.to_owned()).or_insert(next)
    }
}

fn symbols_of(path: &str) -> String {
    format!("symbols of {path}")
}
