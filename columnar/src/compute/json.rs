//! Values that a compute step gives as JSON.

use serde::Serialize;

use super::{IntoOutcome, form};
use crate::error::BoxError;
use crate::history::Value;

/// A value that is stored as its JSON: what a function that computes a column may return in place of text.
///
/// ```
/// use columnar::Json;
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column words(user.latest) = |cx: Context| async move {
///         let said = cx.input("user").map_or("", |said| said);
///         Json(said.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
///     };
/// };
/// chat.user.push("one two").await?;
/// chat.run().await?;
/// assert_eq!(chat.words.get(0).as_deref(), Some(r#"["one","two"]"#));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize> Json<T> {
    fn text(&self) -> Result<Value, BoxError> {
        Ok(serde_json::to_string(&self.0)?.into())
    }
}

impl<T: Serialize> IntoOutcome<Value, form::Json> for Json<T> {
    fn into_outcome(self) -> Result<Value, BoxError> {
        self.text()
    }
}

impl<T: Serialize, E: Into<BoxError>> IntoOutcome<Value, form::FallibleJson> for Result<Json<T>, E> {
    fn into_outcome(self) -> Result<Value, BoxError> {
        self.map_err(Into::into)?.text()
    }
}
