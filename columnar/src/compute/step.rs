//! The type-erased compute step of a column, with all settings.

use std::fmt;
use std::sync::Arc;

use super::answer_rules::AnswerRules;
use super::context::{AnyPrompt, Defaults, LongestReply};
use super::rate::OverRate;
use super::{Compute, Context, Reply};
use crate::context::ContextForm;
use crate::context::budget::Budget;
use crate::declare::StepError;
use crate::model::Choice;
use crate::model::rendering::Schema;
use crate::schedule::Rules;

/// A compute step of any kind, as a flow holds it. A setting does not change the type, so settings can be conditional:
///
/// ```
/// use columnar::prelude::*;
///
/// fn topics(retries: Option<usize>, tokens: Option<usize>) -> Step<'static> {
///     let mut step = Step::new(prompt("List the topics."));
///     if let Some(retries) = retries {
///         step = step.retry(retries);
///     }
///     if let Some(tokens) = tokens {
///         step = step.budget(tokens);
///     }
///     step
/// }
///
/// let f = flow([column("topics", source("user").latest(), topics(Some(3), None))])?;
/// # Ok::<(), Error>(())
/// ```
///
/// The lifetime is the lifetime of the values that the step borrows. It is `'static` in the item form of
/// [`flow!`](crate::flow!) and in the run-time API; an inline flow may borrow from the function around it.
#[derive(Clone)]
pub struct Step<'a> {
    call: Arc<dyn Fn(Context) -> Reply<'a> + Send + Sync + 'a>,
    // Shared by the clones of a step, until one of them is changed.
    pub(crate) settings: Arc<StepSettings>,
}

impl<'a> Step<'a> {
    pub(super) fn from_fn(call: impl Fn(Context) -> Reply<'a> + Send + Sync + 'a) -> Self {
        Self::with_settings(StepSettings::default(), call)
    }

    pub(super) fn with_settings(
        settings: impl Into<Arc<StepSettings>>,
        call: impl Fn(Context) -> Reply<'a> + Send + Sync + 'a,
    ) -> Self {
        Self { call: Arc::new(call), settings: settings.into() }
    }

    /// The step, called through `wrap`.
    pub(crate) fn wrap(self, wrap: impl Fn(&Self, Context) -> Reply<'a> + Send + Sync + 'a) -> Self {
        Self::with_settings(Arc::clone(&self.settings), move |cx| wrap(&self, cx))
    }

    /// The step with a shorter lifetime.
    pub(crate) fn shorten<'b>(self) -> Step<'b>
    where
        'a: 'b,
    {
        // `dyn Fn` is invariant in the return type, so the compiler does not shorten the lifetime by itself.
        Step::with_settings(Arc::clone(&self.settings), move |cx| self.start(cx))
    }

    /// The step with a policy that makes several attempts. The innermost such policy counts.
    pub(super) fn attempted_by(self, policy: &'static str) -> Self {
        self.set(|settings| _ = settings.repeated_by.get_or_insert(policy))
    }

    /// The step with a policy of computations. An external column has none.
    pub(super) fn computing_with(self, policy: &'static str) -> Self {
        let computes = self.settings.external.is_none();
        if computes { self } else { self.set(|settings| settings.ineffective = Some(policy)) }
    }

    /// The step with other settings.
    pub(super) fn set(mut self, change: impl FnOnce(&mut StepSettings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }

    /// Whether the calls of the step wait for a batch, however long that takes.
    pub(super) fn is_queued(&self, cx: &Context) -> bool {
        self.settings.model.as_ref().is_some_and(|model| model.is_queued(&cx.defaults.model))
    }

    /// The step with the type that the values of another step have.
    pub(crate) fn typed_as(self, other: &StepSettings) -> Self {
        #[cfg(feature = "typed")]
        if let (Some(retype), None) = (other.retype, self.settings.retype) {
            return retype(self);
        }
        #[cfg(not(feature = "typed"))]
        let _ = other;
        self
    }

    pub(crate) fn start(&self, mut cx: Context) -> Reply<'a> {
        // Policies start the steps inside of them with the same context, and the outermost step has the later settings.
        cx.prompt = cx.prompt.or_else(|| self.settings.prompt.clone());
        cx.longest_reply = cx.longest_reply.or_else(|| self.settings.longest_reply());
        (self.call)(cx)
    }
}

impl fmt::Debug for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Step")
    }
}

/// The settings that a compute step brings for the column. Shared, as most steps have no settings and there may be many
/// flows.
#[derive(Clone, Default)]
pub(crate) struct StepSettings {
    pub(crate) rules: Rules,
    pub(crate) budget: Option<Arc<Budget>>,
    /// The form of the contexts.
    pub(crate) form: ContextForm,
    /// Whether the instruction stands behind the messages.
    pub(crate) is_after: bool,
    /// The schema of the values; `None` for text.
    pub(crate) schema: Option<Arc<Schema>>,
    /// The prompt with all settings, if the step is one.
    pub(crate) prompt: Option<AnyPrompt>,
    /// A setting of prompts, of a step that is none.
    pub(crate) misplaced: Option<&'static str>,
    /// `None` for a step that computes the values.
    pub(crate) external: Option<AnswerRules>,
    /// A policy of computations, of a step that computes nothing.
    pub(crate) ineffective: Option<&'static str>,
    /// The constant instruction of a model, sent with every request besides the context.
    pub(crate) instruction: Option<Arc<str>>,
    /// The model of the step, if it calls one.
    pub(crate) model: Option<Choice>,
    /// The limit of replies, if the step sets one.
    pub(crate) max_tokens: Option<u32>,
    /// The tokens per minute of its rates, if they limit them.
    pub(crate) tokens_per_minute: Option<u32>,
    /// The settings of requests, as [`Compute::reply_settings`] says.
    pub(crate) reply_settings: Option<Arc<str>>,
    /// The value that checks that model.
    pub(crate) check: Option<Arc<dyn Compute>>,
    /// The innermost policy that makes several attempts. A timeout after that policy limits all attempts together.
    pub(crate) repeated_by: Option<&'static str>,
    /// Distinguishes values of this step from stored values of an earlier one.
    pub(crate) version: Option<Arc<str>>,
    /// The type of JSON of all values of a typed column, if there is one.
    #[cfg(feature = "parquet")]
    pub(crate) json_type: Option<Arc<str>>,
    /// The number of further requests after a reply that does not match the type of the column.
    #[cfg(feature = "typed")]
    pub(crate) repairs: Option<usize>,
    /// Gives another step the type of the column; `None` for text.
    #[cfg(feature = "typed")]
    pub(crate) retype: Option<for<'a> fn(Step<'a>) -> Step<'a>>,
}

impl StepSettings {
    /// Takes the model and the settings of the value that calls it.
    pub(super) fn call(&mut self, compute: Arc<impl Compute>) {
        self.prompt = compute.__prompt();
        self.model = compute.model();
        self.max_tokens = compute.reply_limit();
        self.is_after = compute.is_after();
        self.reply_settings = compute.reply_settings().map(Into::into);
        self.check = self.model.is_some().then_some(compute as Arc<dyn Compute>);
    }

    fn longest_reply(&self) -> Option<LongestReply> {
        Some(LongestReply { model: self.model.clone()?, limit: self.max_tokens })
    }

    /// Checks that a minute of the rate has room for the longest reply. A batch has no rate.
    pub(crate) fn check_rate(&self, defaults: &Defaults) -> Result<(), OverRate> {
        let reply = self.longest_reply().filter(|reply| !reply.model.is_queued(&defaults.model));
        reply.map_or(Ok(()), |reply| OverRate::check(reply.tokens(defaults), self.tokens_per_minute))
    }

    /// Checks that no setting of prompts belongs to another step, and no policy to a step without computations.
    pub(crate) fn check_place(&self) -> Result<(), StepError> {
        let misplaced = self.misplaced.map(|setting| StepError::OnlyOfPrompts { setting });
        let ineffective = self.ineffective.map(|setting| StepError::OfComputations { setting });
        misplaced.or(ineffective).map_or(Ok(()), Err)
    }
}
