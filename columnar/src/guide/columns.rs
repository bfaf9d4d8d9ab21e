//! Sources, columns, parameters; the form with a name and the form without.
//!
//! # Sources and columns
//!
//! A *source* gets its values from outside, by [`push`](crate::flow::Handle::push). A *column* is computed: in
//! parentheses stands what it reads, behind the `=` what computes it. Declarations end with `;` and may stand
//! in any order; the order in which they are computed follows from what they read and is a constant of the
//! program.
//!
//! ```
//! use columnar::prelude::*;
//!
//! flow! {
//!     /// A support desk.
//!     pub struct Desk {
//!         column answer(request, notes.latest, self) = prompt("Answer the request.");
//!         column notes(log.latest)                   = prompt("What in this log matters?");
//!
//!         /// What the customer writes.
//!         source request;
//!         /// What the machines wrote meanwhile.
//!         source log;
//!     }
//! }
//!
//! assert_eq!(Desk::ORDER, ["request", "log", "notes", "answer"]);
//! ```
//!
//! With several sources, a step begins when each of them has its value for it; values that are pushed ahead
//! wait. Comments with `///` become the documentation of the fields. A name is at most 64 lower case letters,
//! digits and `_`; a keyword of Rust's is written raw, `source r#type;`, and is called `type` everywhere else.
//!
//! # Text and types
//!
//! A value is text. With the feature `typed` a column can say behind its views of what type its values are JSON, as in
//! `column score(request): Score = …`; what is computed is held to that. There is a chapter about it: `typed`.
//!
//! # With a name: an item
//!
//! `pub struct Desk { … }` declares a type with a field for each column. The fields of sources take values, and
//! all of them give theirs:
//!
//! ```
//! # use columnar::prelude::*;
//! # flow! {
//! #     pub struct Desk {
//! #         source request;
//! #         column answer(request) = prompt("Answer the request.");
//! #     }
//! # }
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let desk = Desk::new();
//! let step = desk.request.push("Where is my parcel?").await?;
//! assert_eq!(step, 0);
//! assert_eq!(desk.request.get(0).as_deref(), Some("Where is my parcel?"));
//! assert_eq!(desk.answer.get(0), None);          // nothing has run yet
//!
//! desk.run().await?;
//! assert_eq!((desk.answer.len(), desk.steps()), (1, 1));
//! # Ok(()) }
//! ```
//!
//! What the compute steps need comes in as parameters, behind the name. The steps see them by reference, so
//! what a prompt keeps is cloned:
//!
//! ```
//! use columnar::prelude::*;
//!
//! flow! {
//!     pub struct Desk(tone: String) {
//!         source request;
//!         column answer(request, self) = prompt(format!("Answer the request. Be {tone}."));
//!         column title(request)        = prompt(tone.clone());
//!     }
//! }
//!
//! let desk = Desk::new(String::from("brief"));
//! ```
//!
//! # Without a name: an expression
//!
//! Inside a function `flow!` can be an expression. Then compute steps use and borrow what is in scope:
//!
//! ```
//! # use columnar::prelude::*;
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let prices = [("tea", 3), ("cake", 4)];
//! let till = flow! {
//!     source order;
//!     column bill(order.latest) = |cx: Context| {
//!         let prices = &prices;
//!         async move {
//!             let order = cx.input("order").ok_or("there is no order")?;
//!             let sum: u32 = prices.iter().filter(|(name, _)| order.contains(name)).map(|(_, price)| price).sum();
//!             Ok::<_, &str>(sum.to_string())
//!         }
//!     };
//! };
//! till.order.push("tea and cake").await?;
//! till.run().await?;
//! assert_eq!(till.bill.get(0).as_deref(), Some("7"));
//! # Ok(()) }
//! ```
//!
//! # What a declaration says before it runs
//!
//! Its [`Outline`](crate::Outline) prints as a table: what runs at once, which pattern a column follows, how its
//! calls grow, and how much of a call the next one repeats.
//!
//! ```
//! # use columnar::prelude::*;
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column mood(user.latest)            = prompt("Name the mood.");
//!         column assistant(user, mood, self)  = prompt("You are a helpful assistant.");
//!     }
//! }
//!
//! assert_eq!(Chat::GRAPH.outline().to_string(), "\
//! user       level 0  source
//! mood       level 1  map          at most 1 value    repeats the instruction
//! assistant  level 2  accumulator  grows every step   repeats everything
//! ");
//! ```
//!
//! Next: [what computes a column](super::compute_steps).
