//! Compute steps: the functions, prompts and types that compute the values of a column.
//!
//! A compute step is any Rust expression that [converts](IntoStep) into one: a function or closure from [`Context`] to
//! text or [`Json`], to a `Result` of these, or to [`deltas`]; a [`Prompt`]; a type of yours that implements
//! [`Compute`]. In `flow!` a closure may name the inputs: `async |user, topics| …`. A [`Policy`] wraps a step with
//! retries, timeouts, limits and rates.

mod answer_rules;
mod call;
mod context;
mod convert;
pub(crate) mod error_class;
mod external;
pub(crate) mod inputs;
mod later_settings;
mod other_names;
mod policy;
mod prompt;
mod rate;
mod reply;
mod step;
mod thoughts;
mod token_window;
// Callers use the same functions with and without the feature, and need no `cfg`.
#[doc(hidden)]
#[cfg(feature = "tracing")]
pub mod trace;
#[cfg(not(feature = "tracing"))]
#[path = "trace/off.rs"]
pub(crate) mod trace;
#[cfg(feature = "typed")]
mod typed;
#[cfg(not(feature = "typed"))]
#[path = "typed/disabled.rs"]
mod typed;

use std::any::Any;
use std::sync::Arc;

use crate::declare::error::BoxError;
use crate::model::{Choice, Model};

pub(crate) use answer_rules::AnswerRules;
pub use context::Context;
pub(crate) use context::Defaults;
#[cfg(feature = "typed")]
pub(crate) use context::OutputSpec;
pub use convert::{IntoOutcome, IntoReply, IntoStep, IntoText, Json, OutputOfStep};
pub use external::{External, external};
pub(crate) use policy::TimedOut;
pub use policy::{Policy, secs};
pub use prompt::{Prompt, prompt};
pub use rate::{Rate, per_minute, per_second};
pub use reply::{Deltas, Reply, deltas};
pub(crate) use reply::{Piece, PieceSource};
pub use step::Step;
pub(crate) use step::StepSettings;
pub use typed::ColumnType;
#[cfg(feature = "typed")]
pub use typed::SchemaMismatch;
#[cfg(feature = "typed")]
pub(crate) use typed::read;

/// A compute step as a separate type, where a function is not enough.
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
/// chat.user.push("x").await?;
/// chat.run().await?;
/// # Ok(()) }
/// ```
pub trait Compute: Send + Sync + 'static {
    /// Starts to compute the cell of `cx`. Called once per attempt; several cells of a column may be computed at the
    /// same time.
    fn compute(&self, cx: Context) -> Reply<'static>;

    /// The constant instruction that the step sends to a model with every request, which a
    /// [`Forecast`](crate::Forecast) counts. The default is `None`, for a step without a model.
    fn instruction(&self) -> Option<&str> {
        None
    }

    /// Whether the instruction ends the last message, and is no system text; see [`Prompt::after`]. The default is `false`.
    fn is_after(&self) -> bool {
        false
    }

    /// The model that the step calls. The default is `None`, for a step without a model. A run [checks](Self::check)
    /// the model before any cell is computed. Where the provider caches prefixes, one of the requests with the same
    /// prefix is sent first, and the others follow when the first reply begins.
    fn model(&self) -> Option<Choice> {
        None
    }

    /// Checks that the step can call its [model](Self::model), without calling the model. By default the model must be
    /// [ready](Model::ready).
    ///
    /// # Errors
    ///
    /// An error that says what is missing, or what the model does not take.
    fn check(&self, model: &dyn Model) -> Result<(), BoxError> {
        model.ready()
    }

    /// The settings of the request that decide about the reply, as a text that is the same for the same settings.
    /// [`stale`](crate::flow::LiveFlow::stale) compares a hash of the instruction and of this text. The default is `None`, for
    /// a step without settings.
    fn reply_settings(&self) -> Option<String> {
        None
    }

    /// The most tokens of a reply that the step asks the model for. A [`Forecast`](crate::Forecast) adds them to the
    /// context. The default is `None`, for the limit of the [model](crate::model::MaxTokens).
    fn reply_limit(&self) -> Option<u32> {
        None
    }

    #[doc(hidden)]
    fn __prompt(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }
}

macro_rules! compute_behind {
    ($($pointer:ident)*) => {$(
        impl<C: Compute + ?Sized> Compute for $pointer<C> {
            fn compute(&self, cx: Context) -> Reply<'static> {
                (**self).compute(cx)
            }

            fn instruction(&self) -> Option<&str> {
                (**self).instruction()
            }

            fn is_after(&self) -> bool {
                (**self).is_after()
            }

            fn model(&self) -> Option<Choice> {
                (**self).model()
            }

            fn check(&self, model: &dyn Model) -> Result<(), BoxError> {
                (**self).check(model)
            }

            fn reply_settings(&self) -> Option<String> {
                (**self).reply_settings()
            }

            fn reply_limit(&self) -> Option<u32> {
                (**self).reply_limit()
            }

            fn __prompt(&self) -> Option<Arc<dyn Any + Send + Sync>> {
                (**self).__prompt()
            }
        }
    )*};
}

compute_behind! { Box Arc }
