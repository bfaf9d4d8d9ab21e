//! The layout of a tiered context: documents by tier, and the history between them.
//!
//! ```text
//! updates ──▶ Documents ─┐
//!                        ├──▶ StepTiers ──▶ Layout ──▶ Cursor
//! turns ───▶ exchanges ──┘      of a step     sections, each before a turn
//! ```
//!
//! The turns stay in their order. A tier has the turns of some steps. Its documents are a message of the user before these
//! turns, with a short reply. The documents of L0 are no message: they end the system text.
//!
//! The tiers of a step are a function of the updates and the turns up to it, so nothing of them is stored.

mod broken;
mod memory;
mod next;
mod placed;
mod request;
mod section;
mod sizes;
mod step_tiers;

pub(super) use broken::Omitted;
pub(super) use memory::TierMemory;
pub(super) use placed::{At, Placed};
pub(crate) use request::Layout;
pub(crate) use section::Section;
pub(super) use sizes::document_tokens;
pub(super) use step_tiers::Steps;
