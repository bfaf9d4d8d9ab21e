//! The graph of a flow that is declared by `flow!`: the columns and views, as a constant of the program.

pub(crate) mod constant;
mod display;
mod flat;
mod lookup;
mod order;
mod text;
mod view;

pub use constant::Graph;
pub use view::{CompactedDocuments, TieredView, View};
