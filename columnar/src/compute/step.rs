//! The type-erased compute step of a column, with all settings.

use std::fmt;
use std::sync::Arc;

use super::{Compute, Context, Reply};
use crate::context::ContextForm;
use crate::context::budget::Budget;
use crate::declare::error::BoxError;
use crate::model::{Choice, Model};
use crate::schedule::{OnFailure, Rules};

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
    settings: Arc<StepSettings>,
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

    pub(super) fn with_limit(mut self, cells: usize) -> Self {
        // Clones of the step share the settings until one clone changes them.
        Arc::make_mut(&mut self.settings).rules.limit = Some(cells);
        self
    }

    pub(super) fn with_on_failure(mut self, on_failure: OnFailure) -> Self {
        Arc::make_mut(&mut self.settings).rules.on_failure = on_failure;
        self
    }

    /// Records that the policy of this name makes several attempts. The innermost such policy counts.
    pub(super) fn with_attempts_by(mut self, policy: &'static str) -> Self {
        Arc::make_mut(&mut self.settings).repeated_by.get_or_insert(policy);
        self
    }

    pub(super) fn with_interval(mut self, steps: usize) -> Self {
        Arc::make_mut(&mut self.settings).rules.every = Some(steps);
        self
    }

    /// The step with this budget. Fields that `budget` leaves open keep the earlier values.
    pub(super) fn with_budget(mut self, budget: &Budget) -> Self {
        let settings = Arc::make_mut(&mut self.settings);
        let before = settings.budget.as_deref().cloned().unwrap_or_default();
        settings.budget = Some(Arc::new(budget.or(&before)));
        self
    }

    pub(super) fn with_document_form(mut self) -> Self {
        Arc::make_mut(&mut self.settings).form = ContextForm::Document;
        self
    }

    pub(super) fn with_version(mut self, version: &str) -> Self {
        Arc::make_mut(&mut self.settings).version = Some(version.into());
        self
    }

    #[cfg(feature = "typed")]
    pub(super) fn with_repairs(mut self, times: usize) -> Self {
        Arc::make_mut(&mut self.settings).repairs = Some(times);
        self
    }

    /// Changes the instruction, if the step has one.
    #[cfg(feature = "typed")]
    pub(super) fn map_instruction(mut self, map: impl Fn(&str) -> Arc<str>) -> Self {
        let instruction = self.settings.instruction.as_deref().map(map);
        if instruction.is_some() {
            Arc::make_mut(&mut self.settings).instruction = instruction;
        }
        self
    }

    pub(crate) fn settings(&self) -> &Arc<StepSettings> {
        &self.settings
    }

    pub(crate) fn start(&self, cx: Context) -> Reply<'a> {
        (self.call)(cx)
    }
}

impl fmt::Debug for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Step")
    }
}

/// The check of the model that a step calls.
#[derive(Clone)]
pub(crate) struct Check(pub(super) Arc<dyn Compute>);

impl Check {
    pub(crate) fn check(&self, model: &dyn Model) -> Result<(), BoxError> {
        self.0.check(model)
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Check")
    }
}

/// The settings that a compute step brings for the column. Shared, as most steps have no settings and there may be many
/// flows.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepSettings {
    pub(crate) rules: Rules,
    pub(crate) budget: Option<Arc<Budget>>,
    /// The form of the contexts.
    pub(crate) form: ContextForm,
    /// The constant instruction of a model, sent with every request besides the context.
    pub(crate) instruction: Option<Arc<str>>,
    /// The model of the step, if it calls one.
    pub(crate) model: Option<Choice>,
    /// The limit of replies, if the step sets one.
    pub(crate) max_tokens: Option<u32>,
    /// The check of that model.
    pub(crate) check: Option<Check>,
    /// The innermost policy that makes several attempts. A timeout after that policy limits all attempts together.
    pub(crate) repeated_by: Option<&'static str>,
    /// Distinguishes values of this step from stored values of an earlier one.
    pub(crate) version: Option<Arc<str>>,
    /// The number of further requests after a reply that does not match the type of the column.
    #[cfg(feature = "typed")]
    pub(crate) repairs: Option<usize>,
}
