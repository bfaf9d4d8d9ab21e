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
//! let declaration = Declaration::read(FILE, toml::from_str)?;
//! let chat = flow(declaration.to_columns([("count", Step::new(count))]))?;
//! chat.push("user", "We should rewrite the backend in Rust.").await?;
//! chat.run().await?;
//! assert_eq!(chat.order(), ["user", "summary", "critique", "words"]);
//! assert_eq!(chat.get("words", 0).as_deref(), Some("7"));
//! # Ok(()) }
//! ```
//!
//! The format must describe its own types, as TOML, JSON and YAML do. [`Declaration::read`] finds mistakes with their lines;
//! a declaration that serde reads alone has errors of serde, which name the entries.

mod column;
mod entry;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use column::{BudgetDeclaration, ColumnDeclaration, PaceDeclaration, RateDeclaration};
pub use entry::FileEntries;

use self::column::with;
use self::entry::Reading;
use self::table::InData;
use crate::compute::Step;
use crate::declare::FileOrigin;
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
    text: |name| Self { name, ..Self::default() };
}

impl Declaration {
    /// Reads a declaration from the text of a file, by the function of a format. All mistakes are errors of the flow, with
    /// their positions, beside the mistakes of the flow itself: [`flow`](crate::flow()) reports them together.
    ///
    /// ```
    /// use columnar::data::Declaration;
    /// use columnar::prelude::*;
    ///
    /// const FILE: &str = r#"
    /// sources = ["user"]
    ///
    /// [[columns]]
    /// name = "topics"
    /// views = ["usr.latest"]
    /// promt = "List the topics."
    /// retry = "three"
    /// every = 0
    /// "#;
    ///
    /// let declaration = Declaration::read(FILE, toml::from_str)?;
    /// let errors = flow(declaration.to_columns([])).expect_err("four mistakes");
    /// assert_eq!(
    ///     errors.to_string(),
    ///     "line 5, column 1: `topics` reads `usr`, but the flow has no such column: did you mean `user`?\n\
    ///      line 7, column 1: unknown key `promt`; did you mean `prompt`?\n\
    ///      line 8, column 10: `retry` is the text `three`: write a whole number, 0 or more\n\
    ///      line 9, column 1: `topics` has a wrong `every`: it is a whole number above 0"
    /// );
    /// # Ok::<(), toml::de::Error>(())
    /// ```
    ///
    /// The parser must lend the keys of the text, as the parsers of TOML and JSON do. A key with an escape has the position of the
    /// entry around it. Without positions, as in a format whose parser lends nothing, a message names the entries.
    ///
    /// # Errors
    ///
    /// The error of the format, if the text is not of this format.
    pub fn read<'t, E>(
        text: &'t str,
        parse: impl FnOnce(&'t str) -> Result<FileEntries<'t>, E>,
    ) -> Result<Self, E> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let FileEntries(entry) = parse(text)?;
        let mut reading = Reading::new(text);
        let mut declaration: Self = reading.value("the file".to_owned(), &entry).unwrap_or_default();
        let mistakes = reading.mistakes;
        declaration.file = InData(Arc::new(FileOrigin { mistakes, ..FileOrigin::default() }));
        Ok(declaration)
    }

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
        let sources = self.sources.iter().map(|declared| (source(&declared.name), declared));
        let documents = self.documents.iter().map(|declared| (documents(&declared.name), declared));
        let sources = sources.chain(documents).map(|(source, declared)| {
            with(source.in_file((*declared.file.0).clone()), declared.was.as_ref(), Column::was)
        });
        // The mistakes outside of all columns need a column that brings them to the flow.
        let rest = (!self.file.0.mistakes.is_empty()).then(|| source("").in_file((*self.file.0).clone()));
        sources.chain(self.columns.iter().map(|declared| declared.column(&steps))).chain(rest).collect()
    }
}
