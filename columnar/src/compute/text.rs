//! The texts that a prompt takes.

use std::sync::Arc;

/// Text for [`prompt`](super::prompt), or a reference to text. A parameter of a flow is a reference in its compute
/// steps.
///
/// `Form` distinguishes the implementations; rustc always infers it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the text of a prompt",
    label = "expected text, as in `prompt(\"List the topics.\")`",
    note = "a prompt takes `&str`, `String`, `Arc<str>` or `Cow<str>`, and references to these; `format!` makes a text of other values"
)]
pub trait IntoText<Form> {
    /// Converts the value into text.
    fn into_text(self) -> Arc<str>;
}

impl<T: Into<Arc<str>>> IntoText<form::Owned> for T {
    fn into_text(self) -> Arc<str> {
        self.into()
    }
}

impl<T: AsRef<str>> IntoText<form::Reference> for &T {
    fn into_text(self) -> Arc<str> {
        self.as_ref().into()
    }
}

/// Markers that keep the implementations above from overlapping. The markers have no public path: type inference alone
/// uses them.
mod form {
    /// A value that the standard library converts.
    #[derive(Debug)]
    pub struct Owned;

    /// A reference to text of any type.
    #[derive(Debug)]
    pub struct Reference;
}
