//! What a run tells while it goes on.

use std::fmt::{self, Write as _};

use crate::declare::Name;
use crate::history::Value;

/// One thing that happened in a run.
///
/// For each cell there come its deltas, if its compute streams, and then one value; the deltas since
/// the last [`Retry`](Event::Retry) of the cell, joined, are the value. The values of a column come in
/// the order of the steps, and after the values that they were computed from. In a typed flow the
/// column is an enum, so a `match` on it is exhaustive.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<C = Name> {
    /// A piece of a value that is being computed.
    Delta {
        /// The column; prints as its name.
        column: C,
        /// The step.
        step: usize,
        /// The piece.
        text: String,
    },
    /// An attempt failed and another one follows: the deltas of the cell so far count for nothing.
    Retry {
        /// The column; prints as its name.
        column: C,
        /// The step.
        step: usize,
        /// Which attempt it was, counted from 1.
        attempt: usize,
        /// Why it failed.
        error: String,
    },
    /// A cell could not be computed, and the run goes on, as its column [asks
    /// for](crate::compute::Policy::or_wait): the deltas of the cell count for nothing.
    Failed {
        /// The column; prints as its name.
        column: C,
        /// The step.
        step: usize,
        /// Why, as the compute step said it.
        error: String,
    },
    /// A cell stays empty for good: it could not be computed and [may be
    /// skipped](crate::compute::Policy::or_skip), or all it reads is empty.
    Skipped {
        /// The column; prints as its name.
        column: C,
        /// The step.
        step: usize,
    },
    /// A value, computed and stored.
    Value {
        /// The column; prints as its name.
        column: C,
        /// The step.
        step: usize,
        /// The value.
        value: Value,
    },
}

impl<C> Event<C> {
    /// The column that the event is about.
    pub fn column(&self) -> &C {
        match self {
            Self::Delta { column, .. }
            | Self::Retry { column, .. }
            | Self::Failed { column, .. }
            | Self::Skipped { column, .. }
            | Self::Value { column, .. } => column,
        }
    }

    /// The step that the event is about.
    pub fn step(&self) -> usize {
        match self {
            Self::Delta { step, .. }
            | Self::Retry { step, .. }
            | Self::Failed { step, .. }
            | Self::Skipped { step, .. }
            | Self::Value { step, .. } => *step,
        }
    }
}

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
