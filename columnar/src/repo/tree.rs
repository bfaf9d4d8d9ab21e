//! The list of all files, one line for each folder.
//!
//! ```text
//! Cargo.toml, README.md
//! src/ lib.rs, main.rs
//! tests/pages/ 800 files
//! Not named: 800 of 804 files
//! ```

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::paths::folder;
use crate::history::tokens::Counter;

/// The files of a folder, by name or as a number, with the tokens of both.
struct FolderLine {
    files: usize,
    named: String,
    counted: String,
    tokens: [usize; 2],
    is_counted: bool,
}

/// Lists files. If the list has more tokens than the limit, the files of the longest lines are counted and not named. If
/// that is too long as well, the folders down to some depth are listed, with the number of files inside. The last line of
/// such a list says how many files have no name there.
pub(super) fn tree<'p>(paths: impl Iterator<Item = &'p str>, limit: usize, counter: &dyn Counter) -> String {
    let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in paths {
        folders.entry(folder(path)).or_default().push(path);
    }
    if limit == 0 || folders.is_empty() {
        return String::new();
    }
    let lines = folders.iter().map(|(folder, files)| FolderLine::new(folder, files, counter));
    let mut lines: Vec<FolderLine> = lines.collect();
    let mut sum = lines.iter().fold(0_usize, |sum, line| sum.saturating_add(line.tokens[0]));
    if sum <= limit {
        return lines.into_iter().map(|line| line.named).collect::<Vec<_>>().join("\n");
    }
    let all = folders.values().map(Vec::len).sum();
    let room = limit.saturating_sub(counter.count(&unnamed(all, all)).saturating_add(1));
    let mut longest: Vec<&mut FolderLine> = lines.iter_mut().collect();
    longest.sort_by_key(|line| Reverse(line.tokens[0]));
    for line in longest {
        if sum <= room {
            break;
        }
        let [named, counted] = line.tokens;
        sum = sum - named + counted.min(named);
        line.is_counted = counted < named;
    }
    if sum > room {
        let list = to_some_depth(&folders, room, counter);
        return list.into_iter().chain([unnamed(all, all)]).collect::<Vec<_>>().join("\n");
    }
    let without_names = lines.iter().filter(|line| line.is_counted).map(|line| line.files).sum();
    let lines = lines.into_iter().map(|line| if line.is_counted { line.counted } else { line.named });
    lines.chain([unnamed(without_names, all)]).collect::<Vec<_>>().join("\n")
}

impl FolderLine {
    fn new(folder: &str, files: &[&str], counter: &dyn Counter) -> Self {
        let named = line(folder, &names(files));
        let counted = line(folder, &count(files.len()));
        let tokens = [&named, &counted].map(|line| counter.count(line).saturating_add(1));
        Self { files: files.len(), named, counted, tokens, is_counted: false }
    }
}

/// The folders down to the greatest depth that the limit permits; `None` if it permits none.
fn to_some_depth(folders: &BTreeMap<&str, Vec<&str>>, limit: usize, counter: &dyn Counter) -> Option<String> {
    let deepest = folders.keys().map(|folder| folder.matches('/').count()).max().unwrap_or_default();
    let mut lists = (0..=deepest).rev().map(|depth| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (folder, files) in folders {
            let end = folder.match_indices('/').nth(depth).map_or(folder.len(), |(end, _)| end);
            *counts.entry(folder.get(..end).unwrap_or(folder)).or_default() += files.len();
        }
        counts.iter().map(|(folder, files)| line(folder, &count(*files))).collect::<Vec<_>>().join("\n")
    });
    lists.find(|list| counter.count(list) <= limit)
}

/// The last line of a list that was cut.
fn unnamed(files: usize, all: usize) -> String {
    format!("Not named: {files} of {}", count(all))
}

fn line(folder: &str, files: &str) -> String {
    if folder.is_empty() { files.to_owned() } else { format!("{folder}/ {files}") }
}

fn names(paths: &[&str]) -> String {
    let names = paths.iter().map(|path| path.rsplit_once('/').map_or(*path, |(_, name)| name));
    names.collect::<Vec<_>>().join(", ")
}

fn count(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}
