//! Opening a flow on a store: options, changes of its definition, verifying and salvaging a store.

mod copying;
mod definition;
mod drift;
mod extend;
mod options;
mod restore;
mod stale;
mod verify;

#[cfg(feature = "providers")]
pub(crate) use definition::batches_key;
#[cfg(feature = "report")]
pub(crate) use definition::views;
pub(crate) use definition::{FlowDefinition, StoredColumn, exclusion_entry, exclusions_key, parse_exclusion};
pub use drift::{ColumnChange, Drift};
pub(crate) use options::KeptColumns;
pub use options::{IntoOpenOptions, OpenOptions};
pub use stale::{StaleCell, StaleCells, StaleReason};
pub use verify::{salvage, verify};
