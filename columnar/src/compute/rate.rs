//! Rate limits: the number of calls that may begin in a period, and their tokens.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{self, Notify};
use tokio::time::{Instant, timeout};

use super::token_window::{PERIOD, TokenWindow};
use crate::model::Refused;

/// The time after which a waiting call assumes that the task with the lock is no longer polled, counted from the time at
/// which the call is due.
const GRACE: Duration = Duration::from_secs(1);

/// The most calls of a burst: far more than anyone needs, and few enough that the sum of the intervals does not
/// overflow.
const LARGEST_BURST: u32 = 1_000_000;

/// A rate of at most this many calls per second, evenly spread; see [`Rate`].
///
/// ```
/// use columnar::prelude::*;
///
/// let user = source("user");
/// let topics = column("topics", user.latest(), prompt("List the topics.").rate(per_second(2)));
/// let _ = flow([topics])?;
/// # Ok::<(), Error>(())
/// ```
pub fn per_second(calls: u32) -> Rate {
    Rate::new(calls, 1)
}

/// A rate of at most this many calls per minute, evenly spread; see [`Rate`].
///
/// ```
/// use columnar::prelude::*;
///
/// let user = source("user");
/// let topics = column("topics", user.latest(), prompt("List the topics.").rate(per_minute(60)));
/// let _ = flow([topics])?;
/// # Ok::<(), Error>(())
/// ```
pub fn per_minute(calls: u32) -> Rate {
    Rate::new(calls, 60)
}

/// A rate limit for [`Policy::rate`](super::Policy::rate). Made by [`per_minute`] and [`per_second`], where 0 counts as
/// 1.
///
/// Clones share one limit, across columns and flows:
///
/// ```
/// use columnar::compute::Rate;
/// use columnar::prelude::*;
///
/// flow! {
///     pub struct Chat(rate: Rate) {
///         source user;
///         column topics(user.latest)   = prompt("List the topics.").rate(rate).retry(3);
///         column assistant(user, self) = prompt("You are a helpful assistant.").rate(rate).retry(3);
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = Chat::new(per_minute(6000));
/// chat.user.push("hello").await?;
/// chat.run().await?;
/// # Ok(()) }
/// ```
///
/// # Even spread, and bursts
///
/// Calls at 60 per minute begin a second apart. So no period of a minute has more than 60, and no quota is exceeded,
/// whether the provider counts by the minute or by the second. [`burst`](Self::burst) lets some calls begin together, and
/// [`tokens_per_minute`](Self::tokens_per_minute) limits the tokens of calls as well.
#[derive(Clone)]
pub struct Rate(Arc<CallQueue>);

impl Rate {
    fn new(calls: u32, seconds: u64) -> Self {
        // Rounded up: the calls of a period must not take less time than the period.
        let nanos = (seconds * 1_000_000_000).div_ceil(calls.max(1).into());
        let interval = Duration::from_nanos(nanos);
        Self(Arc::new(CallQueue::new(Quota { interval, burst: 1, tokens: None })))
    }

    /// A new rate that allows up to this many calls at once after a pause. One period may then have `calls - 1` more: at
    /// 60 per minute with a burst of 5, up to 64. The result shares nothing with clones of the earlier rate.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// let rate = per_minute(60).burst(5);
    /// let user = source("user");
    /// let topics = column("topics", user.latest(), prompt("List the topics.").rate(&rate));
    /// let _ = flow([topics])?;
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn burst(self, calls: u32) -> Self {
        let burst = calls.clamp(1, LARGEST_BURST);
        Self(Arc::new(CallQueue::new(Quota { burst, ..self.0.quota })))
    }

    /// A new rate whose calls also have at most this many tokens in any minute, of requests and replies together, as
    /// providers limit them. 0 counts as 1. The result shares nothing with clones of the earlier rate.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// let rate = per_minute(500).tokens_per_minute(200_000);
    /// let user = source("user");
    /// let topics = column("topics", user.latest(), prompt("List the topics.").max_tokens(300).rate(&rate));
    /// let _ = flow([topics])?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// A call takes the tokens of its request, by the [counter](crate::flow::LiveFlow::set_counter) of the flow, and of the
    /// longest reply. The call waits until the calls of the last minute leave room for both. When the reply ends, the
    /// reported usage, with cached tokens, takes the place of that number, so others may begin. Set
    /// [`max_tokens`](crate::Prompt::max_tokens) where replies are short: without it, few calls fill the minute until they
    /// end. A call without a reported usage counts in full, and a step without a model takes the tokens of its messages.
    /// Further calls of one start, such as the attempts of a `retry` before the rate, count when they end.
    ///
    /// Calls begin in order of arrival, so small ones do not keep a large one waiting. A call that may have more tokens than
    /// a minute is an error, as a provider would refuse it; where the longest reply alone is too long, before the run.
    #[must_use]
    pub fn tokens_per_minute(self, tokens: u32) -> Self {
        let tokens = Some(tokens.max(1));
        Self(Arc::new(CallQueue::new(Quota { tokens, ..self.0.quota })))
    }

    /// The tokens per minute; `None` without a limit.
    pub(super) fn tokens(&self) -> Option<u32> {
        self.0.quota.tokens
    }

    /// Waits until a call with at most this many tokens may begin, and returns the number of the call. A future that is
    /// dropped before does not count.
    pub(super) async fn wait(&self, tokens: u32) -> u64 {
        let CallQueue { front, changed, .. } = &*self.0;
        let waiting = self.0.join(tokens);
        // The first call may belong to a run that is not polled, perhaps because the reader of that run waits for this
        // very call. After this time the rate allows both calls, so this one can begin without the lock.
        //
        // Held until this call begins, so that no later call overtakes it.
        let _front = timeout(waiting.due.saturating_add(GRACE), front.lock()).await;
        loop {
            // Created before the check, so that no correction is missed.
            let changed = changed.notified();
            // A call without the lock may take the place in between, so the schedule is asked again.
            match self.0.admit(tokens) {
                Ok(call) => return call,
                Err(early) => drop(timeout(early, changed).await),
            }
        }
    }

    /// Counts the tokens that a call had: in the place of those that it took, or now for a further call of one start.
    pub(super) fn count(&self, call: Option<u64>, had: u32) {
        let mut schedule = self.0.lock();
        match call {
            Some(call) => schedule.tokens.correct(call, had),
            None => _ = schedule.tokens.take(had, Instant::now()),
        }
        drop(schedule);
        self.0.changed.notify_waiters();
    }
}

impl From<&Self> for Rate {
    fn from(rate: &Self) -> Self {
        rate.clone()
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Quota { interval, tokens, .. } = self.0.quota;
        f.debug_struct("Rate").field("interval", &interval).field("tokens", &tokens).finish_non_exhaustive()
    }
}

/// The numbers of a rate.
#[derive(Clone, Copy)]
struct Quota {
    /// The time from one call to the next.
    interval: Duration,
    burst: u32,
    /// The tokens per minute; `None` without a limit.
    tokens: Option<u32>,
}

struct CallQueue {
    quota: Quota,
    schedule: Mutex<Schedule>,
    /// Held by the first call of the queue. The lock is fair, so calls get it in order of arrival.
    front: sync::Mutex<()>,
    /// The notification that the tokens of a call were corrected.
    changed: Notify,
}

/// The calls so far, and those that wait. One lock holds both limits: a call that had its place under the one and waited for
/// the other would let calls begin together.
struct Schedule {
    /// The time at which the next call is due.
    next: Instant,
    tokens: TokenWindow,
    /// The number of waiting calls, the first one included.
    waiting: u32,
    waiting_tokens: u64,
}

impl CallQueue {
    fn new(quota: Quota) -> Self {
        let tokens = TokenWindow::new(quota.tokens.map_or(u64::MAX, u64::from));
        let schedule = Schedule { next: Instant::now(), tokens, waiting: 0, waiting_tokens: 0 };
        Self { quota, schedule: Mutex::new(schedule), front: sync::Mutex::default(), changed: Notify::new() }
    }

    /// Admits a call and returns its number, or the time until the call may begin or is to ask again. The times of calls
    /// follow the generic cell rate algorithm of ITU-T I.371.
    fn admit(&self, tokens: u32) -> Result<u64, Duration> {
        let Quota { interval, burst, .. } = self.quota;
        let mut schedule = self.lock();
        let now = Instant::now();
        // The time by which calls may be ahead of the schedule.
        let tolerance = interval * (burst - 1);
        let early = schedule.next.saturating_duration_since(now).saturating_sub(tolerance);
        let early = early.max(schedule.tokens.early(tokens.into(), now));
        if early > Duration::ZERO {
            return Err(early);
        }
        schedule.next = now.max(schedule.next) + interval;
        Ok(schedule.tokens.take(tokens, now))
    }

    /// Counts a call as waiting.
    fn join(&self, tokens: u32) -> Waiting<'_> {
        let Quota { interval, tokens: most, .. } = self.quota;
        let mut schedule = self.lock();
        schedule.waiting = schedule.waiting.saturating_add(1);
        schedule.waiting_tokens += u64::from(tokens);
        let due = interval.saturating_mul(schedule.waiting);
        let ahead = schedule.waiting_tokens;
        let due = match most {
            // A large call may leave almost half of a minute unused.
            Some(most) if !schedule.tokens.has_room(ahead) => {
                let minutes = 1 + 2 * ahead.div_ceil(most.into());
                due.max(PERIOD.saturating_mul(minutes.try_into().unwrap_or(u32::MAX)))
            }
            _ => due,
        };
        Waiting { queue: self, tokens, due }
    }

    fn lock(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A waiting call, which counts until it is dropped.
struct Waiting<'a> {
    queue: &'a CallQueue,
    tokens: u32,
    /// The time after which all calls ahead have begun, and the call may begin.
    due: Duration,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut schedule = self.queue.lock();
        schedule.waiting -= 1;
        schedule.waiting_tokens -= u64::from(self.tokens);
    }
}

/// The error of a call that may have more tokens than a minute.
#[derive(Debug, thiserror::Error)]
#[error(
    "a call may have {tokens} tokens with its longest reply, and the rate allows {most} per minute: lower the `max_tokens` or the `budget` of the column, or raise `tokens_per_minute`"
)]
pub(crate) struct OverRate {
    pub(super) tokens: u32,
    pub(super) most: u32,
    pub(super) source: Refused,
}

impl OverRate {
    /// Fails if a minute has no room for this many tokens.
    pub(crate) fn check(tokens: u32, most: Option<u32>) -> Result<(), Self> {
        match most {
            Some(most) if tokens > most => Err(Self { tokens, most, source: Refused }),
            _ => Ok(()),
        }
    }
}
