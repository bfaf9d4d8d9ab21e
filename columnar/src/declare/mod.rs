//! Declarations, checked: names, views, columns, and the order in which they depend on each other.
//!
//! ```text
//! flow! ──▶ graph ──────────┐
//!                           ├──▶ drafts ──▶ schema ──▶ plan ──▶ outline
//! column(…), view as text ──┘
//! ```
//!
//! A pure layer: it knows no values, no clock and no I/O.

pub(crate) mod error;
pub mod graph;
pub(crate) mod limits;
mod name;
mod outline;
mod parse_view;
mod plan;
mod purpose;
mod purpose_rules;
mod reads;
mod schema;
mod schema_error;
mod tiering;
mod view;
mod view_text;
mod window;

pub use name::{Name, NameError};
pub(crate) use name::{is_tag, last_part};
pub use outline::{ColumnOutline, Growth, Outline, Pattern, Repeats, ViewOutline};
pub(crate) use plan::{Plan, Reader};
pub use purpose::Purpose;
#[cfg(feature = "providers")]
pub(crate) use reads::INTRODUCTION;
pub(crate) use reads::{Input, Reads};
pub(crate) use schema::{Declared, Draft, Read, Schema};
pub use schema_error::{SchemaError, SchemaErrors, StepError};
pub(crate) use view::{DEEPEST_GROUP, Filter, Suffix, Tiering, ViewSpec};
pub(crate) use view_text::ViewText;
pub use view_text::ViewTextError;
pub use window::Window;
