//! The time of a request, as receipts store it.

use std::time::{Duration, SystemTime};

/// A moment of the wall clock, in milliseconds since the beginning of 1970 in UTC.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use columnar::usage::UnixTime;
///
/// let [first, second] = [1_795_803_000_000, 1_795_803_075_000].map(UnixTime::from_millis);
/// assert_eq!(second.since(first), Duration::from_secs(75));
/// assert!(SystemTime::from(first) < SystemTime::from(second));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixTime(u64);

impl UnixTime {
    /// The moment that is this many milliseconds after the beginning of 1970.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms)
    }

    /// The milliseconds since the beginning of 1970.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The time from an earlier moment to this one; zero if the other one is later, because wall clocks may be set back.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// The present moment. Requests, and what is computed of their times, read the wall clock here alone.
    pub(crate) fn now() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

impl From<UnixTime> for SystemTime {
    fn from(time: UnixTime) -> Self {
        // No clock counts beyond the range of the system, but a receipt may have been edited.
        Self::UNIX_EPOCH.checked_add(Duration::from_millis(time.0)).unwrap_or(Self::UNIX_EPOCH)
    }
}
