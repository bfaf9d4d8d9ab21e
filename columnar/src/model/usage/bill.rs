//! The receipts of a flow.

use std::fmt;
use std::sync::Arc;

use super::{Receipt, Total};
use crate::declare::Name;
use crate::declare::error::{nearest, unknown_column};

/// The receipts of all cells of a flow that called a model, by column and step. Made by
/// [`bill`](crate::flow::LiveFlow::bill).
///
/// A bill prints as a table with a line for each column.
#[derive(Clone, Debug)]
pub struct Bill {
    /// The receipts of each column, in order of declaration.
    pub(crate) columns: Vec<(Name, Cells)>,
    pub(crate) not_loaded: usize,
}

/// The receipts of a column, by step.
type Cells = Vec<(usize, Arc<Receipt>)>;

impl Bill {
    /// The number of computed cells that are stored and not in memory. The receipts of such cells are not in this
    /// bill; [`load`](crate::flow::LiveFlow::load) loads them. The number is 0 unless the flow was opened with
    /// [`OpenOptions::recent`](crate::reopen::OpenOptions::recent).
    pub fn not_loaded(&self) -> usize {
        self.not_loaded
    }

    /// The receipts, column by column, each with column and step.
    pub fn receipts(&self) -> impl Iterator<Item = (&Name, usize, &Receipt)> {
        let receipts =
            self.columns.iter().flat_map(|(name, cells)| cells.iter().map(move |cell| (name, cell)));
        receipts.map(|(name, (step, receipt))| (name, *step, &**receipt))
    }

    /// The sum of all receipts.
    pub fn total(&self) -> Total {
        self.receipts().map(|(.., receipt)| receipt).collect()
    }

    /// The sum of a column.
    ///
    /// # Panics
    ///
    /// If the flow has no such column.
    #[track_caller]
    #[expect(clippy::panic, reason = "a misspelt column is a bug of the program, and no sum to handle")]
    pub fn column(&self, column: impl AsRef<str>) -> Total {
        let column = column.as_ref();
        let Some((_, cells)) = self.columns.iter().find(|(name, _)| *name == column) else {
            let columns: Vec<&Name> = self.columns.iter().map(|(name, _)| name).collect();
            panic!("{}", unknown_column(column, nearest(column, &columns), &columns));
        };
        cells.iter().map(|(_, receipt)| &**receipt).collect()
    }

    /// The sum of a step.
    pub fn step(&self, step: usize) -> Total {
        self.receipts().filter(|(_, at, _)| *at == step).map(|(.., receipt)| receipt).collect()
    }
}

impl fmt::Display for Bill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let called: Vec<&(Name, Cells)> =
            self.columns.iter().filter(|(_, cells)| !cells.is_empty()).collect();
        let width = called.iter().map(|(name, _)| name.as_str().len()).max().unwrap_or(0).max("all".len());
        for (name, _) in called {
            writeln!(f, "{:width$}  {}", name.as_str(), self.column(name))?;
        }
        write!(f, "{:width$}  {}", "all", self.total())?;
        if self.not_loaded > 0 {
            write!(f, "\ncells that are not in memory, and not in this bill: {}", self.not_loaded)?;
        }
        Ok(())
    }
}
