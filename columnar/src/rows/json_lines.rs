//! Rows as JSON Lines.

use std::io::{BufRead, Write};

use serde_json::{Map, Value as Json};

use super::{Intake, Row, Rows, RowsError, SKIPPED, STEP};
use crate::flow::LiveFlow;
use crate::name::Name;
use crate::store::{Entry, Store};

/// Writes a flow as JSON Lines, and returns the number of rows: `{"_step":0,"user":"...","topics":"..."}`, a line for
/// each step of which anything is stored, its columns in order of declaration.
///
/// What is [not in memory](LiveFlow::recall) is read from the store as it is needed, and not kept. While a run
/// goes on, the rows are those of the moment at which each is written.
///
/// ```
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
/// read_json_lines(&store, lines.as_slice()).await?;
/// let chat = Chat::open(store).await?;
/// assert_eq!((chat.steps(), chat.forecast().cells), (1, 1));
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// [`RowsError::Io`] when `out` fails; [`RowsError::Flow`] when the store cannot be read.
pub async fn write_json_lines<C, I>(
    flow: &LiveFlow<'_, C, I>,
    mut out: impl Write,
) -> Result<usize, RowsError> {
    let mut rows = Rows::of(flow);
    let mut count = 0;
    loop {
        let next = rows.next().await?;
        if next.is_empty() {
            out.flush()?;
            return Ok(count);
        }
        count += next.len();
        let mut lines = Vec::new();
        next.iter().try_for_each(|row| write_row(row, &rows.columns, &mut lines))?;
        out.write_all(&lines)?;
    }
}

fn write_row(row: &Row, columns: &[Name], out: &mut Vec<u8>) -> Result<(), RowsError> {
    write!(out, "{{\"{STEP}\":{}", row.step)?;
    for (column, name) in columns.iter().enumerate() {
        write!(out, ",\"{name}\":")?;
        let value = row.value(column).map(|value| &**value);
        serde_json::to_writer(&mut *out, &value).map_err(std::io::Error::from)?;
    }
    let skipped: Vec<&str> = row.skipped(columns).map(Name::as_str).collect();
    if !skipped.is_empty() {
        write!(out, ",\"{SKIPPED}\":")?;
        serde_json::to_writer(&mut *out, &skipped).map_err(std::io::Error::from)?;
    }
    out.extend_from_slice(b"}\n");
    Ok(())
}

/// Stores rows of JSON Lines, and returns their number: each member of an object is a column, a text its value
/// there, null nothing. Without `_step` the first row is step 0, and each further one the next step.
///
/// The store is opened for that; a flow can be opened on it right after. A cell that is there already stays: that
/// it is to be another one is an error, and reading the same rows again is none.
///
/// # Errors
///
/// [`RowsError::Row`] names the first row that is no object, or has a value that is no text, or a member that
/// is no name of a column; [`RowsError::Store`] when the store does not take them; [`RowsError::Io`] when the
/// reader fails.
pub async fn read_json_lines(store: &impl Store, rows: impl BufRead) -> Result<usize, RowsError> {
    let mut intake = Intake::new(store).await?;
    for line in rows.lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let row = intake.rows;
        let taken = parse_row(&line, row).map_err(|what| RowsError::Row { row: row + 1, what })?;
        for (column, step, entry) in taken {
            intake.cell(&column, step, entry);
        }
        intake.row().await?;
    }
    Ok(intake.end().await?)
}

fn parse_row(line: &str, row: usize) -> Result<Vec<(Name, usize, Entry)>, String> {
    let object: Map<String, Json> = serde_json::from_str(line)
        .map_err(|error| format!("it is no object in JSON, at character {}", error.column()))?;
    let step = match object.get(STEP) {
        None => row,
        Some(step) => step
            .as_u64()
            .and_then(|step| usize::try_from(step).ok())
            .ok_or_else(|| format!("`{STEP}` is no step, which is a number from 0 on"))?,
    };
    let name = |name: &str| Name::new(name).map_err(|error| error.to_string());
    let mut cells = Vec::new();
    for (column, value) in &object {
        match (column.as_str(), value) {
            (STEP, _) | (_, Json::Null) => {}
            (SKIPPED, Json::Array(columns)) => {
                for column in columns {
                    let column =
                        column.as_str().ok_or_else(|| format!("`{SKIPPED}` holds no names of columns"))?;
                    cells.push((name(column)?, step, Entry::Skipped));
                }
            }
            (column, Json::String(value)) => {
                cells.push((name(column)?, step, Entry::Value(value.as_str().into())))
            }
            (column, _) => return Err(format!("`{column}` is no text; write it as one, in quotes")),
        }
    }
    Ok(cells)
}
