//! A flow that lives: the state that its handles share, the run that computes what is missing, and what they report.

mod driver;
mod error;
mod event;
mod forecast;
mod state;
mod table;

pub use driver::{ColumnId, Run, fmt_variant, listed};
pub use error::{Error, Result};
pub use event::Event;
pub use forecast::{ColumnForecast, Forecast};
pub(crate) use state::{ComputeSteps, Shared};
