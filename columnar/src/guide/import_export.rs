//! A flow as a table for other programs.
//!
//! A flow is a table: a row per step, a column per column. [`rows`](crate::rows) writes it as one, and reads it:
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
//! In pandas that is `pandas.read_json("reviews.jsonl", lines=True, dtype=False)`, in DuckDB `select words, count(*)
//! from 'reviews.jsonl' group by words`. With the feature `parquet`, `write_parquet` and `read_parquet` do the same
//! in a form that is smaller and has its types with it.
//!
//! Rows that are read become values of sources and of computed columns alike: what was exported in one place is
//! imported in another, and nothing is computed again. A text that is null is no value; a source cannot be without
//! one.
//!
//! Next: [more columns on top of a flow](super::extensions).
