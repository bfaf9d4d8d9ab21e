//! Exact counts, for models whose tokenizer is public.

use std::fmt;

use tiktoken::CoreBpe;

use super::Counter;

/// The exact count of a public tokenizer: `o200k_base` or `cl100k_base` of OpenAI, from the crate
/// [tiktoken](https://docs.rs/tiktoken). Needs the feature `tiktoken`. Text that looks like a special token counts as
/// text.
///
/// The first use of a vocabulary unpacks it, which takes a fraction of a second; then the vocabulary stays in memory,
/// and counters refer to it. Each thread that counts has a cache of 1.2 MB.
///
/// The count of the *text* is exact. Providers report a few more tokens for each message, which a
/// [`Calibration`](super::Calibration) measures.
///
/// **There is no exact count for Claude**, whose tokenizer is not public: `o200k_base` counts 15 to 30 % too low for
/// Claude, and lowest for code and languages other than English. [Multiply](super::Calibrated) the count by a measured
/// ratio, and before there is one by 1.45.
///
/// ```
/// use columnar::tokens::{Counter, Exact};
///
/// assert_eq!(Exact::o200k().count("hello world"), 2);
/// assert!(Exact::by_model("openai/gpt-4o-mini").is_some());
/// assert!(Exact::by_model("anthropic/claude-sonnet-4-5").is_none());
/// ```
#[derive(Clone, Copy)]
pub struct Exact {
    name: &'static str,
    tokenizer: &'static CoreBpe,
}

impl Exact {
    /// The tokenizer of the models of OpenAI since GPT-4o.
    pub fn o200k() -> Self {
        Self::named("o200k_base").unwrap_or_else(|| unreachable!("the manifest of this crate asks for it"))
    }

    /// The tokenizer of GPT-4 and GPT-3.5.
    pub fn cl100k() -> Self {
        Self::named("cl100k_base").unwrap_or_else(|| unreachable!("the manifest of this crate asks for it"))
    }

    /// The tokenizer of a model by name, with or without the provider: `openai/gpt-4o-mini`. `None` if the tokenizer
    /// is not public, not known, or not compiled in. A program that turns on other vocabularies of the crate tiktoken
    /// finds these as well.
    pub fn by_model(name: &str) -> Option<Self> {
        let model = name.rsplit_once('/').map_or(name, |(_, model)| model);
        Self::named(tiktoken::model_to_encoding(model)?)
    }

    fn named(name: &'static str) -> Option<Self> {
        Some(Self { name, tokenizer: tiktoken::get_encoding(name)? })
    }
}

impl Counter for Exact {
    fn count(&self, text: &str) -> usize {
        self.tokenizer.count(text)
    }
}

impl fmt::Debug for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Exact").field(&self.name).finish()
    }
}
