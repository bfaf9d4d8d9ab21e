//! Declarations, checked: names, views, columns, and the order in which they depend on each other.
//!
//! ```text
//! flow! ──▶ graph ──────────┐
//!                           ├──▶ drafts ──▶ schema ──▶ plan ──▶ outline
//! column(…), view as text ──┘
//! ```
//!
//! A pure layer: no values, no clock and no I/O.

mod connect;
pub(crate) mod default_limits;
pub(crate) mod error;
mod file_origin;
mod file_position;
pub mod graph;
mod name;
mod outline;
mod outline_drawing;
mod parse_view;
mod plan;
mod reads;
mod schema;
mod schema_error;
mod sharing;
mod view;
mod view_rules;
mod view_text;
mod window;

pub(crate) use file_origin::FileOrigin;
pub use file_position::FilePosition;
pub use name::{Name, NameError};
pub(crate) use name::{is_tag, last_part};
pub use outline::{ColumnOutline, Growth, Outline, Pattern, Repeats, ViewOutline};
pub(crate) use plan::{Plan, ViewReader};
#[cfg(feature = "providers")]
pub(crate) use reads::INTRODUCTION;
pub(crate) use reads::{InputView, Reads};
pub(crate) use schema::{ColumnDraft, Schema, ShownColumn};
pub use schema_error::{CompactionMistake, SchemaError, SchemaErrors, StepError};
pub(crate) use sharing::RequestShape;
pub use sharing::{SharedOutline, SharingEnd};
pub use view::Purpose;
pub(crate) use view::{Compaction, DEEPEST_GROUP, Tiering, ViewFilter, ViewSpec, WindowSuffix};
pub(crate) use view_text::ViewText;
pub use view_text::ViewTextError;
pub use window::Window;
