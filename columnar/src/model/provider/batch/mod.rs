//! Batches: requests that a provider may answer within a day, for half the price.
//!
//! ```text
//! Request ──▶ request ──▶ queue ──▶ client ──▶ file of lines ──▶ a day at most
//!   chunks ◀── queue ◀──────────── result ◀─── file of lines ◀──┘
//! ```
//!
//! A request waits in the queue for the answer, so a run does not know whether a model is asked at once or by a batch.
//! Nothing here decides when a batch is submitted: `run::batch` does.

mod client;
mod error;
mod find;
mod queue;
mod request;
mod result;
mod submit;

pub(crate) use self::client::EndedBatch;
pub use self::error::BatchError;
pub(crate) use self::find::{BatchSearch, SentBatch};
pub use self::queue::BatchQueue;
pub(crate) use self::request::{UnsentRequest, hash};
