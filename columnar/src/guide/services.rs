//! Serve a flow: clients push and follow it while one task computes it.
//!
//! [← stores](super::stores) · [contents](super) · [migrations →](super::migrations)
//!
//! A [run](super::runs) computes while its reader polls it, and a flow has one run at a time. That fits a program with one
//! user. In a service several clients push, watch and leave, so the flow gets a task of its own:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::service::Spawned;
//! use columnar::testing::script;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column mood(user.latest)  = script(["annoyed", "curious"]);
//!         column answer(user, self) = script(["Since when?", "The backup."]);
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat: Spawned<Chat> = Chat::new().spawn();
//! let mut events = chat.subscribe();
//! chat.user.push("It is slow.").await?;                  // the task computes it
//!
//! let mut values = Vec::new();
//! while values.len() < 2 {
//!     if let Some(Event::Value { column, value, .. }) = events.next().await {
//!         values.push(format!("{column}: {value}"));
//!     }
//! }
//! assert_eq!(values, ["mood: annoyed", "answer: Since when?"]);
//!
//! let step = chat.user.push("Why?").await?;
//! chat.completed(step).await?;                           // without events
//! assert_eq!(chat.answer.get(step).as_deref(), Some("The backup."));
//! # Ok(()) }
//! ```
//!
//! A [`Spawned`](crate::service::Spawned) flow dereferences to the flow: columns and reads are as before. Clones are
//! handles to the same flow. A push is never refused, whoever else pushes or watches. `spawn` needs a tokio runtime, and a
//! flow whose compute steps borrow nothing.
//!
//! `cargo run --example server --features server -- chats.db` is a web service with all of this chapter.
//!
//! # Events for many clients
//!
//! Each [`Subscription`](crate::service::Subscription) yields all events from its [`Position`](crate::service::Position)
//! on: from now, from step 0, or from where an earlier one ended. It reads the stored values itself, when it is polled. So
//! a thousand of them cost the flow nothing, and a slow one delays nobody.
//!
//! - Values come once, in order: a value follows those that it was computed from.
//! - The deltas of a cell, joined since its last `Retry`, are its value. A client that comes in the middle gets the text
//!   from its beginning, and a slow one gets few long deltas.
//! - An error that ends a run is the `Failed` of its cell, and the subscription goes on.
//! - With [`with_sources`](crate::service::Subscription::with_sources) the values that others push are events as well.
//!
//! # Clients that return
//!
//! [`Event`](crate::Event) serialises as JSON in a stable form, and a position is a short text. That is all that
//! server-sent events need: the position is the ID of each event, and a browser returns it as `Last-Event-ID`.
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::service::Subscription;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! /// The next event, as a server sends it.
//! async fn next(events: &mut Subscription) -> Option<String> {
//!     let event = events.next().await?;
//!     let data = serde_json::to_string(&event).ok()?;
//!     Some(format!("id: {}\ndata: {data}\n\n", events.position()))
//! }
//!
//! let f = flow([column("answer", source("user").latest(), async |_: Context| "Rust")])?.spawn();
//! let mut events = f.subscribe().with_sources();
//! f.push("user", "Which language?").await?;
//! let sent = [next(&mut events).await, next(&mut events).await].map(Option::unwrap);
//! assert_eq!(sent, [
//!     "id: 0,user:1\ndata: {\"type\":\"value\",\"column\":\"user\",\"step\":0,\"value\":\"Which language?\"}\n\n",
//!     "id: 1\ndata: {\"type\":\"value\",\"column\":\"answer\",\"step\":0,\"value\":\"Rust\"}\n\n",
//! ]);
//!
//! // The client lost its connection after the first one, and returns.
//! let mut events = f.subscribe_from(&"0,user:1".parse()?).with_sources();
//! assert_eq!(next(&mut events).await, Some(sent[1].clone()));
//! # Ok(()) }
//! ```
//!
//! After it returns, a client gets each value that it has not seen, once. The deltas of cells in progress are repeated from
//! their beginning, so it discards unfinished texts when it connects.
//!
//! # Clients that leave, and the stop button
//!
//! A client that leaves cancels nothing, and the last one does not either: then the task computes all that was pushed,
//! stores it, and closes the flow. [`cancel`](crate::service::Spawned::cancel) is for a person who presses stop: it drops
//! the cells in progress. They are not stored, so they are computed after the next push or a
//! [`retry`](crate::service::Spawned::retry).
//!
//! # Errors
//!
//! An error ends the run, not the service. All subscriptions see the failed cell, all who wait get the error, and the task
//! waits for the next push or a `retry`. A model that is down is not called again and again; for that a column has
//! [`.retry(3)`](super::failures#retries). After a failed write the flow is closed, because only opening the store again
//! shows which values it has.
//!
//! # Many conversations
//!
//! [`Flows`](crate::service::Flows) holds the open flows of a service by key. Whoever opens a key that is open joins its
//! flow, and a flow that nobody uses is closed:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::service::Flows;
//! use columnar::store::FileStore;
//! use columnar::testing::script;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column answer(user, self) = script(["Since when?", "The backup."]);
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let folder = tempfile::tempdir().expect("a folder").keep();
//! let chats: Flows<String, Chat> = Flows::new(move |key| Chat::open(FileStore::new(folder.join(key))));
//! let (tab, other_tab) = (chats.open("ada").await?, chats.open("ada").await?);
//! let step = tab.user.push("It is slow.").await?;
//! other_tab.completed(step).await?;
//! assert_eq!(chats.len(), 1);
//! # Ok(()) }
//! ```
//!
//! The function may also set the model, the budget or the [spend limit](super::costs#a-limit) of the flow that it opens.
//!
//! With a `SqliteStore` for each key, all conversations are in one file, and those that are open share one connection. Its
//! keys may be any text. A `FileStore` takes a path, so check keys that clients send: they may lead out of the folder.
//!
//! The stores [list and delete](super::stores#many-flows) conversations. One that is open cannot be deleted.
//!
//! # Shutdown
//!
//! [`Flows::shutdown_timeout`](crate::service::Flows::shutdown_timeout) opens no more flows, starts no more cells, and
//! waits until those in progress are stored; after the limit it drops the others. Subscriptions end when they have read all
//! that is stored, so their connections close. The next process computes what is missing as soon as a flow is opened, and
//! nothing twice.
//!
//! [← stores](super::stores) · [contents](super) · [migrations →](super::migrations)
