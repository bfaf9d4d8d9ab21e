//! The state of a live flow and its runs.
//!
//! ```text
//! handles ──▶ shared ──▶ state        reads, pushes, settings
//!               ▲
//!               │ actions, reports
//!             driver ──▶ computation ──▶ events
//! ```
//!
//! `shared` locks `state`, which holds the scheduler and the values in memory. The `driver` is a run: it carries out the
//! actions of the scheduler and reports the results. `restore` and `derive` make a flow from a store or from another
//! flow. Stored values that are not in memory are in a `past`, which flows share; `needs` finds those that contexts show,
//! and `load` loads them. `read` reads values wherever they are. `follow` shows the stored cells to those who follow a
//! flow, and notifies them of changes. `documents` knows the documents of a source, which a push changes.
//!
//! Code of users, such as a filter or a counter, is called outside of the lock: `assemble` takes the values of a context
//! under it and makes the messages afterwards, `recount` counts copies. `guard` catches the panics of such code.

mod actions;
mod assemble;
mod cell_state;
mod computation;
mod compute_steps;
mod contexts;
mod derive;
mod documents;
mod driver;
mod error;
mod event;
mod exclusions;
mod follow;
mod forecast;
mod guard;
mod load;
mod needs;
mod past;
mod read;
mod recount;
pub mod reopen;
mod restore;
mod shared;
mod state;
mod table;
#[cfg(test)]
mod tests;
mod warm_up;

pub use cell_state::CellState;
pub(crate) use compute_steps::ComputeSteps;
pub use driver::Run;
pub use error::{Error, Result};
pub use event::{ColumnId, Event, fmt_variant, listed};
pub(crate) use follow::{SeenCells, Stored};
pub use forecast::{ColumnForecast, Forecast, Overflow};
pub(crate) use read::Chunks;
pub use read::Values;
pub(crate) use shared::Shared;
