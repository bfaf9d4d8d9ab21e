//! Write a flow as a table for other programs, and read such a table.
//!
//! [← looms](super::looms) · [contents](super) · [extensions →](super::extensions)
//!
//! A flow is a table with a row for each step. [`rows`](crate::rows) writes that table as JSON Lines and reads it:
//!
//! ```
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
//! read_json_lines(&store, rows.as_bytes()).await?;
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
//! `read_parquet` do the same in a smaller format that includes the types.
//!
//! The reader fills sources and computed columns alike: a table that one flow exported is imported by another, and
//! nothing is computed again. A `null` is no value; a source needs a value in every row.
//!
//! [← looms](super::looms) · [contents](super) · [extensions →](super::extensions)
