//! Assembly: the messages that a column sees at a step, from its declaration and the stored values alone.
//!
//! ```text
//! views, histories ──▶ Assembler ──▶ Snapshot ──▶ Cursor ──▶ Parts ──▶ Messages
//!                          │            ▲
//!                          ├─ layout ───┤  which documents are shown, and where
//!                          └─ budget ───┘  which turns are omitted
//! ```
//!
//! A pure layer: it does no I/O and knows no clock, and a context is a function of stored values.

mod assembler;
pub mod budget;
mod cursor;
mod delimiters;
pub mod documents;
mod escape;
mod exclusions;
mod forked_list;
mod instructions;
mod layout;
mod messages;
mod omissions;
mod parts;
mod shared_prefix;
mod snapshot;
mod system;
pub mod tiers;
mod transcript;
pub(crate) mod tree;
mod turns;
mod view;

pub(crate) use assembler::{AssembleError, Assembler, Memory, previous_step};
pub use delimiters::Role;
pub(crate) use delimiters::{ContextSettings, Form, Overhead};
pub(crate) use exclusions::{Exclusion, Exclusions};
pub(crate) use layout::Section;
pub use messages::{Iter, Messages};
pub(crate) use parts::InNext;
pub use parts::{Hidden, Origin, Part, Parts, TieredDocument};
pub(crate) use shared_prefix::SharedPrefix;
pub(crate) use snapshot::Snapshot;
pub(crate) use transcript::{Transcript, TranscriptNames};
