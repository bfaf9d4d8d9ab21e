//! Web pages as documents: the URLs in a prompt, fetched as readable text.
//!
//! ```no_run
//! use columnar::prelude::*;
//! use columnar::web::{Fetch, Web};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let desk = flow! {
//!     source files: Documents;
//!     source user;
//!     column answer(files.tiered(), user, self) = prompt("Answer from the pages.");
//! };
//! let (web, text) = (Web::new(), "Summarise https://doc.rust-lang.org/book/ch01-00-getting-started.html, please.");
//! desk.files.push(web.update(text).await).await?;
//! desk.user.push(text).await?;
//! desk.run().await?;
//! # Ok(()) }
//! ```
//!
//! [`Web`] is a client with settings and a cache, [`Fetch`] its trait, which tests implement with known pages. [`fetch`]
//! reads one page.
//!
//! # The text of a page
//!
//! HTML becomes Markdown, with headings, lists, tables, code and links. An article is read without what is around it, as in
//! the reading mode of a browser. A page of documentation, a list, or any other page is read in full: the element `main`, or
//! the articles, or everything but the navigation. Characters that Markdown would read are escaped. Beyond 20,000 elements,
//! or 64 in each other, the words stay and their marks are left out. Text, Markdown, JSON, XML and other types of text stay
//! as they are, in UTF-8. Everything else is refused. No JavaScript runs, so a page that is made by it may have no text.
//!
//! At most 2 MiB of a page are read, and at most 100,000 bytes of its text are kept: a person pays for each token. A longer
//! page ends with a line that says so.
//!
//! # Safety
//!
//! Somebody else may have written the URL, the page, or both. So a request reaches the public internet alone:
//!
//! - Addresses of this machine, of private networks, of a network's neighbours and of the metadata of clouds are refused,
//!   in each form of an address, behind names, and behind each of at most five redirects. The client connects to the
//!   addresses that were checked, so a name whose address changes gains nothing.
//! - Only http and https are spoken, through no proxy, and not to the ports that browsers refuse. A URL with a user or a
//!   password is refused. A redirect may lead from https to http, as in a browser.
//! - A page has 10 seconds and 2 MiB in all, however it is sent, redirected or compressed.
//! - Requests have no cookies and no credentials, and name this library and its version.
//! - Errors show no query of a URL, and a subscriber of the crate tracing sees no request. To a logger of the crate log, the
//!   HTTP client names the server at the level `debug`.
//!
//! Two things no client can decide. A page may try to persuade the model: its fence is no security boundary. And a URL that
//! a *model* wrote may carry parts of the conversation to a server, so fetch the URLs of the person.

mod address;
mod body;
mod cache;
mod client;
mod content;
mod error;
mod html;
mod page;
mod pages;
mod public;
mod resolver;
mod shown;
mod transfer;

use std::sync::OnceLock;

pub use client::Web;
pub use error::{WebError, WebFault};
pub use page::Page;
pub use pages::{Fetch, MissingPages, Pages};

/// Reads a page with the default settings. All calls in the program have one cache.
///
/// ```
/// use columnar::web::{self, WebFault};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let error = web::fetch("http://127.0.0.1:8080/admin").await.expect_err("it is this machine");
/// assert_eq!(error.fault(), &WebFault::Private);
/// # }
/// ```
///
/// # Errors
///
/// [`WebError`] if it could not be read.
pub async fn fetch(url: &str) -> Result<Page, WebError> {
    static WEB: OnceLock<Web> = OnceLock::new();
    WEB.get_or_init(Web::new).fetch(url).await
}
