//! The sizes of contexts, by model.

/// The most tokens of a request to a model and the reply together, with source and date.
///
/// A request that does not fit is refused, or the reply ends early. A [budget](crate::guide::budgets) keeps contexts
/// small, and a [forecast](crate::Forecast) says which context will not fit.
///
/// ```
/// use columnar::model::ContextWindow;
///
/// let mini = ContextWindow::by_model("openai/gpt-5.4-mini").expect("it is known");
/// assert_eq!((mini.tokens, mini.most_input), (400_000, 272_000));
/// assert_eq!(mini.source, "https://developers.openai.com/api/docs/models");
/// assert!(mini.holds(272_000, 25_000) && !mini.holds(272_001, 25_000));
///
/// let opus = ContextWindow::by_model("anthropic/claude-opus-5-5").expect("it is known");
/// assert!(opus.holds(999_000, 1_000) && !opus.holds(999_000, 1_001));
///
/// assert_eq!(ContextWindow::by_model("ollama/qwen3"), None); // the client decides
/// assert_eq!(ContextWindow::by_model("somebody/something"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextWindow {
    /// The most tokens of a request and the reply together.
    pub tokens: usize,
    /// The most tokens of a request: fewer than `tokens` where the provider always keeps the longest reply free.
    pub most_input: usize,
    /// The page of the provider with the window.
    pub source: &'static str,
    /// A day on which the page is known to have had this window, as `YYYY-MM-DD`.
    pub date: &'static str,
}

impl ContextWindow {
    /// Whether a request of so many tokens fits, with a reply of at most `max_tokens`.
    pub fn holds(&self, input: usize, max_tokens: u32) -> bool {
        let reply = usize::try_from(max_tokens).unwrap_or(usize::MAX);
        input <= self.most_input && input.saturating_add(reply) <= self.tokens
    }

    /// Whether a context with so many tokens is refused. The number may be an estimate that is too high, so an excess by
    /// less than a half is left to the provider.
    pub(crate) fn is_exceeded_by(&self, tokens: usize) -> bool {
        tokens / 3 * 2 > self.most_input
    }
}
