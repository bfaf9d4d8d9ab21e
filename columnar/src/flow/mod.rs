//! The door: flows that live, their columns, and their runs.

pub(crate) mod bind;
mod column;
mod declarations;
mod dynamic;
pub(crate) mod generated;
mod handle;
mod live;
#[cfg(feature = "typed")]
mod read;
mod typed;

pub use crate::run::{ColumnId, Run};
pub use column::{Column, IntoViews, View, column, group, prev, source, this};
pub use dynamic::{Dynamic, Flow, flow};
pub use handle::{Derived, Handle, Source, kind};
pub use live::LiveFlow;
pub use typed::Typed;
