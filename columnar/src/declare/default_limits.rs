//! The default limits and timeouts that users meet, in one place. The chapter [`limits`](crate::guide::limits) of the
//! guide has them as a table, with the method that changes each.

use std::time::Duration;

/// The cells of a flow that are computed at once.
pub(crate) const CONCURRENCY: usize = 32;

/// The steps that a run has in memory, of a flow that was opened with the last ones.
pub(crate) const RUN_WINDOW: usize = 4_096;

/// The steps that a run by batches has in memory, of such a flow.
pub(crate) const BATCH_WINDOW: usize = 50_000;

/// The calls of a model at once, once the limit has adapted. By default a process on Linux may have 1,024 files and
/// connections.
pub(crate) const MAX_CONCURRENCY: usize = 1000;

/// The time that a call waits for an overloaded model. Most quotas are by the minute.
pub(crate) const MAX_WAIT: Duration = Duration::from_mins(2);

/// The pause before the second attempt of a retry. The pause doubles with each further attempt.
pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The pause before a later attempt of a retry.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The pause of a retry that a provider may ask for.
pub(crate) const LONGEST_REQUESTED: Duration = Duration::from_mins(2);

/// The text that the reason for a skipped cell keeps of an error. A column that always fails must not fill the store.
pub(crate) const SKIP_MESSAGE: usize = 300;

/// The columns that a drawing of a flow shows. A table of more is easier to read.
pub(crate) const DRAWN_COLUMNS: usize = 60;

/// The tokens of the map of a repository.
#[cfg(feature = "repo")]
pub(crate) const MAP_TOKENS: usize = 32_000;

/// The time until a provider accepts a connection.
#[cfg(feature = "providers")]
pub(crate) const PROVIDER_CONNECT: Duration = Duration::from_secs(20);

/// The time until a reply of a provider begins.
#[cfg(feature = "providers")]
pub(crate) const FIRST_TOKEN: Duration = Duration::from_mins(5);

/// The time between two events of a reply.
#[cfg(feature = "providers")]
pub(crate) const BETWEEN_EVENTS: Duration = Duration::from_mins(2);

/// The text of a reply.
#[cfg(feature = "providers")]
pub(crate) const REPLY_BYTES: usize = 16 << 20;

/// The pause between the first two looks at a batch. The pause doubles with each further look.
#[cfg(feature = "providers")]
pub(crate) const FIRST_LOOK: Duration = Duration::from_secs(30);

/// The pause between two later looks at a batch.
#[cfg(feature = "providers")]
pub(crate) const LONGEST_LOOK: Duration = Duration::from_mins(10);

/// The time after which a run in a worker of an engine starts no more cells.
#[cfg(feature = "engine")]
pub(crate) const RUN_SLICE: Duration = Duration::from_mins(1);

/// The pause before a worker of an engine repeats a run that failed.
#[cfg(feature = "engine")]
pub(crate) const FIRST_WAKE: Duration = Duration::from_mins(1);

/// The pause before a worker of an engine repeats a run that failed again and again.
#[cfg(feature = "engine")]
pub(crate) const LONGEST_WAKE: Duration = Duration::from_hours(1);

/// The connections to a PostgreSQL server that the flows of a store share.
#[cfg(feature = "postgres")]
pub(crate) const POSTGRES_CONNECTIONS: usize = 4;

/// The time until a PostgreSQL server accepts a connection.
#[cfg(feature = "postgres")]
pub(crate) const POSTGRES_CONNECT: Duration = Duration::from_secs(10);

/// The time that a write waits for other processes that write to the same SQLite file.
#[cfg(feature = "sqlite")]
pub(crate) const SQLITE_BUSY: Duration = Duration::from_mins(1);

/// The time for a web page, with redirects.
#[cfg(feature = "web")]
pub(crate) const PAGE_TIMEOUT: Duration = Duration::from_secs(10);

/// The bytes of a web page.
#[cfg(feature = "web")]
pub(crate) const PAGE_BYTES: usize = 2 << 20;

/// The text that is kept of a web page.
#[cfg(feature = "web")]
pub(crate) const PAGE_TEXT_BYTES: usize = 100_000;

/// The time for which a web page is not read again.
#[cfg(feature = "web")]
pub(crate) const PAGE_LIFETIME: Duration = Duration::from_mins(5);

/// The redirects of a web page.
#[cfg(feature = "web")]
pub(crate) const MOST_REDIRECTS: usize = 5;

/// The steps that a report shows also without a script.
#[cfg(feature = "report")]
pub(crate) const REPORTED_STEPS: usize = 200;

/// The last steps of a flow with which a page that follows the flow begins.
#[cfg(feature = "report")]
pub(crate) const FOLLOWED_STEPS: usize = 2_000;

/// The pause between two looks of a follower at its store.
pub(crate) const FOLLOW_INTERVAL: Duration = Duration::from_secs(1);

/// The pause between two looks of a follower whose store tells it of changes.
pub(crate) const FOLLOW_FALLBACK: Duration = Duration::from_secs(30);

/// The steps of a flow up to which a report has an audit of the caches.
#[cfg(feature = "report")]
pub(crate) const AUDITED_STEPS: usize = 1000;

/// The parts of requests in a report, beyond which older requests are left out.
#[cfg(feature = "report")]
pub(crate) const REPORTED_PARTS: usize = 4_000_000;
