//! Rows as Parquet.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, LargeStringArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use serde_json::Value as Json;

use super::ingest::Ingest;
use super::table::{InvalidRow, REASONS, RowsError, SKIPPED, STEP};
use crate::declare::Name;
use crate::declare::error::caught;
use crate::flow::{LiveFlow, Row, RowChunks};
use crate::history::Value;
use crate::store::{BYTES, CHUNK, Store};

/// The bytes that are gathered before a row group is written.
const GROUP: usize = 1 << 26;

/// The longest text that all readers accept; a page of the format ends at twice that length.
const LONGEST: usize = 1 << 30;

/// Writes a flow as Parquet, and returns the number of rows. The table is the same as with
/// [`write_json_lines`](super::write_json_lines): `_step` is a 64-bit number, texts are compressed by Snappy, and
/// `_skipped` and `_skip_reasons` are lists of texts or null.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::rows::write_parquet;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let f = flow([column("topics", source("user").latest(), prompt("List the topics."))])?;
/// f.push("user", "What a day!").await?;
/// f.run().await?;
///
/// let path = std::env::temp_dir().join(format!("columnar-{}-written.parquet", std::process::id()));
/// let file = std::fs::File::create(&path)?;
/// assert_eq!(write_parquet(&f, file).await?, 1);
/// // And in DuckDB: SELECT user FROM 'rows.parquet' WHERE topics IS NOT NULL
/// std::fs::remove_file(path)?;
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// The errors of [`write_json_lines`](super::write_json_lines), and [`RowsError::Row`] for a text of more than a gigabyte,
/// which the format does not support.
pub async fn write_parquet<C, I>(
    flow: &LiveFlow<'_, C, I>,
    out: impl Write + Send,
) -> Result<usize, RowsError> {
    let mut rows = RowChunks::new(flow, ..);
    let schema = Arc::new(schema(&rows.columns));
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    // Readers must find plain texts, not the Arrow layout of this program.
    let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(out, Arc::clone(&schema), options).map_err(failed)?;
    let mut count = 0;
    loop {
        let next = rows.next().await?;
        if next.is_empty() {
            // `into_inner` writes the footer, without which nobody can read the file.
            writer.into_inner().map_err(failed)?.flush()?;
            return Ok(count);
        }
        next.iter().try_for_each(check)?;
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays(&next, &rows.columns));
        writer.write(&batch.map_err(failed)?).map_err(failed)?;
        if writer.memory_size() > GROUP {
            writer.flush().map_err(failed)?;
        }
        count += next.len();
    }
}

fn schema(columns: &[Name]) -> Schema {
    // With offsets of 32 bits the texts of a batch would end at 2 GiB.
    let texts = columns.iter().map(|name| Field::new(name.as_str(), DataType::LargeUtf8, true));
    let step = Field::new(STEP, DataType::Int64, false);
    let lists =
        [SKIPPED, REASONS].map(|name| Field::new(name, DataType::new_list(DataType::Utf8, true), true));
    Schema::new([step].into_iter().chain(texts).chain(lists).collect::<Vec<_>>())
}

fn check(row: &Row) -> Result<(), RowsError> {
    match row.values().find(|(_, value)| value.len() > LONGEST) {
        Some((name, _)) => {
            let source = InvalidRow::TooLong { column: name.clone() };
            Err(RowsError::Row { row: row.step() + 1, source })
        }
        None => Ok(()),
    }
}

fn arrays(rows: &[Row], columns: &[Name]) -> Vec<ArrayRef> {
    let steps = rows.iter().map(|row| i64::try_from(row.step()).unwrap_or(i64::MAX));
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(Int64Array::from_iter_values(steps))];
    for column in 0..columns.len() {
        let values = rows.iter().map(|row| row.at(column).map(Value::as_str));
        arrays.push(Arc::new(values.collect::<LargeStringArray>()));
    }
    let mut skipped = ListBuilder::new(StringBuilder::new());
    let mut reasons = ListBuilder::new(StringBuilder::new());
    for row in rows {
        let names: Vec<_> = row.skipped().map(|name| Some(name.as_str())).collect();
        let texts: Vec<_> =
            row.skipped().map(|name| row.skip_reason(name).map(|reason| reason.text())).collect();
        reasons.append_option((!names.is_empty()).then_some(texts));
        skipped.append_option((!names.is_empty()).then_some(names));
    }
    arrays.push(Arc::new(skipped.finish()));
    arrays.push(Arc::new(reasons.finish()));
    arrays
}

/// Stores rows of Parquet, and returns the number of rows, by the rules of [`read_json_lines`](super::read_json_lines).
/// Other programs write such files as well: `frame.to_parquet("rows.parquet", index=False)` in pandas,
/// `COPY … TO 'rows.parquet'` in DuckDB.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::rows::{read_parquet, write_parquet};
/// use columnar::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let topics = column("topics", source("user").latest(), prompt("List the topics."));
/// let path = std::env::temp_dir().join(format!("columnar-{}-read.parquet", std::process::id()));
/// let f = flow([&topics])?;
/// f.push("user", "What a day!").await?;
/// f.run().await?;
/// write_parquet(&f, std::fs::File::create(&path)?).await?;
/// let store = MemoryStore::new();
/// assert_eq!(read_parquet(&store, std::fs::File::open(&path)?).await?, 1);
///
/// let f = Flow::open(store, [topics]).await?;
/// assert_eq!((f.steps(), f.get("user", 0).as_deref()), (1, Some("What a day!")));
/// std::fs::remove_file(path)?;
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// The errors of [`read_json_lines`](super::read_json_lines), and [`RowsError::Io`] for a file that is not Parquet, is
/// damaged, or has another compression than Snappy.
pub async fn read_parquet(store: &impl Store, file: File) -> Result<usize, RowsError> {
    let mut reader = guarded(|| reader(file))?;
    let mut ingest = Ingest::new(store).await?;
    while let Some(batch) = guarded(|| reader.next().transpose())? {
        let schema = batch.schema();
        for row in 0..batch.num_rows() {
            let columns = schema.fields().iter().zip(batch.columns());
            let members = columns.map(|(field, column)| (field.name().clone(), cell_value(column, row)));
            ingest.row(Ok(members.collect())).await?;
        }
    }
    Ok(ingest.finish().await?)
}

/// The result of a call of the reader, which panics on some damaged files.
fn guarded<T, E: Into<ParquetError>>(read: impl FnOnce() -> Result<T, E>) -> Result<T, RowsError> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the Parquet file is damaged");
    caught(read).ok_or_else(damaged)?.map_err(failed)
}

fn reader(file: File) -> Result<ParquetRecordBatchReader, ParquetError> {
    // The Arrow types of the writer, such as categories, are ignored: every text is read as a long text.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let known = ArrowReaderMetadata::load(&file, options)?;
    let long = known.schema().fields().iter().map(|field| match field.data_type() {
        DataType::Utf8 => Arc::new(Field::clone(field).with_data_type(DataType::LargeUtf8)),
        _ => Arc::clone(field),
    });
    let schema = Schema::new(long.collect::<Vec<_>>());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    let known = ArrowReaderMetadata::try_new(Arc::clone(known.metadata()), options)?;

    let groups = known.metadata().row_groups().iter();
    // A damaged file may claim any size, so nothing here overflows or divides by 0.
    let (rows, bytes) = groups.fold((0_i64, 0_i64), |(rows, bytes), group| {
        (rows.saturating_add(group.num_rows()), bytes.saturating_add(group.total_byte_size()))
    });
    // A negative size counts as the largest one: a single row at a time.
    let length = usize::try_from(bytes / rows.max(1)).unwrap_or(usize::MAX);
    let count = (BYTES / length.max(1)).clamp(1, CHUNK);
    ParquetRecordBatchReaderBuilder::new_with_metadata(file, known).with_batch_size(count).build()
}

fn cell_value(column: &ArrayRef, row: usize) -> Json {
    if column.is_null(row) {
        return Json::Null;
    }
    match column.data_type() {
        DataType::Null => Json::Null,
        // Short texts cannot occur: `reader` has declared all texts long.
        DataType::LargeUtf8 => column.as_string::<i64>().value(row).into(),
        DataType::List(_) => {
            let texts = column.as_list::<i32>().value(row);
            texts.as_string_opt::<i32>().map_or(OTHER, |texts| texts.iter().collect())
        }
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).into(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into(),
        _ => OTHER,
    }
}

/// Any value that no column of a row can have.
const OTHER: Json = Json::Bool(true);

fn failed(error: impl Into<ParquetError>) -> RowsError {
    let error = match error.into() {
        // An I/O error of `out` arrives in a wrapper, which would hide the kind of the error.
        ParquetError::External(error) => error.downcast().map_or_else(io::Error::other, |error| *error),
        error => io::Error::other(error),
    };
    RowsError::Io(error)
}

#[cfg(test)]
mod tests {
    use arrow_array::{BooleanArray, Float64Array, Int32Array, NullArray, StringArray, UInt64Array};

    use super::*;
    use crate::store::{Entry, MemoryStore};

    /// Reads a table of another program. Returns the result and the stored entries of `user`.
    async fn read(columns: Vec<(&str, ArrayRef)>) -> (Result<usize, String>, Vec<(usize, Entry)>) {
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, column)| (name, column, true)),
        );
        let batch = batch.expect("columns of one length");
        let file = tempfile::tempfile().expect("there is room");
        let handle = file.try_clone().expect("it is open");
        // With the Arrow schema in the metadata, which other programs write.
        let mut writer = ArrowWriter::try_new(handle, batch.schema(), None).expect("it can be written");
        writer.write(&batch).expect("it can be written");
        writer.close().expect("it can be written");
        let store = MemoryStore::new();
        let read = read_parquet(&store, file).await.map_err(|error| error.to_string());
        let user = Name::new("user").expect("a name");
        (read, store.load(user, 0..9).await.expect("it is open"))
    }

    fn texts() -> ArrayRef {
        Arc::new(StringArray::from(vec![Some("a"), None, Some("c")]))
    }

    #[tokio::test]
    async fn steps_are_whole_numbers_of_any_kind() {
        let kept = [(2, Entry::from("a")), (0, Entry::from("c"))];
        let kinds: [ArrayRef; 4] = [
            Arc::new(Int32Array::from(vec![2, 1, 0])),
            Arc::new(Int64Array::from(vec![2, 1, 0])),
            Arc::new(UInt64Array::from(vec![2, 1, 0])),
            Arc::new(arrow_array::UInt32Array::from(vec![2, 1, 0])),
        ];
        for steps in kinds {
            let (read, mut stored) = read(vec![("user", texts()), (STEP, steps)]).await;
            stored.sort_by_key(|(step, _)| std::cmp::Reverse(*step));
            assert_eq!((read, stored.as_slice()), (Ok(3), kept.as_slice()));
        }
        let wrong: [(ArrayRef, usize); 4] = [
            (Arc::new(Int64Array::from(vec![0, 1, -1])), 3),
            (Arc::new(Int64Array::from(vec![Some(0), None, Some(1)])), 2),
            (Arc::new(Float64Array::from(vec![0.0, 1.0, 2.0])), 1),
            (texts(), 1),
        ];
        for (steps, row) in wrong {
            let (read, stored) = read(vec![(STEP, steps), ("user", texts())]).await;
            let error = format!("row {row}: `_step` must be a whole number, 0 or more");
            assert_eq!(
                (read, stored.len()),
                (Err(error), usize::from(row > 1)),
                "those before it are stored"
            );
        }
    }

    #[tokio::test]
    async fn a_cell_is_a_text_or_null() {
        let odd: ArrayRef = Arc::new(Float64Array::from(vec![None, None, Some(0.5)]));
        let (read_odd, _) = read(vec![("user", texts()), ("size", odd)]).await;
        assert_eq!(read_odd, Err("row 3: `size` must be a text; convert it to one".into()));
        let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, true]));
        assert_eq!(
            read(vec![("user", flags)]).await.0,
            Err("row 1: `user` must be a text; convert it to one".into())
        );
        let (read_name, _) = read(vec![("__index_level_0__", texts()), ("user", texts())]).await;
        let error = read_name.expect_err("it is no name");
        assert!(error.starts_with("row 1: `__index_level_0__` cannot be a name"), "{error}");
        // A column without any value has the type null.
        let (read_none, stored) = read(vec![("mood", Arc::new(NullArray::new(3))), ("user", texts())]).await;
        assert_eq!((read_none, stored.len()), (Ok(3), 2));
    }

    #[tokio::test]
    async fn skipped_columns_are_a_list_of_names() {
        let names = |names: Vec<Option<&'static str>>| {
            let mut lists = ListBuilder::new(StringBuilder::new());
            lists.append_null();
            lists.append_value(names);
            lists.append_value([] as [Option<&str>; 0]);
            vec![("user", texts()), (SKIPPED, Arc::new(lists.finish()) as ArrayRef)]
        };
        let (read_names, stored) = read(names(vec![Some("user"), Some("mood")])).await;
        assert_eq!((read_names, stored.get(1)), (Ok(3), Some(&(1, Entry::SKIPPED))));
        let error = |row| Err(format!("row {row}: `_skipped` must be a list of column names"));
        assert_eq!(read(names(vec![Some("user"), None])).await.0, error(2));
        assert_eq!(read(vec![(SKIPPED, texts())]).await.0, error(1));
    }

    /// The reader of the format panics on some damaged files.
    #[tokio::test]
    async fn a_file_in_which_any_bit_is_flipped_is_read_or_an_error() {
        let user = crate::flow::source("user");
        let flow =
            crate::flow([crate::flow::column("topics", user.latest(), crate::prompt(""))]).expect("a flow");
        for text in ["hello", "", "and again"] {
            flow.push("user", text).await.expect("it is pushed");
        }
        let file = tempfile::NamedTempFile::new().expect("there is room");
        write_parquet(&flow, file.reopen().expect("it is open")).await.expect("there is room");
        let bytes = std::fs::read(file.path()).expect("it is there");
        let mut errors = 0;
        for bit in (0..bytes.len() * 8).step_by(11) {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(file.path(), damaged).expect("it can be written");
            let read = read_parquet(&MemoryStore::new(), file.reopen().expect("it is open")).await;
            if let Err(error) = read {
                assert!(error.to_string().len() < 1000, "{bit}: {error}");
                errors += 1;
            }
        }
        assert!(errors > 100, "{errors}");
    }

    #[tokio::test]
    async fn a_file_that_is_not_parquet_is_an_error() {
        let file = tempfile::tempfile().expect("there is room");
        let read = read_parquet(&MemoryStore::new(), file).await;
        let error = read.expect_err("it is empty").to_string();
        assert!(error.starts_with("rows cannot be written or read: "), "{error}");
    }
}
