//! The client of web pages: its settings, and its cache.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::FutureExt;
use reqwest::Client;
use tokio::time::timeout;

use super::address;
use super::cache::Cache;
use super::error::{WebError, WebFault};
use super::page::Page;
use super::pages::Fetch;
use super::resolver::{Allowed, Lookup, of_the_system};
use super::transfer::{self, Limits};
use crate::declare::default_limits::{PAGE_BYTES, PAGE_LIFETIME, PAGE_TEXT_BYTES, PAGE_TIMEOUT};
use crate::model::http::without_logs;

/// A client that reads web pages, and keeps them for a while. Cloning it is a reference count: clones have the same cache.
///
/// It reads with the trait [`Fetch`]. Each setting returns a client with an empty cache of its own, so set everything
/// before the first page.
///
/// ```no_run
/// use columnar::web::{Fetch, Web};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::web::WebError> {
/// let web = Web::new().timeout(Duration::from_secs(5)).max_text(20_000);
/// let page = web.fetch("https://doc.rust-lang.org/book/").await?;
/// println!("{:?}: {}", page.title(), page.text());
/// # Ok(()) }
/// ```
///
/// [`web`](super#safety) lists its requests and the addresses that it refuses.
#[derive(Clone)]
pub struct Web {
    settings: Settings,
    shared: Arc<Shared>,
}

#[derive(Clone)]
struct Settings {
    timeout: Duration,
    limits: Limits,
    lifetime: Duration,
    allowed: Allowed,
    lookup: Lookup,
}

#[derive(Default)]
struct Shared {
    /// Made for the first page. `None` if the system has no root certificates.
    client: OnceLock<Option<Client>>,
    cache: Cache,
}

impl Web {
    /// A client with the default settings: ten seconds, 2 MiB, 100,000 bytes of text, five minutes in the cache, and the
    /// public internet alone.
    pub fn new() -> Self {
        let settings = Settings {
            timeout: PAGE_TIMEOUT,
            limits: Limits { bytes: PAGE_BYTES, text: PAGE_TEXT_BYTES },
            lifetime: PAGE_LIFETIME,
            allowed: Allowed::default(),
            lookup: of_the_system(),
        };
        Self { settings, shared: Arc::default() }
    }

    fn with(mut self, set: impl FnOnce(&mut Settings)) -> Self {
        set(&mut self.settings);
        // Another client may not be allowed to read the pages of this one.
        self.shared = Arc::default();
        self
    }

    /// The longest time for a page: the connection, all redirects, the reply and its conversion to text. The default is 10
    /// seconds.
    #[must_use]
    pub fn timeout(self, time: Duration) -> Self {
        self.with(|settings| settings.timeout = time)
    }

    /// The largest number of bytes that are read of a page, as the server sends them and after they are decompressed. The
    /// rest of a longer page is left out, and its text [says so](Page::is_cut). The default is 2 MiB.
    #[must_use]
    pub fn max_bytes(self, bytes: usize) -> Self {
        self.with(|settings| settings.limits.bytes = bytes)
    }

    /// The largest number of bytes of a page's text. The rest is left out, and a line at the end
    /// [says so](Page::is_cut). The default is 100,000, which are about 25,000 tokens of English.
    #[must_use]
    pub fn max_text(self, bytes: usize) -> Self {
        self.with(|settings| settings.limits.text = bytes)
    }

    /// The time for which a page is kept, and the same URL is not asked for again. It begins when the page was read. The
    /// default is five minutes, and with [`Duration::ZERO`] nothing is kept. The 64 latest pages are kept, of 16 MiB
    /// together; failures are not.
    #[must_use]
    pub fn lifetime(self, time: Duration) -> Self {
        self.with(|settings| settings.lifetime = time)
    }

    /// Allows an address that is not one of the public internet, such as a wiki in the own network. Names that lead
    /// to it are allowed, too, and so are all ports and redirects there.
    ///
    /// ```
    /// use columnar::web::Web;
    /// use std::net::IpAddr;
    ///
    /// let web = Web::new().allow(IpAddr::from([192, 168, 0, 7]));
    /// ```
    #[must_use]
    pub fn allow(self, address: IpAddr) -> Self {
        self.with(|settings| settings.allowed.addresses.push(address))
    }

    /// Allows all addresses: of this machine, of the own network, and of the metadata of a cloud. A person who chooses a
    /// URL can then read pages that only this machine can read.
    #[must_use]
    pub fn allow_private(self) -> Self {
        self.with(|settings| settings.allowed.is_all = true)
    }

    /// Looks names up with a function instead of the system. The addresses that it returns are checked like all others.
    ///
    /// ```
    /// use columnar::web::Web;
    /// use std::net::IpAddr;
    ///
    /// let web = Web::new().resolver(|name| async move {
    ///     match name.as_str() {
    ///         "wiki.example" => Ok(vec![IpAddr::from([192, 168, 0, 7])]),
    ///         _ => Err(std::io::ErrorKind::NotFound.into()),
    ///     }
    /// });
    /// ```
    #[must_use]
    pub fn resolver<F, R>(self, resolve: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        self.with(|settings| settings.lookup = Arc::new(move |name| resolve(name).boxed()))
    }

    /// A page that nobody has read lately.
    async fn read(self, key: String, url: String) -> Result<Page, WebError> {
        let Settings { timeout: limit, limits, lifetime, allowed, lookup } = self.settings;
        let client = self.shared.client.get_or_init(|| transfer::client(allowed.clone(), lookup));
        let Some(client) = client else { return Err(WebError::new(&url, WebFault::NoClient)) };
        let page = timeout(limit, transfer::page(client, &allowed, limits, &url));
        let page = without_logs(page).await.map_err(|_| WebError::new(&url, WebFault::TimedOut(limit)))??;
        if !lifetime.is_zero() {
            self.shared.cache.keep(&key, &page);
        }
        Ok(page)
    }
}

impl Fetch for Web {
    /// Reads a page, or returns it from the cache. Several calls for one URL at the same time are one request, which ends
    /// when all of them are dropped.
    async fn fetch(&self, url: &str) -> Result<Page, WebError> {
        let key = String::from(address::parsed(url).map_err(|fault| WebError::new(url, fault))?);
        let cache = &self.shared.cache;
        cache
            .find(&key, self.settings.lifetime, || self.clone().read(key.clone(), url.to_owned()).boxed())
            .await
    }
}

impl Default for Web {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { timeout, limits, lifetime, allowed, .. } = &self.settings;
        f.debug_struct("Web")
            .field("timeout", timeout)
            .field("max_bytes", &limits.bytes)
            .field("max_text", &limits.text)
            .field("lifetime", lifetime)
            .field("allowed", allowed)
            .finish_non_exhaustive()
    }
}
