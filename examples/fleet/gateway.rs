//! The gateway: clients push to conversations and follow them over HTTP.

use std::convert::Infallible;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{self, KeepAlive, Sse};
use axum::routing::{get, post};
use columnar::BoxError;
use columnar::engine::{EngineError, FlowClient};
use columnar::prelude::*;
use columnar::service::Position;
use futures::stream::{Stream, unfold};
use tokio::net::TcpListener;
use tokio::signal::ctrl_c;
use tokio::time::sleep;

use crate::servers::Servers;

/// Prints the address, and serves.
pub(crate) async fn serve_until_interrupted(engine: &str) -> Result<(), BoxError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let routes = Router::new()
        .route("/chats/{key}", post(push))
        .route("/chats/{key}/events", get(events))
        .with_state(Servers::of_environment(engine)?.client().await?);
    tokio::select! {
        served = async { axum::serve(listener, routes).await } => Ok(served?),
        _ = ctrl_c() => Ok(()),
    }
}

/// Stores a message. A client that has no reply sends it again with the same key, and it is stored once.
async fn push(
    State(chats): State<FlowClient>,
    Path(key): Path<String>,
    headers: HeaderMap,
    text: String,
) -> Result<String, (StatusCode, String)> {
    let mut chat = chats.flow(key);
    if let Some(request) = headers.get("idempotency-key").and_then(|key| key.to_str().ok()) {
        chat = chat.request(request);
    }
    match chat.push("user", text).await {
        Ok(step) => Ok(step.to_string()),
        Err(error @ EngineError::Refused(_)) => Err((StatusCode::UNPROCESSABLE_ENTITY, error.to_string())),
        Err(error) => Err((StatusCode::SERVICE_UNAVAILABLE, error.to_string())),
    }
}

/// The events after the position that the client sends, or since step 0.
async fn events(
    State(chats): State<FlowClient>,
    Path(key): Path<String>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, Infallible>>>, (StatusCode, String)> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()).unwrap_or("0");
    let position: Position = last.parse().map_err(|_| (StatusCode::BAD_REQUEST, "no position".to_owned()))?;
    let events = chats.flow(key).events(&position);
    let stream = unfold(events, |mut events| async {
        let event = loop {
            match events.next().await {
                Ok(event) => break event,
                // There is no message yet, or the database is away.
                Err(_) => sleep(secs(1)).await,
            }
        };
        let data = serde_json::to_string(&event).unwrap_or_default();
        let sent = sse::Event::default().id(events.position().to_string()).data(data);
        Some((Ok(sent), events))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()))
}
