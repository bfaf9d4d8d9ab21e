//! Deadlines of any length. The default limits of time are in `declare/default_limits.rs`.

use std::time::Duration;

use tokio::time::Instant;

/// The longest wait. A deadline near the end of the clock's range would overflow where the runtime rounds it up.
const FOREVER: Duration = Duration::from_hours(30 * 365 * 24);

/// The end of a limit of time, which may be of any length.
pub(crate) fn deadline(begun: Instant, limit: Duration) -> Instant {
    begun + limit.min(FOREVER)
}
