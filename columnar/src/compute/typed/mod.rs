//! Typed columns: the reply is scanned for JSON on arrival, checked against the type of the column, and, if it does not
//! match, requested again with the error.

mod column_type;
mod find;
mod json_scanner;
mod repair;

pub(crate) use column_type::read;
pub use column_type::{ColumnType, SchemaMismatch};
