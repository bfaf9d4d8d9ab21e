//! The settings of requests.

use std::fmt;
use std::sync::Arc;

use super::aware::Aware;
use crate::context::budget::Budget;
use crate::history::tokens::{Counter, Estimate, LimitedCounter};
use crate::model::cache::Pace;
use crate::model::rendering::ReplySettings;

/// The settings of the requests to one model: the system text, the budget, and how the model replies.
///
/// ```
/// use columnar::budget::Budget;
/// use columnar::loom::Agent;
///
/// let poet = Agent::new("You write poems.").model("openai/gpt-5.4-mini").budget(Budget::of(8_000)).temperature(1.0);
/// ```
#[derive(Clone)]
pub struct Agent {
    pub(super) system: String,
    pub(super) model: String,
    pub(super) budget: Budget,
    pub(super) counter: Arc<dyn Counter>,
    pub(super) max_tokens: Option<u32>,
    pub(super) settings: ReplySettings,
    pub(super) pace: Pace,
    pub(super) aware: Option<Aware>,
}

impl Agent {
    /// An agent with this system text, which may be empty. A request in [buffer mode](super::Path::buffer) does not send the
    /// text unless the tree says so.
    pub fn new(system: impl Into<String>) -> Self {
        Self {
            system: system.into(),
            model: String::new(),
            budget: Budget::new(),
            counter: Arc::new(Estimate),
            max_tokens: None,
            settings: ReplySettings::default(),
            pace: Pace::default(),
            aware: None,
        }
    }

    /// Sets the name of the model, for the default length of a reply. Nothing is called.
    #[must_use]
    pub fn model(self, name: impl Into<String>) -> Self {
        Self { model: name.into(), ..self }
    }

    /// Sets the budget of the requests. A field that this budget leaves open comes from the budget of the
    /// [tree](super::Tree::set_budget), then from the budget of the [program](crate::budget::set_default).
    #[must_use]
    pub fn budget(self, budget: impl Into<Budget>) -> Self {
        Self { budget: budget.into(), ..self }
    }

    /// Sets the counter of tokens. The default is [`Estimate`].
    #[must_use]
    pub fn counter(self, counter: impl Counter + 'static) -> Self {
        Self { counter: Arc::new(LimitedCounter(counter)), ..self }
    }

    /// Sets the most tokens of a reply. The default is the limit of the [model](crate::model::MaxTokens).
    #[must_use]
    pub fn max_tokens(self, tokens: u32) -> Self {
        Self { max_tokens: Some(tokens), ..self }
    }

    /// Sets the sampling temperature. The default is the temperature of the model.
    #[must_use]
    pub fn temperature(mut self, temperature: f32) -> Self {
        self.settings.temperature = Some(temperature);
        self
    }

    /// Sets the stop sequences: a reply ends before the first of these texts.
    #[must_use]
    pub fn stop<T: Into<String>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        self.settings.stop = texts.into_iter().map(Into::into).collect();
        self
    }

    /// Sets how the model replies: the effort, the sampling, the stop sequences. All earlier settings of replies are
    /// replaced.
    #[must_use]
    pub fn settings(self, settings: ReplySettings) -> Self {
        Self { settings, ..self }
    }

    /// Sets the usual time between two requests, for the cache of a provider.
    #[must_use]
    pub fn pace(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    /// Shows the tree to the model: the ids of nodes, the position of the request, and the memory of the model.
    #[must_use]
    pub fn aware(self, aware: Aware) -> Self {
        Self { aware: Some(aware), ..self }
    }
}

/// The settings without the system text.
impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("model", &self.model)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}
