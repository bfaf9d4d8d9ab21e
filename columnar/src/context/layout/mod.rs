//! The layout of a tiered context: documents by tier, and the history between them.
//!
//! ```text
//! updates ──▶ Documents ─┐
//!                        ├──▶ StepTiers ──▶ DocumentLayout ──▶ Parts
//! turns ───▶ exchanges ──┘      of a step     sections, each before a turn
//! ```
//!
//! A tiered view is in no turn: documents have places of their own, and a change of one must not move the turns. A tier has
//! the turns of some steps. The documents of a tier are a message of the user before these turns, with a short reply. The
//! documents of L0 are no message: they end the system text, as they are the most stable text after the instruction.

mod request;
mod section;
mod step_tiers;

pub(crate) use request::DocumentLayout;
pub(super) use request::{ContextPlace, FirstChange, Placed, placed};
pub(crate) use section::Section;
pub use section::TieredDocument;
pub(super) use step_tiers::{TierMemory, document_tokens};
