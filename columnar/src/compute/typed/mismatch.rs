//! What is wrong with a text that is not JSON of a type.

use std::fmt;

use serde_json::error::Category;

/// A text that is not what the type of its column says. It tells where, and nothing of the text.
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column score(user.latest): Vec<u8> = |_: Context| async { "[4, \"five\"]" };
/// };
/// chat.user.push("How was it?").await?;
/// let error = chat.run().await.unwrap_err();
/// assert!(error.to_string().contains("the JSON is no `Array_of_uint8` (line 1, column 10)"), "{error}");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaMismatch {
    /// What the type is called.
    name: String,
    fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// There is no JSON at all.
    None,
    /// There is more than one JSON value, or something behind one.
    More,
    /// What is wrong with the JSON, and where.
    At(Wrong, Place),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Syntax,
    Ends,
    Shape,
}

/// Counted from 1, from the beginning of the JSON on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    line: usize,
    column: usize,
}

impl SchemaMismatch {
    pub(super) fn none(name: &str) -> Self {
        Self { name: name.to_owned(), fault: Fault::None }
    }

    pub(super) fn more(name: &str) -> Self {
        Self { name: name.to_owned(), fault: Fault::More }
    }

    /// The message of the error may quote the text, so it is not kept.
    pub(super) fn of(error: &serde_json::Error, name: &str) -> Self {
        let wrong = match error.classify() {
            Category::Data => Wrong::Shape,
            Category::Eof => Wrong::Ends,
            Category::Syntax | Category::Io => Wrong::Syntax,
        };
        let place = Place { line: error.line(), column: error.column() };
        Self { name: name.to_owned(), fault: Fault::At(wrong, place) }
    }
}

impl fmt::Display for SchemaMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match self.fault {
            Fault::None => write!(f, "there is no JSON, and it is to be a `{name}`"),
            Fault::More => write!(f, "there is more than one JSON value, and it is to be one `{name}`"),
            Fault::At(wrong, Place { line, column }) => {
                match wrong {
                    Wrong::Syntax => write!(f, "it is no valid JSON, and is to be a `{name}`")?,
                    Wrong::Ends => write!(f, "the JSON breaks off, and is to be a `{name}`")?,
                    Wrong::Shape => write!(f, "the JSON is no `{name}`")?,
                }
                write!(f, " (line {line}, column {column})")
            }
        }
    }
}

impl std::error::Error for SchemaMismatch {}
