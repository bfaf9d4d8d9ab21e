//! A flow as a table for other programs: one row per step, one column per column.
//!
//! pandas, Polars and DuckDB open the files without a conversion. A cell is a text, or null without a value. `_step`
//! has the step, and `_skipped` the names of the columns that are [skipped](crate::compute::Policy::or_skip) at that
//! step; `_skip_reasons` has the [reasons](crate::SkipReason) in the same order. JSON Lines name the attachments of values
//! in `_attachments`, and the other formats have the texts alone. Rows are read into a [store](crate::store), on which a flow is opened afterwards. The rows may come from
//! another program, if every column has a valid name, by [`RowOptions::rename`] at least, and contains texts.
//!
//! A file is read twice: all rows are checked before the first one is stored. A source needs a value in each row. The
//! flow in the store and [`RowOptions::source`] tell which columns are sources. Without both, each column of a table that
//! has no `_step` counts as a source.
//!
//! Reading and writing block the calling thread. Only a few rows are in memory at a time.

#[cfg(feature = "csv")]
mod csv;
mod ingest;
mod json_lines;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_columns;
mod table;
mod text_file;

#[cfg(feature = "csv")]
pub use csv::{read_csv, write_csv};
pub use json_lines::{read_json_lines, write_json_lines};
pub use options::RowOptions;
#[cfg(feature = "parquet")]
pub use parquet::{read_parquet, write_parquet};
pub use table::{InvalidRow, RowsError};
