//! How often calls may begin.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

/// How much later than expected a call may get to the front before it is taken that whoever stands
/// there has gone away.
const GRACE: Duration = Duration::from_secs(1);

/// Far beyond any use, and so few that their intervals, added up, are a time that can be told.
const LARGEST_BURST: u32 = 1_000_000;

/// At most so many calls begin in each second, evenly spread. See [`Rate`].
///
/// ```
/// use columnar::prelude::*;
///
/// let user = source("user");
/// let topics = column("topics", user.latest(), prompt("List the topics.").rate(per_second(2)));
/// # let _ = flow([topics])?;
/// # Ok::<(), Error>(())
/// ```
pub fn per_second(calls: u32) -> Rate {
    Rate::new(calls, 1)
}

/// At most so many calls begin in each minute, evenly spread. See [`Rate`].
///
/// ```
/// use columnar::prelude::*;
///
/// let user = source("user");
/// let topics = column("topics", user.latest(), prompt("List the topics.").rate(per_minute(60)));
/// # let _ = flow([topics])?;
/// # Ok::<(), Error>(())
/// ```
pub fn per_minute(calls: u32) -> Rate {
    Rate::new(calls, 60)
}

/// How often calls may begin, for [`Policy::rate`](super::Policy::rate). Made by [`per_minute`] and
/// [`per_second`]; at least one call may.
///
/// Clones are the same rate. What is given a clone or a reference takes its turns from it, be it
/// another column or another flow:
///
/// ```
/// use columnar::compute::Rate;
/// use columnar::prelude::*;
///
/// flow! {
///     pub struct Chat(rate: Rate) {
///         source user;
///         column topics(user.latest)  = prompt("List the topics.").rate(rate).retry(3);
///         column assistant(user, self) = prompt("You are a helpful assistant.").rate(rate).retry(3);
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = Chat::new(per_minute(6000));
/// # chat.user.push("hello").await?;
/// # chat.run().await?;
/// # Ok(()) }
/// ```
///
/// # Even spread, and bursts
///
/// Calls at 60 per minute begin a second apart. So in no minute, whenever it begins, are there more
/// than 60, and no quota is exceeded, whether its provider counts by the minute or by the second.
/// [`burst`](Self::burst) lets some begin together.
#[derive(Clone)]
pub struct Rate {
    turns: Arc<Turns>,
}

impl Rate {
    fn new(calls: u32, seconds: u64) -> Self {
        // Rounded up, so that the calls of a period never take less than it.
        let nanos = (seconds * 1_000_000_000).div_ceil(calls.max(1).into());
        Self { turns: Arc::new(Turns::new(Duration::from_nanos(nanos), NonZeroU32::MIN)) }
    }

    /// The rate, beginning anew, with up to so many calls at once after a time without any. In the
    /// worst period there are as many more, less one: at 60 per minute with a burst of 5, up to 64.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// let rate = per_minute(60).burst(5);
    /// let user = source("user");
    /// let topics = column("topics", user.latest(), prompt("List the topics.").rate(&rate));
    /// # let _ = flow([topics])?;
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn burst(self, calls: u32) -> Self {
        let calls = NonZeroU32::new(calls.min(LARGEST_BURST)).unwrap_or(NonZeroU32::MIN);
        Self { turns: Arc::new(Turns::new(self.turns.interval, calls)) }
    }

    /// Waits until a call may begin. Dropped before, it takes nothing.
    pub(super) async fn turn(&self) {
        self.turns.next().await;
    }
}

impl From<&Self> for Rate {
    fn from(rate: &Self) -> Self {
        rate.clone()
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rate").field("interval", &self.turns.interval).finish_non_exhaustive()
    }
}

struct Turns {
    interval: Duration,
    limiter: RateLimiter<NotKeyed, InMemoryState, Tokio, NoOpMiddleware<Nanos>>,
    /// Held by the call that comes next; the lock gives itself on in order of arrival.
    front: Mutex<()>,
    /// How many calls wait, the one at the front included.
    waiting: AtomicU32,
}

impl Turns {
    fn new(interval: Duration, burst: NonZeroU32) -> Self {
        let quota = Quota::with_period(interval).expect("no period is empty");
        let limiter = RateLimiter::direct_with_clock(quota.allow_burst(burst), Tokio(Instant::now()));
        Self { interval, limiter, front: Mutex::new(()), waiting: AtomicU32::new(0) }
    }

    async fn next(&self) {
        let here = Waiting::join(&self.waiting);
        // Whoever is at the front may belong to a run that nobody reads at the moment, perhaps because
        // its reader waits for this very call. By now its turn has come, and this call's turn too.
        let due = self.interval.saturating_mul(here.ahead.saturating_add(1));
        let _front = timeout(due.saturating_add(GRACE), self.front.lock()).await;
        while let Err(refused) = self.limiter.check() {
            sleep(refused.wait_time_from(self.limiter.clock().now())).await;
        }
    }
}

/// A call that waits, until it is dropped.
struct Waiting<'a> {
    all: &'a AtomicU32,
    ahead: u32,
}

impl<'a> Waiting<'a> {
    fn join(all: &'a AtomicU32) -> Self {
        Self { all, ahead: all.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The clock of the runtime, which tests can stop, as the time since this moment.
struct Tokio(Instant);

impl Clock for Tokio {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.0.elapsed().into()
    }
}
