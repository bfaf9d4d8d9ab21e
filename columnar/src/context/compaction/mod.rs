//! A compacted view of documents: a log of changes in the turns, which is compacted now and then.
//!
//! ```text
//! updates ──▶ DocumentLog ──▶ parts by place ──▶ texts in the turns
//!                  │
//!                  └─ sizes, prices ──▶ policy ──▶ the place from which on the next update lays documents anew
//! ```
//!
//! A changed document stands in the turn of its step, and the text before stays where it is: so a request repeats the one
//! before. Each request pays for reading the texts that are no longer valid. When a part of the log has paid as much as it
//! would cost to write that part anew, the update of the step says so, and the valid texts of that part move into the turn of
//! the step. An update is a stored value, so a context stays a function of stored values.
//!
//! A log that shows each document once lays anew what stands behind a changed document, at once, and keeps documents that
//! have just changed in the last turn. That needs no decision.

mod context;
mod edit;
mod log;
mod memory;
mod part;
mod policy;

pub(crate) use context::LogContext;
pub(crate) use log::{DocumentLog, LogForm};
pub(super) use memory::{LogCounter, LogMemory, ShownPart};
pub(crate) use policy::{LogPrices, LogReader, first_laid_anew};
