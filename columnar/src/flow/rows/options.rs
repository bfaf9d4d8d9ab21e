//! The settings of reading and writing rows.

use std::collections::BTreeSet;
use std::io;

use super::table::{ATTACHMENTS, EMPTY, EXACT, REASONS, RowsError, SKIPPED, STEP};
use crate::declare::Name;
use crate::run::Error;

/// Settings of reading and writing rows: the names that columns have in the file, and the sources.
///
/// The methods for the formats do the same as the functions of the same names.
///
/// ```
/// use std::io::Cursor;
///
/// use columnar::prelude::*;
/// use columnar::rows::RowOptions;
/// use columnar::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let options = RowOptions::new().rename("Review", "review").source("review");
/// let rows = "{\"Review\":\"Too slow.\",\"topics\":\"speed\"}\n{\"Review\":\"Very good indeed.\",\"topics\":null}\n";
/// let store = MemoryStore::new();
/// options.read_json_lines(&store, Cursor::new(rows)).await?;
///
/// let topics = column("topics", source("review").latest(), prompt("List the topics."));
/// let f = Flow::open(store, [topics]).await?;
/// assert_eq!((f.get("review", 1).as_deref(), f.forecast().cells), (Some("Very good indeed."), 1));
///
/// let mut table = Vec::new();
/// options.write_json_lines(&f, &mut table).await?;
/// assert!(String::from_utf8(table)?.starts_with("{\"_step\":0,\"Review\":\"Too slow.\",\"topics\":\"speed\"}\n"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct RowOptions {
    renamed: Vec<RenamedColumn>,
    sources: BTreeSet<String>,
    left_out: BTreeSet<String>,
}

#[derive(Clone, Debug)]
struct RenamedColumn {
    in_file: String,
    column: String,
}

impl RowOptions {
    /// The settings of the functions: each column has its own name in the file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name, any text, that a column has in the file. Lists of columns in the file, such as `_skipped`, have the
    /// name of the column itself.
    #[must_use]
    pub fn rename(mut self, in_file: impl Into<String>, column: impl Into<String>) -> Self {
        self.renamed.push(RenamedColumn { in_file: in_file.into(), column: column.into() });
        self
    }

    /// Names a source, which needs a value in each row that is read. The columns that are neither named nor sources of the
    /// flow in the store are computed ones then, and may have nulls.
    #[must_use]
    pub fn source(mut self, column: impl Into<String>) -> Self {
        self.sources.insert(column.into());
        self
    }

    /// Leaves out a column of the file when rows are read, such as a number of another program.
    ///
    /// ```
    /// use std::io::Cursor;
    ///
    /// use columnar::rows::RowOptions;
    /// use columnar::store::MemoryStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (store, rows) = (MemoryStore::new(), "{\"ID\":7,\"review\":\"Too slow.\"}\n");
    /// let options = RowOptions::new().source("review");
    /// let error = options.read_json_lines(&store, Cursor::new(rows)).await.expect_err("`ID` is no name");
    /// assert!(error.to_string().starts_with("row 1: `ID` cannot be a name"));
    /// assert_eq!(options.leave_out("ID").read_json_lines(&store, Cursor::new(rows)).await?, 1);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn leave_out(mut self, in_file: impl Into<String>) -> Self {
        self.left_out.insert(in_file.into());
        self
    }

    /// The name of the column with this name in the file; `None` for a column that is left out.
    pub(super) fn column<'n>(&'n self, in_file: &'n str) -> Option<&'n str> {
        let renamed = self.renamed.iter().find(|renamed| renamed.in_file == in_file);
        let column = renamed.map_or(in_file, |renamed| renamed.column.as_str());
        (!self.left_out.contains(in_file)).then_some(column)
    }

    /// The columns that a file must have.
    pub(super) fn expected(&self) -> impl Iterator<Item = &String> {
        self.sources.iter().chain(self.renamed.iter().map(|renamed| &renamed.column))
    }

    /// Whether a column is a source, if sources are named.
    pub(super) fn is_source(&self, column: &Name) -> Option<bool> {
        (!self.sources.is_empty()).then(|| self.sources.contains(column.as_str()))
    }

    /// The names of columns in the file.
    ///
    /// # Errors
    ///
    /// If a renamed column is unknown, or two columns would have the same name.
    pub(super) fn names_in_file(&self, columns: &[Name]) -> Result<Vec<String>, RowsError> {
        if let Some(unknown) =
            self.renamed.iter().find(|renamed| columns.iter().all(|name| *name != *renamed.column))
        {
            return Err(Error::unknown_column(&unknown.column, columns.to_vec()).into());
        }
        let mut names = Vec::new();
        let mut taken = BTreeSet::from([STEP, SKIPPED, REASONS, ATTACHMENTS, EMPTY, EXACT]);
        for column in columns {
            let renamed = self.renamed.iter().find(|renamed| renamed.column == column.as_str());
            let name = renamed.map_or(column.as_str(), |renamed| renamed.in_file.as_str());
            if !taken.insert(name) {
                let reason = format!("`{column}` would have a name that another column has in the file");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, reason).into());
            }
            names.push(name.to_owned());
        }
        Ok(names)
    }
}
