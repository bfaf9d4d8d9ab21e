//! What a flow written with `flow!` declares, as a constant of the program.

mod constant;
mod display;
mod flat;
mod lookup;
mod order;
mod text;
mod view;

pub use constant::{Graph, ModuleColumns, Node, RenamedFrom, Used};
pub use view::{Known, Read, View};
