//! Rows as Parquet.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::ingest::{RowFile, RowMembers};
use super::options::RowOptions;
use super::parquet_columns::{ParquetColumn, cell_value, exact_array, restore_exact};
use super::table::{EXACT, InvalidRow, REASONS, RowsError, SKIPPED, STEP};
use crate::declare::Name;
use crate::declare::error::caught;
use crate::flow::{LiveFlow, Row, RowChunks};
use crate::run::Error;
use crate::store::{BYTES, CHUNK, Store};

/// The bytes that are gathered before a row group is written.
const GROUP: usize = 1 << 26;

/// The longest text that all readers accept; a page of the format ends at twice that length.
const LONGEST: usize = 1 << 30;

/// Writes a flow as Parquet, and returns the number of rows. The table is the same as with
/// [`write_json_lines`](super::write_json_lines): `_step` is a 64-bit number, texts are compressed by Snappy, and
/// `_skipped` and `_skip_reasons` are lists of texts or null.
///
/// A typed column (feature `typed`) whose values are whole numbers, numbers or booleans is a column of 64-bit numbers or of
/// booleans; any other typed column has texts of JSON. A number whose text cannot be found from its value, such as `0.50`,
/// has its text in the column `_json`, an object of texts or null.
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
    RowOptions::new().write_parquet(flow, out).await
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

/// Stores rows of Parquet, and returns the number of rows, by the rules of [`read_json_lines`](super::read_json_lines).
/// Other programs write such files as well: `frame.to_parquet("rows.parquet", index=False)` in pandas,
/// `COPY … TO 'rows.parquet'` in DuckDB. Numbers and booleans become texts of JSON, as typed columns have them.
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
    RowOptions::new().read_parquet(store, file).await
}

impl RowOptions {
    /// Writes a flow with these settings; see [`write_parquet`].
    ///
    /// # Errors
    ///
    /// The errors of [`write_parquet`], and [`RowsError::Flow`] if a renamed column is unknown.
    pub async fn write_parquet<C, I>(
        &self,
        flow: &LiveFlow<'_, C, I>,
        out: impl Write + Send,
    ) -> Result<usize, RowsError> {
        let mut rows = RowChunks::new(flow, ..);
        let table = ParquetTable::new(flow, &rows.columns, self)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        // Readers must find plain texts, not the Arrow layout of this program.
        let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let schema = Arc::clone(&table.schema);
        let mut writer = ArrowWriter::try_new_with_options(out, schema, options).map_err(failed)?;
        let mut count = 0;
        loop {
            let next = rows.next().await?;
            if next.is_empty() {
                // `into_inner` writes the footer, without which nobody can read the file.
                writer.into_inner().map_err(failed)?.flush()?;
                return Ok(count);
            }
            next.iter().try_for_each(check)?;
            writer.write(&table.batch(&next)?).map_err(failed)?;
            if writer.memory_size() > GROUP {
                writer.flush().map_err(failed)?;
            }
            count += next.len();
        }
    }

    /// Stores rows with these settings; see [`read_parquet`].
    ///
    /// # Errors
    ///
    /// The errors of [`read_parquet`].
    pub async fn read_parquet(&self, store: &impl Store, file: File) -> Result<usize, RowsError> {
        let batches = guarded(|| reader(&file))?;
        self.import(store, ParquetFile { file, batches, batch: None, options: self }).await
    }
}

/// The layout of a file that is written.
struct ParquetTable {
    columns: Vec<ParquetColumn>,
    schema: Arc<Schema>,
}

impl ParquetTable {
    fn new<C, I>(flow: &LiveFlow<'_, C, I>, names: &[Name], options: &RowOptions) -> Result<Self, RowsError> {
        let columns = names.iter().map(|name| {
            let json_type =
                flow.shared.by_name(name, |state, column| state.settings.get(column)?.json_type.clone())?;
            Ok(ParquetColumn::new(name, json_type.as_deref()))
        });
        let columns = columns.collect::<Result<Vec<_>, Error>>()?;
        let names = options.names_in_file(names)?;
        let cells =
            names.into_iter().zip(&columns).map(|(name, column)| Field::new(name, column.data.clone(), true));
        let step = Field::new(STEP, DataType::Int64, false);
        let lists =
            [SKIPPED, REASONS].map(|name| Field::new(name, DataType::new_list(DataType::Utf8, true), true));
        let exact =
            columns.iter().any(ParquetColumn::is_typed).then(|| Field::new(EXACT, DataType::LargeUtf8, true));
        let fields = [step].into_iter().chain(cells).chain(lists).chain(exact);
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok(Self { columns, schema })
    }

    fn batch(&self, rows: &[Row]) -> Result<RecordBatch, RowsError> {
        let steps = rows.iter().map(|row| i64::try_from(row.step()).unwrap_or(i64::MAX));
        let steps = Arc::new(Int64Array::from_iter_values(steps)) as ArrayRef;
        let cells = self.columns.iter().enumerate().map(|(index, column)| column.array(rows, index));
        let cells: Vec<_> = cells.collect();
        let lists = [skipped(rows), reasons(rows)];
        let is_typed = self.columns.iter().any(ParquetColumn::is_typed);
        let exact = is_typed.then(|| exact_array(rows, &self.columns, &cells));
        let arrays = [steps].into_iter().chain(cells).chain(lists).chain(exact).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(failed)
    }
}

/// The names of the skipped columns of each row.
fn skipped(rows: &[Row]) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for row in rows {
        let names: Vec<_> = row.skipped().map(|name| Some(name.as_str())).collect();
        lists.append_option((!names.is_empty()).then_some(names));
    }
    Arc::new(lists.finish())
}

/// The reasons for these columns.
fn reasons(rows: &[Row]) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for row in rows {
        let texts = row.skipped().map(|name| row.skip_reason(name).map(|reason| reason.text()));
        let texts: Vec<_> = texts.collect();
        lists.append_option((!texts.is_empty()).then_some(texts));
    }
    Arc::new(lists.finish())
}

/// A file that is read.
struct ParquetFile<'o> {
    file: File,
    batches: ParquetRecordBatchReader,
    /// The current batch, and the number of its next row.
    batch: Option<(RecordBatch, usize)>,
    options: &'o RowOptions,
}

impl RowFile for ParquetFile<'_> {
    fn next_row(&mut self) -> Result<Option<Result<RowMembers, InvalidRow>>, RowsError> {
        loop {
            if let Some((batch, row)) = &mut self.batch
                && *row < batch.num_rows()
            {
                let schema = batch.schema();
                let columns = schema.fields().iter().zip(batch.columns()).filter_map(|(field, column)| {
                    let name = self.options.column(field.name())?;
                    Some((name.to_owned(), cell_value(name, column, *row)))
                });
                let mut members = columns.collect();
                *row += 1;
                return Ok(Some(restore_exact(&mut members).map(|()| members)));
            }
            let Some(batch) = guarded(|| self.batches.next().transpose())? else { return Ok(None) };
            self.batch = Some((batch, 0));
        }
    }

    fn rewind(&mut self) -> Result<(), RowsError> {
        self.batches = guarded(|| reader(&self.file))?;
        self.batch = None;
        Ok(())
    }
}

/// The result of a call of the reader, which panics on some damaged files.
fn guarded<T, E: Into<ParquetError>>(read: impl FnOnce() -> Result<T, E>) -> Result<T, RowsError> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the Parquet file is damaged");
    caught(read).ok_or_else(damaged)?.map_err(failed)
}

fn reader(file: &File) -> Result<ParquetRecordBatchReader, ParquetError> {
    // The Arrow types of the writer, such as categories, are ignored: every text is read as a long text.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let known = ArrowReaderMetadata::load(file, options)?;
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
    let file = file.try_clone()?;
    ParquetRecordBatchReaderBuilder::new_with_metadata(file, known).with_batch_size(count).build()
}

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

    fn steps() -> (&'static str, ArrayRef) {
        (STEP, Arc::new(Int64Array::from(vec![0, 1, 2])))
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
            assert_eq!((read, stored.len()), (Err(error), 0), "nothing is stored");
        }
    }

    #[tokio::test]
    async fn a_cell_is_a_text_a_number_a_boolean_or_null() {
        let odd: ArrayRef = Arc::new(arrow_array::Date32Array::from(vec![None, None, Some(7)]));
        let (read_odd, _) = read(vec![steps(), ("user", texts()), ("day", odd)]).await;
        assert_eq!(read_odd, Err("row 3: `day` must be a text; convert it to one".into()));
        let endless: ArrayRef = Arc::new(Float64Array::from(vec![0.5, f64::INFINITY, 1.0]));
        let (read_endless, _) = read(vec![("user", endless)]).await;
        assert_eq!(read_endless, Err("row 2: `user` must be a text; convert it to one".into()));
        let halves: ArrayRef = Arc::new(Float64Array::from(vec![0.5, -1.0, 1e300]));
        let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, true]));
        let counts: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX, 0, 7]));
        let expected =
            [["0.5", "-1.0", "1e+300"], ["true", "false", "true"], ["18446744073709551615", "0", "7"]];
        for (column, expected) in [halves, flags, counts].into_iter().zip(expected) {
            let (read, stored) = read(vec![("user", column)]).await;
            let expected: Vec<_> = expected.into_iter().map(Entry::from).enumerate().collect();
            assert_eq!((read, stored), (Ok(3), expected));
        }
        let (read_name, _) = read(vec![steps(), ("__index_level_0__", texts()), ("user", texts())]).await;
        let error = read_name.expect_err("it is no name");
        assert!(error.starts_with("row 1: `__index_level_0__` cannot be a name"), "{error}");
        // A column without any value has the type null.
        let (read_none, stored) =
            read(vec![steps(), ("mood", Arc::new(NullArray::new(3))), ("user", texts())]).await;
        assert_eq!((read_none, stored.len()), (Ok(3), 2));
    }

    #[tokio::test]
    async fn a_null_of_a_source_is_an_error_of_its_row() {
        let (read, stored) = read(vec![("user", texts())]).await;
        let error = "row 2: `user` has no value, and a source needs one in each row";
        assert_eq!((read, stored.len()), (Err(error.into()), 0));
    }

    #[tokio::test]
    async fn skipped_columns_are_a_list_of_names() {
        let names = |names: Vec<Option<&'static str>>| {
            let mut lists = ListBuilder::new(StringBuilder::new());
            lists.append_null();
            lists.append_value(names);
            lists.append_value([] as [Option<&str>; 0]);
            vec![steps(), ("user", texts()), (SKIPPED, Arc::new(lists.finish()) as ArrayRef)]
        };
        let (read_names, stored) = read(names(vec![Some("user"), Some("mood")])).await;
        assert_eq!((read_names, stored.get(1)), (Ok(3), Some(&(1, Entry::SKIPPED))));
        let error = |row| Err(format!("row {row}: `_skipped` must be a list of column names"));
        assert_eq!(read(names(vec![Some("user"), None])).await.0, error(2));
        assert_eq!(read(vec![(SKIPPED, texts())]).await.0, error(1));
    }

    #[cfg(feature = "typed")]
    #[tokio::test]
    async fn typed_columns_have_types_of_the_format() {
        use crate::compute::{Context, Json, Policy};

        let user = crate::flow::source("user");
        let stars = |_: Context| async { Json(5_u8) };
        let score = |_: Context| async { "0.50" };
        let good = |_: Context| async { Json(Some(true)) };
        let note = |_: Context| async { Json("a") };
        let columns = [
            crate::flow::column("stars", user.latest(), stars.typed::<u8>()),
            crate::flow::column("score", user.latest(), score.typed::<f32>()),
            crate::flow::column("good", user.latest(), good.typed::<Option<bool>>()),
            crate::flow::column("note", user.latest(), note.typed::<String>()),
        ];
        let flow = crate::flow(columns).expect("a flow");
        flow.push("user", "hello").await.expect("it is pushed");
        flow.run().await.expect("nothing fails");
        let file = tempfile::NamedTempFile::new().expect("there is room");
        write_parquet(&flow, file.reopen().expect("it is open")).await.expect("there is room");
        let mut reader = reader(file.as_file()).expect("it is Parquet");
        let batch = reader.next().expect("a row").expect("it is whole");
        let schema = batch.schema();
        let types: Vec<_> =
            schema.fields().iter().map(|field| (field.name().as_str(), field.data_type().clone())).collect();
        let text = DataType::LargeUtf8;
        let whole = DataType::Int64;
        let expected = [
            ("_step", whole.clone()),
            ("user", text.clone()),
            ("stars", whole),
            ("score", DataType::Float64),
            ("good", DataType::Boolean),
            ("note", text.clone()),
        ];
        assert_eq!(types[..6], expected);
        assert_eq!((types[6].0, types[7].0, types[8].clone()), (SKIPPED, REASONS, (EXACT, text)));
        assert!(types[6..8].iter().all(|(_, kind)| matches!(kind, DataType::List(_))), "{types:?}");
        let exact = cell_value(EXACT, batch.column(8), 0);
        assert_eq!(exact, r#"{"score":"0.50"}"#, "all other values are found from the number");
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
