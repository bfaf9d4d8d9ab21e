//! The door: flows that live, their columns, and their runs.

mod bind;
mod column;
mod declarations;
mod dynamic;
mod generated;
mod handle;
mod live;
#[cfg(feature = "typed")]
mod read;
mod typed;

pub use crate::run::{ColumnId, Run};
pub use bind::Bind;
pub use column::{Column, IntoViews, View, column, group, prev, source, this};
pub use dynamic::{Dynamic, Flow, flow};
pub use generated::{Base, Checked, ColumnEnum, Columns, Module, TypePlan, is_module};
pub use handle::{Derived, Handle, Source, kind};
pub use live::LiveFlow;
pub use typed::Typed;
