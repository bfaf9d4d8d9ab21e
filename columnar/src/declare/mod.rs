//! Declarations, checked: names, views, columns, and the order in which they depend on each other.
//!
//! ```text
//! flow! ──▶ graph ──┐
//!                   ├──▶ drafts ──▶ schema ──▶ plan ──▶ outline
//! column(…) ────────┘
//! ```
//!
//! A pure layer: it knows no values, no clock and no I/O.

pub mod graph;
mod name;
mod outline;
mod plan;
mod reads;
mod schema;
mod view;
mod window;

pub use name::{Name, NameError};
pub(crate) use name::{is_tag, last_part};
pub use outline::{ColumnOutline, Growth, Outline, Pattern, Repeats, ViewOutline};
pub(crate) use plan::{Plan, Reader};
pub(crate) use reads::{Input, Reads};
pub(crate) use schema::{Declared, Draft, Schema};
pub use schema::{SchemaError, SchemaErrors};
pub(crate) use view::{Filter, Suffix, ViewSpec};
pub use window::Window;
