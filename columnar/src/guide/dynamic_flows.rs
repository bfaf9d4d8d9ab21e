//! Declare a flow whose columns are known only at run time.
//!
//! Chapter 35 of 37 · [← modules](super::modules) · [contents](super) · [testing →](super::testing)
//!
//! [`source`](crate::source), [`column`](crate::column()), [`this`](crate::this) and [`flow`](crate::flow()) follow the
//! rules of [`flow!`](crate::flow!):
//!
//! | in `flow!` | at run time |
//! |---|---|
//! | `source user;` | `let user = source("user");` |
//! | `column mood(user.latest) = …;` | `let mood = column("mood", user.latest(), …);` |
//! | `(user, mood.latest.as("tone"), self)` | `(&user, mood.latest().r#as("tone"), this())` |
//! | `docs.latest.context()` | `docs.latest().context()` |
//! | `user.window(3)`, `self.latest` | `user.window(3)`, `this().latest()` |
//! | the name of the struct | `flow([mood, answer])`, which includes the columns that these read |
//! | names of columns that are declared later | `["user", "mood.latest.as(\"tone\")", "self"]`, the views as text |
//!
//! ```
//! use columnar::prelude::*;
//! use serde_json::{json, to_value};
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
//! A closure that keeps a value owns it, and each future of the closure owns a clone:
//!
//! ```
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let (user, style) = (source("user"), String::from("loud"));
//! let styled = column("styled", user.latest(), move |cx: Context| {
//!     let style = style.clone();
//!     async move { format!("{style}: {}", cx.input("user").map_or("", |text| text)) }
//! });
//! let f = flow([styled])?;
//! f.push("user", "hello").await?;
//! f.run().await?;
//! assert_eq!(f.get("styled", 0).as_deref(), Some("loud: hello"));
//! # Ok(()) }
//! ```
//!
//! [`get`](crate::Flow::get), [`push`](crate::Flow::push) and events identify columns by name. `get` panics if the flow
//! has no such column, as an index that is out of bounds does; [`try_get`](crate::flow::LiveFlow::try_get) returns an
//! error instead. All mistakes in the declaration are one error value:
//!
//! ```
//! use columnar::prelude::*;
//!
//! let user = source("user");
//! let wrong = [column("Mood", &user, prompt("…")), column("shut", user.window(0), prompt("…"))];
//! let Err(Error::Schema(error)) = flow(wrong) else { panic!("two mistakes") };
//! assert_eq!(error.errors().len(), 2);
//! ```
//!
//! # Columns in any order
//!
//! A column that is passed to another one is declared first. A view can also be a text, in the language of `flow!`.
//! Such a view finds the column by name, among all columns of the flow, wherever it is declared:
//!
//! ```
//! use columnar::prelude::*;
//!
//! let columns = [
//!     column("answer", ["user", "mood.latest.as(\"tone\")", "self"], prompt("Answer.")),
//!     column("mood", "user.window(3)", prompt("Name the mood.")),
//!     source("user"),
//! ];
//! let f = flow(columns)?;
//! assert_eq!(f.order(), ["user", "mood", "answer"]);
//! # Ok::<(), Error>(())
//! ```
//!
//! A text can have every view except one with a function, that is `filter` and `sample`. A mistake in the text is an
//! error of the flow, with the position of the mistake.
//!
//! # A flow in a file
//!
//! [`data::Declaration`](crate::data::Declaration) reads the columns of a flow from TOML, JSON or any other format of
//! serde. Columns are in any order, and each key is the method of the same name. A column has a `prompt`, or the name of
//! a compute `step` that the program passes:
//!
//! ```
//! use columnar::data::Declaration;
//! use columnar::prelude::*;
//!
//! const FILE: &str = r#"
//!     sources = ["user"]                                  # with an earlier name: { name = "user", was = "said" }
//!
//!     [[columns]]
//!     name = "answer"
//!     views = ["user", 'mood.latest.as("tone")', "self"]
//!     prompt = "You are a helpful assistant."
//!     model = "offline"                                   # also temperature, stop, max_tokens, …
//!     timeout = 30                                        # seconds of each attempt
//!     rate = { per_minute = 60, tokens_per_minute = 100_000 }
//!     retry = 3                                           # also limit, every, or_skip, or_wait, version
//!     budget = 8000                                       # or { tokens = 8000, strategy = "rolling_window" }
//!
//!     [[columns]]
//!     name = "mood"
//!     views = ["user.window(3)"]
//!     step = "mood"
//! "#;
//!
//! async fn mood(cx: Context) -> &'static str {
//!     if cx.messages().to_json().contains('!') { "excited" } else { "calm" }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let declaration = Declaration::read(FILE, toml::from_str)?;
//! let chat = flow(declaration.to_columns([("mood", Step::new(mood))]))?;
//! chat.push("user", "It works!").await?;
//! chat.run().await?;
//! assert_eq!(chat.get("mood", 0).as_deref(), Some("excited"));
//! # Ok(()) }
//! ```
//!
//! The people who write such a file need not know Rust. `flow` reports all mistakes of the file at once, in the order of the
//! file: `line 8, column 10: `retry` is the text `three`: write a whole number, 0 or more`. These are misspelt keys, values of
//! another kind or out of range, unknown columns and steps, cycles, clashing tags and wrong views. A declaration that serde
//! reads alone, as by `serde_json::from_value`, has no positions, and the error of serde names the entries. A type and
//! a condition are Rust, so a column with [`typed`](super::typed) or [`when`](crate::compute::Policy::when) names a
//! `step`.
//!
//! The columns can be joined with columns of the program, and passed to [`Flow::open`](crate::Flow::open) and
//! [`add_column`](crate::Flow::add_column) as well. The example `from_toml` is such a program. A program that reads
//! settings from elsewhere applies them to a [`Step`](crate::compute::Step), as in [compute
//! steps](super::compute_steps#policies).
//!
//! # A flow that changes its shape
//!
//! [`add_column`](crate::Flow::add_column) adds a column to a live flow, even during a run, and `run` fills the column
//! from step 0. [`remove_column`](crate::Flow::remove_column) removes a column that no other column reads. If the same
//! column is added again, its values are there again; another declaration under the same name is an error, with a store
//! and without. [`replace_column`](crate::Flow::replace_column) makes another flow with a different column in that
//! place.
//!
//! [← modules](super::modules) · [contents](super) · [testing →](super::testing)
