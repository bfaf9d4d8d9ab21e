//! Opening a flow on what is stored: what its definition was, how it differs now, and what is wrong with a store.

mod definition;
mod drift;
mod opening;
mod verify;

pub(crate) use definition::Definition;
pub use drift::{Change, Drift};
pub(crate) use opening::Anew;
pub use opening::{IntoOpening, Opening};
pub use verify::{salvage, verify};
