//! Assembly: the messages that a column sees at a step, from the declaration and the stored values alone.
//!
//! ```text
//! views, histories ──▶ Assembler ──▶ Snapshot ──▶ Parts ──▶ Messages
//!                          │            ▲
//!                          ├─ layout ───┤  which documents are shown, and where
//!                          └─ budget ───┘  which turns are omitted
//! ```
//!
//! A pure layer: no I/O and no clock, and a context is a function of stored values.

mod assembler;
pub mod budget;
pub(crate) mod compaction;
mod cut;
mod delimiters;
pub mod documents;
mod elisions;
mod escape;
mod exclusions;
mod filters;
mod forked_list;
mod layout;
mod messages;
mod next;
mod overhead;
mod parts;
mod shared_prefix;
mod snapshot;
mod step_views;
mod system;
mod thread;
pub mod tiers;
mod transcript;
pub(crate) mod tree;
mod truncation;
mod turns;

pub(crate) use assembler::{AssembleError, Assembler, ContextMemory, LogTurns};
pub use delimiters::Role;
pub(crate) use exclusions::{Exclusion, Exclusions};
pub(crate) use filters::previous_step;
pub(crate) use layout::Section;
pub use layout::TieredDocument;
pub use messages::{Iter, Messages};
pub(crate) use next::InNext;
pub(crate) use overhead::{ContextForm, ContextSettings, Overhead, join};
pub use parts::{Hidden, Origin, Part, Parts};
pub(crate) use shared_prefix::SharedPrefix;
pub(crate) use snapshot::{FlowPast, Snapshot, TakenViews};
pub(crate) use step_views::StoredCells;
pub(crate) use transcript::{Transcript, TranscriptError, TranscriptOptions};
