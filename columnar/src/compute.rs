//! What a column calls to get its value.
//!
//! A compute step is any Rust expression that converts into one: a function or closure from
//! [`Context`] to text, to a `Result` of text, or to [`deltas`]; a [`Prompt`](crate::Prompt); a type
//! of yours that implements [`Compute`].

use std::fmt;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use futures::stream::{BoxStream, Stream, StreamExt};

use crate::context::Context;
use crate::error::BoxError;
use crate::value::Value;

/// A compute step as a type of its own.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::{Compute, Reply};
///
/// struct Reverse;
///
/// impl Compute for Reverse {
///     fn compute(&self, cx: Context) -> Reply<'static> {
///         let text: String = cx.messages().last_text().chars().rev().collect();
///         Reply::text(text)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column reversed(user.latest) = Reverse;
/// };
/// # chat.user.push("x").await?;
/// # chat.run().await?;
/// # Ok(()) }
/// ```
pub trait Compute: Send + Sync + 'static {
    /// Begins to compute the cell that `cx` describes. Called once per attempt; several cells of a
    /// column may be computed at the same time.
    fn compute(&self, cx: Context) -> Reply<'static>;
}

impl<C: Compute + ?Sized> Compute for Arc<C> {
    fn compute(&self, cx: Context) -> Reply<'static> {
        (**self).compute(cx)
    }
}

/// What a compute step gives back: a text that arrives as a whole, or in pieces.
pub struct Reply<'a>(pub(crate) Kind<'a>);

pub(crate) enum Kind<'a> {
    Whole(BoxFuture<'a, Result<Value, BoxError>>),
    Deltas(BoxStream<'a, Result<String, BoxError>>),
}

impl<'a> Reply<'a> {
    /// A text that is known already.
    pub fn text(text: impl Into<Value>) -> Self {
        let value = text.into();
        Self::whole(std::future::ready(Ok(value)))
    }

    /// A text that arrives as a whole.
    pub fn whole(text: impl Future<Output = Result<Value, BoxError>> + Send + 'a) -> Self {
        Self(Kind::Whole(text.boxed()))
    }

    /// A text that arrives in pieces; joined, they are the value.
    pub fn deltas(pieces: impl Stream<Item = Result<String, BoxError>> + Send + 'a) -> Self {
        Self(Kind::Deltas(pieces.boxed()))
    }
}

impl fmt::Debug for Reply<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Whole(_) => "Reply::Whole",
            Kind::Deltas(_) => "Reply::Deltas",
        })
    }
}

/// A compute step as a flow holds it: whatever it was, behind one call.
///
/// The lifetime is that of what the step borrows. It is `'static` in an item form and at run time;
/// an inline flow may borrow from the function around it.
#[derive(Clone)]
pub struct Step<'a>(Arc<dyn Fn(Context) -> Reply<'a> + Send + Sync + 'a>);

impl<'a> Step<'a> {
    pub(crate) fn start(&self, cx: Context) -> Reply<'a> {
        (self.0)(cx)
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
    note = "a closure returns a future of text, a future of a `Result` of text, or `deltas(stream)`, all of them `Send`"
)]
pub trait IntoStep<'a, Form> {
    /// Converts.
    fn into_step(self) -> Step<'a>;
}

impl<'a, C: Compute> IntoStep<'a, form::Type> for C {
    fn into_step(self) -> Step<'a> {
        Step(Arc::new(move |cx| self.compute(cx)))
    }
}

impl<'a, F, R, Form> IntoStep<'a, form::Function<Form>> for F
where
    F: Fn(Context) -> R + Send + Sync + 'a,
    R: IntoReply<'a, Form>,
{
    fn into_step(self) -> Step<'a> {
        Step(Arc::new(move |cx| self(cx).into_reply()))
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

/// Text, or a `Result` of text with any error.
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

/// A stream of pieces of text, as the result of a compute step. Made by [`deltas`].
#[derive(Debug)]
pub struct Deltas<S>(S);

/// Lets a compute step stream: each piece becomes a [`Delta`](crate::Event::Delta), and all of them,
/// joined, are the value. The pieces are text or `Result`s of text; the first error ends the attempt
/// and nothing is stored.
///
/// ```
/// use columnar::prelude::*;
/// use futures::stream;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column count(user.latest) = |_: Context| deltas(stream::iter(["one, ", "two"]));
/// };
/// chat.user.push("Count!").await?;
/// chat.run().await?;
/// assert_eq!(chat.count.get(0).as_deref(), Some("one, two"));
/// # Ok(()) }
/// ```
pub fn deltas<S: Stream>(pieces: S) -> Deltas<S> {
    Deltas(pieces)
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
        /// A type that implements [`Compute`](super::Compute).
        Type;
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
    }
}
