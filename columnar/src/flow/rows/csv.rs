//! Rows as CSV.

use std::io::{self, Read, Seek, SeekFrom, Write};

use csv::{ErrorKind, Position, ReaderBuilder, StringRecord};
use serde_json::Value as Json;

use super::ingest::{RowFile, RowMembers};
use super::options::RowOptions;
use super::table::{EMPTY, InvalidRow, REASONS, RowsError, SKIPPED, STEP};
use super::text_file;
use crate::declare::Name;
use crate::flow::{LiveFlow, Row, RowChunks};
use crate::store::Store;

/// Writes a flow as CSV with a header, and returns the number of rows. The table is the same as with
/// [`write_json_lines`](super::write_json_lines).
///
/// CSV has no null: an empty field is no value. The last columns, `_skipped`, `_skip_reasons` and `_empty`, have the names of
/// the columns that are skipped, the reasons as JSON, and the names of the columns whose value is an empty text, with a space
/// between names.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::rows::write_csv;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let f = flow([column("topics", source("user").latest(), prompt("List the topics."))])?;
/// f.push_all("user", ["What a day!", "Yes, \"great\"", ""]).await?;
/// let mut table = Vec::new();
/// assert_eq!(write_csv(&f, &mut table).await?, 3);
/// let expected = "_step,user,topics,_skipped,_skip_reasons,_empty\n0,What a day!,,,,\n1,\"Yes, \"\"great\"\"\",,,,\n2,,,,,user\n";
/// assert_eq!(String::from_utf8(table)?, expected);
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// The errors of [`write_json_lines`](super::write_json_lines).
pub async fn write_csv<C, I>(flow: &LiveFlow<'_, C, I>, out: impl Write) -> Result<usize, RowsError> {
    RowOptions::new().write_csv(flow, out).await
}

/// Stores rows of CSV, and returns the number of rows, by the rules of [`read_json_lines`](super::read_json_lines). The
/// first line has the names of the columns. Fields are separated by commas, and quoted as RFC 4180 says. An empty field,
/// quoted or not, is no value, unless the column `_empty` of the row names its column.
///
/// ```
/// use std::io::Cursor;
///
/// use columnar::prelude::*;
/// use columnar::rows::read_csv;
/// use columnar::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// let rows = "review,stars\r\n\"Too slow,\r\nalas.\",2\r\n,5\r\n";
/// let error = read_csv(&store, Cursor::new(rows)).await.expect_err("a review is empty");
/// assert_eq!(error.to_string(), "row 2: `review` has no value, and a source needs one in each row");
/// assert_eq!(read_csv(&store, Cursor::new(rows.replace("\n,5", "\nGood.,5"))).await?, 2);
///
/// let f = Flow::open(store, [source("review"), source("stars")]).await?;
/// assert_eq!(f.get("review", 0).as_deref(), Some("Too slow,\r\nalas."));
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// The errors of [`read_json_lines`](super::read_json_lines), and [`RowsError::Row`] for a row that has more or fewer
/// fields than the header, or is not UTF-8.
pub async fn read_csv(store: &impl Store, rows: impl Read + Seek) -> Result<usize, RowsError> {
    RowOptions::new().read_csv(store, rows).await
}

impl RowOptions {
    /// Writes a flow with these settings; see [`write_csv`].
    ///
    /// # Errors
    ///
    /// The errors of [`write_csv`], and [`RowsError::Flow`] if a renamed column is unknown.
    pub async fn write_csv<C, I>(
        &self,
        flow: &LiveFlow<'_, C, I>,
        out: impl Write,
    ) -> Result<usize, RowsError> {
        let rows = RowChunks::new(flow, ..);
        let mut out = csv::Writer::from_writer(out);
        let names = self.names_in_file(&rows.columns)?;
        let header =
            [STEP].into_iter().chain(names.iter().map(String::as_str)).chain([SKIPPED, REASONS, EMPTY]);
        out.write_record(header).map_err(failed)?;
        let count = text_file::each_row(rows, |row| {
            let values = (0..names.len()).map(|column| row.at(column).map_or("", |value| value.as_str()));
            let empty = row.values().filter(|(_, value)| value.is_empty());
            let step = row.step().to_string();
            let skipped = list(row.skipped());
            let empty = list(empty.map(|(name, _)| name));
            let reasons = reasons(row);
            let last = [skipped.as_str(), &reasons, &empty];
            out.write_record([step.as_str()].into_iter().chain(values).chain(last)).map_err(failed)
        });
        let count = count.await?;
        out.flush()?;
        Ok(count)
    }

    /// Stores rows with these settings; see [`read_csv`].
    ///
    /// # Errors
    ///
    /// The errors of [`read_csv`].
    pub async fn read_csv(&self, store: &impl Store, mut rows: impl Read + Seek) -> Result<usize, RowsError> {
        let start = text_file::begin(&mut rows)?;
        let csv = ReaderBuilder::new().has_headers(false).from_reader(rows);
        let mut file =
            CsvFile { csv, start, options: self, columns: Vec::new(), record: StringRecord::new() };
        file.rewind()?;
        self.import(store, file).await
    }
}

/// Names with a space between.
fn list<'n>(names: impl Iterator<Item = &'n Name>) -> String {
    names.map(Name::as_str).collect::<Vec<_>>().join(" ")
}

/// The reasons for the skipped columns of a row, as JSON; empty without reasons.
fn reasons(row: &Row) -> String {
    let reasons: Vec<_> = row.skipped().map(|name| row.skip_reason(name)).collect();
    let known = reasons.iter().any(Option::is_some).then(|| serde_json::to_string(&reasons).ok());
    known.flatten().unwrap_or_default()
}

/// A file of CSV.
struct CsvFile<'o, R> {
    csv: csv::Reader<R>,
    /// The position of the header.
    start: u64,
    options: &'o RowOptions,
    /// The columns of the fields; `None` for one that is left out.
    columns: Vec<Option<String>>,
    record: StringRecord,
}

impl<R: Read + Seek> RowFile for CsvFile<'_, R> {
    fn next_row(&mut self) -> Result<Option<Result<RowMembers, InvalidRow>>, RowsError> {
        match self.csv.read_record(&mut self.record) {
            Ok(true) => Ok(Some(Ok(self.members()))),
            Ok(false) => Ok(None),
            // An error of the crate has positions alone.
            Err(error) => match error.kind() {
                ErrorKind::Utf8 { .. } => Ok(Some(Err(InvalidRow::NotUtf8))),
                ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    Ok(Some(Err(InvalidRow::Fields { expected: *expected_len, found: *len })))
                }
                _ => Err(failed(error)),
            },
        }
    }

    fn rewind(&mut self) -> Result<(), RowsError> {
        self.csv.seek_raw(SeekFrom::Start(self.start), Position::new()).map_err(failed)?;
        self.csv.read_record(&mut self.record).map_err(failed)?;
        self.columns = self.record.iter().map(|name| Some(self.options.column(name)?.to_owned())).collect();
        Ok(())
    }
}

impl<R> CsvFile<'_, R> {
    fn members(&self) -> RowMembers {
        let mut empty = self.fields().filter(|(column, _)| *column == EMPTY);
        let empty: Vec<_> = empty.next().map_or("", |(_, columns)| columns).split_whitespace().collect();
        let members = self.fields().filter(|(column, _)| *column != EMPTY).map(|(column, field)| {
            let value = match column {
                STEP => field.parse::<u64>().map_or(Json::Null, Json::from),
                SKIPPED => field.split_whitespace().collect(),
                REASONS if field.is_empty() => Json::Null,
                REASONS => serde_json::from_str(field).unwrap_or(Json::Bool(false)),
                _ if !field.is_empty() || empty.contains(&column) => field.into(),
                _ => Json::Null,
            };
            (column.to_owned(), value)
        });
        members.collect()
    }

    /// The fields of the row with their columns.
    fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        let fields = self.columns.iter().zip(&self.record);
        fields.filter_map(|(column, field)| Some((column.as_deref()?, field)))
    }
}

fn failed(error: csv::Error) -> RowsError {
    RowsError::Io(match error.into_kind() {
        ErrorKind::Io(error) => error,
        // The rows are checked by `next_row`.
        _ => io::Error::new(io::ErrorKind::InvalidData, "the header is not UTF-8"),
    })
}
