//! The pages that a prompt names, each with its result.

use std::fmt;
use std::future::Future;

use futures::future::join_all;

use super::error::WebError;
use super::page::Page;
use super::shown::shown;
use crate::context::documents::{Update, urls};

/// A reader of pages: [`Web`](super::Web), or one of your own with known pages for tests.
///
/// ```
/// use columnar::web::{Fetch, Page, WebError, WebFault};
///
/// /// Has one page.
/// struct Shelf;
///
/// impl Fetch for Shelf {
///     async fn fetch(&self, url: &str) -> Result<Page, WebError> {
///         match url {
///             "https://a.example/plan" => Ok(Page::new(url, "We launch on Monday.").with_title("The plan")),
///             _ => Err(WebError::new(url, WebFault::Status(404))),
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let pages = Shelf.pages("Compare https://a.example/plan and https://a.example/team.").await;
/// assert_eq!(pages.found().next().map(|page| page.text().as_str()), Some("We launch on Monday."));
/// assert_eq!(pages.errors().count(), 1);
/// # }
/// ```
pub trait Fetch {
    /// Reads a page.
    ///
    /// # Errors
    ///
    /// [`WebError`] if it could not be read.
    fn fetch(&self, url: &str) -> impl Future<Output = Result<Page, WebError>> + Send;

    /// Reads the pages that a text names, at most three and all at once. See [`urls`](crate::documents::urls) for what is
    /// taken for a URL.
    fn pages(&self, text: &str) -> impl Future<Output = Pages> + Send
    where
        Self: Sync,
    {
        async move {
            let read = urls(text).into_iter().map(async |url| (url.to_owned(), self.fetch(url).await));
            Pages { read: join_all(read).await }
        }
    }

    /// The pages that a text names as an update, with a note for each that could not be read: see [`Pages::update`].
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::testing::script;
    /// use columnar::web::{Fetch, Web};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let desk = flow! {
    ///     source files: Documents;
    ///     source user;
    ///     column answer(files.tiered(), user, self) = script(["I cannot read that page."]);
    /// };
    /// let (web, prompt) = (Web::new(), "Please summarise http://localhost/plan.");
    /// desk.files.push(web.update(prompt).await).await?;
    /// desk.user.push(prompt).await?;
    /// desk.run().await?;
    /// assert!(desk.answer.messages(0)?.to_json().contains("This page could not be read"));
    /// # Ok(()) }
    /// ```
    fn update(&self, text: &str) -> impl Future<Output = Update> + Send
    where
        Self: Sync,
    {
        async move { self.pages(text).await.update() }
    }
}

/// The pages that a text names, and the errors of those that could not be read.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Pages {
    /// By the URL as it was written.
    read: Vec<(String, Result<Page, WebError>)>,
}

impl Pages {
    /// The pages that were read, in the order of the text.
    pub fn found(&self) -> impl Iterator<Item = &Page> {
        self.read.iter().filter_map(|(_, page)| page.as_ref().ok())
    }

    /// The errors of the others, for the person.
    pub fn errors(&self) -> impl Iterator<Item = &WebError> {
        self.read.iter().filter_map(|(_, page)| page.as_ref().err())
    }

    /// The pages as documents, each under the URL as it was written, with its title as a heading. A page that could not be
    /// read is a note for the model with the reason, so the conversation goes on and the model does not make up the text.
    ///
    /// Without URLs the update changes nothing.
    pub fn update(&self) -> Update {
        self.read.iter().fold(Update::new(), |update, (url, page)| match page {
            Ok(page) => update.url(url, page.document()),
            Err(error) => update.url(url, format!("This page could not be read: {}.", error.fault())),
        })
    }

    /// The update, if all pages were read.
    ///
    /// # Errors
    ///
    /// [`MissingPages`] names all faults, and has the pages that were read.
    pub fn complete(self) -> Result<Update, MissingPages> {
        if self.errors().next().is_some() { Err(MissingPages { pages: self }) } else { Ok(self.update()) }
    }
}

/// The URLs without their users and queries, each with its result.
impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.read.iter().map(|(url, page)| (shown(url), page))).finish()
    }
}

/// Some pages of a text could not be read. It names all faults, one a line.
///
/// ```
/// use columnar::web::{Fetch, Web};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let text = "Compare http://localhost/a and http://127.0.0.1/b.";
/// let missing = Web::new().pages(text).await.complete().expect_err("no page of this machine is read");
/// assert_eq!(missing.to_string().lines().count(), 2);
/// let update = missing.pages().update();                 // with the pages that were read, and notes for the others
/// assert!(!update.is_empty());
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingPages {
    pages: Pages,
}

impl MissingPages {
    /// All pages, with which the program may go on.
    pub const fn pages(&self) -> &Pages {
        &self.pages
    }
}

impl fmt::Display for MissingPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.pages.errors().enumerate() {
            write!(f, "{}{error}", if at > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for MissingPages {}
