//! Wrappers of compute steps: retries, timeouts, rates, limits, and the handling of failures.
//!
//! A new setting of a column has a method here, a field in `step.rs`, a key in `flow/data/column.rs`, and a word in the
//! macro's `keywords.rs`. The room that acts on the field reads it from the settings of the step.

use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use futures::stream::{BoxStream, StreamExt, TryStreamExt};
use tokio::time::{Instant, sleep, timeout_at};

#[cfg(feature = "typed")]
use super::ColumnType;
use super::rate::OverRate;
use super::{Context, IntoStep, Piece, PieceSource, Rate, Reply, Step};
use crate::context;
use crate::context::budget::Budget;
use crate::declare::default_limits::{FIRST_PAUSE, LONGEST_PAUSE, LONGEST_REQUESTED};
use crate::declare::error::BoxError;
use crate::history::SkipReason;
use crate::model::usage::SpendLimitError;
use crate::model::{Overloaded, Refused, Truncated, deadline};
use crate::schedule::OnFailure;

/// A duration in seconds, for short declarations: `.timeout(secs(30))`.
pub const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Methods that wrap a compute step with a policy: retries, timeouts, concurrency limits, rates, token budgets.
///
/// Each method wraps the step before it: in `.timeout(secs(30)).retry(3)` each attempt has 30 seconds, in
/// `.retry(3).timeout(secs(30))` all attempts together. In `.timeout(secs(30)).rate(per_minute(60)).retry(3)` each
/// attempt first waits for the rate, and then has 30 seconds. The settings of a [`Prompt`](super::Prompt) may come before
/// and after a policy.
///
/// ```
/// use columnar::prelude::*;
///
/// flow! {
///     pub struct Chat {
///         source user;
///         column topics(user.latest) =
///             prompt("List the topics.").timeout(secs(30)).rate(per_minute(60)).retry(3);
///         column shout(topics) =
///             (|cx: Context| async move { cx.messages().last_text().to_uppercase() }).limit(1);
///     }
/// }
/// ```
pub trait Policy<'a, Form>: IntoStep<'a, Form> + Sized {
    /// Computes at most this many cells of the column at once; 0 counts as 1.
    fn limit(self, cells: usize) -> Step<'a> {
        self.into_step().computing_with("limit").set(|settings| settings.rules.limit = Some(cells))
    }

    /// Limits how often calls begin. Calls wait in order of arrival, and never fail because of the rate. A call that is
    /// dropped during the wait does not count. Needs the clock of a tokio runtime.
    ///
    /// Pass a rate by value for this column alone. Pass a reference, as in `.rate(&rate)`, to share one rate; see
    /// [`Rate`].
    ///
    /// A rate may also limit [the tokens of calls](Rate::tokens_per_minute), as providers do.
    ///
    /// In a run [by batches](crate::guide::batches) the calls of the provider have no rate.
    ///
    /// A waiting cell counts as one that is being computed. Where a rate is much slower than the other columns, add a
    /// [`limit`](Self::limit), so that waiting cells do not use up the concurrency of the flow.
    fn rate(self, rate: impl Into<Rate>) -> Step<'a> {
        let rate = rate.into();
        let step = self.into_step().computing_with("rate").set(|settings| {
            let least = settings.tokens_per_minute.into_iter().chain(rate.tokens()).min();
            settings.tokens_per_minute = least;
        });
        step.wrap(move |step, cx| {
            let step = step.clone();
            if step.is_queued(&cx) {
                return step.start(cx);
            }
            let rate = rate.clone();
            Reply::later(async move {
                let most = rate.tokens();
                let tokens = most.map_or(0, |_| cx.most_tokens());
                if let Err(error) = OverRate::check(tokens, most) {
                    return Reply::whole(async { Err(error.into()) });
                }
                // The step starts after the wait, so a timeout inside of the step does not count the wait.
                let mut call = Some(rate.wait(tokens).await);
                let reply = step.start(cx);
                if most.is_none() {
                    return reply;
                }
                let counted = reply.0.inspect_ok(move |piece| {
                    if let Piece::CallEnded(end) = piece
                        && let Some(usage) = end.usage
                    {
                        let had = usage.input.saturating_add(usage.output);
                        rate.count(call.take(), had.try_into().unwrap_or(u32::MAX));
                    }
                });
                Reply(counted.boxed())
            })
        })
    }

    /// Retries after an error, up to this many times, with growing pauses. Each failed attempt is an
    /// [`Event::Retry`](crate::Event::Retry). A panic is not retried.
    ///
    /// If the error is or has as its source an [`Overloaded`], the pause is at least the pause that the model asks for,
    /// up to two minutes. A [`Refused`], a [`Truncated`] or a [`SpendLimitError`] is not retried.
    fn retry(self, times: usize) -> Step<'a> {
        let step = self.into_step().computing_with("retry");
        let step = if times > 0 { step.attempted_by("retry") } else { step };
        step.wrap(move |step, cx| {
            let pauses = ExponentialBuilder::default()
                .with_min_delay(FIRST_PAUSE)
                .with_max_delay(LONGEST_PAUSE)
                .with_jitter()
                .with_max_times(times)
                .build();
            Reply::of(RetryLoop { step: step.clone(), cx, pauses, attempt: 0, pieces: None, pause: None })
        })
    }

    /// Sets the version of the step, for flows that keep values in a [store](crate::store). A flow whose stored values
    /// were computed by another version is not opened, unless the values are [kept on
    /// purpose](crate::reopen::OpenOptions::keep).
    ///
    /// Changed views are detected without a version. A changed prompt or function cannot be detected, so change the
    /// version together with the prompt or function.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// flow! {
    ///     pub struct Chat {
    ///         source user;
    ///         column topics(user.latest) = prompt("List the topics, most important first.").version("2");
    ///     }
    /// }
    /// ```
    fn version(self, version: impl AsRef<str>) -> Step<'a> {
        self.into_step().set(|settings| settings.version = Some(version.as_ref().into()))
    }

    /// Leaves a failed cell empty for now: the run emits [`Event::Failed`](crate::Event::Failed) and continues with all
    /// cells that do not depend on the failed one. The next run tries the cell again.
    fn or_wait(self) -> Step<'a> {
        self.into_step().set(|settings| settings.rules.on_failure = OnFailure::Wait)
    }

    /// Skips a failed cell for good: the run emits [`Event::Failed`](crate::Event::Failed) and, when the skip is
    /// stored, [`Event::Skipped`](crate::Event::Skipped). No messages show the cell, and windows reach back over it:
    /// `latest` shows the value before. Where all inputs of a column are skipped at a step, that cell is skipped
    /// without a call.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column mood(user.latest) = (|_: Context| async { Err::<String, _>("no answer") }).or_skip();
    ///     column answer(user.latest, mood.latest) = |cx: Context| async move { cx.messages().to_json() };
    /// };
    /// chat.user.push("hello").await?;
    /// chat.run().await?;
    /// assert_eq!(chat.mood.get(0), None);
    /// assert!(chat.answer.get(0).is_some_and(|json| !json.contains("mood")));
    /// # Ok(()) }
    /// ```
    fn or_skip(self) -> Step<'a> {
        self.into_step().set(|settings| settings.rules.on_failure = OnFailure::Skip)
    }

    /// Computes this column only at every `steps`-th step: `every(5)` computes the steps 4, 9, 14, …, so that a window
    /// of five is always full. The other cells are skipped, at no cost and without waiting for inputs; see
    /// [`or_skip`](Self::or_skip) for the effect on columns that read this one. An interval of 0, which the program may have computed, computes no step;
    /// `every(0)` is a compile error in `flow!`.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column digest(user.window(3)) = (|cx: Context| async move { cx.messages().len().to_string() }).every(3);
    ///     column answer(user.latest, digest.latest) = |cx: Context| async move { cx.messages().to_json() };
    /// };
    /// for text in ["one", "two", "three", "four"] {
    ///     chat.user.push(text).await?;
    /// }
    /// chat.run().await?;
    /// assert_eq!((chat.digest.get(1), chat.digest.get(2).as_deref()), (None, Some("1")));
    /// // The last digest is shown until the next one.
    /// assert!(chat.answer.get(3).is_some_and(|json| json.contains("digest")));
    /// # Ok(()) }
    /// ```
    fn every(self, steps: usize) -> Step<'a> {
        self.into_step().set(|settings| settings.rules.every = Some(steps))
    }

    /// Computes a cell only if the condition holds for its context, and skips the cell otherwise; see
    /// [`or_skip`](Self::or_skip) for the effect on columns that read it. The condition must always return the same for
    /// the same context. A [forecast](crate::Forecast) assumes that the condition holds.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user.latest) = (|_: Context| async { "Let me see." })
    ///         .when(|cx| cx.input("user").is_some_and(|text| text.ends_with('?')));
    ///     column praise(answer.latest) = |_: Context| async { "Well said." };
    /// };
    /// chat.user.push("How are you?").await?;
    /// chat.user.push("Fine.").await?;
    /// chat.run().await?;
    /// assert_eq!((chat.answer.get(0).as_deref(), chat.answer.get(1)), (Some("Let me see."), None));
    /// // `praise` has no other input, so it is skipped as well.
    /// assert_eq!((chat.praise.get(0).as_deref(), chat.praise.get(1)), (Some("Well said."), None));
    /// # Ok(()) }
    /// ```
    fn when(self, is_due: impl Fn(&Context) -> bool + Send + Sync + 'a) -> Step<'a> {
        self.into_step()
            .computing_with("when")
            .wrap(move |step, cx| if is_due(&cx) { step.start(cx) } else { Reply::skipped(SkipReason::When) })
    }

    /// Makes the values of the column JSON of this type, like `column score(user.latest): Score = …` in
    /// [`flow!`](crate::flow!): the schema is sent to the model, and each reply is checked against the type. Call
    /// `typed` after the policies of a single request. See the [guide](crate::guide::typed).
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::testing::ScriptedModel;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Score {
    ///     /// From 1 to 5.
    ///     stars: u8,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let model = ScriptedModel::new(|_| r#"{"stars": 4}"#.to_owned());
    /// let score = prompt("Rate it.").model(model).retry(3).typed::<Score>();
    /// let f = flow([column("score", source("user").latest(), score)])?;
    /// f.push("user", "It was fine.").await?;
    /// f.run().await?;
    /// assert_eq!(f.read::<Score>("score", 0)?.map(|score| score.stars), Some(4));
    /// # Ok(()) }
    /// ```
    #[cfg(feature = "typed")]
    fn typed<T: ColumnType>(self) -> Step<'a> {
        self.into_step().typed::<T>()
    }

    /// Requests a value that does not match the [type](Self::typed) of the column again, up to this many times, with
    /// the reply and the error. The default is once for a step with a model, and never for any other step. Call
    /// `repairs` before `typed`. Each repair is an [`Event::Retry`](crate::Event::Retry).
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// flow! {
    ///     pub struct Chat {
    ///         source user;
    ///         column topics(user.latest): Vec<String> = prompt("List the topics.").repairs(2).retry(3);
    ///     }
    /// }
    /// ```
    #[cfg(feature = "typed")]
    fn repairs(self, times: usize) -> Step<'a> {
        self.into_step().set(|settings| settings.repairs = Some(times))
    }

    /// Limits the tokens of each request of this column, the instruction and the reply included. A longer context is
    /// truncated, by default in the middle. See [`Budget`].
    ///
    /// ```
    /// use columnar::budget::Budget;
    /// use columnar::prelude::*;
    ///
    /// flow! {
    ///     pub struct Chat {
    ///         source user;
    ///         column assistant(user, self) = prompt("You are a helpful assistant.").budget(8_000);
    ///         column title(user)           = prompt("Name the chat.").budget(Budget::of(2_000).rolling_window());
    ///     }
    /// }
    /// ```
    fn budget(self, budget: impl Into<Budget>) -> Step<'a> {
        self.into_step().set(|settings| {
            // Fields that this budget leaves open keep the earlier values.
            let before = settings.budget.as_deref().cloned().unwrap_or_default();
            settings.budget = Some(Arc::new(budget.into().or(&before)));
        })
    }

    /// Shows the context as a document: one message of the user with all values in order, verbatim, without tags and
    /// without anything between two values. The column's own values are a part of the text. So a model that completes
    /// text continues the document, and a value ends where the next one begins.
    ///
    /// Documents in [tiers](crate::TieredView) and [instructions](crate::View::instruction) stay where they are.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::testing::script;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let novel = flow! {
    ///     source text;
    ///     column story(text, self) = script([" a fox", " a wolf"]).document();
    /// };
    /// novel.text.push("Once there was").await?;
    /// novel.text.push(". It met").await?;
    /// novel.run().await?;
    /// assert_eq!(
    ///     novel.story.messages(1)?.to_json(),
    ///     r#"[{"role":"user","content":"Once there was a fox. It met"}]"#,
    /// );
    /// # Ok(()) }
    /// ```
    fn document(self) -> Step<'a> {
        self.into_step().set(|settings| settings.form = context::ContextForm::Document)
    }

    /// Fails after this time. The time is for one attempt when set before [`retry`](Self::retry), and for all attempts
    /// together when set after. Waiting for a permit of the [model](crate::model::Adaptive) counts, and waiting for a
    /// [batch](crate::guide::batches) does not. Needs the clock of a tokio runtime.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let silence = |_: Context| std::future::pending::<String>();
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user.latest) = silence.retry(3).timeout(Duration::from_millis(10));
    /// };
    /// chat.user.push("hello").await?;
    /// let error = chat.run().await.unwrap_err();
    /// assert!(error.to_string().contains("put `.timeout` before `.retry` to limit each one"), "{error}");
    /// # Ok(()) }
    /// ```
    fn timeout(self, limit: Duration) -> Step<'a> {
        self.into_step().computing_with("timeout").wrap(move |step, cx| {
            if step.is_queued(&cx) {
                return step.start(cx);
            }
            let pieces = step.start(cx).0;
            let repeated_by = step.settings.repeated_by;
            Reply::of(Timed { pieces, limit, begun: None, repeated_by, attempt: 1 })
        })
    }
}

impl<'a, Form, T: IntoStep<'a, Form>> Policy<'a, Form> for T {}

/// Makes attempts until one succeeds or no pause is left.
struct RetryLoop<'a> {
    step: Step<'a>,
    cx: Context,
    pauses: ExponentialBackoff,
    attempt: usize,
    /// The reply of the current attempt; `None` before the first attempt and between two.
    pieces: Option<BoxStream<'a, Result<Piece, BoxError>>>,
    pause: Option<Duration>,
}

impl PieceSource for RetryLoop<'_> {
    async fn next(&mut self) -> Option<Result<Piece, BoxError>> {
        if let Some(pause) = self.pause.take() {
            sleep(pause).await;
        }
        if self.pieces.is_none() {
            self.attempt += 1;
            self.pieces = Some(self.step.start(self.cx.clone()).0);
        }
        let error = match self.pieces.as_mut()?.next().await? {
            // Retries inside of the step count as well.
            Ok(Piece::Retry { error, .. }) => {
                self.attempt += 1;
                return Some(Ok(Piece::Retry { attempt: self.attempt - 1, error }));
            }
            Ok(piece) => return Some(Ok(piece)),
            Err(error) => error,
        };
        self.pieces = None;
        // None of these errors depends on the time: the next attempt would fail in the same way.
        let is_final = Refused::of(&*error).is_some()
            || Truncated::of(&*error).is_some()
            || SpendLimitError::of(&*error).is_some();
        match self.pauses.next().filter(|_| !is_final) {
            Some(pause) => {
                let requested = Overloaded::of(&*error).and_then(|overloaded| overloaded.retry_after);
                // The pause comes at the next poll, after the event by which readers discard the deltas.
                self.pause = Some(pause.max(requested.unwrap_or_default().min(LONGEST_REQUESTED)));
                Some(Ok(Piece::Retry { attempt: self.attempt, error }))
            }
            None => Some(Err(error)),
        }
    }
}

/// The pieces until the limit, then an error.
struct Timed<'a> {
    pieces: BoxStream<'a, Result<Piece, BoxError>>,
    limit: Duration,
    /// The time of the first poll, from which the limit counts.
    begun: Option<Instant>,
    /// The policy that makes several attempts, if there is one.
    repeated_by: Option<&'static str>,
    attempt: usize,
}

impl PieceSource for Timed<'_> {
    async fn next(&mut self) -> Option<Result<Piece, BoxError>> {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let piece = timeout_at(deadline(begun, self.limit), self.pieces.next()).await;
        if let Ok(Some(Ok(Piece::Retry { .. }))) = piece {
            self.attempt += 1;
        }
        piece.unwrap_or_else(|_| {
            let Self { limit, attempt, .. } = *self;
            Some(Err(BoxError::from(match self.repeated_by {
                Some(repeated_by) => TimedOut::Attempts { limit, attempt, repeated_by },
                None => TimedOut::Attempt(limit),
            })))
        })
    }
}

/// A timeout that ended a compute step.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TimedOut {
    #[error("one attempt took longer than {0:?}")]
    Attempt(Duration),
    #[error(
        "all attempts together took longer than {limit:?}, at attempt {attempt}: put `.timeout` before `.{repeated_by}` to limit each one"
    )]
    Attempts {
        limit: Duration,
        /// The number of the attempt that was ended, counted from 1.
        attempt: usize,
        /// The policy that makes the attempts.
        repeated_by: &'static str,
    },
}
