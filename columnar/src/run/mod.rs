//! A flow that lives: the state that its handles share, the run that computes what is missing, and what they report.

mod actions;
mod computation;
mod compute_steps;
mod derive;
mod driver;
mod error;
mod event;
mod forecast;
mod load;
mod restore;
mod shared;
mod state;
mod table;
mod warm_up;

pub(crate) use compute_steps::ComputeSteps;
pub use driver::Run;
pub use error::{Error, Result};
pub use event::{ColumnId, Event, fmt_variant, listed};
pub use forecast::{ColumnForecast, Forecast};
pub(crate) use shared::Shared;
