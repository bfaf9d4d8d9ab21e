//! Rows as JSON Lines.

use std::fmt;
use std::io::{self, BufRead, Seek, SeekFrom, Write};

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value as Json};

use super::ingest::{RowFile, RowMembers};
use super::options::RowOptions;
use super::table::{ATTACHMENTS, InvalidRow, REASONS, RowsError, SKIPPED, STEP};
use super::text_file;
use crate::declare::Name;
use crate::flow::{LiveFlow, Row, RowChunks};
use crate::store::Store;

/// Writes a flow as JSON Lines, `{"_step":0,"user":"...","topics":"..."}`, and returns the number of rows. Each step
/// with a stored value has a line, with the columns in the order of the flow.
///
/// `_attachments` names the attachments of a row by column, such as
/// `{"user":[{"sha256":"…","type":"image/png","bytes":1034}]}`. The bytes stay in the store, and reading rows keeps the
/// texts alone.
///
/// Values that are [not in memory](LiveFlow::load) are read from the store when needed, and not kept. During a run, a
/// row has the values that are stored at the time of writing.
///
/// ```
/// use std::io::Cursor;
///
/// use columnar::prelude::*;
/// use columnar::rows::{read_json_lines, write_json_lines};
/// use columnar::store::MemoryStore;
///
/// flow! {
///     struct Chat {
///         source user;
///         column size(user.latest) = |cx: Context| async move { cx.messages().last_text().len().to_string() };
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let chat = Chat::new();
/// chat.user.push("hello").await?;
/// chat.run().await?;
/// chat.user.push("and again").await?;
///
/// let mut lines = Vec::new();
/// assert_eq!(write_json_lines(&chat, &mut lines).await?, 2);
/// let expected = "{\"_step\":0,\"user\":\"hello\",\"size\":\"20\"}\n{\"_step\":1,\"user\":\"and again\",\"size\":null}\n";
/// assert_eq!(std::str::from_utf8(&lines)?, expected);
///
/// let store = MemoryStore::new();
/// read_json_lines(&store, Cursor::new(lines)).await?;
/// let chat = Chat::open(store).await?;
/// assert_eq!((chat.steps(), chat.forecast().cells), (1, 1));
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// [`RowsError::Io`] if `out` fails; [`RowsError::Flow`] if the store cannot be read.
pub async fn write_json_lines<C, I>(flow: &LiveFlow<'_, C, I>, out: impl Write) -> Result<usize, RowsError> {
    RowOptions::new().write_json_lines(flow, out).await
}

/// Stores rows of JSON Lines, and returns the number of rows. Each member of an object is a column. The value of a
/// member is a text, or null for none. Without `_step` the first row is step 0, and each further row the next step.
///
/// The function opens the store; a flow can be opened on the store afterwards. The file is read twice: all rows are checked
/// before the first one is stored, and a source needs a value in each row. A stored cell never changes: a row with
/// another value for the cell is an error. Reading the same rows again changes nothing. A mark of UTF-8 (BOM) at the
/// beginning is passed over.
///
/// ```
/// use std::io::Cursor;
///
/// use columnar::prelude::*;
/// use columnar::rows::read_json_lines;
/// use columnar::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// let rows = "{\"user\":\"hello\"}\n{\"user\":\"and again\"}\n";
/// assert_eq!(read_json_lines(&store, Cursor::new(rows)).await?, 2);
/// let error = read_json_lines(&store, Cursor::new("{\"user\":7}")).await.expect_err("a number");
/// assert_eq!(error.to_string(), "row 1: `user` must be a text; convert it to one");
///
/// let topics = column("topics", source("user").latest(), prompt("List the topics."));
/// let f = Flow::open(store, [topics]).await?;
/// assert_eq!((f.get("user", 1).as_deref(), f.forecast().cells), (Some("and again"), 2));
/// # Ok(()) }
/// ```
///
/// pandas converts such texts to numbers and dates, unless the caller passes `dtype=False, convert_dates=False`.
///
/// # Errors
///
/// - [`RowsError::Row`] for the first row that is not an object, has a value that is not a text, or has a member that
///   cannot be the name of a column, and else for the first one without a value of a source. Nothing is stored then.
/// - [`RowsError::Store`] if the store fails, or has another value: earlier rows may be stored.
/// - [`RowsError::Io`] if the reader fails, or the text is UTF-16.
pub async fn read_json_lines(store: &impl Store, rows: impl BufRead + Seek) -> Result<usize, RowsError> {
    RowOptions::new().read_json_lines(store, rows).await
}

impl RowOptions {
    /// Writes a flow with these settings; see [`write_json_lines`].
    ///
    /// # Errors
    ///
    /// The errors of [`write_json_lines`], and [`RowsError::Flow`] if a renamed column is unknown.
    pub async fn write_json_lines<C, I>(
        &self,
        flow: &LiveFlow<'_, C, I>,
        mut out: impl Write,
    ) -> Result<usize, RowsError> {
        let rows = RowChunks::new(flow, ..);
        let names = self.names_in_file(&rows.columns)?;
        // One buffer for all rows, and one write per row, because `out` may have no buffer.
        let mut line = Vec::new();
        let count = text_file::each_row(rows, |row| {
            line.clear();
            write_row(row, &names, &mut line)?;
            Ok(out.write_all(&line)?)
        });
        let count = count.await?;
        out.flush()?;
        Ok(count)
    }

    /// Stores rows with these settings; see [`read_json_lines`].
    ///
    /// # Errors
    ///
    /// The errors of [`read_json_lines`].
    pub async fn read_json_lines(
        &self,
        store: &impl Store,
        mut rows: impl BufRead + Seek,
    ) -> Result<usize, RowsError> {
        let start = text_file::begin(&mut rows)?;
        self.import(store, LinesFile { lines: rows, start, options: self, line: Vec::new() }).await
    }
}

fn write_row(row: &Row, names: &[String], out: &mut Vec<u8>) -> io::Result<()> {
    write!(out, "{{\"{STEP}\":{}", row.step())?;
    for (column, name) in names.iter().enumerate() {
        out.push(b',');
        serde_json::to_writer(&mut *out, name)?;
        out.push(b':');
        serde_json::to_writer(&mut *out, &row.at(column))?;
    }
    let skipped: Vec<&str> = row.skipped().map(Name::as_str).collect();
    if !skipped.is_empty() {
        write!(out, ",\"{SKIPPED}\":")?;
        serde_json::to_writer(&mut *out, &skipped)?;
    }
    let reasons: Vec<_> = row.skipped().map(|name| row.skip_reason(name)).collect();
    if reasons.iter().any(Option::is_some) {
        write!(out, ",\"{REASONS}\":")?;
        serde_json::to_writer(&mut *out, &reasons)?;
    }
    let attachments: Map<String, Json> = names
        .iter()
        .enumerate()
        .filter_map(|(at, name)| Some((name.clone(), row.attachments(at)?)))
        .collect();
    if !attachments.is_empty() {
        write!(out, ",\"{ATTACHMENTS}\":")?;
        serde_json::to_writer(&mut *out, &attachments)?;
    }
    out.extend_from_slice(b"}\n");
    Ok(())
}

/// A file of JSON Lines.
struct LinesFile<'o, R> {
    lines: R,
    /// The position of the first line.
    start: u64,
    options: &'o RowOptions,
    line: Vec<u8>,
}

impl<R: BufRead + Seek> RowFile for LinesFile<'_, R> {
    fn next_row(&mut self) -> Result<Option<Result<RowMembers, InvalidRow>>, RowsError> {
        loop {
            self.line.clear();
            if self.lines.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(None);
            }
            // Lines may end in CR LF, and empty ones are no rows.
            let row = self.line.trim_ascii_end();
            if !row.is_empty() {
                let members = parse(row).map(|members| {
                    let kept = members.into_iter().filter_map(|(member, value)| {
                        Some((self.options.column(&member)?.to_owned(), value))
                    });
                    kept.collect()
                });
                return Ok(Some(members));
            }
        }
    }

    fn rewind(&mut self) -> Result<(), RowsError> {
        self.lines.seek(SeekFrom::Start(self.start))?;
        Ok(())
    }
}

fn parse(line: &[u8]) -> Result<RowMembers, InvalidRow> {
    // The message of serde may quote the row.
    let mut json = serde_json::Deserializer::from_slice(line);
    let members = json.deserialize_map(Members).and_then(|members| json.end().map(|()| members));
    members.map_err(|error| InvalidRow::NotAnObject { byte: error.column().max(1) })
}

/// The members of an object, with duplicates.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = RowMembers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RowMembers, A::Error> {
        // A map would drop one of two equal members. The store reports an error if the values differ.
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}
