//! The least number of cells that the log is known to have, and whether the flow was ever defined. A log that is cut
//! at the end of a line is a valid log of an earlier time, and a flow whose definition is missing looks like a new
//! flow.
//!
//! ```text
//! cells 6 defined 8e1f0a2b3c4d5e6f
//! ```
//!
//! The file is written when the store is opened, closed, or defined for the first time. Nothing waits until the file
//! is durable: a loss of power may leave an earlier file, or a part of the file, which says nothing. The file never
//! says too much, since everything that it says is durable before.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use super::disk::Disk;
use super::layout::{StoreFolder, damaged};
use super::log::{self, Cells};
use crate::store::StoreError;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KnownSteps {
    pub(super) cells: usize,
    pub(super) is_defined: bool,
}

impl KnownSteps {
    pub(super) fn read<D: Disk>(folder: &StoreFolder<D>) -> Result<Self, StoreError> {
        // The file has two words, a number and a checksum.
        let bytes = folder.read(&folder.known, 64)?;
        // A file that a loss of power has torn says nothing, as if it were missing.
        Ok(bytes.as_deref().and_then(log::verified).and_then(Self::parse).unwrap_or_default())
    }

    fn parse(words: &str) -> Option<Self> {
        let number = words.strip_prefix("cells ")?;
        let (number, is_defined) = match number.strip_suffix(" defined") {
            Some(number) => (number, true),
            None => (number, false),
        };
        Some(Self { cells: log::number(number)?, is_defined })
    }

    pub(super) fn text(self) -> String {
        log::line(format!("cells {}{}", self.cells, if self.is_defined { " defined" } else { "" }))
    }

    /// Fails if cells are missing.
    pub(super) fn check_cells<D>(self, folder: &StoreFolder<D>, cells: usize) -> Result<(), StoreError> {
        if cells >= self.cells {
            return Ok(());
        }
        let reason = format!(
            "it lists {cells} cells, and it had {}: its end is missing; restore it, or {ADOPT}",
            self.cells
        );
        Err(damaged(&folder.cells, reason))
    }

    /// Fails if there are cells, but no definition although the flow was defined.
    pub(super) fn check_definition<D>(
        self,
        folder: &StoreFolder<D>,
        is_defined: bool,
        cells: usize,
    ) -> Result<(), StoreError> {
        if self.is_defined && !is_defined && cells > 0 {
            return Err(damaged(&folder.definition, format!("it is missing; restore it, or {ADOPT}")));
        }
        Ok(())
    }

    /// Replaces the file by way of a staged one.
    pub(super) fn write<D: Disk>(self, folder: &StoreFolder<D>, staged: &Path) -> io::Result<()> {
        // Not synced, since nothing waits for this file.
        folder.disk.create(staged)?.write_all(self.text().as_bytes())?;
        folder.disk.rename(staged, &folder.known)
    }
}

/// The remedy for a log or a definition that cannot be restored.
pub(super) const ADOPT: &str =
    "move the folder `.columnar` away to adopt the texts as they are, without receipts and skipped cells";

/// The number of all cells.
pub(super) fn count(cells: &Cells) -> usize {
    cells.values().map(BTreeMap::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_read_as_it_was_written_and_nothing_else() {
        for known in [
            KnownSteps::default(),
            KnownSteps { cells: 7, is_defined: true },
            KnownSteps { cells: usize::MAX, is_defined: true },
        ] {
            let text = known.text();
            assert!(text.len() <= 64, "{text}");
            let parsed = |text: &[u8]| log::verified(text).and_then(KnownSteps::parse);
            assert_eq!(parsed(text.as_bytes()), Some(known));
            for len in 0..text.len() {
                let mut torn = text.as_bytes()[..len].to_vec();
                assert_eq!(parsed(&torn), None);
                torn.resize(text.len(), 0);
                assert_eq!(parsed(&torn), None);
            }
        }
        for words in ["cells", "cells -1", "cells 01", "cells 1 undefined", "done 1", "cells  defined"] {
            assert_eq!(KnownSteps::parse(words), None, "{words}");
        }
    }
}
