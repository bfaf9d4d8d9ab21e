//! What a column does about slow and failing calls.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use futures::future::FutureExt;
use futures::stream::{self, BoxStream, StreamExt};
use tokio::time::{Instant, sleep, timeout, timeout_at};

#[cfg(feature = "typed")]
use super::ColumnType;
use super::{IntoStep, Kind, Piece, Rate, Reply, Step};
use crate::compute::Context;
use crate::context::budget::Budget;
use crate::error::{BoxError, TimedOut};
use crate::model::{Overloaded, Refused};
use crate::schedule::OnFailure;
use crate::usage::SpendLimitError;

/// The first pause before a further attempt; each further one is twice as long, and up to as long
/// again by chance, so that columns that failed together do not try again together.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// No pause is longer, chance apart, unless a model asks for it.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// No model gets a longer pause than this, whatever it asks for.
const LONGEST_ASKED: Duration = Duration::from_mins(2);

/// So many seconds, for a declaration that reads well: `.timeout(secs(30))`.
pub const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// What can be said behind a compute step: how often to try, how long to wait, how many at once, how
/// many in a minute, how many tokens.
///
/// Each wraps what stands before it: in `.timeout(secs(30)).retry(3)` each attempt has 30 seconds, in
/// `.retry(3).timeout(secs(30))` all of them together. In `.timeout(secs(30)).rate(per_minute(60)).retry(3)`
/// each attempt waits for its turn, and then has 30 seconds.
///
/// ```
/// use columnar::prelude::*;
///
/// flow! {
///     pub struct Chat {
///         source user;
///         column topics(user.latest) = prompt("List the topics.").timeout(secs(30)).rate(per_minute(60)).retry(3);
///         column shout(topics) = (|cx: Context| async move { cx.messages().last_text().to_uppercase() }).limit(1);
///     }
/// }
/// ```
pub trait Policy<'a, Form>: IntoStep<'a, Form> + Sized {
    /// Computes at most so many cells of this column at once, and at least one.
    fn limit(self, cells: usize) -> Step<'a> {
        self.into_step().limited(cells)
    }

    /// Lets calls begin only so often: each waits for its turn, in order of arrival, and none fails
    /// for it. Dropped while it waits, a call takes no turn. Needs the clock of a tokio runtime.
    ///
    /// A rate is given by value for this column alone, or by reference to share it, as in
    /// `.rate(&rate)`; see [`Rate`].
    ///
    /// A cell that waits for its turn counts among those that are computed at once. Where a rate is
    /// much slower than the columns beside it, [`limit`](Self::limit) leaves them their places.
    fn rate(self, rate: impl Into<Rate>) -> Step<'a> {
        let rate = rate.into();
        self.into_step().around(move |step, cx| {
            let (step, rate) = (step.clone(), rate.clone());
            let turn = async move {
                rate.turn().await;
                step.start(cx).pieces()
            };
            Reply(Kind::Pieces(turn.flatten_stream().boxed()))
        })
    }

    /// After an error, tries again up to so many times, with growing pauses in between. Each failed
    /// attempt is told as [`Event::Retry`](crate::Event::Retry). A panic is not tried again.
    ///
    /// Where the error is or comes from an [`Overloaded`], the pause is at least the one that the
    /// model asks for, up to two minutes. One that is or comes from a [`Refused`] or a [`SpendLimitError`] is not tried again.
    fn retry(self, times: usize) -> Step<'a> {
        self.into_step().around(move |step, cx| {
            let pauses = ExponentialBuilder::default()
                .with_min_delay(FIRST_PAUSE)
                .with_max_delay(LONGEST_PAUSE)
                .with_jitter()
                .with_max_times(times)
                .build();
            Reply(Kind::Pieces(attempts(step.clone(), cx, pauses)))
        })
    }

    /// Gives what stands before it a version, for flows that keep their values in a [store](crate::store). What
    /// was computed by another one is not taken for its work: the flow is not opened, unless that is [said to
    /// be meant](crate::reopen::OpenOptions::keep).
    ///
    /// Views are compared without being asked, but a prompt or a function cannot be, so a change there is a
    /// change if you say so.
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
        self.into_step().versioned(version.as_ref())
    }

    /// Leaves a cell empty that cannot be computed, for now: the run tells it as
    /// [`Event::Failed`](crate::Event::Failed) and goes on with all that does not depend on it, and the
    /// next run tries it again.
    fn or_wait(self) -> Step<'a> {
        self.into_step().on_failure(OnFailure::Wait)
    }

    /// Leaves a cell empty that cannot be computed, for good: the run tells it as
    /// [`Event::Failed`](crate::Event::Failed) and, when that is stored,
    /// [`Event::Skipped`](crate::Event::Skipped). The columns that read it go without: their messages
    /// do not show it, and [`Context::input`] is `None`. A column all of whose inputs are empty at a
    /// step is not asked, and is skipped as well.
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
        self.into_step().on_failure(OnFailure::Skip)
    }

    /// Computes this column at every so many steps only: with `every(5)` at the steps 4, 9, 14, …, each of
    /// which has five values to look back at, and with 0 at none. The other cells stay empty for good, at no
    /// cost: see [`or_skip`](Self::or_skip) for what their readers see.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column digest(user.window(3)) = (|cx: Context| async move { cx.messages().len().to_string() }).every(3);
    ///     column answer(user.latest, digest.window(3)) = |cx: Context| async move { cx.messages().to_json() };
    /// };
    /// for text in ["one", "two", "three", "four"] {
    ///     chat.user.push(text).await?;
    /// }
    /// chat.run().await?;
    /// assert_eq!((chat.digest.get(1), chat.digest.get(2).as_deref()), (None, Some("1")));
    /// // A window as long as the pause shows the last digest.
    /// assert!(chat.answer.get(3).is_some_and(|json| json.contains("digest")));
    /// # Ok(()) }
    /// ```
    fn every(self, steps: usize) -> Step<'a> {
        self.into_step().every_so_often(steps)
    }

    /// Computes a cell only if what it sees says so. One that is not computed stays empty for good: see
    /// [`or_skip`](Self::or_skip) for what its readers see. The condition is to say the same of the same
    /// context whenever it is asked. A [forecast](crate::Forecast) takes it for granted that it says yes.
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
    /// // Who reads nothing else has nothing to do.
    /// assert_eq!((chat.praise.get(0).as_deref(), chat.praise.get(1)), (Some("Well said."), None));
    /// # Ok(()) }
    /// ```
    fn when(self, is_due: impl Fn(&Context) -> bool + Send + Sync + 'a) -> Step<'a> {
        self.into_step().around(move |step, cx| if is_due(&cx) { step.start(cx) } else { Reply::skip() })
    }

    /// Lets the values of the column be JSON of this type, which `column score(user.latest): Score = …` says in
    /// [`flow!`](crate::flow!): what is computed is held against the type, and a model is told what is wanted. To stand
    /// behind all that belongs to one request. See the [guide](crate::guide::typed).
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
    /// let score = prompt("Rate it.").with(model).retry(3).typed::<Score>();
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

    /// Asks again up to so many times for a value that is not of the [type](Self::typed) of the column, with what was
    /// said and what is wrong with it: once, unless told otherwise, where a model is asked, and never for another step.
    /// To stand before the type. Each is told as [`Event::Retry`](crate::Event::Retry).
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
        self.into_step().repaired(times)
    }

    /// Lets the requests of this column have so many tokens, the instruction and the reply included; what
    /// the context has beyond is left out, from the middle unless told otherwise. See [`Budget`].
    ///
    /// ```
    /// use columnar::budget::Budget;
    /// use columnar::prelude::*;
    ///
    /// flow! {
    ///     pub struct Chat {
    ///         source user;
    ///         column assistant(user, self) = prompt("You are a helpful assistant.").budget(8_000);
    ///         column title(user) = prompt("Name the chat.").budget(Budget::of(2_000).rolling_window());
    ///     }
    /// }
    /// ```
    fn budget(self, budget: impl Into<Budget>) -> Step<'a> {
        self.into_step().budgeted(&budget.into())
    }

    /// Gives up after so long. Needs the clock of a tokio runtime.
    fn timeout(self, limit: Duration) -> Step<'a> {
        self.into_step().around(move |step, cx| match step.start(cx).0 {
            Kind::Whole(text) => Reply::whole(async move {
                timeout(limit, text).await.unwrap_or_else(|_| Err(TimedOut(limit).into()))
            }),
            Kind::Pieces(pieces) => Reply(Kind::Pieces(in_time(pieces, limit))),
        })
    }
}

impl<'a, Form, T: IntoStep<'a, Form>> Policy<'a, Form> for T {}

struct Attempts<'a> {
    step: Step<'a>,
    cx: Context,
    pauses: ExponentialBackoff,
    attempt: usize,
    /// What the attempt that goes on says; `None` before the first one and between two.
    pieces: Option<BoxStream<'a, Result<Piece, BoxError>>>,
    pause: Option<Duration>,
}

/// Attempt after attempt, until one succeeds or there are no more pauses.
fn attempts(
    step: Step<'_>,
    cx: Context,
    pauses: ExponentialBackoff,
) -> BoxStream<'_, Result<Piece, BoxError>> {
    let attempts = Attempts { step, cx, pauses, attempt: 0, pieces: None, pause: None };
    stream::unfold(Some(attempts), |attempts| async move {
        let mut attempts = attempts?;
        match attempts.next().await? {
            Ok(piece) => Some((Ok(piece), Some(attempts))),
            Err(error) => Some((Err(error), None)),
        }
    })
    .boxed()
}

impl Attempts<'_> {
    async fn next(&mut self) -> Option<Result<Piece, BoxError>> {
        if let Some(pause) = self.pause.take() {
            sleep(pause).await;
        }
        if self.pieces.is_none() {
            self.attempt += 1;
            self.pieces = Some(self.step.start(self.cx.clone()).pieces());
        }
        let error = match self.pieces.as_mut()?.next().await? {
            // The step makes attempts of its own, which count as well.
            Ok(Piece::Retry { error, .. }) => {
                self.attempt += 1;
                return Some(Ok(Piece::Retry { attempt: self.attempt - 1, error }));
            }
            Ok(piece) => return Some(Ok(piece)),
            Err(error) => error,
        };
        self.pieces = None;
        let is_final = Refused::of(&*error).is_some() || SpendLimitError::of(&*error).is_some();
        match self.pauses.next().filter(|_| !is_final) {
            Some(pause) => {
                let asked = Overloaded::of(&*error).and_then(|overloaded| overloaded.retry_after);
                self.pause = Some(pause.max(asked.unwrap_or_default().min(LONGEST_ASKED)));
                Some(Ok(Piece::Retry { attempt: self.attempt, error }))
            }
            None => Some(Err(error)),
        }
    }
}

/// The pieces, and an error in the place of what does not come in time.
fn in_time(
    pieces: BoxStream<'_, Result<Piece, BoxError>>,
    limit: Duration,
) -> BoxStream<'_, Result<Piece, BoxError>> {
    // The clock begins to run when somebody waits.
    stream::unfold(Some((pieces, None)), move |state| async move {
        let (mut pieces, deadline) = state?;
        let deadline = deadline.unwrap_or_else(|| Instant::now() + limit);
        match timeout_at(deadline, pieces.next()).await {
            Ok(Some(Ok(piece))) => Some((Ok(piece), Some((pieces, Some(deadline))))),
            Ok(Some(Err(error))) => Some((Err(error), None)),
            Ok(None) => None,
            Err(_) => Some((Err(TimedOut(limit).into()), None)),
        }
    })
    .boxed()
}
