//! Serve a flow: clients push values and follow events while one task computes.
//!
//! Chapter 26 of 37 · [← stores](super::stores) · [contents](super) · [scale →](super::scale)
//!
//! A [run](super::runs) computes while the program polls the run, and a flow has one run at a time. That fits a program
//! with one user. In a service several clients push, watch and leave, so the flow gets a separate task:
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
//! handles to the same flow. A push is never refused, no matter who else pushes or watches. `spawn` needs a tokio
//! runtime, and a flow whose compute steps borrow nothing.
//!
//! `cargo run --example server --features server -- chats.db` is a web service with all of this chapter.
//!
//! # Events for many clients
//!
//! Each [`Subscription`](crate::service::Subscription) yields all events from a [`Position`](crate::service::Position)
//! on: from now, from step 0, or from where an earlier subscription ended. A poll of the subscription reads the stored
//! values. So a thousand subscriptions cost the flow nothing, and a slow one delays nobody.
//!
//! - Values come once, in order: a value follows the values that it was computed from.
//! - The deltas of a cell, joined since the last `Retry`, are its value. A client that comes in the middle gets the
//!   text from the first byte, and a slow client gets few long deltas.
//! - An error that ends a run is the `Failed` of the failed cell, and the subscription goes on.
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
//! After the return, a client gets each value that it has not seen, once. The deltas of cells in progress are repeated
//! from the first byte, so a client discards unfinished texts when it connects.
//!
//! # Clients that leave, and the stop button
//!
//! A client that leaves cancels nothing. When the last client leaves, the task computes all that was pushed, stores the
//! values, and closes the flow. [`cancel`](crate::service::Spawned::cancel) is for a person who presses stop: the cells
//! in progress are dropped and not stored, and are computed after the next push or a
//! [`retry`](crate::service::Spawned::retry).
//!
//! # Errors
//!
//! An error ends the run, not the service. All subscriptions see the failed cell, all who wait get the error, and the
//! task waits for the next push or a `retry`. A model that is down is not called again and again; for that a column has
//! [`.retry(3)`](super::failures#retries). After a failed write the flow is closed, because only a new opening of the
//! store shows which values are stored.
//!
//! # Many conversations
//!
//! [`Flows`](crate::service::Flows) holds the open flows of a service by key. A client that opens the key of an open
//! flow joins that flow, and a flow that nobody uses is closed:
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
//! With a `SqliteStore` for each key, all conversations are in one file, and all open conversations share one
//! connection. In PostgreSQL, `Flows::new(move |key| Chat::open(chats.flow(key)))` opens all conversations on the four
//! connections of the store `chats`. The keys may be any text. A `FileStore` takes a path, so check keys that clients send: such a key may
//! lead out of the folder.
//!
//! The stores [list and delete](super::stores#many-flows) conversations. An open conversation cannot be deleted.
//!
//! # A page for a browser
//!
//! With the feature `report`, `report::live::page` is a page that follows a flow: columns as they stream, cells that wait or have
//! failed, the progress and the cost. `report::live::event` is the data of a server-sent event for it. The example `server` has
//! the page for each conversation. The command `columnar serve` shows the same page for a flow that another program computes; see
//! [stores](super::stores#without-the-program).
//!
//! # Shutdown
//!
//! [`Flows::shutdown_timeout`](crate::service::Flows::shutdown_timeout) opens no more flows, starts no more cells, and
//! waits until the cells in progress are stored; after the limit the other cells are dropped. A subscription ends after
//! the last stored value, so the connection closes. The next process computes what is missing as soon as a flow is
//! opened, and nothing twice.
//!
//! [← stores](super::stores) · [contents](super) · [scale →](super::scale)
