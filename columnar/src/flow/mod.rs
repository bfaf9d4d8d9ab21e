//! The door: flows that live, their columns, and their runs.

mod column;
mod declarations;
mod dynamic;
mod handle;
mod live;
#[cfg(feature = "typed")]
mod read;
mod typed;

pub use crate::run::{ColumnId, Run};
pub use column::{Column, IntoViews, View, column, group, prev, source, this};
pub use dynamic::{Dynamic, Flow, flow};
pub use handle::{Bind, Derived, Handle, Source, kind};
pub use live::LiveFlow;
pub use typed::{Base, Checked, ColumnEnum, Columns, Module, TypePlan, Typed, is_module};
