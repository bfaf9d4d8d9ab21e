//! Methods by which some users try to set the model of a prompt. No program can call these methods, so that rustc tells
//! the name of the right one.

use super::{Prompt, Step};

/// A trait without any implementation.
#[diagnostic::on_unimplemented(
    message = "the model of a prompt is set by `.model(...)`",
    label = "expected the method `model`",
    note = "as in `prompt(\"...\").model(\"openai/gpt-5.4-mini\")`"
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
