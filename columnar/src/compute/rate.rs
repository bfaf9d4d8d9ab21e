//! Rate limits: the number of calls that may begin in a period.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync;
use tokio::time::{Instant, sleep, timeout};

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
/// whether the provider counts by the minute or by the second. [`burst`](Self::burst) lets some calls begin together.
#[derive(Clone)]
pub struct Rate(Arc<CallQueue>);

impl Rate {
    fn new(calls: u32, seconds: u64) -> Self {
        // Rounded up: the calls of a period must not take less time than the period.
        let nanos = (seconds * 1_000_000_000).div_ceil(calls.max(1).into());
        Self(Arc::new(CallQueue::new(Duration::from_nanos(nanos), 1)))
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
        let calls = calls.clamp(1, LARGEST_BURST);
        Self(Arc::new(CallQueue::new(self.0.interval, calls)))
    }

    /// Waits until a call may begin. A future that is dropped before does not count.
    pub(super) async fn wait(&self) {
        let CallQueue { interval, front, waiting, .. } = &*self.0;
        // The number alone is shared: no other memory depends on it.
        let ahead = waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(waiting);
        // The first call may belong to a run that is not polled, perhaps because the reader of that run waits for this
        // very call. After this time the rate allows both calls, so this one can begin without the lock.
        let due = interval.saturating_mul(ahead.saturating_add(1));
        // Held until this call begins, so that no later call overtakes it.
        let _front = timeout(due.saturating_add(GRACE), front.lock()).await;
        // A call without the lock may take the place in between, so the schedule is asked again.
        while let Err(early) = self.0.admit(Instant::now()) {
            sleep(early).await;
        }
    }
}

impl From<&Self> for Rate {
    fn from(rate: &Self) -> Self {
        rate.clone()
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rate").field("interval", &self.0.interval).finish_non_exhaustive()
    }
}

struct CallQueue {
    interval: Duration,
    /// The time by which calls may be ahead of the schedule.
    tolerance: Duration,
    /// The schedule: the time at which the next call is due.
    next: Mutex<Instant>,
    /// Held by the first call of the queue. The lock is fair, so calls get it in order of arrival.
    front: sync::Mutex<()>,
    /// The number of waiting calls, the first one included.
    waiting: AtomicU32,
}

impl CallQueue {
    fn new(interval: Duration, burst: u32) -> Self {
        Self {
            interval,
            tolerance: interval * (burst - 1),
            next: Mutex::new(Instant::now()),
            front: sync::Mutex::new(()),
            waiting: AtomicU32::new(0),
        }
    }

    /// Admits a call, or returns the time until it may begin. This is the generic cell rate algorithm of ITU-T I.371.
    fn admit(&self, now: Instant) -> Result<(), Duration> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let early = next.saturating_duration_since(now).saturating_sub(self.tolerance);
        if early > Duration::ZERO {
            return Err(early);
        }
        *next = now.max(*next) + self.interval;
        Ok(())
    }
}

/// A waiting call, which counts until it is dropped.
struct Waiting<'a>(&'a AtomicU32);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
