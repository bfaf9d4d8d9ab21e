//! A flow as a page: the columns, the cells with their requests, the bill, and what the caches of providers served.
//!
//! The page is one HTML file, which a browser opens from a disk, without a network. A request is shown as an edit of the
//! column's previous request: the parts that it repeats, the new ones, and those that are gone, each with its origin, its
//! tokens, about its price, and whether the provider's cache served it. A slider moves from step to step. The grid of steps
//! has all cells, the arrow keys reach each of them, and a text can be searched; 10,000 steps open at once, because rows are
//! drawn as they come into view. Without a script, the [last steps](crate::guide::limits) are there with the same facts.
//! Bills have plots, and the timeline shows when each cell called its model and what the run waited for. The same flow
//! makes the same bytes, also after it is opened again.
//!
//! The page has the texts of the conversation. Text from users and models cannot change the page: markup is escaped,
//! nothing becomes a link, and the page forbids itself all scripts but its own, and all requests.
//!
//! ```text
//! flow ──▶ ReportedFlow ──▶ ReportedCell: requests as edits ──┬─▶ articles, plots, timeline ──▶ page
//!                                  └─ in words                └─▶ blocks of JSON ──▶ page.js
//! ```
//!
//! ```
//! use columnar::model::Offline;
//! use columnar::prelude::*;
//! use columnar::report;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let chat = flow! {
//!     source user;
//!     column topics(user.latest)   = prompt("List the topics.");
//!     column assistant(user, self) = prompt("You are a helpful assistant.");
//! };
//! chat.set_model(Offline::new());
//! chat.user.push("I think we should rewrite the backend in Rust.").await?;
//! chat.run().await?;
//! let folder = tempfile::tempdir()?;
//! report::write(&chat, folder.path().join("report.html"))?;
//! # Ok(()) }
//! ```

mod blocks;
mod cells;
mod collect;
mod edits;
pub mod live;
mod markup;
mod page;
mod plots;
mod timeline;
mod words;

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use self::collect::ReportedFlow;
use crate::declare::error::shown;
use crate::flow::LiveFlow;

/// A report that was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[error(
    "the report {} was not written: {source}; name a file in a folder that you can write to",
    shown(path)
)]
pub struct ReportError {
    /// The path of the report.
    pub path: PathBuf,
    /// The reason.
    pub source: io::Error,
}

/// Writes the report of a flow to a file, which only its owner can read. A file that is there is replaced as a whole.
///
/// Cells that are not [in memory](LiveFlow::load) are named as such, so load them first.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::report;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let f = flow([column("topics", source("user").latest(), prompt("List the topics."))])?;
/// f.push("user", "Hello").await?;
/// let folder = tempfile::tempdir()?;
/// report::write(&f, folder.path().join("report.html"))?;
/// let error = report::write(&f, folder.path().join("missing/report.html")).expect_err("no such folder");
/// assert!(error.to_string().ends_with("; name a file in a folder that you can write to"));
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// [`ReportError`] if the file cannot be written.
pub fn write<C, I>(flow: &LiveFlow<'_, C, I>, path: impl AsRef<Path>) -> Result<(), ReportError> {
    let path = path.as_ref();
    replace(path, html(flow).as_bytes()).map_err(|source| ReportError { path: path.to_owned(), source })
}

/// The report of a flow as the text of an HTML page.
///
/// The contexts of the shown cells are assembled again, so filters and the counter of tokens are called.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::report;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let f = flow([column("topics", source("user").latest(), prompt("List the topics."))])?;
/// f.push("user", "<b>Hello</b>").await?;
/// let page = report::html(&f);
/// assert!(page.contains("&lt;b&gt;Hello&lt;/b&gt;") && !page.contains("<b>Hello"));
/// # Ok(()) }
/// ```
pub fn html<C, I>(flow: &LiveFlow<'_, C, I>) -> String {
    page::page(&ReportedFlow::new(&flow.shared).with_requests()).into_string()
}

/// The calls of a flow by time, as a trace that Chrome and [Perfetto](https://ui.perfetto.dev) open: a track for each column,
/// or several where cells overlap, with waiting and repeated calls.
///
/// The trace has the names of columns and models, tokens and cost, and no text of a conversation.
///
/// ```
/// use columnar::model::Offline;
/// use columnar::prelude::*;
/// use columnar::report;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let topics = prompt("List the topics.").model(Offline::new());
/// let f = flow([column("topics", source("user").latest(), topics)])?;
/// f.push("user", "Hello").await?;
/// f.run().await?;
/// let trace = report::trace(&f);
/// assert!(trace.starts_with(r#"{"displayTimeUnit":"ms","traceEvents":["#) && trace.contains("topics 0"));
/// # Ok(()) }
/// ```
pub fn trace<C, I>(flow: &LiveFlow<'_, C, I>) -> String {
    timeline::trace(&ReportedFlow::new(&flow.shared)).to_string()
}

/// Replaces a file by a rename, so that no reader sees half a page.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let Some(name) = path.file_name() else { return Err(io::ErrorKind::IsADirectory.into()) };
    let staged = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), process::id()));
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // A file that somebody else has put there is not written to.
    let mut file = options.write(true).create_new(true).open(&staged)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&staged, path));
    if written.is_err() {
        // The error of the write says more than one of the clean-up.
        let _ = fs::remove_file(&staged);
    }
    written
}
