//! Edits of files: all of an answer, or none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::io::{self, Write};
use std::path::Path;

use columnar::documents::{Key, Kind};
use columnar_examples::printable;
use tempfile::NamedTempFile;

use crate::blocks::Block;

/// The lines of a difference that are shown.
const SHOWN: usize = 14;

/// A file before and after an answer. A file that is not there has no text.
pub(crate) struct Edit {
    pub(crate) path: String,
    before: Option<String>,
    after: Option<String>,
    /// The lines that blocks took away and added.
    lines: Vec<(char, String)>,
}

/// The edits of an answer. Only selected files are edited, as the model knows no other text. Nothing is written yet.
///
/// # Errors
///
/// The faults of all blocks.
pub(crate) fn plan(
    root: &Path,
    selected: &BTreeSet<String>,
    blocks: &[Block],
) -> Result<Vec<Edit>, Vec<String>> {
    let (mut edits, mut faults) = (BTreeMap::new(), Vec::new());
    for block in blocks {
        let edited = checked(&block.path).and_then(|path| {
            if !edits.contains_key(&path) {
                edits.insert(path.clone(), Edit::open(root, &path, selected)?);
            }
            edits.get_mut(&path).map_or(Ok(()), |edit| edit.apply(block))
        });
        if let Err(fault) = edited {
            faults.push(format!("the block at line {} of the answer, {}: {fault}", block.line, block.path));
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(edits.into_values().filter(|edit| edit.before != edit.after).collect())
}

/// Writes the edits. After an error, all files are as before.
pub(crate) fn write(root: &Path, edits: &[Edit]) -> Result<(), String> {
    replace(root, edits, |edit| (&edit.before, &edit.after))
}

/// Takes the edits back, if no file changed since then.
pub(crate) fn undo(root: &Path, edits: &[Edit]) -> Result<(), String> {
    replace(root, edits, |edit| (&edit.after, &edit.before))
}

/// Replaces the first text of each edit with the second one.
fn replace(
    root: &Path,
    edits: &[Edit],
    texts: impl Fn(&Edit) -> (&Option<String>, &Option<String>),
) -> Result<(), String> {
    for edit in edits {
        let text = read(root, &edit.path).map_err(|fault| format!("{}: {fault}", edit.path))?;
        if text != *texts(edit).0 {
            return Err(format!("{} changed meanwhile", edit.path));
        }
    }
    for (at, edit) in edits.iter().enumerate() {
        if let Err(error) = put(root, &edit.path, texts(edit).1.as_deref()) {
            let begun = edits.iter().take(at + 1);
            let lost = begun.filter(|edit| put(root, &edit.path, texts(edit).0.as_deref()).is_err());
            let lost: Vec<String> = lost.map(|edit| format!("; {} is damaged", edit.path)).collect();
            return Err(format!("{}: {error}{}", edit.path, lost.concat()));
        }
    }
    Ok(())
}

fn put(root: &Path, path: &str, text: Option<&str>) -> io::Result<()> {
    let path = root.join(path);
    match text {
        Some(text) => {
            let folder = path.parent().unwrap_or(root);
            fs::create_dir_all(folder)?;
            let Ok(found) = fs::metadata(&path) else { return fs::write(path, text) };
            // A new file takes the name: the old one may have another name outside of the folder.
            let mut staged = NamedTempFile::new_in(folder)?;
            staged.write_all(text.as_bytes())?;
            fs::set_permissions(staged.path(), found.permissions())?;
            staged.persist(path)?;
            Ok(())
        }
        None => match fs::remove_file(path) {
            Err(error) if !matches!(error.kind(), NotFound | NotADirectory) => Err(error),
            _ => Ok(()),
        },
    }
}

/// The path in normal form, which is inside of the folder, and not among the files that git runs.
fn checked(path: &str) -> Result<String, String> {
    let key = Key::new(Kind::File, path).map_err(|error| error.to_string())?;
    if key.path().split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
        return Err("files of git are not edited".into());
    }
    Ok(key.path().to_owned())
}

/// The text of a file; `None` if there is no such file. No link is followed, as it may lead out of the folder.
fn read(root: &Path, path: &str) -> Result<Option<String>, String> {
    let mut place = root.to_owned();
    for part in path.split('/') {
        place.push(part);
        match fs::symlink_metadata(&place) {
            Err(error) if error.kind() == NotFound => return Ok(None),
            Err(error) => return Err(error.to_string()),
            Ok(found) if found.is_symlink() => return Err(format!("`{part}` is a link")),
            Ok(found) if !found.is_dir() && !found.is_file() => return Err("it is no regular file".into()),
            Ok(_) => {}
        }
    }
    fs::read_to_string(place).map(Some).map_err(|error| error.to_string())
}

impl Edit {
    fn open(root: &Path, path: &str, selected: &BTreeSet<String>) -> Result<Self, String> {
        let text = read(root, path)?;
        if text.is_some() && !selected.contains(path) {
            let path = shlex::try_quote(path).map_err(|error| error.to_string())?;
            return Err(format!("the file is there and not selected; `/add {path}` selects it"));
        }
        Ok(Self { path: path.to_owned(), before: text.clone(), after: text, lines: Vec::new() })
    }

    fn apply(&mut self, block: &Block) -> Result<(), String> {
        let is_blank = block.search.iter().all(|line| line.trim().is_empty());
        let next = match &self.after {
            Some(text) if is_blank && !text.trim().is_empty() => {
                return Err("the file is there, and SEARCH names none of its lines".into());
            }
            None | Some(_) if is_blank => joined(&block.replace, "\n"),
            None => return Err("there is no such file; an empty SEARCH makes a new one".into()),
            Some(text) => replaced(text, block)?,
        };
        self.after = Some(next);
        self.lines.extend(difference(&block.search, &block.replace));
        Ok(())
    }

    /// Whether the answer created the file.
    pub(crate) const fn is_new(&self) -> bool {
        self.before.is_none()
    }

    /// Prints the path and the lines that changed.
    pub(crate) fn show(&self, out: &mut impl Write) -> io::Result<()> {
        let word = if self.is_new() { "created" } else { "edited" };
        writeln!(out, "{word} {}", printable(&self.path))?;
        for (sign, line) in self.lines.iter().take(SHOWN) {
            writeln!(out, "{}", printable(format!("{sign} {line}")).trim_end())?;
        }
        match self.lines.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => writeln!(out, "… {more} more lines"),
        }
    }
}

/// The text after the edit: the lines of the block replace the lines that the block searches. The ends of the lines do
/// not change.
fn replaced(text: &str, block: &Block) -> Result<String, String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_same =
        |lines: &[&str]| lines.iter().map(|line| line.trim_end_matches(['\r', '\n'])).eq(&block.search);
    let windows = lines.windows(block.search.len().max(1)).enumerate();
    let found: Vec<usize> = windows.filter(|(_, lines)| is_same(lines)).map(|(at, _)| at).collect();
    let at = match &found[..] {
        [at] => *at,
        [] => return Err(missing(text, &block.search)),
        _ => {
            let lines: Vec<String> = found.iter().map(|at| (at + 1).to_string()).collect();
            return Err(format!("SEARCH is there {} times, at the lines {}", found.len(), lines.join(", ")));
        }
    };
    let (before, rest) = lines.split_at(at);
    let after = rest.get(block.search.len()..).unwrap_or_default();
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut new = joined(&block.replace, ending);
    if after.is_empty() && !text.ends_with('\n') {
        new.truncate(new.len().saturating_sub(ending.len()));
    }
    Ok(before.concat() + &new + &after.concat())
}

/// The reason why the lines are not in a text.
fn missing(text: &str, search: &[String]) -> String {
    match search.iter().find(|line| !text.lines().any(|known| known == **line)) {
        Some(line) => format!("the file has no line `{line}`, which SEARCH has"),
        None => "the lines of SEARCH are in the file, but not one after the other".into(),
    }
}

fn joined(lines: &[String], ending: &str) -> String {
    lines.iter().flat_map(|line| [line.as_str(), ending]).collect()
}

/// The lines that differ, without the lines that both texts begin or end with.
fn difference(search: &[String], replace: &[String]) -> Vec<(char, String)> {
    let start = search.iter().zip(replace).take_while(|(old, new)| old == new).count();
    let (old, new) = (search.get(start..).unwrap_or_default(), replace.get(start..).unwrap_or_default());
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let shown = |sign, lines: &[String]| -> Vec<(char, String)> {
        lines.iter().rev().skip(end).rev().map(|line| (sign, line.clone())).collect()
    };
    [shown('-', old), shown('+', new)].concat()
}
