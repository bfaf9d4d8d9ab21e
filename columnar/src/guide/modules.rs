//! Use a flow as a module of another flow.
//!
//! Chapter 34 of 37 · [← extensions](super::extensions) · [contents](super) · [dynamic flows →](super::dynamic_flows)
//!
//! Any flow with a name can be a module. The sources of the module are inputs, and each is bound to a column of the
//! flow that uses the module. Inside the module its own names apply, so it is written once and used anywhere:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! flow! {
//!     /// Two sides of a question.
//!     pub struct Debate {
//!         source topic;
//!         column pro(topic.latest)             = script(["It saves time."]);
//!         column con(topic.latest, pro.latest) = script(["It costs too much."]);
//!     }
//! }
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         use Debate { topic: user } as debate;
//!         column answer(user, group("debate", debate.pro.latest, debate.con.latest), self) =
//!             script(["Let us wait."]);
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = Chat::new();
//! chat.user.push("Shall we rewrite it?").await?;
//! chat.run().await?;
//!
//! assert_eq!(to_value(chat.debate.con.messages(0)?)?, json!([
//!     { "role": "user", "content":
//!         "<topic>\nShall we rewrite it?\n</topic>\n\n<pro>\nIt saves time.\n</pro>" },
//! ]));
//! assert_eq!(to_value(chat.answer.messages(0)?)?, json!([
//!     { "role": "user", "content":
//!         "<user>\nShall we rewrite it?\n</user>\n\n\
//!          <debate>\n<pro>\nIt saves time.\n</pro>\n\n<con>\nIt costs too much.\n</con>\n</debate>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! The columns of a module are columns of the flow, named `debate.con` in the store, in events, in errors and in
//! `messages("debate.con", 0)`. These columns run and are stored with all others, and no value is copied. The tag of a
//! view is the last part of the name, unless the view sets another.
//!
//! A flow can use another one twice, under two names, and a module can use modules, up to 16 inside each other.
//!
//! # A module with parameters
//!
//! Generics and arguments come between the name of the module and the inputs, in this order: first the types in `<…>`,
//! then in `(…)` the arguments of the module's `new`. Compute steps of the outer flow use a parameter by reference, and
//! so do arguments; a module takes arguments by value, so clone the parameter:
//!
//! ```
//! use columnar::model::{Model, Offline};
//! use columnar::prelude::*;
//!
//! flow! {
//!     pub struct Debate<M: Model + Clone>(model: M) {
//!         source topic;
//!         column pro(topic.latest)             = prompt("Argue for it.").model(model.clone());
//!         column con(topic.latest, pro.latest) = prompt("Argue against it.").model(model.clone());
//!     }
//! }
//!
//! flow! {
//!     pub struct Chat<M: Model + Clone>(model: M) {
//!         source user;
//!         use Debate<M>(model.clone()) { topic: user } as debate;
//!         column answer(user, debate.con.latest) = prompt("Answer.").model(model.clone());
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = Chat::new(Offline::new());
//! chat.user.push("Shall we rewrite it?").await?;
//! chat.run().await?;
//! assert_eq!(Chat::<Offline>::ORDER, ["user", "debate.pro", "debate.con", "answer"]);
//! # Ok(()) }
//! ```
//!
//! # Order
//!
//! A column can feed a module and read its results. If the two wait for each other, the flow does not compile, and the
//! message names all columns of the cycle, also the ones in the module.
//!
//! [← extensions](super::extensions) · [contents](super) · [dynamic flows →](super::dynamic_flows)
