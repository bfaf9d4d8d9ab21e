//! `columnar serve`: the flows of a store in a browser, as they are computed by other programs.
//!
//! ```text
//! GET /                   the keys
//! GET /flow/KEY/live      a page that follows the flow
//! GET /flow/KEY/events    the events for it
//! GET /flow/KEY/report    the report
//! ```
//!
//! Nothing is written. On the address of this machine alone, a request must name this address, so that no page of another site
//! reaches the server under a name of its own. Elsewhere, a request needs the token that the command prints.

use std::collections::HashMap;
use std::future::IntoFuture as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use columnar::reopen::OpenOptions;
use columnar::report::{self, live};
use columnar::service::{Follower, ParsePositionError, Position};
use columnar::terminal::printable;
use columnar::{BoxError, Error, Flow};
use futures::stream::{Stream, unfold};
use maud::{DOCTYPE, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;

use crate::output::Output;
use crate::place::StorePlace;

const COOKIE: &str = "columnar-token";

/// The pause before a browser connects again.
const RETRY: Duration = Duration::from_secs(2);

/// What all requests share.
struct Served {
    place: StorePlace,
    address: SocketAddr,
    /// The token that a request needs; `None` on the address of this machine alone.
    token: Option<String>,
}

pub(crate) async fn serve(
    place: StorePlace,
    listen: SocketAddr,
    token: Option<String>,
    output: &mut Output,
) -> Result<(), BoxError> {
    if !listen.ip().is_loopback() && token.as_ref().is_none_or(|token| token.len() < 16) {
        return Err(
            "elsewhere than on 127.0.0.1 a token of at least 16 characters is needed: set COLUMNAR_TOKEN"
                .into(),
        );
    }
    let listener =
        TcpListener::bind(listen).await.map_err(|error| format!("{listen} cannot be used: {error}"))?;
    let address = listener.local_addr()?;
    let query = token.as_ref().map_or("", |_| "/?token=…");
    output.line(format_args!("listening on http://{address}{query}"))?;
    let served = Arc::new(Served { place, address, token });
    let router = Router::new()
        .route("/", get(index))
        .route("/flow/{key}/live", get(page))
        .route("/flow/{key}/events", get(events))
        .route("/flow/{key}/report", get(whole_report))
        .layer(middleware::from_fn_with_state(Arc::clone(&served), admit))
        .with_state(served);
    // Followers have nothing to finish.
    tokio::select! {
        served = axum::serve(listener, router).into_future() => Ok(served?),
        stopped = tokio::signal::ctrl_c() => Ok(stopped?),
    }
}

/// Refuses requests that are not meant for this server, or have no token; and keeps answers out of frames and caches.
async fn admit(State(served): State<Arc<Served>>, request: Request, next: Next) -> Response {
    let mut response = match served.check(&request) {
        Access::Granted => next.run(request).await,
        Access::WithToken(token) => {
            let cookie = format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/");
            ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response()
        }
        Access::Refused(reason) => (StatusCode::FORBIDDEN, reason).into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, value.parse().unwrap_or_else(|_| unreachable!("the values are ASCII")));
    }
    response
}

enum Access {
    Granted,
    /// The address had the token, which a cookie keeps from now on.
    WithToken(String),
    Refused(&'static str),
}

impl Served {
    fn check(&self, request: &Request) -> Access {
        let Some(token) = &self.token else {
            return match request.headers().get(header::HOST).and_then(|host| host.to_str().ok()) {
                Some(host) if self.is_own_name(host) => Access::Granted,
                _ => Access::Refused("this server answers to 127.0.0.1, ::1 and localhost alone"),
            };
        };
        let cookies =
            request.headers().get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
        let mut cookies =
            cookies.flat_map(|cookies| cookies.split("; ")).filter_map(|cookie| cookie.split_once('='));
        if cookies.any(|(name, value)| name == COOKIE && is_same(value, token)) {
            return Access::Granted;
        }
        let query = request.uri().query().and_then(|query| query.strip_prefix("token="));
        match query {
            Some(sent) if is_same(sent, token) => Access::WithToken(token.clone()),
            _ => Access::Refused("open the address with ?token= and the token behind it"),
        }
    }

    /// Whether this is the name of this machine, with the port. Another site can lead its own name to this address.
    fn is_own_name(&self, host: &str) -> bool {
        let port = self.address.port();
        ["127.0.0.1", "[::1]", "localhost"].iter().any(|name| host == format!("{name}:{port}"))
    }

    async fn open(&self, key: &str, steps: Option<usize>) -> Result<Flow, ErrorResponse> {
        let options = OpenOptions::new(self.place.store(key));
        Ok(Flow::open_stored(steps.into_iter().fold(options, OpenOptions::recent)).await?)
    }
}

/// Compares hashes, so that the time tells nothing about the token.
fn is_same(sent: &str, token: &str) -> bool {
    Sha256::digest(sent) == Sha256::digest(token)
}

/// The part of an address that names a flow: no key is an empty part, or one that a browser would resolve.
fn part_of(key: &str) -> String {
    format!("key:{}", utf8_percent_encode(key, NON_ALPHANUMERIC))
}

fn key_of(part: &str) -> Result<&str, ErrorResponse> {
    part.strip_prefix("key:")
        .ok_or_else(|| ErrorResponse(StatusCode::NOT_FOUND, "there is no such page".to_owned()))
}

async fn index(State(served): State<Arc<Served>>) -> Result<Html<String>, ErrorResponse> {
    let keys =
        served.place.keys().await.map_err(|error| ErrorResponse(StatusCode::NOT_FOUND, error.to_string()))?;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'";
                title { "Flows" }
                meta name="color-scheme" content="light dark";
            }
            body {
                main {
                    h1 { "Flows" }
                    ul {
                        @for key in &keys {
                            @let part = part_of(key);
                            @let name = if key.is_empty() { "the flow of this folder".to_owned() } else { printable(key) };
                            li {
                                bdi { (name) } ": "
                                a href={ "/flow/" (part) "/live" } { "as it is computed" } ", "
                                a href={ "/flow/" (part) "/report" } { "report" }
                            }
                        }
                    }
                    @if keys.is_empty() { p { "The store has no flow." } }
                }
            }
        }
    };
    Ok(Html(page.into_string()))
}

async fn page(
    State(served): State<Arc<Served>>,
    Path(part): Path<String>,
) -> Result<Html<String>, ErrorResponse> {
    Ok(Html(live::page(&served.open(key_of(&part)?, Some(live::STEPS)).await?)))
}

async fn whole_report(
    State(served): State<Arc<Served>>,
    Path(part): Path<String>,
) -> Result<Html<String>, ErrorResponse> {
    Ok(Html(report::html(&served.open(key_of(&part)?, None).await?)))
}

async fn events(
    State(served): State<Arc<Served>>,
    Path(part): Path<String>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, BoxError>>>, ErrorResponse> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let position = last.or(query.get("from").map(String::as_str)).unwrap_or("0").parse::<Position>()?;
    let follower = Follower::new(served.place.store(key_of(&part)?), &position);
    let stream = unfold(follower, |mut follower| async {
        // After an error the stream ends, and the browser connects again.
        let event = follower.next().await.ok()?;
        let data = live::event(&event, follower.receipt());
        let id = follower.position().to_string();
        Some((Ok(sse::Event::default().id(id).retry(RETRY).data(data)), follower))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()))
}

/// An error as a response.
struct ErrorResponse(StatusCode, String);

impl From<Error> for ErrorResponse {
    fn from(error: Error) -> Self {
        Self(StatusCode::NOT_FOUND, error.to_string())
    }
}

impl From<ParsePositionError> for ErrorResponse {
    fn from(error: ParsePositionError) -> Self {
        Self(StatusCode::BAD_REQUEST, error.to_string())
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}
