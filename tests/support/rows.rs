//! The formats of rows behind one interface.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use columnar::flow::LiveFlow;
use columnar::rows::{RowOptions, RowsError};
use columnar::store::Store;
use tempfile::TempDir;

/// A format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON Lines.
    JsonLines,
    /// CSV, with the feature `csv` of the tests.
    #[cfg(feature = "csv")]
    Csv,
    /// Parquet, with the feature `parquet` of the tests.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Format {
    /// All formats.
    pub const ALL: &[Self] = &[
        Self::JsonLines,
        #[cfg(feature = "csv")]
        Self::Csv,
        #[cfg(feature = "parquet")]
        Self::Parquet,
    ];

    /// The extension of files in this format.
    pub fn ending(self) -> &'static str {
        match self {
            Self::JsonLines => "jsonl",
            #[cfg(feature = "csv")]
            Self::Csv => "csv",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }

    /// Writes a flow.
    ///
    /// # Errors
    ///
    /// The errors of the format.
    pub async fn write<C, I>(self, flow: &LiveFlow<'_, C, I>) -> Result<Table, RowsError> {
        self.write_with(&RowOptions::new(), flow).await
    }

    /// Writes a flow with settings.
    ///
    /// # Errors
    ///
    /// The errors of the format.
    pub async fn write_with<C, I>(
        self,
        options: &RowOptions,
        flow: &LiveFlow<'_, C, I>,
    ) -> Result<Table, RowsError> {
        let (folder, mut bytes) = (tempfile::tempdir()?, Vec::new());
        let rows = match self {
            Self::JsonLines => options.write_json_lines(flow, &mut bytes).await?,
            #[cfg(feature = "csv")]
            Self::Csv => options.write_csv(flow, &mut bytes).await?,
            #[cfg(feature = "parquet")]
            Self::Parquet => options.write_parquet(flow, &mut bytes).await?,
        };
        let path = folder.path().join("rows").with_extension(self.ending());
        std::fs::write(&path, &bytes)?;
        Ok(Table { format: self, path, bytes, rows, _folder: folder })
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The errors of the format.
    pub async fn read(self, store: &impl Store, path: &Path) -> Result<usize, RowsError> {
        self.read_with(&RowOptions::new(), store, path).await
    }

    /// Reads a file with settings.
    ///
    /// # Errors
    ///
    /// The errors of the format.
    pub async fn read_with(
        self,
        options: &RowOptions,
        store: &impl Store,
        path: &Path,
    ) -> Result<usize, RowsError> {
        let file = File::open(path)?;
        match self {
            Self::JsonLines => options.read_json_lines(store, BufReader::new(file)).await,
            #[cfg(feature = "csv")]
            Self::Csv => options.read_csv(store, file).await,
            #[cfg(feature = "parquet")]
            Self::Parquet => options.read_parquet(store, file).await,
        }
    }
}

/// The rows of a flow in a file, which is removed when this value is dropped.
#[derive(Debug)]
pub struct Table {
    /// The format.
    pub format: Format,
    /// The path.
    pub path: PathBuf,
    /// The contents.
    pub bytes: Vec<u8>,
    /// The number of rows that the writer returned.
    pub rows: usize,
    _folder: TempDir,
}

impl Table {
    /// Reads the file, and asserts that it has this number of rows.
    ///
    /// # Errors
    ///
    /// The errors of the format.
    ///
    /// # Panics
    ///
    /// If the number differs.
    pub async fn read(&self, store: &impl Store) -> Result<(), RowsError> {
        assert_eq!(self.format.read(store, &self.path).await?, self.rows);
        Ok(())
    }
}
