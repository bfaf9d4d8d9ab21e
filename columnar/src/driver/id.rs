//! What events call a column.

use crate::name::Name;

/// How the events of a flow name its columns: by a [`Name`], or by an enum that `flow!` declares.
pub trait ColumnId: Sized {
    /// `None` for a column that this does not name: one that was added by an extension.
    #[doc(hidden)]
    fn __of(column: usize, name: &Name) -> Option<Self>;
}

impl ColumnId for Name {
    fn __of(_: usize, name: &Name) -> Option<Self> {
        Some(name.clone())
    }
}
