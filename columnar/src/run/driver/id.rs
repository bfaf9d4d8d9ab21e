//! What events call a column.

use std::fmt::{self, Write as _};

use crate::declare::Name;

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

/// Column number `column`, of a list of all but those `without`, which are sorted.
pub fn listed<I: Copy>(list: &[I], without: &[usize], column: usize) -> Option<I> {
    match without.binary_search(&column) {
        Ok(_) => None,
        Err(before) => list.get(column - before).copied(),
    }
}

/// Writes the variant of a column, as a derived `Debug` does: `RunningSummary` for `running_summary`.
///
/// # Errors
///
/// Those of the formatter.
pub fn fmt_variant(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    name.split('_').try_for_each(|part| {
        let mut letters = part.chars();
        letters.next().map_or(Ok(()), |first| f.write_char(first.to_ascii_uppercase()))?;
        f.write_str(letters.as_str())
    })
}
