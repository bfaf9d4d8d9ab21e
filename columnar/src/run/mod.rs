//! The state of a live flow and its runs.
//!
//! ```text
//! handles ──▶ shared ──▶ state        reads, pushes, settings
//!               ▲
//!               │ actions, reports
//!             driver ──▶ computation ──▶ events
//! ```
//!
//! | folder | contents |
//! |---|---|
//! | `state` | the scheduler and the values in memory, the past that forks share, and the steps that are only in the store |
//! | `shared` | the lock of the state, and the store; reads, pushes, settings, exclusions, the signals for followers |
//! | `contexts` | the contexts of cells, and the forecast, which counts contexts without assembling them |
//! | `driver` | a run: the actions of the scheduler, the computation of a cell, storing, warm-ups |
//! | `batch` | a run whose calls wait for batches: when these are submitted, and what the store remembers of them |
//! | `reopen` | the definition of a flow in a store, opening, added columns, verification |
//!
//! Code of users, such as a filter or a counter, is called outside of the lock, and `user_code` catches panics.

#[cfg(feature = "providers")]
mod batch;
mod contexts;
mod driver;
mod error;
mod event;
pub mod reopen;
mod shared;
mod state;
#[cfg(test)]
mod tests;
mod user_code;

#[cfg(feature = "providers")]
pub use batch::BatchRun;
pub(crate) use contexts::RehearsedContexts;
pub use contexts::{ColumnForecast, Forecast, Overflow, SharedForecast, Unpaid};
pub use driver::Run;
pub use error::{Error, Result};
pub use event::{ColumnId, Event, fmt_variant, listed};
pub use shared::PendingCell;
pub(crate) use shared::{Decision, SeenCells, SharedFlow, StepChunks};
pub(crate) use state::{AdoptedColumn, FlowState, receipt, skip_reason};
pub use state::{CellState, Values};
pub(crate) use user_code::ComputeSteps;
