//! The list of all files, one line for each folder.
//!
//! ```text
//! Cargo.toml, README.md
//! src/ lib.rs, main.rs
//! tests/pages/ 800 files
//! ```

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::paths::folder;
use crate::history::tokens::Counter;

/// Lists files. If the list has more tokens than the limit, the files of the longest lines are counted and not named. If
/// that is too long as well, the folders down to some depth are listed, with the number of files inside.
pub(super) fn tree<'p>(paths: impl Iterator<Item = &'p str>, limit: usize, counter: &dyn Counter) -> String {
    let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in paths {
        folders.entry(folder(path)).or_default().push(path);
    }
    let named: Vec<String> = folders.iter().map(|(folder, files)| line(folder, &names(files))).collect();
    let counted: Vec<String> =
        folders.iter().map(|(folder, files)| line(folder, &count(files.len()))).collect();
    let tokens = named
        .iter()
        .zip(&counted)
        .map(|(named, counted)| [named, counted].map(|line| counter.count(line).saturating_add(1)));
    let mut longest: Vec<(usize, [usize; 2])> = tokens.enumerate().collect();
    let mut sum = longest.iter().fold(0_usize, |sum, (_, [named, _])| sum.saturating_add(*named));
    longest.sort_by_key(|(at, [named, _])| (Reverse(*named), *at));
    let mut is_counted = vec![false; named.len()];
    for (at, [named, counted]) in longest {
        if sum <= limit {
            break;
        }
        sum = sum - named + counted.min(named);
        if let Some(is_counted) = is_counted.get_mut(at) {
            *is_counted = counted < named;
        }
    }
    if sum > limit {
        return to_some_depth(&folders, limit, counter);
    }
    let lines = named.into_iter().zip(counted).zip(is_counted);
    let lines = lines.map(|((named, counted), is_counted)| if is_counted { counted } else { named });
    lines.collect::<Vec<_>>().join("\n")
}

/// The folders down to the greatest depth that the limit permits.
fn to_some_depth(folders: &BTreeMap<&str, Vec<&str>>, limit: usize, counter: &dyn Counter) -> String {
    let deepest = folders.keys().map(|folder| folder.matches('/').count()).max().unwrap_or_default();
    let mut lists = (0..=deepest).rev().map(|depth| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (folder, files) in folders {
            let end = folder.match_indices('/').nth(depth).map_or(folder.len(), |(end, _)| end);
            *counts.entry(folder.get(..end).unwrap_or(folder)).or_default() += files.len();
        }
        counts.iter().map(|(folder, files)| line(folder, &count(*files))).collect::<Vec<_>>().join("\n")
    });
    let fitting = lists.find(|list| counter.count(list) <= limit);
    fitting.unwrap_or_else(|| count(folders.values().map(Vec::len).sum()))
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
