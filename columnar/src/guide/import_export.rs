//! Write a flow as a table for other programs, and read such a table.
//!
//! Chapter 32 of 37 · [← looms](super::looms) · [contents](super) · [extensions →](super::extensions)
//!
//! A flow is a table with a row for each step. [`rows`](crate::rows) writes that table as JSON Lines and reads it:
//!
//! ```
//! use std::io::Cursor;
//!
//! use columnar::prelude::*;
//! use columnar::rows::{read_json_lines, write_json_lines};
//! use columnar::store::MemoryStore;
//!
//! flow! {
//!     pub struct Reviews {
//!         source review;
//!         column words(review.latest) = async |cx: Context| {
//!             cx.input("review").map_or(0, |text| text.split_whitespace().count()).to_string()
//!         };
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let rows = "{\"review\":\"Too slow.\"}\n{\"review\":\"Very good indeed.\"}\n";   // as pandas writes them
//! let store = MemoryStore::new();
//! read_json_lines(&store, Cursor::new(rows)).await?;          // or a `BufReader` of a file
//!
//! let reviews = Reviews::open(store).await?;
//! reviews.run().await?;
//! let mut table = Vec::new();
//! write_json_lines(&reviews, &mut table).await?;
//! assert_eq!(
//!     String::from_utf8(table)?,
//!     "{\"_step\":0,\"review\":\"Too slow.\",\"words\":\"2\"}\n\
//!      {\"_step\":1,\"review\":\"Very good indeed.\",\"words\":\"3\"}\n"
//! );
//! # Ok(()) }
//! ```
//!
//! pandas reads the file with `pandas.read_json("reviews.jsonl", lines=True, dtype=False)`, and DuckDB with
//! `select words, count(*) from 'reviews.jsonl' group by words`. With the feature `parquet`, `write_parquet` and
//! `read_parquet` do the same in a smaller format that includes the types: a typed column of numbers is a column of
//! numbers. With the feature `csv`, `write_csv` and `read_csv` are for spreadsheets.
//!
//! The reader fills sources and computed columns alike: a table that one flow exported is imported by another, and
//! nothing is computed again.
//!
//! # Files of other programs
//!
//! A source needs a value in every row. The whole file is checked first: a null is an error that names the row and the
//! column, and nothing is stored. Of a store without a flow nobody knows the columns, so each one counts as a source,
//! until [`RowOptions`](crate::rows::RowOptions) names the sources. [`RowOptions`](crate::rows::RowOptions) also has the
//! names that columns have in the file, both ways, and leaves out columns that the flow does not need:
//!
#![cfg_attr(feature = "csv", doc = "```")]
#![cfg_attr(not(feature = "csv"), doc = "```ignore")]
//! use std::io::Cursor;
//!
//! use columnar::prelude::*;
//! use columnar::rows::RowOptions;
//! use columnar::store::MemoryStore;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let file = "\u{feff}ID,Review,Topics\r\n7,Too slow.,speed\r\n8,\"Good, I think.\",\r\n";   // as a spreadsheet writes it
//! let options = RowOptions::new().rename("Review", "review").rename("Topics", "topics").leave_out("ID").source("review");
//! let store = MemoryStore::new();
//! assert_eq!(options.read_csv(&store, Cursor::new(file)).await?, 2);
//!
//! let topics = column("topics", source("review").latest(), prompt("List the topics."));
//! let reviews = Flow::open(store, [topics]).await?;
//! assert_eq!(reviews.forecast().cells, 1);                    // the second row has no topics
//!
//! let mut table = Vec::new();
//! options.write_csv(&reviews, &mut table).await?;
//! assert!(String::from_utf8(table)?.starts_with("_step,Review,Topics,_skipped,_skip_reasons,_empty\n0,Too slow.,speed,,,\n"));
//! # Ok(()) }
//! ```
//!
//! # A million rows
//!
//! A file is read into the store a few rows at a time, and so is a table written. [`recent(0)`] opens the flow with nothing in
//! memory, and its run has some thousand rows there at a time. So the number of rows is a matter of time and of the disk:
//!
//! ```
//! use std::io::Cursor;
//!
//! use columnar::prelude::*;
//! use columnar::reopen::OpenOptions;
//! use columnar::rows::{read_json_lines, write_json_lines};
//! use columnar::store::MemoryStore;
//! use columnar::usage::SpendLimit;
//!
//! flow! {
//!     pub struct Reviews {
//!         source review;
//!         column topics(review.latest) = prompt("List the topics.").model("offline").or_skip();
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = MemoryStore::new();                       // a `SqliteStore` is one file for all rows
//! read_json_lines(&store, Cursor::new("{\"review\":\"Too slow.\"}\n{\"review\":\"Very good.\"}\n")).await?;
//! let reviews = Reviews::open(OpenOptions::new(store).recent(0)).await?;
//! reviews.set_spend_limit(SpendLimit::tokens(5_000_000));
//! reviews.run().await?;                                 // or `batch`, for half the price
//! assert_eq!(write_json_lines(&reviews, std::io::sink()).await?, 2);
//! # Ok(()) }
//! ```
//!
//! Providers limit the tokens of a minute, and a table meets that limit first. With
//! [`.rate(per_minute(500).tokens_per_minute(200_000))`](crate::compute::Rate::tokens_per_minute) calls wait for room, in place of
//! refusals by the provider.
//!
//! A row that fails is in the table, with its reason, if the column says [`or_skip`](crate::compute::Policy::or_skip). If the
//! process ends, the same program goes on: rows that are in the store are not read again, and cells that are stored are not
//! computed again. The example `annotate` is such a program, for CSV, JSON Lines and Parquet.
//!
//! A million rows of 200 characters in a SQLite file, with three columns of functions, take about 75 MB of memory. The benchmark
//! `rows` measures the same, kills the process at random points, and compares the tables byte for byte. A column that
//! reads its whole history, or a window of a million, needs that history in memory.
//!
//! [`recent(0)`]: crate::reopen::OpenOptions::recent
//!
//! # Values that a program has
//!
//! [`push_all`](crate::Flow::push_all) stores many values of a source, and `push_stream` those of a stream, with one write
//! for up to 512 values. For 10,000 values SQLite waits 70 times for the disk, and not 10,000 times:
//!
//! ```
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let reviews = flow! {
//!     source review;
//!     column topics(review.latest) = prompt("List the topics.");
//! };
//! assert_eq!(reviews.review.push_all(["Too slow.", "Very good indeed."]).await?, 2);
//! # Ok(()) }
//! ```
//!
//! [← looms](super::looms) · [contents](super) · [extensions →](super::extensions)
