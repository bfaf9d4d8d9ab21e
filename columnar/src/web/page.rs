//! A page, and its text within a limit.

use std::fmt;
use std::sync::Arc;

use crate::history::Value;

/// The longest title, in bytes.
const LONGEST_TITLE: usize = 300;

/// The text of a web page. Cloning it is a reference count.
///
/// ```
/// use columnar::web::Page;
///
/// let page = Page::new("https://example.org/plan", "We launch on Monday.").with_title("The plan");
/// assert_eq!((page.url(), page.title()), ("https://example.org/plan", Some("The plan")));
/// assert_eq!(page.text(), "We launch on Monday.");
/// assert!(!page.is_cut());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Page {
    url: Arc<str>,
    title: Option<Arc<str>>,
    text: Value,
    is_cut: bool,
}

impl Page {
    /// A page with a text, for a [`Fetch`](super::Fetch) of your own.
    pub fn new(url: impl Into<String>, text: impl Into<Value>) -> Self {
        Self { url: url.into().into(), title: None, text: text.into(), is_cut: false }
    }

    /// The page with a title, in which white space is one space and no control character is left. An empty title is none.
    #[must_use]
    pub fn with_title(mut self, title: &str) -> Self {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let title = title.replace(char::is_control, "");
        let end = title.floor_char_boundary(LONGEST_TITLE);
        self.title = title.get(..end).filter(|title| !title.is_empty()).map(Arc::from);
        self
    }

    /// The page with at most this number of bytes of text, and a mark at the end that says so. `is_cut` if the server had
    /// more.
    pub(super) fn cut(url: &str, text: &str, most: usize, is_cut: bool) -> Self {
        let is_cut = is_cut || text.len() > most;
        if !is_cut {
            return Self::new(url, text.to_owned());
        }
        let kept = text.get(..text.floor_char_boundary(most)).unwrap_or_default();
        Self {
            is_cut,
            ..Self::new(url, format!("{}\n\n… (the rest of the page is left out)", kept.trim_end()))
        }
    }

    /// The URL that the page was read from: behind redirects, and without a fragment.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its title, if it has one: a single line of at most 300 bytes.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Its text: Markdown if the page is HTML, and otherwise the text as the server sent it.
    pub fn text(&self) -> &Value {
        &self.text
    }

    /// Whether text is left out at the end, where a line with `…` says so.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Its title as a heading, unless the text begins with it, and its text.
    pub(super) fn document(&self) -> Value {
        match self.title() {
            Some(title) if !self.text.get(..title.len() + 8).unwrap_or(&self.text).contains(title) => {
                format!("# {title}\n\n{}", self.text).into()
            }
            _ => self.text.clone(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.url.len()
    }
}

/// The URL, the title and a length. The text would fill a screen.
impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut page = f.debug_struct("Page");
        page.field("url", &super::shown::shown(&self.url)).field("title", &self.title);
        page.field("bytes", &self.text.len()).field("is_cut", &self.is_cut).finish()
    }
}
