//! What a column calls to get its value.
//!
//! A compute step is any Rust expression that converts into one: a function or closure from
//! [`Context`] to text or [`Json`], to a `Result` of these, or to [`deltas`]; a [`Prompt`];
//! a type of yours that implements [`Compute`].

mod context;
mod defaults;
mod json;
mod output;
mod policy;
mod prompt;
mod rate;
mod settings;
mod step;
#[cfg(feature = "typed")]
mod typed;
#[cfg(not(feature = "typed"))]
#[path = "typed/off.rs"]
mod typed;

use std::fmt;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use futures::stream::{self, BoxStream, Stream, StreamExt, TryStreamExt};

use crate::error::BoxError;
use crate::history::Value;
use crate::model::{Choice, End};

pub use context::Context;
pub(crate) use defaults::Defaults;
pub use json::Json;
pub(crate) use output::OutputSpec;
pub use policy::{Policy, secs};
pub use prompt::{Prompt, prompt};
pub use rate::{Rate, per_minute, per_second};
pub(crate) use settings::Settings;
pub use step::{IntoOutcome, IntoReply, IntoStep, Step, form};
pub use typed::ColumnType;
#[cfg(feature = "typed")]
pub use typed::SchemaMismatch;
#[cfg(feature = "typed")]
pub(crate) use typed::read;

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

    /// What goes to a model with every call, besides the context; `None`, unless told otherwise, for a
    /// step that asks none. A [`Forecast`](crate::Forecast) counts by it.
    fn instruction(&self) -> Option<&str> {
        None
    }

    /// The model that is asked; `None`, unless told otherwise, for a step that asks none. A run asks it whether it is
    /// [ready](crate::model::Model::ready) before anything is computed. Where its provider keeps what requests have
    /// in common, one of those that begin the same goes first, and the others follow when it begins to be answered.
    fn model(&self) -> Option<Choice> {
        None
    }
}

impl<C: Compute + ?Sized> Compute for Arc<C> {
    fn compute(&self, cx: Context) -> Reply<'static> {
        (**self).compute(cx)
    }

    fn instruction(&self) -> Option<&str> {
        (**self).instruction()
    }

    fn model(&self) -> Option<Choice> {
        (**self).model()
    }
}

/// What a compute step gives back: a text that arrives as a whole, or in pieces.
pub struct Reply<'a>(pub(crate) Kind<'a>);

pub(crate) enum Kind<'a> {
    Whole(BoxFuture<'a, Result<Value, BoxError>>),
    Pieces(BoxStream<'a, Result<Piece, BoxError>>),
}

/// What becomes known of a text that is on its way.
pub(crate) enum Piece {
    /// More of it.
    Text(String),
    /// All of it, at once.
    Whole(Value),
    /// There will be none: the cell stays empty for good.
    Skip,
    /// A model of this name is asked.
    Asked(Arc<str>),
    /// The model that was asked last has answered, and this way.
    Answered(Box<End>),
    /// What was there so far counts for nothing: the attempt with this number failed, counted from 1,
    /// and another one begins.
    Retry { attempt: usize, error: BoxError },
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

    /// No text: the cell stays empty for good, as with [`or_skip`](Policy::or_skip), and its column's
    /// [`when`](Policy::when) says no.
    pub fn skip() -> Self {
        Self(Kind::Pieces(stream::once(std::future::ready(Ok(Piece::Skip))).boxed()))
    }

    /// The text as it becomes known, whatever way it arrives.
    pub(crate) fn pieces(self) -> BoxStream<'a, Result<Piece, BoxError>> {
        match self.0 {
            Kind::Whole(text) => stream::once(text).map_ok(Piece::Whole).boxed(),
            Kind::Pieces(pieces) => pieces,
        }
    }

    /// A text that arrives in pieces; joined, they are the value.
    pub fn deltas(pieces: impl Stream<Item = Result<String, BoxError>> + Send + 'a) -> Self {
        Self(Kind::Pieces(pieces.map_ok(Piece::Text).boxed()))
    }
}

impl fmt::Debug for Reply<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Whole(_) => "Reply::Whole",
            Kind::Pieces(_) => "Reply::Pieces",
        })
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
