//! Keep the values of a flow after the process ends.
//!
//! Chapter 25 of 37 · [← limits](super::limits) · [contents](super) · [services →](super::services)
//!
//! `new` creates a flow in memory. `open` creates a flow on a [`Store`](crate::store::Store) and resumes from the
//! stored values:
//!
//! ```
//! use columnar::prelude::*;
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
//! let folder = tempfile::tempdir().expect("a folder");
//! let folder = folder.path().join("chat");
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
//! Parameters of the flow follow the store: `Desk::open(store, tone)`. A store for many flows also takes the key of this
//! one: `SqliteStore::new("chats.db", "ada, monday")`, `PostgresStore::new(address, "ada, monday")`.
//!
//! # The stores
//!
//! | store | location | for | durable when a value is emitted |
//! |---|---|---|---|
//! | [`MemoryStore`](crate::store::MemoryStore) | this process | tests | no |
//! | [`FileStore`](crate::store::FileStore) | a folder with a text file for each value | conversations that people read, search and put under version control | yes |
//! | `SqliteStore`, with the feature `sqlite` | one file for many flows | everything on one machine | yes |
//! | `PostgresStore`, with the feature `postgres` | a server | many processes on many machines | yes |
//!
//! All stores keep the same promise: a value that a run has emitted is stored whole and permanently. One suite,
//! [`conformance`](crate::testing::conformance), tests this. A flow has one owner. A second owner is refused at once,
//! as [`Error::Open`](crate::Error::Open) with [`StoreError::Locked`](crate::store::StoreError::Locked), until the
//! first one is dropped or the first process ends.
//!
//! The [`Receipt`](crate::usage::Receipt) of a value is stored with it in one write. So the cost of a conversation is
//! still known after the flow is opened again.
//!
//! In SQLite, 10,000 values of 800 bytes take 3 % more than their text, and 500 values 17 %. LangGraph's saver for
//! SQLite takes 760 times the text after 500 steps, because each checkpoint holds the whole state. The bench `storage`
//! measures both.
//!
//! A store of your own implements the six methods of [`Store`](crate::store::Store), two more to keep attachments,
//! one to be read beside an owner, and one to tell readers of changes; a test of yours calls the suite.
//!
//! `cargo run --example journal -- FOLDER "Some text."` is a program with a `FileStore`: the same command again
//! continues the journal.
//!
//! # Attachments
//!
//! The attachments of a value are stored before the value, once each for a flow in a folder or in memory, and once for all
//! flows of a database. A folder has files that any program opens; SQLite has the table `attachment`, PostgreSQL
//! `columnar_attachments`:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::store::{FileStore, Store};
//! use columnar::{Attachment, Text};
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column answer(user, self) = prompt("You are a helpful assistant.");
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let note = Attachment::new("Launch on Monday.")?.alt("A note about the launch");
//! let chat = Chat::open(FileStore::new(folder.path())).await?;
//! for question in ["What is this?", "And when?"] {
//!     chat.user.push(Text::new(question).with(note.clone())).await?;
//! }
//! drop(chat);
//!
//! let file = folder.path().join("_attachments").join(format!("{}.txt", note.digest()));
//! assert_eq!(std::fs::read_to_string(&file)?, "Launch on Monday.");
//! let chat = Chat::open(FileStore::new(folder.path())).await?;
//! let [first, second] = [0, 1].map(|step| chat.user.get(step).unwrap_or_default());
//! assert_eq!(first.attachments(), [note]);
//! assert!(std::ptr::eq(first.attachments()[0].bytes(), second.attachments()[0].bytes()));   // in memory once
//! drop(chat);
//!
//! std::fs::remove_file(&file)?;
//! let defects = columnar::reopen::verify(&FileStore::new(folder.path())).await?;
//! assert!(defects[0].to_string().starts_with("`user` at step 0: its attachment `text/plain "));
//! # Ok(()) }
//! ```
//!
//! A value is loaded with the attachments, so one that is gone or damaged is an error of the value that names column, step,
//! type and digest. The text stays: with [`recent`](crate::reopen::OpenOptions::recent) the flow opens, and only a run that
//! reads the value fails; [`rows`](crate::rows) have all texts, and [`salvage`](crate::reopen::salvage) copies the value
//! without this attachment. JSON Lines name the attachments in `_attachments` and have no bytes; `fork_into` copies the
//! bytes. Deleting a flow removes the attachments that no other flow has.
//!
//! # Loading
//!
//! Opening a flow loads all values: the flow is the same as before it was closed. A million values of 100 characters
//! come out of a SQLite file in about a second and take 114 MB. For less,
//! [`recent`](crate::reopen::OpenOptions::recent) loads the last steps alone, with everything that the contexts of
//! these steps show, in about a millisecond:
//!
//! ```
//! use columnar::CellState;
//! use columnar::prelude::*;
//! use columnar::reopen::OpenOptions;
//! use columnar::store::MemoryStore;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column size(user.latest) = async |cx: Context| cx.messages().last_text().len().to_string();
//!     }
//! }
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let store = MemoryStore::new();
//! let chat = Chat::open(store.clone()).await?;
//! for text in ["a", "b", "c"] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//! drop(chat);
//!
//! let chat = Chat::open(OpenOptions::new(store).recent(1)).await?;
//! assert_eq!((chat.steps(), chat.size.cell(0)), (3, CellState::NotLoaded));
//! assert!(chat.size.value(0).await?.is_some());               // from the store
//! chat.load(0).await?;
//! assert!(chat.size.get(0).is_some());
//! # Ok(()) }
//! ```
//!
//! A method that needs a value in memory returns [`Error::NotLoaded`](crate::Error::NotLoaded), and leaves no gap.
//! `value`, `values` and `rows` read the store and keep nothing. Before any cell is computed, a run loads the values
//! that the cells read, also in a fork. `load` loads the values from a step on. All flows with the same past have these
//! values in memory then, and no value is read twice.
//!
//! # Many flows
//!
//! `SqliteStore::flows(file)` lists the flows of a file; [`FileStore`](crate::store::FileStore::flows),
//! [`MemoryStore`](crate::store::MemoryStore::flows) and `PostgresStore` do the same.
//! [`delete`](crate::store::Store::delete) deletes a closed flow as a whole, and the key can be used again:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::store::{MemoryStore, Store, StoreError};
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column answer(user, self) = prompt("You are a helpful assistant.");
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let memory = MemoryStore::new();
//! let ada = Chat::open(memory.flow("ada")).await?;
//! let bob = Chat::open(memory.flow("bob")).await?;
//! assert_eq!(memory.flows(), ["ada", "bob"]);
//!
//! assert!(matches!(memory.flow("bob").delete().await, Err(StoreError::Locked { .. })));
//! drop(bob);
//! memory.flow("bob").delete().await?;
//! assert_eq!(memory.flows(), ["ada"]);
//! # Ok(()) }
//! ```
//!
//! All flows of a SQLite file that a process has open share a connection, so a service can have a thousand conversations
//! open with five file descriptors. A flow in a folder takes two and a thread. Flows in PostgreSQL share four connections
//! if their stores are made of one: `chats.flow("ada")` is a store on the connections of `chats`.
//!
//! # Without the program
//!
//! A store has the columns, the views and the values of a flow, so a flow can be looked at without the program that declares
//! it. [`Flow::open_stored`](crate::Flow::open_stored) opens what is there. [`ReadOnly`](crate::store::ReadOnly) around a store
//! reads a flow that another program has open. A [`Follower`](crate::service::Follower) has what is stored, and then what that
//! program stores, as events: a PostgreSQL server tells it at once, and other stores are looked at each second. Readers
//! change no value, and delay no owner.
//!
//! The command `columnar` (`cargo install --path columnar --features cli`) does the same for people:
//!
//! ```text
//! columnar list chats.db                    the keys; with --long the numbers of cells and the cost
//! columnar show chats.db ada                the table of a flow, in the width of the terminal
//! columnar show chats.db ada answer 3       a value: as it is for a program, harmless for a terminal
//! columnar messages chats.db ada answer 3   the context of a cell, by the views that are stored
//! columnar bill chats.db                    the cost of all flows; with a key, by column
//! columnar verify chats.db                  all defects; the exit code is 1 if there are any
//! columnar backup chats.db friday.db        all flows, also into a folder or a database
//! columnar export chats.db ada --to a.csv   a row for each step: JSON Lines, CSV or Parquet
//! columnar report chats.db ada              a page with every request, reply and cost
//! columnar serve chats.db                   pages that follow the flows, on http://127.0.0.1:8123
//! ```
//!
//! In place of `chats.db` stands a folder, or `postgres://me@localhost/chats`. The prompts, notes, budgets, filters and settings
//! of a flow are in its program alone: contexts are shown without them. `serve` answers to this machine alone; for another
//! address, the variable `COLUMNAR_TOKEN` has a token that the browser must know.
//!
//! # Damage
//!
//! Loading a damaged or edited value is an error with the column and the step, and so is loading a value that was
//! removed. A folder or database may come from somebody else: all files, numbers and lists are checked before use. The
//! documentation of each store says what it notices. The library repairs nothing silently:
//! [`verify`](crate::reopen::verify) lists all defects of a store, and [`salvage`](crate::reopen::salvage) copies the
//! sound values to another store, where the next run computes the missing ones.
//!
//! # Backups
//!
//! A folder of a `FileStore` and a SQLite file can be copied when their flows are closed. While flows of a SQLite file
//! are open, new values are in the log beside the file, `chats.db-wal`, and the log belongs to the file: after a crash,
//! move or copy both with the index of the log, `chats.db-shm`. `SqliteStore::backup(&file, "friday.db").await?` copies
//! a file that is in use, also by other processes, into a new file that is complete by itself. The new file has all
//! values that were confirmed before the call, and none that was deleted.
//!
//! After a crash, a SQLite file whose log is damaged, cut or gone is not opened if confirmed values would be lost, and
//! the error names the log. The index of the log tells what was confirmed. In a copy of the file and the log without
//! the index, damage is noticed if whole transactions follow the damage, and a log that was cut is not noticed. A copy
//! without the log looks like an earlier state of all flows, which nothing shows. An idle file needs no log: after a
//! second without a request all values are written back to the file.
//!
//! [← limits](super::limits) · [contents](super) · [services →](super::services)
