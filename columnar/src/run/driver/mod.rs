//! What carries the arrows between the scheduler, the computes and the store.

mod computing;
mod id;
mod leading;
mod run;
mod tab;

pub use id::{ColumnId, fmt_variant, listed};
pub use run::Run;
