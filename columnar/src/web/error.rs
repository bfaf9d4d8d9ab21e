//! The error of a page.

use std::fmt;
use std::time::Duration;

use super::shown::{Word, shown};

/// A page that could not be read. It shows the URL without its user, query and fragment, which may be secrets.
///
/// ```
/// use columnar::web::{WebError, WebFault};
///
/// let error = WebError::new("https://example.org/plan?key=secret", WebFault::Status(404));
/// assert_eq!(
///     error.to_string(),
///     "`https://example.org/plan?…` could not be read: the server replied with status 404 Not Found; check the URL"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebError {
    shown: String,
    /// The URL that a redirect led to, if the fault is there.
    hop: Option<String>,
    fault: WebFault,
}

impl WebError {
    /// The error of a URL, for a [`Fetch`](super::Fetch) of your own.
    pub fn new(url: &str, fault: WebFault) -> Self {
        Self { shown: shown(url), hop: None, fault }
    }

    pub(super) fn at_hop(mut self, url: &str) -> Self {
        self.hop = Some(shown(url));
        self
    }

    /// The URL without its user, query and fragment.
    pub fn url(&self) -> &str {
        &self.shown
    }

    /// The reason.
    pub const fn fault(&self) -> &WebFault {
        &self.fault
    }
}

impl fmt::Display for WebError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` could not be read", self.shown)?;
        if let Some(hop) = &self.hop {
            write!(f, ", which leads to `{hop}`")?;
        }
        write!(f, ": {}", self.fault)
    }
}

impl std::error::Error for WebError {}

/// The reason why a page could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WebFault {
    /// A text that is no URL of http or https.
    #[error("it is no URL; begin with `https://` and the name of a server")]
    Url,
    /// A URL with the name or password of a user.
    #[error("the URL has the name or the password of a user; leave it out")]
    User,
    /// A port that browsers refuse, too, because it belongs to another protocol.
    #[error("port {0} belongs to another protocol than HTTP; use another port")]
    Port(u16),
    /// An address that does not belong to the public internet: of this machine, of a private network or of a cloud.
    #[error("its address is not one of the public internet; allow it with `Web::allow` if it is harmless")]
    Private,
    /// A name without an address.
    #[error("the name of its server has no address; check the name, and the network")]
    Name,
    /// A server that does not listen, or has no valid certificate.
    #[error(
        "there is no connection to its server, or it has no valid certificate; check the URL, and try again later"
    )]
    Connect,
    /// The time for all of it: the connection, redirects, the reply and its text.
    #[error("it took longer than {0:?}; try again later, or allow more with `Web::timeout`")]
    TimedOut(Duration),
    /// More than five redirects.
    #[error("it redirects more than five times; use the URL that a browser ends at")]
    Redirects,
    /// A redirect to nowhere, or to something that is no URL.
    #[error("it redirects to something that is no URL; use the URL that a browser ends at")]
    Location,
    /// A status that is no success, or a part of a page that nobody asked for.
    #[error("the server replied with status {}", Status(*.0))]
    Status(u16),
    /// A type that is no text, such as `application/pdf`.
    #[error("its type is {}, and only text can be read; use a page of text", Word(.0))]
    Type(String),
    /// Bytes that are no text, under any declared type.
    #[error("it is not text; use a page of text")]
    Binary,
    /// A character encoding that browsers do not decode either, such as `iso-2022-kr`.
    #[error("its characters are in {}, which browsers do not read either; use another source", Word(.0))]
    Charset(String),
    /// A compression that was not asked for.
    #[error("its compression is {}, and only gzip can be read; use another source", Word(.0))]
    Encoding(String),
    /// A compressed body that is damaged or incomplete.
    #[error("its compressed text is damaged; try again")]
    Damaged,
    /// A connection that ended too early, or a reply that is no HTTP.
    #[error("the connection ended before the reply, or the reply is no HTTP; try again later")]
    Interrupted,
    /// A page without any text.
    #[error("it has no text; perhaps its text is made by JavaScript, which is not run")]
    Empty,
    /// A page that cannot be converted.
    #[error("it cannot be converted to text; use another source")]
    Unreadable,
    /// No client for encrypted connections.
    #[error("no client could be made; check that the system has root certificates")]
    NoClient,
}

/// A status, its name, and the next thing to do.
struct Status(u16);

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let status = reqwest::StatusCode::from_u16(self.0).ok();
        if let Some(name) = status.and_then(|status| status.canonical_reason()) {
            write!(f, " {name}")?;
        }
        f.write_str(match self.0 {
            206 => "; it is a part that nobody asked for, so try again later",
            401 | 402 | 403 | 407 | 451 => "; it may be for its members or for browsers only",
            429 | 500..=599 => "; try again later",
            _ => "; check the URL",
        })
    }
}
