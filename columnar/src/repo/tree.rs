//! The list of all files, one line for each folder.
//!
//! ```text
//! Cargo.toml, README.md
//! src/ lib.rs, main.rs
//! src/syntax/ mod.rs, 37 files below
//! ```

use std::collections::BTreeMap;

use super::paths::folder;
use crate::tokens::Counter;

/// A line of the list.
#[derive(Default)]
struct Line<'p> {
    names: Vec<&'p str>,
    /// The number of files in folders that have no line of their own.
    below: usize,
}

/// Lists files. If the list has more tokens than the limit, the files of the deepest folders are counted and not named.
pub(super) fn tree<'p>(paths: impl Iterator<Item = &'p str>, limit: usize, counter: &dyn Counter) -> String {
    let paths: Vec<&str> = paths.collect();
    let deepest = paths.iter().map(|path| path.matches('/').count()).max().unwrap_or_default();
    let mut lists = (0..=deepest).rev().map(|depth| list(&paths, depth));
    lists.find(|list| counter.count(list) <= limit).unwrap_or_else(|| format!("{} files", paths.len()))
}

/// The list with a line for each folder down to a depth.
fn list(paths: &[&str], depth: usize) -> String {
    let mut lines: BTreeMap<&str, Line<'_>> = BTreeMap::new();
    for path in paths {
        let folder = folder(path);
        let end = folder.match_indices('/').nth(depth.saturating_sub(1)).map_or(folder.len(), |(end, _)| end);
        let line = lines.entry(folder.get(..end).unwrap_or(folder)).or_default();
        if path.matches('/').count() <= depth {
            line.names.push(path.get(folder.len()..).unwrap_or(path).trim_start_matches('/'));
        } else {
            line.below += 1;
        }
    }
    let lines = lines.into_iter().map(|(folder, Line { names, below })| {
        let mut texts: Vec<String> = names.into_iter().map(ToOwned::to_owned).collect();
        match below {
            0 => {}
            1 => texts.push("1 file below".to_owned()),
            _ => texts.push(format!("{below} files below")),
        }
        let files = texts.join(", ");
        if folder.is_empty() { files } else { format!("{folder}/ {files}") }
    });
    lines.collect::<Vec<_>>().join("\n")
}
