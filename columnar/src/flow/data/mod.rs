//! Flows that are declared as data: in TOML, JSON or any other format that serde reads.
//!
//! A [`Declaration`] lists the sources and the columns of a flow, in any order, with all views as text. A declaration
//! becomes columns of the run-time API, so everything that holds for a flow of such columns holds here too, errors
//! included: a program reads the file, and [`flow`](crate::flow()) reports all mistakes at once.
//!
//! ```
//! use columnar::data::Declaration;
//! use columnar::prelude::*;
//!
//! const FILE: &str = r#"
//!     sources = ["user"]
//!
//!     [[columns]]
//!     name = "critique"                                  # before the column that it reads
//!     views = ['summary.latest.as("digest")', "user.latest"]
//!     prompt = "Identify weak reasoning."
//!     temperature = 0.2
//!     retry = 3
//!
//!     [[columns]]
//!     name = "summary"
//!     views = ["user", "self.latest"]
//!     prompt = "Update the running summary with the latest message."
//!
//!     [[columns]]
//!     name = "words"
//!     views = ["user.latest"]
//!     step = "count"                                     # a function of the program
//! "#;
//!
//! async fn count(cx: Context) -> String {
//!     cx.input("user").map_or(0, |text| text.split_whitespace().count()).to_string()
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let declaration: Declaration = toml::from_str(FILE)?;
//! let chat = flow(declaration.to_columns([("count", Step::new(count))]))?;
//! chat.push("user", "We should rewrite the backend in Rust.").await?;
//! chat.run().await?;
//! assert_eq!(chat.order(), ["user", "summary", "critique", "words"]);
//! assert_eq!(chat.get("words", 0).as_deref(), Some("7"));
//! # Ok(()) }
//! ```
//!
//! The format must describe its own types, as TOML, JSON and YAML do. An unknown key is an error of the format, with
//! the position of the key and the name that was probably meant.

mod column;
mod table;

use std::collections::BTreeMap;

pub use column::{BudgetDeclaration, ColumnDeclaration, PaceDeclaration, RateDeclaration};

use self::column::with;
use crate::compute::Step;
use crate::flow::{Column, documents, source};
use table::table;

table! {
    /// The columns of a flow, as data.
    pub struct Declaration {
        /// The columns whose values come from outside.
        pub sources: Vec<SourceDeclaration>,
        /// The sources of documents; see [`documents`](crate::documents()).
        pub documents: Vec<SourceDeclaration>,
        /// The columns that are computed.
        pub columns: Vec<ColumnDeclaration>,
    }
}

table! {
    /// A source, as data: a name alone, or a table.
    pub struct SourceDeclaration {
        /// The name of the source. This key is required.
        pub name: String,
        /// The earlier name of the source; see [`Column::was`].
        pub was: Option<String>,
    }
    required: "name";
    text: |name| Self { name, was: None };
}

impl Declaration {
    /// The columns, for [`flow`](crate::flow()), [`Flow::open`](crate::Flow::open) and
    /// [`add_column`](crate::Flow::add_column). `steps` are the compute steps that a declaration can name.
    ///
    /// Nothing is checked here. The flow that is made of the columns reports the mistakes of the declaration with all
    /// others, as [`SchemaErrors`](crate::SchemaErrors):
    ///
    /// ```
    /// use columnar::data::Declaration;
    /// use columnar::prelude::*;
    ///
    /// let declaration: Declaration = serde_json::from_str(
    ///     r#"{
    ///         "sources": ["user"],
    ///         "columns": [
    ///             { "name": "topics", "views": ["usr.latest"], "prompt": "List the topics." },
    ///             { "name": "words", "views": ["user.lates"], "step": "cuont", "temperature": 0.2 }
    ///         ]
    ///     }"#,
    /// )?;
    /// let count = |cx: Context| async move { cx.messages().last_text().len().to_string() };
    /// let errors = flow(declaration.to_columns([("count", Step::new(count))])).expect_err("four mistakes");
    /// assert_eq!(
    ///     errors.to_string(),
    ///     "`topics` reads `usr`, but the flow has no such column: did you mean `user`?\n\
    ///      `words` reads `user.lates`, but the flow has no such column: did you mean `user.latest`?\n\
    ///      `words` has the setting `temperature`, which only prompts have: drop it, or set it in the program\n\
    ///      `words` has the compute step `cuont`, which the program does not have; did you mean `count`?"
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn to_columns<'s>(&self, steps: impl IntoIterator<Item = (&'s str, Step<'static>)>) -> Vec<Column> {
        let steps: BTreeMap<&str, Step<'static>> = steps.into_iter().collect();
        let sources = self.sources.iter().map(|declared| (source(&declared.name), &declared.was));
        let documents = self.documents.iter().map(|declared| (documents(&declared.name), &declared.was));
        let sources = sources.chain(documents).map(|(source, was)| with(source, was.as_ref(), Column::was));
        sources.chain(self.columns.iter().map(|declared| declared.column(&steps))).collect()
    }
}
