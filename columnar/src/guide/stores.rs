//! Values that outlive the flow.
//!
//! `new` makes a flow that keeps its values itself. `open` makes one on top of a
//! [`Store`](crate::store::Store), and goes on with what is there:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::store::FileStore;
//! # use columnar::testing::script;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column answer(user, self) = script(["Since when?", "The backup."]);
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! # let folder = tempfile::tempdir().expect("a folder");
//! # let folder = folder.path().join("chat");
//! let chat = Chat::open(FileStore::new(&folder)).await?;
//! chat.user.push("It is slow.").await?;
//! chat.run().await?;
//! drop(chat);
//!
//! let chat = Chat::open(FileStore::new(&folder)).await?;      // another day
//! assert_eq!(chat.answer.get(0).as_deref(), Some("Since when?"));
//! assert_eq!(chat.forecast().cells, 0);                       // nothing is computed again
//! assert_eq!(std::fs::read_to_string(folder.join("answer/0.txt")).unwrap(), "Since when?");
//! # Ok(()) }
//! ```
//!
//! Parameters of the flow stand behind the store: `Desk::open(store, tone)`.
//!
//! # Which store
//!
//! | store | where | for |
//! |---|---|---|
//! | [`MemoryStore`](crate::store::MemoryStore) | this process | tests |
//! | [`FileStore`](crate::store::FileStore) | a folder, a text file for each value | conversations that people read, search and put under version control |
//! | `SqliteStore`, with the feature `sqlite` | one file for many flows | everything on one machine |
//! | `PostgresStore`, with the feature `postgres` | a server | many processes on many machines |
//!
//! All of them keep the same promise, and one suite, [`conformance`](crate::testing::conformance), holds them to
//! it: what a run has shown is stored, whole and for good. A flow has one owner. A second one is refused at once,
//! as [`Error::Open`](crate::Error::Open) with
//! [`StoreError::Locked`](crate::store::StoreError::Locked), until the first one is dropped or its process ends.
//!
//! With each value is kept what it took to compute it, as a [`Receipt`](crate::usage::Receipt): so what a conversation
//! has cost is known after it was opened again, too.
//!
//! A store of your own implements [`Store`](crate::store::Store), and its test calls the suite.
//!
//! # What is loaded
//!
//! Opening loads what the views of the columns reach, and the last thousand steps; not everything that was ever
//! stored. `load` brings back what lies before:
//!
//! ```
//! # use columnar::prelude::*;
//! use columnar::reopen::OpenOptions;
//! use columnar::store::MemoryStore;
//! # flow! {
//! #     pub struct Chat { source user; column size(user.latest) = async |cx: Context| cx.messages().last_text().len().to_string(); }
//! # }
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! # let store = MemoryStore::new();
//! # let chat = Chat::open(store.clone()).await?;
//! # for text in ["a", "b", "c"] { chat.user.push(text).await?; }
//! # chat.run().await?;
//! # drop(chat);
//! let chat = Chat::open(OpenOptions::new(store).recent(1)).await?;
//! assert_eq!((chat.steps(), chat.size.get(0)), (3, None));
//! chat.load(0).await?;
//! assert!(chat.size.get(0).is_some());
//! # Ok(()) }
//! ```
//!
//! # When something is wrong with it
//!
//! A value that was damaged or edited is an error that names its column and step, when it is loaded. Nothing is
//! repaired silently: [`verify`](crate::reopen::verify) lists all defects of a store, and
//! [`salvage`](crate::reopen::salvage) copies what is sound into another one, in which the next run computes what
//! is missing.
//!
//! Next: [declarations that change while values are stored](super::migrations).
