//! Assembly: what a column is shown at a step, from the declaration and the stored values alone.
//!
//! A pure layer: it does no I/O and knows no clock, and a context is a function of what is stored.

mod absent;
pub mod budget;
mod chunks;
mod elision;
mod escape;
mod filtered;
mod fitted;
mod frame;
mod json;
mod messages;
mod opening;
mod part;
mod parts;
mod shown;
mod turns;
mod walk;

pub(crate) use elision::text as elision;
pub(crate) use filtered::Filtered;
pub(crate) use fitted::Fitted;
pub(crate) use frame::{Frame, Frames};
pub use messages::{Iter, Messages};
pub(crate) use opening::Opening;
pub(crate) use part::Fate;
pub use part::{Hidden, Origin, Part, Role};
pub use parts::Parts;
pub(crate) use shown::Shown;
