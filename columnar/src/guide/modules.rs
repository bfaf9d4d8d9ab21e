//! A flow as a part of another one.
//!
//! Any flow with a name can be used in another flow. Its sources are its inputs, and each is bound to a column of
//! the flow that uses it. What it is given it calls by its own names, so it is written once and used anywhere:
//!
//! ```
//! # use columnar::prelude::*;
//! # use columnar::testing::script;
//! # use serde_json::{json, to_value};
//! flow! {
//!     /// Two sides of a question.
//!     pub struct Debate {
//!         source topic;
//!         column pro(topic.latest)              = script(["It saves time."]);
//!         column con(topic.latest, pro.latest)  = script(["It costs too much."]);
//!     }
//! }
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         use Debate { topic: user } as debate;
//!         column answer(user, group("debate", debate.pro.latest, debate.con.latest), self) = script(["Let us wait."]);
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
//! Its columns are columns of the flow: `debate.con` in the store, in events, in errors and in
//! `messages("debate.con", 0)`. They run and are stored with all the others, and no value is copied. The tag of
//! a view is the last part of the name, unless the view gives another.
//!
//! A flow with parameters is given them behind its name: `use Debate(model.clone()) { topic: user } as debate;`.
//! A flow may use another one twice, under two names, and one that uses others itself.
//!
//! A column may feed a part and read what comes out of it. Where the two would wait for each other, the flow does
//! not compile, and the message names the columns on the way, through the part as well.
//!
//! Next: [flows whose shape is known only at run time](super::dynamic_flows).
