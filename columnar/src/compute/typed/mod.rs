//! Typed columns: the reply is scanned for JSON while it arrives, checked against the type of the column, and requested
//! again with the error if it does not match.

mod column_type;
mod find;
mod json_scanner;
mod repair;

pub(crate) use column_type::read;
pub use column_type::{ColumnType, SchemaMismatch};
