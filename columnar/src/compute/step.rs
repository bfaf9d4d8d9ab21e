//! Whatever stands behind the `=` of a column, behind one call.

use std::fmt;
use std::sync::Arc;

use futures::future::FutureExt;
use futures::stream::{Stream, StreamExt};

use super::{Compute, Deltas, Reply, Settings};
use crate::compute::Context;
use crate::context::budget::Budget;
use crate::error::BoxError;
use crate::history::Value;
use crate::schedule::OnFailure;

/// A compute step as a flow holds it: whatever it was, behind one call.
///
/// The lifetime is that of what the step borrows. It is `'static` in an item form and at run time;
/// an inline flow may borrow from the function around it.
#[derive(Clone)]
pub struct Step<'a> {
    call: Arc<dyn Fn(Context) -> Reply<'a> + Send + Sync + 'a>,
    settings: Arc<Settings>,
}

impl<'a> Step<'a> {
    pub(super) fn new(call: impl Fn(Context) -> Reply<'a> + Send + Sync + 'a) -> Self {
        Self { call: Arc::new(call), settings: Arc::default() }
    }

    /// The step with something around it.
    pub(crate) fn around(self, wrap: impl Fn(&Self, Context) -> Reply<'a> + Send + Sync + 'a) -> Self {
        let settings = Arc::clone(&self.settings);
        Self { settings, ..Self::new(move |cx| wrap(&self, cx)) }
    }

    /// The step where one is wanted that borrows for less long.
    pub(crate) fn lent<'b>(self) -> Step<'b>
    where
        'a: 'b,
    {
        let settings = Arc::clone(&self.settings);
        Step { settings, ..Step::new(move |cx| self.start(cx)) }
    }

    pub(super) fn limited(mut self, cells: usize) -> Self {
        Arc::make_mut(&mut self.settings).rules.limit = Some(cells);
        self
    }

    pub(super) fn on_failure(mut self, on_failure: OnFailure) -> Self {
        Arc::make_mut(&mut self.settings).rules.on_failure = on_failure;
        self
    }

    pub(super) fn every_so_often(mut self, steps: usize) -> Self {
        Arc::make_mut(&mut self.settings).rules.every = Some(steps);
        self
    }

    /// What was said before stays where this says nothing.
    pub(super) fn budgeted(mut self, budget: &Budget) -> Self {
        let settings = Arc::make_mut(&mut self.settings);
        let before = settings.budget.as_deref().cloned().unwrap_or_default();
        settings.budget = Some(Arc::new(budget.or(&before)));
        self
    }

    pub(super) fn versioned(mut self, version: &str) -> Self {
        Arc::make_mut(&mut self.settings).version = Some(version.into());
        self
    }

    #[cfg(feature = "typed")]
    pub(super) fn repaired(mut self, times: usize) -> Self {
        Arc::make_mut(&mut self.settings).repairs = Some(times);
        self
    }

    /// The step as one that says more to its model, if it asks one, besides the context.
    #[cfg(feature = "typed")]
    pub(super) fn instructed(mut self, instruct: impl Fn(&str) -> Arc<str>) -> Self {
        let instruction = self.settings.instruction.as_deref().map(instruct);
        if instruction.is_some() {
            Arc::make_mut(&mut self.settings).instruction = instruction;
        }
        self
    }

    pub(crate) fn settings(&self) -> &Arc<Settings> {
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

/// What can stand behind the `=` of a column.
///
/// `Form` tells apart the forms that a compute step can take; it is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot compute a column",
    label = "expected a compute step, such as `prompt(\"...\")`",
    note = "a compute step is `prompt(\"...\")`, a closure as in `|cx: Context| async move {{ text }}`, or a type that implements `Compute`",
    note = "a closure returns a future of text or `Json(value)`, a future of a `Result` of these, or `deltas(stream)`, all of them `Send`"
)]
pub trait IntoStep<'a, Form> {
    /// Converts.
    fn into_step(self) -> Step<'a>;
}

impl<'a, C: Compute> IntoStep<'a, form::Type> for C {
    fn into_step(self) -> Step<'a> {
        let instruction: Option<Arc<str>> = self.instruction().map(Into::into);
        let model = self.model();
        let mut step = Step::new(move |cx| self.compute(cx));
        if instruction.is_some() || model.is_some() {
            step.settings = Arc::new(Settings { instruction, model, ..Settings::default() });
        }
        step
    }
}

#[diagnostic::do_not_recommend]
impl<'a> IntoStep<'a, form::Step> for Step<'a> {
    fn into_step(self) -> Self {
        self
    }
}

impl<'a, F, R, Form> IntoStep<'a, form::Function<Form>> for F
where
    F: Fn(Context) -> R + Send + Sync + 'a,
    R: IntoReply<'a, Form>,
{
    fn into_step(self) -> Step<'a> {
        Step::new(move |cx| self(cx).into_reply())
    }
}

/// What a function that computes a column may return.
pub trait IntoReply<'a, Form> {
    /// Converts.
    fn into_reply(self) -> Reply<'a>;
}

impl<'a, F, Form: 'a> IntoReply<'a, form::Whole<Form>> for F
where
    F: Future<Output: IntoOutcome<Value, Form>> + Send + 'a,
{
    fn into_reply(self) -> Reply<'a> {
        Reply::whole(self.map(IntoOutcome::into_outcome))
    }
}

impl<'a, S, Form: 'a> IntoReply<'a, form::Pieces<Form>> for Deltas<S>
where
    S: Stream<Item: IntoOutcome<String, Form>> + Send + 'a,
{
    fn into_reply(self) -> Reply<'a> {
        Reply::deltas(self.0.map(IntoOutcome::into_outcome))
    }
}

/// Text or [`Json`](super::Json), or a `Result` of these with any error.
pub trait IntoOutcome<T, Form> {
    /// Converts.
    ///
    /// # Errors
    ///
    /// The error that it already is.
    fn into_outcome(self) -> Result<T, BoxError>;
}

impl<T, U: Into<T>> IntoOutcome<T, form::Plain> for U {
    fn into_outcome(self) -> Result<T, BoxError> {
        Ok(self.into())
    }
}

impl<T, U: Into<T>, E: Into<BoxError>> IntoOutcome<T, form::Fallible> for Result<U, E> {
    fn into_outcome(self) -> Result<T, BoxError> {
        self.map(Into::into).map_err(Into::into)
    }
}

/// The forms that a compute step and its result can take, for type inference alone.
pub mod form {
    use std::marker::PhantomData;

    macro_rules! forms {
        ($($(#[$doc:meta])* $name:ident $(<$inner:ident>)?;)*) => {$(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $name $(<$inner>(PhantomData<$inner>))?;
        )*};
    }

    forms! {
        /// A type that implements [`Compute`](crate::Compute).
        Type;
        /// A [`Step`](super::Step) already.
        Step;
        /// A function or closure.
        Function<Returns>;
        /// A future.
        Whole<Outcome>;
        /// A stream.
        Pieces<Outcome>;
        /// Text.
        Plain;
        /// A `Result` of text.
        Fallible;
        /// A [`Json`](super::super::Json).
        Json;
        /// A `Result` of it.
        FallibleJson;
    }
}
