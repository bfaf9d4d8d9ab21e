//! What carries the arrows between the scheduler, the computes and the store.

mod run;
mod task;

pub use run::{ColumnId, Run};
