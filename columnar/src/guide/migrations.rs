//! Change a declaration whose values are stored.
//!
//! Chapter 28 of 37 · [← scale](super::scale) · [contents](super) · [forks →](super::forks)
//!
//! A store remembers the declaration of the flow. If the flow has changed, opening the store fails with a list of all
//! changes, before anything is computed or written:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::reopen::OpenOptions;
//! use columnar::store::MemoryStore;
//!
//! mod monday {
//!     use super::*;
//!
//!     flow! {
//!         pub struct Chat {
//!             source user;
//!             column topics(user.latest) = async |cx: Context| format!("topics of {}", cx.step());
//!         }
//!     }
//! }
//! mod tuesday {
//!     use super::*;
//!
//!     flow! {
//!         pub struct Chat {
//!             source user;
//!             column topics(user.window(3)) = async |cx: Context| format!("more topics of {}", cx.step());
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let store = MemoryStore::new();
//! let chat = monday::Chat::open(store.clone()).await?;
//! chat.user.push("It is slow.").await?;
//! chat.run().await?;
//! drop(chat);
//!
//! let Err(refused) = tuesday::Chat::open(store.clone()).await else { panic!("it has changed") };
//! assert!(refused.to_string().starts_with(
//!     "the stored values of `topics` were computed from (user.latest), and it now reads (user.window(3))"
//! ));
//!
//! let chat = tuesday::Chat::open(OpenOptions::new(store).keep("topics")).await?;
//! chat.user.push("On Mondays.").await?;
//! chat.run().await?;
//! assert_eq!(chat.topics.get(0).as_deref(), Some("topics of 0"));
//! assert_eq!(chat.topics.get(1).as_deref(), Some("more topics of 1"));
//! # Ok(()) }
//! ```
//!
//! | change | effect |
//! |---|---|
//! | a new column | the column is computed from step 0 |
//! | a removed column | the values stay in the store, and return with the column |
//! | other views of a column | the flow is refused, unless the options have `.keep("topics")` |
//! | a source becomes a column, or a column a source | the flow is refused |
//! | another name of a column | a new column, unless the declaration has the old name with `was` |
//! | another prompt or model | the flow is opened, and [`stale`](#stale-values) lists the values of the earlier one |
//! | another function | not detected, unless the step has a new `.version("2")` |
//!
//! # Renaming
//!
//! A renamed column keeps its values if the declaration has the old name: `source said was "user";`,
//! `column subjects(said.latest) was "topics" = …;`. The store records the new name when the flow is opened, so a later
//! version of the program can drop the `was`.
//!
//! # Prompts
//!
//! The store compares views, tags, groups and the presence of a filter. Two functions cannot be compared, and not every
//! edit of a prompt is a reason to refuse the store. You decide with a version:
//! `prompt("List the topics, most important first.").version("2")`.
//!
//! # Stale values
//!
//! Each value is stored with the name of the model and with short hashes of the prompt, the version and the views that
//! computed the value. [`stale`](crate::flow::LiveFlow::stale) compares these with the flow as it is now, and computes
//! nothing:
//!
//! ```
//! use columnar::Prompt;
//! use columnar::prelude::*;
//! use columnar::reopen::StaleReason;
//! use columnar::store::MemoryStore;
//! use columnar::testing::ScriptedModel;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let store = MemoryStore::new();
//! let topics = |step: Prompt| [column("topics", source("user").latest(), step)];
//! let f = Flow::open(store.clone(), topics(prompt("List the topics.").model("offline"))).await?;
//! f.push("user", "It is slow.").await?;
//! f.run().await?;
//! drop(f);
//!
//! let model = ScriptedModel::new(|_| "speed".to_owned());
//! let f = Flow::open(store, topics(prompt("Name one topic.").model(model))).await?;
//! f.push("user", "On Mondays.").await?;
//! f.run().await?;
//! let stale = f.stale().await?;
//! for cell in &stale.cells {
//!     println!("{} at step {}: {:?}", cell.column, cell.step, cell.reasons);
//! }
//! assert_eq!((stale.cells.len(), stale.cells[0].step, stale.unknown), (1, 0, 0));
//! assert_eq!(stale.cells[0].reasons, [StaleReason::Prompt, StaleReason::Model { answered: "offline".into() }]);
//! # Ok(()) }
//! ```
//!
//! A prompt is its final text with the schema of a typed column, the settings of the request, the notes on the inputs, the
//! form of the context, and the [system text](crate::flow::LiveFlow::set_system) of the flow. A function has a version and
//! views alone. Values that were imported, or stored by an earlier version, are counted as `unknown`.
//!
//! # Recomputing
//!
//! Stored values are never edited. Give the new column another name to compute it beside the old one. Or continue from
//! a step in another store:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::reopen::OpenOptions;
//! use columnar::store::MemoryStore;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let (store, other) = (MemoryStore::new(), MemoryStore::new());
//! let user = source("user");
//! let topics = column("topics", user.latest(), |_: Context| async { "once" });
//! let f = Flow::open(store.clone(), [topics]).await?;
//! for text in ["a", "b", "c"] {
//!     f.push("user", text).await?;
//! }
//! f.run().await?;
//! drop(f);
//!
//! let topics = column("topics", user.window(3), |_: Context| async { "again" });
//! let options = OpenOptions::new(store).recompute_from(2, ["topics"], other);
//! let f = Flow::open(options, [topics]).await?;
//! f.run().await?;
//! assert_eq!(f.get("topics", 1).as_deref(), Some("once"));
//! assert_eq!(f.get("topics", 2).as_deref(), Some("again"));
//! # Ok(()) }
//! ```
//!
//! The changed columns, the named ones and all columns that depend on these are recomputed from that step on.
//! Everything else is copied, at no cost.
//!
//! [← scale](super::scale) · [contents](super) · [forks →](super::forks)
