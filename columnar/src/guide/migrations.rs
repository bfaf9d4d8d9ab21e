//! Declarations that change while values are stored.
//!
//! A store remembers what the flow was. When it is opened by one that says something else, what has changed is
//! told, all of it, before anything is computed or written:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::reopen::OpenOptions;
//! use columnar::store::MemoryStore;
//!
//! mod monday {
//!     # use super::*;
//!     flow! {
//!         pub struct Chat {
//!             source user;
//!             column topics(user.latest) = async |cx: Context| format!("topics of {}", cx.step());
//!         }
//!     }
//! }
//! mod tuesday {
//!     # use super::*;
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
//!     "what is stored of `topics` was computed from (user.latest), and it reads (user.window(3)) now"
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
//! | the declaration has | then |
//! |---|---|
//! | a column that is new | it is computed from step 0 |
//! | a column less | what is stored of it stays, and is there when it comes back |
//! | a column that reads something else | the flow is refused, unless the opener says `.keep("topics")` |
//! | a source where there was a column, or a column where there was a source | the flow is refused |
//! | another name for a column | it is a new column, unless it says what it `was` |
//! | another prompt or another function | nothing can be seen, unless it says `.version("2")` |
//!
//! # Names
//!
//! A column that is renamed says what it was, and keeps its values: `source said was "user";`,
//! `column subjects(said.latest) was "topics" = …;`. It is known from the first time on, and need not be said for
//! ever.
//!
//! # Prompts
//!
//! Views are compared, and so are tags, groups and whether there is a filter. Nobody can compare two functions, and
//! not every word of a prompt is worth an error. What counts as another one is yours to say:
//! `prompt("List the topics, most important first.").version("2")`.
//!
//! # To compute it anew
//!
//! What is stored is never edited. A column gets another name, and is computed beside the old one; or the flow goes
//! its own way from a step on, in a store of its own:
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::reopen::OpenOptions;
//! # use columnar::store::MemoryStore;
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! # let (store, other) = (MemoryStore::new(), MemoryStore::new());
//! # let user = source("user");
//! # let f = Flow::open(store.clone(), [column("topics", user.latest(), |_: Context| async { "once" })]).await?;
//! # for text in ["a", "b", "c"] { f.push("user", text).await?; }
//! # f.run().await?;
//! # drop(f);
//! let topics = column("topics", user.window(3), |_: Context| async { "anew" });
//! let options = OpenOptions::new(store).recompute_from(2, ["topics"], other);
//! let f = Flow::open(options, [topics]).await?;
//! f.run().await?;
//! assert_eq!(f.get("topics", 1).as_deref(), Some("once"));
//! assert_eq!(f.get("topics", 2).as_deref(), Some("anew"));
//! # Ok(()) }
//! ```
//!
//! Columns that have changed, those that are named, and all that depends on them are computed anew from that step on;
//! everything else is copied, and not paid for again.
//!
//! Next: [another future for the same past](super::forks).
