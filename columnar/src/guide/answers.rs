//! Let people and services answer: drafts that wait for approval, reviews that come days later, calls back.
//!
//! Chapter 15 of 37 · [← failures](super::failures) · [contents](super) · [models →](super::models)
//!
//! # A cell that waits for a person
//!
//! The values of a column with [`external()`](crate::compute::external) come from outside. As soon as the inputs of a cell are
//! stored, the cell is *pending*. A run asks for it with an [`Event::Pending`](crate::Event::Pending), computes everything that
//! does not depend on the answer, and ends. No task waits, and the process may end: the cell is pending in the next one.
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::store::MemoryStore;
//! use columnar::testing::script;
//!
//! flow! {
//!     pub struct Desk {
//!         source ticket;
//!         column draft(ticket.latest)               = script(["Please restart it.", "It is on its way."]);
//!         column reply(draft.latest, ticket.latest) = external();
//!         column sent(reply.latest)                 = async |reply| format!("To the customer: {reply}");
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let store = MemoryStore::new();                     // a file or a database, in a real program
//! let desk = Desk::open(store.clone()).await?;
//! desk.ticket.push("It does not start.").await?;
//! desk.ticket.push("Where is it?").await?;
//! desk.run().await?;
//! assert_eq!(desk.progress().to_string(), "2 of 6 cells are done; 2 pending, 2 waiting");
//! drop(desk);
//!
//! // Days later, in another process. The answers come in any order.
//! let desk = Desk::open(store).await?;
//! for cell in desk.reply.pending()? {
//!     println!("step {}: {}", cell.step, cell.messages.last_text());
//! }
//! desk.reply.answer(1, "It comes on Monday.").await?;
//! desk.run().await?;
//! assert_eq!(desk.sent.get(1).as_deref(), Some("To the customer: It comes on Monday."));
//! # Ok(()) }
//! ```
//!
//! A pending cell has a context, as a prompt has: `messages` shows what the column reads, with the windows, filters and budgets
//! of the column. A filter also decides who is asked: `column reply(draft.latest.filter(is_risky)) = external();` asks for the
//! risky drafts alone, and skips the others. A column that reads a pending cell waits. A column that does not, goes on.
//!
//! # Once, and for good
//!
//! An answer is a value: it is stored before anybody sees it, and never changes. A second answer is an
//! [`Error::Answered`](crate::Error::Answered) with the time since the first, so a service that calls back twice does no harm. To
//! answer otherwise, [fork](super::forks) before the step. Answers may come while a run is active, which then goes on with what
//! reads them, or without a run.
//!
//! # Approvals
//!
//! A column may propose its answer. [`accept`](crate::flow::Handle::accept) takes the proposal, and `answer` gives another text:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let desk = flow! {
//!     source ticket;
//!     column draft(ticket.latest) = script(["Please restart it.", "It is on its way."]);
//!     column reply(draft.latest) =
//!         external().default(|cx| cx.input("draft").cloned().ok_or("there is no draft"));
//! };
//! desk.ticket.push_all(["It does not start.", "Where is it?"]).await?;
//! desk.run().await?;
//! desk.reply.accept(0).await?;
//! desk.reply.answer(1, "It comes on Monday.").await?;
//!
//! let answer = |step| desk.reply.receipt(step).and_then(|receipt| receipt.answer.clone());
//! assert!(answer(0).is_some_and(|answer| answer.is_proposal));
//! assert_eq!(answer(1).and_then(|answer| answer.edited).as_deref(), Some("It is on its way."));
//! # Ok(()) }
//! ```
//!
//! The receipt keeps an edited proposal beside the value, so the edits of people are data: what was drafted, and what was sent.
//! A [typed](super::typed) column checks each answer against its type, and stores nothing that does not match.
//!
//! # No answer
//!
//! [`decline`](crate::flow::Handle::decline) ends the wait with a reason, and the policy of the column decides, as after a
//! [failure](super::failures):
//!
//! | policy | the cell | columns that read it |
//! |---|---|---|
//! | none | the run in progress, or the next one, ends with [`Error::Declined`](crate::Error::Declined); then the cell is pending again | wait |
//! | `.or_wait()` | that run emits [`Event::Failed`](crate::Event::Failed) and goes on; then the cell is pending again | wait |
//! | `.or_skip()` | is stored as skipped, with the reason | continue without the value |
//!
//! Policies of computations, such as `retry` and `timeout`, are errors for such a column. A cell waits without an end; a program
//! that wants an end declines what is too old.
//!
//! # Services
//!
//! The clients of a [spawned](super::services) flow get `Event::Pending` in their subscriptions, also those that come later. The
//! answer is a call of any handle of the flow. `completed` waits for answers as it waits for pushes. The page that
//! follows a flow (feature `report`) shows pending cells; the example `server` takes the answers there, and
//! the example `desk` is a help desk with 300 tickets.
//!
//! [← failures](super::failures) · [contents](super) · [models →](super::models)
