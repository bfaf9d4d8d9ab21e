//! The conversions into a [`Step`]: from functions, by the return type, and from types that implement [`Compute`]; and
//! into the text of a prompt.

use std::sync::Arc;

use futures::future::FutureExt;
use futures::stream::{Stream, StreamExt};
use serde::Serialize;

use super::{Compute, Context, Deltas, Reply, Step, StepSettings};
use crate::declare::error::BoxError;
use crate::history::Value;

/// A conversion into the compute step of a column.
///
/// `Form` distinguishes the implementations; rustc always infers it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot compute a column",
    label = "expected a compute step, such as `prompt(\"...\")`",
    note = "a compute step is `prompt(\"...\")`, a closure as in `|cx: Context| async move {{ text }}`, or a type that implements `Compute`",
    note = "a closure returns a future of text or `Json(value)`, a future of a `Result` of these, or `deltas(stream)`, all of them `Send`"
)]
pub trait IntoStep<'a, Form> {
    /// Converts the value into a compute step.
    fn into_step(self) -> Step<'a>;
}

impl<'a> Step<'a> {
    /// The step of a prompt, a function or any other value that computes a column, without further settings.
    pub fn new<Form>(compute: impl IntoStep<'a, Form>) -> Self {
        compute.into_step()
    }
}

impl<'a, C: Compute> IntoStep<'a, form::Type> for C {
    fn into_step(self) -> Step<'a> {
        let this = Arc::new(self);
        // The instruction is asked for once, because budgets and warm-ups need an instruction that never changes.
        let instruction = this.instruction().map(Into::into);
        let mut settings = StepSettings { instruction, ..StepSettings::default() };
        settings.call(Arc::clone(&this));
        Step::with_settings(settings, move |cx| this.compute(cx))
    }
}

// Users do not make a `Step` directly, so rustc must not suggest one.
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
        Step::from_fn(move |cx| self(cx).into_reply())
    }
}

/// The return types of a function that computes a column: a future of an [outcome](IntoOutcome),
/// [`deltas`](super::deltas), or a [`Reply`].
#[diagnostic::on_unimplemented(
    message = "the result of this compute step is no future",
    label = "write an `async` closure, which returns one; found `{Self}`",
    note = "a closure returns a future of text or `Json(value)`, a future of a `Result` of these, or `deltas(stream)`, all of them `Send`"
)]
pub trait IntoReply<'a, Form> {
    /// Converts the result into a reply.
    fn into_reply(self) -> Reply<'a>;
}

impl<'a, F, Form: 'a> IntoReply<'a, form::Whole<Form>> for F
where
    F: Future<Output: OutputOfStep<'a, Form>> + Send + 'a,
{
    fn into_reply(self) -> Reply<'a> {
        F::Output::reply(self)
    }
}

/// The output of a future that computes a column: an [outcome](IntoOutcome), or a [`Reply`].
#[diagnostic::on_unimplemented(
    message = "the result of this compute step is no text",
    label = "expected text, found `{Self}`",
    note = "a closure returns text, `Json(value)` of a value that implements `Serialize`, a `Result` of these with any error that is `Send` and `Sync`, or a `Reply`"
)]
pub trait OutputOfStep<'a, Form>: Sized {
    /// Converts the future into a reply.
    fn reply(future: impl Future<Output = Self> + Send + 'a) -> Reply<'a>;
}

#[diagnostic::do_not_recommend]
impl<'a, O: IntoOutcome<Value, Form> + 'a, Form: 'a> OutputOfStep<'a, Form> for O {
    fn reply(future: impl Future<Output = Self> + Send + 'a) -> Reply<'a> {
        Reply::whole(future.map(IntoOutcome::into_outcome))
    }
}

#[diagnostic::do_not_recommend]
impl<'a> OutputOfStep<'a, form::Reply> for Reply<'a> {
    fn reply(future: impl Future<Output = Self> + Send + 'a) -> Self {
        Reply::later(future)
    }
}

// For every other result rustc would name this implementation and the private `Form`; the note above has the words of
// the user.
#[diagnostic::do_not_recommend]
impl<'a, S, Form: 'a> IntoReply<'a, form::Pieces<Form>> for Deltas<S>
where
    S: Stream<Item: IntoOutcome<String, Form>> + Send + 'a,
{
    fn into_reply(self) -> Reply<'a> {
        Reply::deltas(self.0.map(IntoOutcome::into_outcome))
    }
}

/// A reply that is passed on, such as [`Reply::skip`].
#[diagnostic::do_not_recommend]
impl<'a> IntoReply<'a, form::Reply> for Reply<'a> {
    fn into_reply(self) -> Self {
        self
    }
}

/// Text or [`Json`], or a `Result` of these with any error. A [`Text`](crate::Text) may have attachments.
#[diagnostic::on_unimplemented(
    message = "the pieces of this compute step are no text",
    label = "expected text, found `{Self}`",
    note = "`deltas` takes a stream of text, or of `Result`s of text with any error that is `Send` and `Sync`"
)]
pub trait IntoOutcome<T, Form> {
    /// Converts the output into the result of a compute step.
    ///
    /// # Errors
    ///
    /// The error of a `Result`, or the error of serializing [`Json`].
    fn into_outcome(self) -> Result<T, BoxError>;
}

// For every other result rustc would list these four implementations with the private forms, and the conversions into a
// value.
#[diagnostic::do_not_recommend]
impl<T, U: Into<T>> IntoOutcome<T, form::Plain> for U {
    fn into_outcome(self) -> Result<T, BoxError> {
        Ok(self.into())
    }
}

#[diagnostic::do_not_recommend]
impl<T, U: Into<T>, E: Into<BoxError>> IntoOutcome<T, form::Fallible> for Result<U, E> {
    fn into_outcome(self) -> Result<T, BoxError> {
        self.map(Into::into).map_err(Into::into)
    }
}

/// A value that is stored as JSON. A function that computes a column may return a `Json` instead of text.
///
/// ```
/// use columnar::Json;
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column words(user.latest) = |cx: Context| async move {
///         let text = cx.input("user").map_or("", |text| text);
///         Json(text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
///     };
/// };
/// chat.user.push("one two").await?;
/// chat.run().await?;
/// assert_eq!(chat.words.get(0).as_deref(), Some(r#"["one","two"]"#));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize> Json<T> {
    fn to_value(&self) -> Result<Value, BoxError> {
        Ok(serde_json::to_string(&self.0)?.into())
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> IntoOutcome<Value, form::Json> for Json<T> {
    fn into_outcome(self) -> Result<Value, BoxError> {
        self.to_value()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize, E: Into<BoxError>> IntoOutcome<Value, form::FallibleJson> for Result<Json<T>, E> {
    fn into_outcome(self) -> Result<Value, BoxError> {
        self.map_err(Into::into)?.to_value()
    }
}

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
pub(super) mod form {
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
        /// A [`Step`](super::Step).
        Step;
        /// Values that come from outside.
        External;
        /// A function or closure.
        Function<Returns>;
        /// A future.
        Whole<Outcome>;
        /// A stream.
        Pieces<Outcome>;
        /// A [`Reply`](super::Reply).
        Reply;
        /// Text.
        Plain;
        /// A `Result` of text.
        Fallible;
        /// A [`Json`](super::Json).
        Json;
        /// A `Result` of [`Json`](super::Json).
        FallibleJson;
        /// A value that the standard library converts into text.
        Owned;
        /// A reference to text of any type.
        Reference;
    }
}
