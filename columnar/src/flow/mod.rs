//! Live flows and the handles of columns.
//!
//! A flow that `flow!` declares is a [`Typed`] flow, whose columns are fields. A flow that is declared at run time is a
//! [`Flow`], whose columns have names. Both are a [`LiveFlow`].

mod answers;
mod attached_file;
pub(crate) mod bind;
mod column;
mod comparison;
#[doc(hidden)]
pub mod data;
mod declarations;
mod dynamic;
pub(crate) mod generated;
mod get;
mod handle;
pub(crate) mod input_type;
mod live;
#[cfg(feature = "typed")]
mod read;
mod rehearsal;
mod row;
#[doc(hidden)]
pub mod rows;
pub(crate) mod rules;
#[doc(hidden)]
pub mod service;
mod stored;
mod topological;
mod typed;
mod values;
mod view_methods;
mod view_text;

pub use crate::history::IntoValue;
#[cfg(feature = "providers")]
pub use crate::run::BatchRun;
pub use crate::run::{ColumnId, Run, Values};
pub use column::{
    Column, CompactedView, IntoViews, TieredView, View, column, documents, group, prev, source, this,
};
pub use comparison::{ComparedStep, Comparison};
pub use dynamic::{Dynamic, Flow, flow};
pub use generated::{ColumnOf, ColumnsOf, OpeningOf};
pub use get::ColumnKey;
pub use handle::{Derived, Handle, Source, kind};
pub use live::LiveFlow;
pub use rehearsal::{Rehearsal, Rehearse};
pub use row::Row;
pub(crate) use row::RowChunks;
pub use typed::{Opening, Typed};
