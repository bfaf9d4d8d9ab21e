//! The stores in a folder, and the files of columns that the log does not have. Files that are not named after a number
//! are ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::disk::{Disk, FileKind};
use super::format::is_store;
use super::known::ADOPT;
use super::layout::{FolderLocation, IoContext, StoreFolder, corrupt, damaged, none_if_missing};
use super::log::{self, Cells, Log, LoggedEntry};
use crate::declare::Name;
use crate::store::StoreError;

/// The stores in the folders of a folder.
pub(super) fn flows<D: Disk>(location: &FolderLocation<D>) -> Result<Vec<PathBuf>, StoreError> {
    let FolderLocation { disk, path } = location;
    let Some(names) = none_if_missing(disk.list(path)).context("listing", path)? else {
        return Ok(Vec::new());
    };
    let folders =
        names.into_iter().filter(|(_, kind)| *kind == FileKind::Folder).map(|(name, _)| path.join(name));
    let mut flows = Vec::new();
    for folder in folders {
        match is_store(&StoreFolder::new(disk.clone(), folder.clone())) {
            // A damaged store is listed as well: opening reports the defect.
            Ok(true) | Err(StoreError::Damaged { .. }) => flows.push(folder),
            Ok(false) => {}
            // The folder belongs to another user, like `lost+found`.
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        }
    }
    flows.sort_unstable();
    Ok(flows)
}

/// The names in the folders of columns.
pub(super) type Files = BTreeMap<Name, Vec<(String, FileKind)>>;

pub(super) fn list<D: Disk>(folder: &StoreFolder<D>) -> Result<Files, StoreError> {
    let mut files = Files::new();
    for (name, kind) in folder.list(&folder.root)? {
        if let (Ok(column), FileKind::Folder) = (Name::new(&name), kind) {
            let listed = folder.list(&folder.column(&column))?;
            files.insert(column, listed);
        }
    }
    Ok(files)
}

/// The files without a line that are adopted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Adoption {
    /// No file: the log is torn, and the lost lines may have had these values.
    None,
    /// The files that continue a column.
    Next,
    /// All files: no flow has stored anything, so the files may belong to a store whose log was moved away. Skipped
    /// cells have no files. The flow that is opened next finds out whether a source lacks a step.
    All,
}

impl Adoption {
    pub(super) fn of(log: &Log, is_defined: bool) -> Self {
        if log.torn {
            Self::None
        } else if log.cells.is_empty() && log.unconfirmed.is_empty() && !is_defined {
            Self::All
        } else {
            Self::Next
        }
    }
}

/// Values that are not in the log.
#[derive(Default)]
pub(super) struct Unlogged {
    /// The values that are adopted.
    pub(super) adopted: Vec<(Name, usize)>,
    /// Other files that look like values, each with a remedy.
    pub(super) wrong: Vec<StoreError>,
}

impl Unlogged {
    pub(super) fn find<D: Disk>(
        folder: &StoreFolder<D>,
        files: Files,
        cells: &Cells,
        adoption: Adoption,
    ) -> Self {
        let mut unlogged = Self::default();
        let nothing = BTreeMap::new();
        for (column, files) in files {
            let logged = cells.get(&column).unwrap_or(&nothing);
            let mut steps = unlogged.unknown(&folder.column(&column), files, logged);
            if steps.is_empty() {
                continue;
            }
            let reason = match adoption {
                Adoption::None => {
                    "was not put there by a flow, and the log ends in the middle of a line; move it away until the store was opened".into()
                }
                Adoption::Next => {
                    let mut next = 0;
                    // Adopts up to the first step that has neither a line nor a file.
                    while logged.contains_key(&next) || steps.contains(&next) {
                        unlogged.adopted.extend(steps.take(&next).map(|step| (column.clone(), step)));
                        next += 1;
                    }
                    format!(
                        "is not in the log, and the next step is {next}; if it was added by hand, rename it or move it away; if a flow stored it, {ADOPT}"
                    )
                }
                Adoption::All => {
                    unlogged.adopted.extend(steps.into_iter().map(|step| (column.clone(), step)));
                    continue;
                }
            };
            for step in steps {
                unlogged.wrong.push(corrupt(&column, step, &folder.value(&column, step), &reason));
            }
        }
        unlogged
    }

    /// The steps of a column that have a file and no line.
    fn unknown(
        &mut self,
        folder: &Path,
        files: Vec<(String, FileKind)>,
        logged: &BTreeMap<usize, LoggedEntry>,
    ) -> BTreeSet<usize> {
        let mut steps = BTreeSet::new();
        for (file, kind) in files {
            let Some(digits) = digits(&file) else { continue };
            let reason = match log::number(digits).map(|step| (step, logged.get(&step))) {
                // Loading compares the file of a logged value with its line.
                Some((_, Some(LoggedEntry { value: Some(_), .. }))) => continue,
                Some((step, None)) if kind == FileKind::File => {
                    steps.insert(step);
                    continue;
                }
                Some((_, None)) => "it is not a file; move it away",
                Some((_, Some(LoggedEntry { value: None, .. }))) => {
                    "the cell is empty for good; move it away"
                }
                // People read `01.txt` as a value, so the file must not be ignored.
                None => "no step is called that; rename it, or move it away",
            };
            self.wrong.push(damaged(&folder.join(file), reason));
        }
        steps
    }
}

/// The digits of a file that is named after a number.
pub(super) fn digits(file: &str) -> Option<&str> {
    let digits = file.strip_suffix(".txt")?;
    (!digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())).then_some(digits)
}
