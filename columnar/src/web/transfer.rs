//! One page over the network: redirects, the reply, its bytes, its text.

use std::error::Error;

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use tokio::task::coop::consume_budget;
use tokio::task::spawn_blocking;

use super::address;
use super::body::{Body, Bytes};
use super::content::{TextForm, Type};
use super::error::{WebError, WebFault};
use super::html;
use super::page::Page;
use super::resolver::{Allowed, CheckedResolver, Lookup, Refusal};
use crate::declare::default_limits::MOST_REDIRECTS;
use crate::declare::error::chain;

const AGENT: &str = concat!("columnar/", env!("CARGO_PKG_VERSION"));

const TYPES: &str =
    "text/html, application/xhtml+xml, text/markdown, text/plain, application/json, */*;q=0.5";

/// The limits of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) bytes: usize,
    pub(super) text: usize,
}

/// A client that follows nothing, decompresses nothing, remembers nothing, and connects only to addresses that are allowed.
pub(super) fn client(allowed: Allowed, lookup: Lookup) -> Option<Client> {
    Client::builder()
        .user_agent(AGENT)
        // Each redirect is checked as the first URL was.
        .redirect(Policy::none())
        .referer(false)
        // A proxy would connect to addresses that nobody has checked.
        .no_proxy()
        .dns_resolver(CheckedResolver { allowed, lookup })
        // Another crate of the program may enable these features of the client.
        .no_gzip()
        .no_brotli()
        .no_deflate()
        .no_zstd()
        // An idle connection would belong to the runtime that made it, and few pages are on one server.
        .pool_max_idle_per_host(0)
        .build()
        .ok()
}

/// Reads a page.
pub(super) async fn page(
    client: &Client,
    allowed: &Allowed,
    limits: Limits,
    asked: &str,
) -> Result<Page, WebError> {
    let error = |fault| WebError::new(asked, fault);
    let mut url = address::parsed(asked).map_err(error)?;
    let mut redirects = 0;
    loop {
        let failed = |fault| {
            if redirects == 0 { error(fault) } else { error(fault).at_hop(url.as_str()) }
        };
        let response = reply(client, allowed, &url).await.map_err(failed)?;
        let next = match response.status().as_u16() {
            301 | 302 | 303 | 307 | 308 => target(&url, &response).map_err(|(fault, hop)| match hop {
                Some(hop) => error(fault).at_hop(hop.as_str()),
                None => failed(fault),
            })?,
            // A part must not pass for the whole.
            status if status != 206 && response.status().is_success() => {
                return text(&url, response, limits).await.map_err(failed);
            }
            status => return Err(failed(WebFault::Status(status))),
        };
        redirects += 1;
        if redirects > MOST_REDIRECTS {
            return Err(error(WebFault::Redirects));
        }
        url = next;
    }
}

async fn reply(client: &Client, allowed: &Allowed, url: &Url) -> Result<Response, WebFault> {
    // The client looks up names alone, so an address is checked here.
    if address::literal(url).is_some_and(|address| !allowed.allows(address)) {
        return Err(WebFault::Private);
    }
    let request = client.get(url.clone()).header(ACCEPT, TYPES).header(ACCEPT_ENCODING, "gzip");
    request.send().await.map_err(|error| fault(&error))
}

/// The fault of a request. All other words of the client may have the address.
fn fault(error: &reqwest::Error) -> WebFault {
    let refusal = chain(error as &(dyn Error + 'static)).find_map(|error| error.downcast_ref::<Refusal>());
    match refusal {
        Some(Refusal(fault)) => fault.clone(),
        None if error.is_connect() => WebFault::Connect,
        None => WebFault::Interrupted,
    }
}

/// The URL that a reply leads to, or its fault. The fault belongs to the URL there, if there is one.
fn target(url: &Url, response: &Response) -> Result<Url, (WebFault, Option<Url>)> {
    // Browsers read these bytes as UTF-8, too.
    let location = response.headers().get(LOCATION).and_then(|it| std::str::from_utf8(it.as_bytes()).ok());
    let location = location.ok_or((WebFault::Location, None))?;
    address::joined(url, location).map_err(|fault| {
        let hop = url.join(location).ok().filter(|_| fault != WebFault::Location);
        (fault, hop)
    })
}

async fn text(url: &Url, mut response: Response, limits: Limits) -> Result<Page, WebFault> {
    let [kind, encoding] = [CONTENT_TYPE, CONTENT_ENCODING]
        .map(|name| response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes())));
    let kind = Type::new(kind.as_deref())?;
    let mut body = Body::new(encoding.as_deref(), limits.bytes)?;
    // A page that is too long is cut, since its beginning is what a person would read. One that breaks off is an error: a part
    // must not pass for the whole.
    while let Some(bytes) = response.chunk().await.map_err(|_| WebFault::Interrupted)? {
        if !body.push(&bytes)? {
            break;
        }
        // Bytes that are always there would keep the time limit from being looked at.
        consume_budget().await;
    }
    drop(response);
    let body = body.finish()?;
    let url = url.clone();
    // A hostile page may take a second or two, in which other tasks would wait.
    let converted = spawn_blocking(move || convert(&url, &kind, &body, limits.text));
    converted.await.map_err(|_| WebFault::Unreadable)?
}

fn convert(url: &Url, kind: &Type, body: &Bytes, most: usize) -> Result<Page, WebFault> {
    let (form, text) = kind.text(&body.bytes, body.is_cut)?;
    let page = match form {
        TextForm::Plain => Page::cut(url.as_str(), &text, most, body.is_cut),
        TextForm::Html => {
            let html = html::read(&text, url);
            Page::cut(url.as_str(), &html.text, most, body.is_cut).with_title(&html.title)
        }
    };
    if page.text().trim().is_empty() { Err(WebFault::Empty) } else { Ok(page) }
}
