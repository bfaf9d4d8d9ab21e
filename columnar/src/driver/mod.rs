//! What carries the arrows between the scheduler, the computes and the store.

mod computing;
mod run;

pub use run::{ColumnId, Run};
