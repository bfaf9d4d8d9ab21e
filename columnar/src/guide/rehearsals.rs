//! Try another prompt or model on the past, before you adopt it.
//!
//! Chapter 30 of 37 · [← forks](super::forks) · [contents](super) · [looms →](super::looms)
//!
//! A flow has the answers of one prompt. Would another one do better? A rehearsal computes stored steps of a column again, each
//! with the context as it was, and the flow does not change:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::ScriptedModel;
//!
//! flow! {
//!     pub struct Desk {
//!         source ticket;
//!         column reply(ticket, self) = prompt("Reply to the customer.");
//!         column mood(reply.latest)  = prompt("Name the mood.");
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let desk = Desk::new();
//! desk.set_model(ScriptedModel::new(|request| request.system.to_uppercase()));   // a model for tests
//! desk.ticket.push_all(["My jacket is late.", "The zip is broken."]).await?;
//! desk.run().await?;
//!
//! let rehearsal = desk.rehearse("reply").with(prompt("Reply in two sentences.")).await?;
//! println!("{}", rehearsal.forecast());            // nothing is computed before you have seen the price
//! rehearsal.run().await?;
//! println!("{}", rehearsal.comparison());          // how many differ, and what both cost
//!
//! let first = &rehearsal.comparison().steps[0];
//! assert_eq!((&*first.old, first.new.as_deref()), ("REPLY TO THE CUSTOMER.", Some("REPLY IN TWO SENTENCES.")));
//! # Ok(()) }
//! ```
//!
//! [`with`](crate::flow::Rehearse::with) takes any compute step, with its policies. Without it, the step of the column is
//! repeated, which shows how much the answers of a model vary by themselves.
//!
//! # The context as it was
//!
//! A column with self history showed its own earlier replies. A rehearsal shows these, and not the new ones: so each step is a
//! fair comparison of two answers to one question. Windows, exclusions, documents and threads are as they were at the step. What
//! belongs to the new step is new: its instruction, its model, its budget. A budget cuts anew where the new instruction is longer.
//!
//! Where the new replies would have led is another question. A [fork](super::forks) or
//! [`replace_column`](crate::flow::LiveFlow::replace_column) answers it, and computes each step after the one before.
//!
//! # Which steps, and for how much
//!
//! [`steps`](crate::flow::Rehearse::steps) chooses: `.steps(..50)` is a first look, `.steps(900..)` the latest of a thousand.
//! Steps without a value are left out.
//!
//! A rehearsal is a [`Flow`](crate::Flow), so [`forecast`](crate::flow::LiveFlow::forecast) and
//! [`set_spend_limit`](crate::flow::LiveFlow::set_spend_limit), events, failures and receipts are as in any run. No step waits for
//! another one, so one batch has all of them, for half the price: `rehearsal.batch(provider)` in place of `run`, see
//! [batches](super::batches).
//!
//! With [`store`](crate::flow::Rehearse::store) a rehearsal survives the end of the process: the same rehearsal on the same
//! store computes what is missing, and more steps may follow. Another prompt on that store is an error.
//!
//! # A judge
//!
//! [`judge`](crate::flow::Rehearse::judge) adds a column that reads the `request`, the `old` value and the `new` one: a rule, or a
//! prompt, with a [type](super::typed) if you like.
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let desk = flow! {
//!     source ticket;
//!     column reply(ticket.latest) = script(["Sorry!", "Where do you live?", "Sorry to hear that."]);
//! };
//! desk.ticket.push_all(["It is late.", "It is lost.", "It is broken."]).await?;
//! desk.run().await?;
//!
//! let rehearsal = desk
//!     .rehearse("reply")
//!     .with(script(["Sorry! It is on its way.", "Sorry! We send another one.", "Send it back."]))
//!     .judge(|cx: Context| async move {
//!         let is_sorry = |tag| cx.input(tag).is_some_and(|text| text.contains("Sorry"));
//!         match (is_sorry("old"), is_sorry("new")) {
//!             (false, true) => "better",
//!             (true, false) => "worse",
//!             _ => "as good",
//!         }
//!     })
//!     .await?;
//! rehearsal.run().await?;
//! assert_eq!(rehearsal.comparison().judgements(), [("as good", 1), ("better", 1), ("worse", 1)]);
//! # Ok(()) }
//! ```
//!
//! A [`Comparison`](crate::flow::Comparison) has the steps for a program. Printed, it is a summary without the values. The tables
//! of the terminal and the page of a flow show the rehearsal as any flow. The example `rehearse` compares two prompts on 200
//! tickets.
//!
//! # Adopting
//!
//! [`adopt`](crate::flow::Rehearsal::adopt) makes a flow whose column has the new step and the new values. Its next run
//! computes the steps that were not rehearsed, and the columns that depend on the column. To keep it, fork it into a store, and
//! write the new prompt into the declaration:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::store::MemoryStore;
//! use columnar::testing::script;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let desk = flow([column("reply", source("ticket").latest(), script(["Sorry!"]))])?;
//! desk.push("ticket", "It is late.").await?;
//! desk.run().await?;
//! let rehearsal = desk.rehearse("reply").with(script(["It is on its way."])).await?;
//! rehearsal.run().await?;
//!
//! let adopted = rehearsal.adopt()?;
//! adopted.run().await?;
//! adopted.fork_into(adopted.steps(), MemoryStore::new()).await?;
//! assert_eq!(adopted.get("reply", 0).as_deref(), Some("It is on its way."));
//! # Ok(()) }
//! ```
//!
//! [← forks](super::forks) · [contents](super) · [looms →](super::looms)
