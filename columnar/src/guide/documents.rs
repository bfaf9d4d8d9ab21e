//! Show documents that change: files, the outlines of their symbols, and pages.
//!
//! [← caches](super::caches) · [contents](super) · [renderings →](super::renderings)
//!
//! A coding assistant, a reviewer or a chat about a folder shows its model the same documents with every request, and a
//! few of them change in between. Such documents are a source. Its values are updates: what was put, and what was removed.
//!
//! ````
//! use columnar::documents::{Kind, Update};
//! use columnar::prelude::*;
//! use columnar::testing::script;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let coder = flow! {
//!     source files: Documents;
//!     source user;
//!     column coder(files, user, self) = script(["It is empty.", "It has a greeting."]);
//! };
//! coder.files.push(Update::new().file("notes.md", "")).await?;
//! coder.user.push("What is in the notes?").await?;
//! coder.files.push(Update::new().file("notes.md", "Hello!")).await?;
//! coder.user.push("And now?").await?;
//! coder.run().await?;
//!
//! let last = coder.coder.messages(1)?.last_text().into_owned();
//! assert_eq!(last, "\
//! <files>
//! ## Files
//!
//! notes.md
//! ```
//! Hello!
//! ```
//! </files>
//!
//! <user>
//! And now?
//! </user>");
//!
//! // An update that cannot be applied is an error with all its faults, and nothing of it is stored.
//! let wrong = Update::new().remove(Kind::File, "other.md").file("../secret", "");
//! assert!(matches!(coder.files.push(wrong).await, Err(Error::Update { step: 2, .. })));
//! # Ok(()) }
//! ````
//!
//! Every step of the flow has an update; [`Update::new()`](crate::documents::Update::new) says that nothing changed. The
//! [rules](mod@crate::documents#rules) of paths, symbols and pages are in the module.
//!
//! # Two layouts
//!
//! The view `files` shows each update in its turn. The history grows at its end, so a provider's cache serves all of it. A
//! document that changed is there twice: as it was, and as it is.
//!
//! The view `files.tiered()` shows each document once, as it is at the step. Documents that have not changed for long come
//! first, so that a change leaves the beginning of the request as it was.
//!
//! ````
//! use columnar::documents::Update;
//! use columnar::prelude::*;
//! use columnar::testing::{context_text, script};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let coder = flow! {
//!     source files: Documents;
//!     source user;
//!     column coder(files.tiered().target(0), user, self) = script(["Yes."; 4]);
//! };
//! for step in 0..4 {
//!     let update = match step {
//!         0 => Update::new().file("lib.rs", "mod a;").file("a.rs", "fn a() {}"),
//!         2 => Update::new().file("a.rs", "fn b() {}"),
//!         _ => Update::new(),
//!     };
//!     coder.files.push(update).await?;
//!     coder.user.push(format!("Question {step}.")).await?;
//! }
//! coder.run().await?;
//!
//! // `lib.rs` has not changed for three responses, so it went to the tier L3. `a.rs` is active.
//! let text = context_text(&coder.coder.messages(3)?);
//! let (tiers, history) = text.split_once("user 0").expect("the history follows");
//! assert_eq!(tiers, "\
//! coder at step 3: 11 messages
//!
//! [user]
//! L3
//! │ # Reference Files (L3)
//! │
//! │ lib.rs
//! │ ```
//! │ mod a;
//! │ ```
//!
//! [assistant]
//! L3
//! │ Ok.
//!
//! [user]
//! active
//! │ # Working Files
//! │
//! │ a.rs
//! │ ```
//! │ fn b() {}
//! │ ```
//!
//! [assistant]
//! active
//! │ Ok.
//!
//! [user]
//! ");
//! assert!(history.starts_with(", active\n│ <user>\n│ Question 0."));
//! # Ok(()) }
//! ````
//!
//! Which layout costs less? In nearly every simulated trace of edits it is `files`, because the price of a cached prefix
//! is low, and a tier that changes is paid for again with all that follows it. Choose `files.tiered()` if
//!
//! - a model must not see text that is no longer true,
//! - documents change so often, or are so long, that their earlier texts fill the context,
//! - the context must hold the documents and little else.
//!
//! # Tiers
//!
//! N is the number of responses since a document changed.
//!
//! | tier | N | place | cached |
//! |---|---|---|---|
//! | L0 | 12 | the end of the system text | yes |
//! | L1, L2, L3 | from 9, 6, 3 | messages, each with a short reply | yes |
//! | active | 0 to 2 | after the tiers: the tree of files, pages, working files | no |
//!
//! The history has tiers, too, by exchanges: the input and the reply of a step. The turns stay in their order, and the
//! documents of a tier stand before its first turn. An exchange moves up together with documents, or when the active
//! exchanges have more tokens than the target. The first symbols get their tiers at once, by clusters of files that refer
//! to each other. [All rules](crate::tiers#the-rules).
//!
//! The **target** is the size that a cached tier should keep, in tokens. By default it is one and a half times the
//! shortest prefix that the provider of the column caches; 1,536 for an unknown one. `files.tiered().target(4_000)` sets
//! it, and with 0 there is none. The same steps have the same tiers, whatever was asked before, in a fork and after a
//! restart, as long as the target is the same.
//!
//! A column with a tiered view reads all of `self`, at least one view of text, and no other documents; else it does not
//! compile. A step that was [skipped](super::skipping) had no response: N does not count it.
//!
//! # The rest of the library
//!
//! - **Your own client**: [`messages.system("You write Rust.")`](crate::Messages::system) is the whole system text, with
//!   the documents of L0. A [`prompt`](crate::prompt) sends it. [`Part::tier`](crate::Part::tier) and
//!   [`Part::items`](crate::Part::items) say what a part shows, [`Messages::moves`](crate::Messages::moves) what moved.
//! - **Caches**: a [plan](crate::flow::Handle::cache_plan) has a mark at the end of each cached tier, unless the prefix is
//!   too short for the provider. [`explain_cache`](crate::flow::Handle::explain_cache) names the tier that changes next,
//!   even if nothing is pushed.
//! - **Budgets**: documents come off the limit first, and turns are omitted as [always](super::budgets). Documents that
//!   are over the limit alone are an error, which names the largest.
//! - **Memory**: the tiers of a step depend on all steps before it. So a flow that was opened with its
//!   [last steps](crate::reopen::OpenOptions::recent) loads the others when a tiered column is computed.
//!
//! [← caches](super::caches) · [contents](super) · [renderings →](super::renderings)
