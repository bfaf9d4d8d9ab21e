//! Values that outlive the flow.
//!
//! `new` makes a flow that keeps its values itself. `open` makes one on top of a
//! [`Store`](crate::store::Store), and goes on with what is there:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::store::MemoryStore;
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
//! let store = MemoryStore::new();
//! let chat = Chat::open(store.clone()).await?;
//! chat.user.push("It is slow.").await?;
//! chat.run().await?;
//! drop(chat);
//!
//! let chat = Chat::open(store).await?;                       // later
//! assert_eq!(chat.answer.get(0).as_deref(), Some("Since when?"));
//! assert_eq!(chat.forecast().cells, 0);                      // nothing is computed again
//! # Ok(()) }
//! ```
//!
//! Values are stored by column and step. So a declaration may change between two programs: a column that is new
//! is computed from step 0, one that is gone stays in the store, and one whose prompt has changed goes on from
//! where it is. What has been computed is not computed anew, whatever the declaration says now.
//!
//! Parameters of the flow stand behind the store: `Desk::open(store, tone)`.
//!
//! # A store of your own
//!
//! implements [`put` and `load`](crate::store::Store). It holds one entry for each cell; the first writer of a
//! cell wins, and a later one is told what is there. When `put` says `Ok`, the value is as safe as the store can
//! make it: only then is it told to anybody. One flow writes a store at a time.
//!
//! Next: [another future for the same past](super::forks).
