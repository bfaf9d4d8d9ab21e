//! Opening a flow on what is stored: what its definition was, how it differs now, and what is wrong with a store.

mod definition;
mod drift;
mod options;
mod verify;

pub(crate) use definition::Definition;
pub use drift::{ColumnChange, Drift};
pub(crate) use options::Recompute;
pub use options::{IntoOpenOptions, OpenOptions};
pub use verify::{salvage, verify};
