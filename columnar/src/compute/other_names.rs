//! Methods that some expect for the model of a prompt. No program can call them, so that rustc says the name of the right one.

use super::{Prompt, Step};

/// No type implements it.
#[diagnostic::on_unimplemented(
    message = "the model of a prompt is set by `.model(...)`",
    label = "expected the method `model`",
    note = "as in `prompt(\"...\").model(\"openai/gpt-5.4-mini\")`, before policies such as `.retry(2)`"
)]
pub trait ModelOfAnotherName {}

impl Prompt {
    #[doc(hidden)]
    #[must_use]
    pub fn with<M: ModelOfAnotherName>(self, _: M) -> Self {
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn using<M: ModelOfAnotherName>(self, _: M) -> Self {
        self
    }
}

impl Step<'_> {
    #[doc(hidden)]
    #[must_use]
    pub fn with<M: ModelOfAnotherName>(self, _: M) -> Self {
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn using<M: ModelOfAnotherName>(self, _: M) -> Self {
        self
    }
}
