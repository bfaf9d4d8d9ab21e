//! The limits of replies, by model.

/// The most tokens of the replies of a model: the default of [`Prompt::max_tokens`](crate::Prompt::max_tokens), and the
/// most that the model can write, with source and date.
///
/// | model | default |
/// |---|---|
/// | may think before it replies | [`THINKING`](Self::THINKING), as thoughts count as well |
/// | does not think, or is not known | [`PLAIN`](Self::PLAIN) |
///
/// No default is more than the model can write, because a provider refuses such a request. A limit is no target: most
/// replies are shorter. But a [`SpendLimit`](crate::usage::SpendLimit) reserves the cost of the longest reply, and
/// some providers count that reply against a quota. So set a limit where replies are short.
///
/// ```
/// use columnar::model::MaxTokens;
///
/// let opus = MaxTokens::by_model("anthropic/claude-opus-5");
/// assert_eq!((opus.default, opus.most, opus.thinks), (25_000, Some(128_000), true));
/// assert_eq!(opus.source, "https://platform.claude.com/docs/en/models");
///
/// let command = MaxTokens::by_model("cohere/command-a-03-2025");
/// assert_eq!((command.default, command.most, command.thinks), (4000, Some(4000), false));
///
/// let unknown = MaxTokens::by_model("somebody/something");
/// assert_eq!((unknown.default, unknown.most), (4096, None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaxTokens {
    /// The limit of a prompt that sets no limit.
    pub default: u32,
    /// The most tokens that the model can write, if the number is known.
    pub most: Option<u32>,
    /// Whether the model may think before it replies.
    pub thinks: bool,
    /// The page of the provider with the limit; empty for an unknown model.
    pub source: &'static str,
    /// A day on which the page is known to have had this limit, as `YYYY-MM-DD`; empty without a source.
    pub date: &'static str,
}

impl MaxTokens {
    /// The default for a model that does not think, and for an unknown model. Nearly all models can write that much.
    pub const PLAIN: u32 = 4096;

    /// The default for a model that may think: the number that OpenAI recommends to reserve at least
    /// (<https://developers.openai.com/api/docs/guides/reasoning>, seen on 2026-10-03).
    pub const THINKING: u32 = 25_000;

    /// The limits of a model that can write so many tokens, and may think.
    pub(super) const fn new(
        most: Option<u32>,
        thinks: bool,
        source: &'static str,
        date: &'static str,
    ) -> Self {
        let default = match most {
            Some(most) if most < Self::PLAIN || thinks && most < Self::THINKING => most,
            _ if thinks => Self::THINKING,
            _ => Self::PLAIN,
        };
        Self { default, most, thinks, source, date }
    }
}
