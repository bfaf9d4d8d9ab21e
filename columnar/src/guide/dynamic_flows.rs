//! Declare a flow whose columns are known only at run time.
//!
//! [`source`](crate::source), [`column`](crate::column()), [`this`](crate::this) and [`flow`](crate::flow()) follow the
//! rules of [`flow!`](crate::flow!):
//!
//! | in `flow!` | at run time |
//! |---|---|
//! | `source user;` | `let user = source("user");` |
//! | `column mood(user.latest) = …;` | `let mood = column("mood", user.latest(), …);` |
//! | `(user, mood.latest.as("tone"), self)` | `(&user, mood.latest().r#as("tone"), this())` |
//! | `user.window(3)`, `self.latest` | `user.window(3)`, `this().latest()` |
//! | the name of the struct | `flow([mood, answer])`, which includes the columns that these read |
//!
//! ```
//! use columnar::prelude::*;
//! # use serde_json::{json, to_value};
//!
//! /// A definition that can be used again is a function from column to column.
//! fn opinion(of: &str, heard: &Column) -> Column {
//!     let instruction = format!("What does a {of} think of this?");
//!     column(of, (heard.latest(), this().latest()), prompt(instruction))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let user = source("user");
//! let opinions: Vec<Column> = ["lawyer", "chemist"].iter().map(|of| opinion(of, &user)).collect();
//! let views: Vec<View> = opinions.iter().map(Column::latest).collect();
//! let verdict = column("verdict", views, prompt("Weigh these."));
//!
//! let f = flow([verdict])?;
//! f.push("user", "May it be sold?").await?;
//! f.run().await?;
//! assert_eq!(f.order(), ["user", "lawyer", "chemist", "verdict"]);
//! assert_eq!(to_value(f.messages("lawyer", 0)?)?, json!([
//!     { "role": "user", "content": "<user>\nMay it be sold?\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! [`get`](crate::flow::LiveFlow::get), [`push`](crate::Flow::push) and events identify columns by their names.
//! `get` panics if the flow has no such column, as an index that is out of bounds does;
//! [`try_get`](crate::flow::LiveFlow::try_get) returns an error instead. Mistakes in the declaration are an error value with all of them:
//!
//! ```
//! # use columnar::prelude::*;
//! let user = source("user");
//! let wrong = [column("Mood", &user, prompt("…")), column("shut", user.window(0), prompt("…"))];
//! let Err(Error::Schema(error)) = flow(wrong) else { panic!("two mistakes") };
//! assert_eq!(error.errors().len(), 2);
//! ```
//!
//! # A flow that changes its shape
//!
//! [`add_column`](crate::Flow::add_column) adds a column to a live flow, even during a run, and `run` fills it from
//! step 0. [`remove_column`](crate::Flow::remove_column) removes a column that no other column reads, and
//! [`replace_column`](crate::Flow::replace_column) makes another flow with a different column in its place.
//!
//! Next: [testing](super::testing).
