//! A flow as a page: the columns, the cells with their requests, the bill, and what the caches of providers served.
//!
//! The page is one HTML file without scripts, which a browser opens from a disk. The [last steps](crate::guide::limits) are
//! shown in full. A request is shown as an edit of the column's previous request: the parts that it repeats are one line,
//! and the new parts have their text as it is sent. The same flow makes the same bytes, also after it is opened again.
//!
//! The page has the texts of the conversation. Text from users and models cannot change the page: markup is escaped,
//! nothing becomes a link, and the page forbids all scripts and requests to itself.
//!
//! ```text
//! flow ──▶ ReportedFlow ──▶ cells: requests as edits ──▶ page
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

mod cells;
mod collect;
mod edits;
mod markup;
mod page;

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
/// assert!(page.contains("&lt;b&gt;Hello&lt;/b&gt;") && !page.contains("<script"));
/// # Ok(()) }
/// ```
pub fn html<C, I>(flow: &LiveFlow<'_, C, I>) -> String {
    page::page(&ReportedFlow::new(&flow.shared)).into_string()
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
