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

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a file were shown raw and whole, and a key of a megabyte was compared with every known one.
    #[test]
    fn x6_errors_show_the_beginning_of_a_key_and_of_a_view_and_escape_it() {
        for start in ["\u{1b}[2J\u{202e}key\n", "columns"] {
            let long = start.repeat(100_000);
            let file = serde_json::json!({ long.as_str(): 1 }).to_string();
            let unknown = serde_json::from_str::<Declaration>(&file).expect_err("no such key").to_string();
            let views = [
                "user. latest".to_owned(),
                format!("user{long}"),
                format!("user.latest{long}"),
                format!("user.latest.{long}"),
                format!("user.{}.", "a".repeat(100_000)),
                long.clone(),
            ];
            let declared = views.map(|view| {
                let file = serde_json::json!({
                    "sources": ["user"],
                    "columns": [{ "name": "a", "views": [view], "step": long, "model": long }],
                });
                let declaration: Declaration =
                    serde_json::from_str(&file.to_string()).expect("it is a table");
                let wrong = crate::flow(declaration.to_columns([("words", Step::new(crate::prompt("")))]));
                wrong.map(drop).expect_err("it is wrong").to_string()
            });
            for message in declared.into_iter().chain([unknown]) {
                let is_harmless = message.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}');
                assert!(is_harmless && message.len() < 1000, "{} bytes: {message:.900}", message.len());
            }
        }
    }
}
