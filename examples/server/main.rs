//! A web service: conversations in one SQLite file, which clients push to and follow over HTTP.
//!
//! ```text
//! cargo run --example server --features server -- chats.db          listens on http://127.0.0.1:3000
//! curl -d 'Which language?' localhost:3000/chats/ada                stores a message, which is answered
//! curl -N localhost:3000/chats/ada/events                           the events since step 0, and then as they come
//! open http://127.0.0.1:3000/chats/ada/live                         a page that shows the columns as they stream
//! curl localhost:3000/chats/ada                                     the values so far
//! curl -d 'Call me.' localhost:3000/chats/ada/answers/person/3      the answer of a person, which the page takes as well
//! curl -X POST localhost:3000/chats/ada/cancel                      drops the answers in progress
//! ```
//!
//! Events are server-sent: the ID of each event is the position after it. A browser returns the last ID as
//! `Last-Event-ID` when it connects again, and gets the missed events. `?from=` has the same effect. Ctrl-C stores the
//! cells in progress and ends; the next start continues.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use columnar::BoxError;
use columnar::prelude::*;
use columnar::report::live;
use columnar::service::{Flows, ParsePositionError, Position};
use columnar::store::SqliteStore;
use columnar_examples::exit_code;
use futures::stream::{Stream, unfold};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

flow! {
    /// A chat that tracks topics and keeps a running summary.
    pub struct Chat {
        /// What the person typed.
        source user;

        column topics(user.latest)        = prompt("Extract the main topics as a comma-separated list.");
        column summary(user, self.latest) = prompt("Update the running summary with the latest message.");
        column critique(summary.latest.as("digest"), user.latest) = prompt("Identify weak reasoning.");
        column assistant(user, self)      = prompt("You are a helpful assistant.");
        /// A person answers those who ask for one.
        column person(user.latest.filter(asks_for_a_person)) =
            external().default(|_| "Thank you. I am a person, and I look into it.");
    }
}

fn asks_for_a_person(message: &str) -> bool {
    message.to_lowercase().contains("person")
}

/// The open conversations, by key.
type Chats = Flows<String, Chat>;

#[tokio::main]
async fn main() -> ExitCode {
    exit_code(start(std::env::args_os().skip(1)).await)
}

async fn start(mut arguments: impl Iterator<Item = OsString>) -> Result<(), BoxError> {
    let file = arguments.next().map(PathBuf::from);
    let file =
        file.ok_or("the file is missing, as in `cargo run --example server --features server -- chats.db`")?;
    let address = arguments.next().map_or(Ok("127.0.0.1:3000".to_owned()), OsString::into_string);
    let listener = TcpListener::bind(address.map_err(|_| "the address is not UTF-8")?).await?;
    anstream::println!("model: {}", columnar_examples::model()?);
    anstream::println!("listening on http://{}", listener.local_addr()?);

    let chats = Chats::new(move |key| Chat::open(SqliteStore::new(&file, key)));
    serve(listener, chats, async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await
}

/// Serves the conversations until `stop`, and then ends what is in progress.
async fn serve(
    listener: TcpListener,
    chats: Chats,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), BoxError> {
    let (stopping, stopped) = oneshot::channel::<()>();
    // No connection is taken from then on. A browser that finds no server connects again, and gives up after an error.
    let stop = async move {
        stop.await;
        drop(stopping);
    };
    let served = axum::serve(listener, router(chats.clone())).with_graceful_shutdown(stop);
    let ended = async {
        // Nothing is sent: the wait ends when the sender is dropped.
        drop(stopped.await);
        // The streams of events end with the flows, and so do the connections.
        chats.shutdown_timeout(secs(30)).await
    };
    let (served, _) = tokio::join!(served.into_future(), ended);
    Ok(served?)
}

fn router(chats: Chats) -> Router {
    Router::new()
        .route("/chats/{key}", get(read).post(push))
        .route("/chats/{key}/events", get(events))
        .route("/chats/{key}/live", get(page))
        .route("/chats/{key}/answers/{column}/{step}", post(answer))
        .route("/chats/{key}/cancel", post(cancel))
        .with_state(chats)
}

/// Stores a message. The client need not wait for the answers, and cancels no answer by leaving.
async fn push(
    State(chats): State<Chats>,
    Path(key): Path<String>,
    text: String,
) -> Result<Response, Refusal> {
    let step = chats.open(key).await?.user.push(text).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "step": step }))).into_response())
}

/// The values so far, and the position after them.
async fn read(State(chats): State<Chats>, Path(key): Path<String>) -> Result<Response, Refusal> {
    let chat = chats.open(key).await?;
    // First: a value that is stored meanwhile comes twice, and none is missed.
    let position = chat.position().to_string();
    let values = |step| {
        let columns = Chat::ORDER.iter();
        columns.map(|column| Ok((column, chat.try_get(column, step)?))).collect::<Result<BTreeMap<_, _>>>()
    };
    let steps = (0..chat.user.len()).map(values).collect::<Result<Vec<_>>>()?;
    Ok(Json(json!({ "position": position, "steps": steps })).into_response())
}

/// Stores the answer of a person.
async fn answer(
    State(chats): State<Chats>,
    Path((key, column, step)): Path<(String, String, usize)>,
    text: String,
) -> Result<StatusCode, Refusal> {
    chats.open(key).await?.answer(column, step, text).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The page that follows a conversation by its events, and takes the answers of people.
async fn page(State(chats): State<Chats>, Path(key): Path<String>) -> Result<Html<String>, Refusal> {
    let chat = chats.open(key).await?;
    Ok(Html(live::answer_page(&*chat)))
}

/// The events after the position that the client sends, or since step 0.
async fn events(
    State(chats): State<Chats>,
    Path(key): Path<String>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, Infallible>>>, Refusal> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let position = last.or(query.get("from").map(String::as_str)).unwrap_or("0").parse::<Position>()?;
    let chat = chats.open(key).await?;
    let events = chat.subscribe_from(&position).with_sources();
    let stream = unfold((chat, events), |(chat, mut events)| async {
        let event = events.next().await?;
        let receipt = chat.try_receipt(event.column(), event.step()).ok().flatten();
        let id = events.position().to_string();
        let data = match &event {
            Event::Pending { column, step } => {
                let mut pending = chat.pending().unwrap_or_default().into_iter();
                let cell = pending.find(|cell| cell.column == *column && cell.step == *step);
                cell.map(|cell| live::pending(&cell))
            }
            _ => None,
        };
        let data = data.unwrap_or_else(|| live::event(&event, receipt.as_deref()));
        let sent = sse::Event::default().id(id).data(data);
        Some((Ok(sent), (chat, events)))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()))
}

/// The stop button: the answers in progress are dropped, and computed after the next message.
async fn cancel(State(chats): State<Chats>, Path(key): Path<String>) -> Result<StatusCode, Refusal> {
    chats.open(key).await?.cancel();
    Ok(StatusCode::NO_CONTENT)
}

/// An error as a response.
struct Refusal(StatusCode, String);

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        // An error of the store: the flow has been closed, and the next request opens it again.
        let status = match error {
            Error::UnknownColumn { .. } | Error::NotExternal { .. } => StatusCode::NOT_FOUND,
            Error::Answered { .. } | Error::Missing { .. } | Error::Skipped { .. } => StatusCode::CONFLICT,
            Error::Closed | Error::Open { .. } | Error::Store { .. } => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(status, error.to_string())
    }
}

impl From<ParsePositionError> for Refusal {
    fn from(error: ParsePositionError) -> Self {
        Self(StatusCode::BAD_REQUEST, error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "error": self.1 }))).into_response()
    }
}

#[cfg(test)]
mod tests;
