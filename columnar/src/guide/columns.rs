//! Declare sources, columns and parameters, in a flow with a name or without one.
//!
//! Chapter 2 of 37 · [← first](super::first) · [contents](super) · [compute steps →](super::compute_steps)
//!
//! # Sources and columns
//!
//! A *source* gets values from outside, by [`push`](crate::flow::Handle::push). A *column* is computed: it reads the
//! columns in the parentheses, and the expression after the `=`, the *compute step*, computes each value. Each
//! declaration ends with `;`. The order of declarations does not matter: the order of computation follows from the
//! columns that each column reads, and is a constant of the program.
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
//! With several sources, a step begins when each source has a value for it; values that are pushed ahead wait. Comments
//! with `///` become the documentation of the fields. A name has at most 64 characters: lower case letters, digits and
//! `_`. A keyword of Rust is written raw, `source r#type;`, and is named `type` everywhere else.
//!
//! # Text and types
//!
//! A value is text. With the feature `typed`, a column can declare a type after the views, as in
//! `column score(request): Score = …`. The values are then JSON of that type; see [typed columns](super::typed).
//!
//! # With a name: an item
//!
//! `pub struct Desk { … }` declares a type with a public field for each column. The fields of sources accept values,
//! and all fields return the values of their columns:
//!
//! ```
//! use columnar::prelude::*;
//!
//! flow! {
//!     pub struct Desk {
//!         source request;
//!         column answer(request) = prompt("Answer the request.");
//!     }
//! }
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
//! Compute steps get data from outside through parameters, which follow the name of the flow. Compute steps see
//! parameters by reference, and closures [have clones](super::compute_steps#a-parameter-in-a-closure). The
//! documentation of a parameter is part of the documentation of `new`:
//!
//! ```
//! use columnar::prelude::*;
//!
//! flow! {
//!     pub struct Desk(
//!         /// The tone of the answers, such as `brief`.
//!         tone: String,
//!     ) {
//!         source request;
//!         column answer(request, self) = prompt(format!("Answer the request. Be {tone}."));
//!         column title(request)        = prompt(tone);
//!     }
//! }
//!
//! let desk = Desk::new(String::from("brief"));
//! ```
//!
//! # Without a name: an expression
//!
//! Inside a function, `flow!` can be an expression. The compute steps can use and borrow what is in scope:
//!
//! ```
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let prices = [("tea", 3), ("cake", 4)];
//! let till = flow! {
//!     source order;
//!     column bill(order.latest) = async |order| {
//!         let prices = prices.iter().filter(|(name, _)| order.contains(name)).map(|(_, price)| price);
//!         prices.sum::<u32>().to_string()
//!     };
//! };
//! till.order.push("tea and cake").await?;
//! till.run().await?;
//! assert_eq!(till.bill.get(0).as_deref(), Some("7"));
//! # Ok(()) }
//! ```
//!
//! # The outline of a declaration
//!
//! The [`Outline`](crate::Outline) of a flow prints as a table. For each column the table has the level (columns of one
//! level can run at once), the [pattern](super::self_history), how the context grows, and the part of a request that
//! the next request repeats.
//!
//! ```
//! use columnar::prelude::*;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column mood(user.latest)           = prompt("Name the mood.");
//!         column assistant(user, mood, self) = prompt("You are a helpful assistant.");
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
//! [`Chat::GRAPH.outline().svg()`](crate::Outline::svg) draws the graph, [`dot()`](crate::Outline::dot) does so for Graphviz
//! and [`mermaid()`](crate::Outline::mermaid) for Mermaid. `cargo doc` has the same drawing: the page of `Chat` has
//! the graph, and a table with the views of each column, the first line of its prompt, its settings and your comment. An
//! editor shows a list of the columns.
//!
//! [← first](super::first) · [contents](super) · [compute steps →](super::compute_steps)
