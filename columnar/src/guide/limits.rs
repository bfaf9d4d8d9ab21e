//! All default limits and timeouts, and what changes each.
//!
//! Chapter 24 of 37 · [← media](super::media) · [contents](super) · [stores →](super::stores)
//!
//! | limit | default | changed by |
//! |---|---|---|
//! | the cells of a flow that are computed at once | 32 | [`set_concurrency`](crate::flow::LiveFlow::set_concurrency) of a flow, [`limit`](crate::compute::Policy::limit) of a column |
//! | the steps that a run has in memory, of a flow that was opened with the last ones | 4,096 | not changed |
//! | the steps that a run by batches has in memory, of such a flow | 50,000 | not changed |
//! | the calls of a model at once, once the limit has adapted | 1,000 | [`Adaptive::max_concurrency`](crate::model::Adaptive::max_concurrency) |
//! | the time that a call waits for an overloaded model | 2 min | [`Adaptive::max_wait`](crate::model::Adaptive::max_wait) |
//! | the pause before the second attempt of a retry | 500 ms | a provider that asks for a longer one |
//! | the pause before a later attempt of a retry | 30 s | a provider that asks for a longer one |
//! | the pause of a retry that a provider may ask for | 2 min | not changed |
//! | the text that the reason for a skipped cell keeps of an error | 300 bytes | not changed |
//! | the columns that a drawing of a flow shows | 60 | not changed; in the documentation of a flow, 20 |
//! | the tokens of the map of a repository | 32,000 | `repo::Repository::limit` |
//! | the time until a provider accepts a connection | 20 s | not changed |
//! | the time until a reply of a provider begins | 5 min | `model::Provider::first_timeout` |
//! | the time between two events of a reply | 2 min | `model::Provider::idle_timeout` |
//! | the text of a reply | 16 MiB | `model::Provider::text_limit` |
//! | the pause between the first two looks at a batch | 30 s | `BatchRun::pauses` |
//! | the pause between two later looks at a batch | 10 min | `BatchRun::pauses` |
//! | the time after which a run in a worker of an engine starts no more cells | 1 min | `engine::FlowWorker::slice` |
//! | the pause before a worker of an engine repeats a run that failed | 1 min | `engine::FlowWorker::pauses` |
//! | the pause before a worker of an engine repeats a run that failed again and again | 1 h | `engine::FlowWorker::pauses` |
//! | the connections to a PostgreSQL server that the flows of a store share | 4 | `PostgresStore::connections` |
//! | the time until a PostgreSQL server accepts a connection | 10 s | `connect_timeout` in the address |
//! | the time that a write waits for other processes that write to the same SQLite file | 1 min | not changed |
//! | the time for a web page, with redirects | 10 s | `web::Web::timeout` |
//! | the bytes of a web page | 2 MiB | `web::Web::max_bytes` |
//! | the text that is kept of a web page | 100,000 bytes | `web::Web::max_text` |
//! | the time for which a web page is not read again | 5 min | `web::Web::lifetime` |
//! | the redirects of a web page | 5 | not changed |
//! | the steps that a report shows also without a script | 200 | not changed |
//! | the last steps of a flow with which a page that follows the flow begins | 2,000 | not changed |
//! | the pause between two looks of a follower at its store | 1 s | not changed |
//! | the pause between two looks of a follower whose store tells it of changes | 30 s | not changed |
//! | the steps of a flow up to which a report has an audit of the caches | 1,000 | [`audit`](crate::flow::LiveFlow::audit) has no limit |
//! | the parts of requests in a report, beyond which older requests are left out | 4,000,000 | not changed |
//!
//! These times belong to the parts of the library, and no method changes them:
//!
//! | time | value |
//! |---|---|
//! | the time after which a connection with HTTP/2 to a provider is given up, if nothing comes back | 30 s |
//! | the time for the usage that a provider sends after the end of a reply | 10 s |
//! | the longest pause that a reply of a provider may ask for | 24 h |
//! | the time after which a reply that nobody reads no longer counts towards the calls at once | 1 s |
//! | the time that opening a flow in SQLite or PostgreSQL waits for an owner who is about to end | 1 s |
//! | the pauses before a lost connection to PostgreSQL is tried again | 100 ms, 400 ms, 1.5 s, 3 s |
//! | the time after the last request at which SQLite writes the log back to the file | 1 s |
//!
//! [`shutdown`](crate::service::Spawned::shutdown) of a spawned flow waits for cells in progress, without a limit, and
//! [`shutdown_timeout`](crate::service::Spawned::shutdown_timeout) for the time that you say. A cache of a provider has a
//! lifetime, which the chapter on [caches](super::caches) shows.
//!
//! A compute step has no timeout of its own: [`timeout`](crate::compute::Policy::timeout) sets one. Calls have no rate of their
//! own: [`rate`](crate::compute::Policy::rate) sets one, of calls and of
//! [tokens per minute](crate::compute::Rate::tokens_per_minute). The longest reply of a
//! model and the context window are facts about the model; see [`MaxTokens`](crate::model::MaxTokens) and
//! [`ContextWindow`](crate::model::ContextWindow). A [`Budget`](crate::budget::Budget) limits a context, a
//! [`SpendLimit`](crate::usage::SpendLimit) a bill. The file tree of a repository names every file, unless
//! `repo::Repository::tree_limit` sets a limit.
//!
//! ```
//! use columnar::prelude::*;
//!
//! let chat = flow! {
//!     source user;
//!     column answer(user, self) = prompt("Answer.").timeout(secs(60)).limit(4);
//! };
//! chat.set_concurrency(8);
//! ```
//!
//! [← media](super::media) · [contents](super) · [stores →](super::stores)
