//! The differences between a flow and the definition in the store.

use std::fmt;

use crate::declare::Name;
use crate::declare::error::lines;

/// All changes of a flow's columns since values were stored.
///
/// Stored values never change, so a changed column would have values of two declarations. Decide for each: with
/// [`OpenOptions::keep`](super::OpenOptions::keep) the stored values stay and new steps use the new declaration, and under
/// another name the column is computed from step 0. A new column, a removed column and a column without stored values
/// are no changes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines(changes))]
pub struct Drift {
    changes: Vec<ColumnChange>,
}

impl Drift {
    pub(super) fn new(changes: Vec<ColumnChange>) -> Option<Self> {
        (!changes.is_empty()).then_some(Self { changes })
    }

    /// The changes in order of declaration; never empty.
    pub fn changes(&self) -> &[ColumnChange] {
        &self.changes
    }
}

/// A change of a column since values were stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnChange {
    /// The column reads other columns, or other windows.
    Reads {
        /// The column.
        column: Name,
        /// The views when values were stored.
        stored: String,
        /// The views now.
        declared: String,
    },
    /// The compute step has another [version](crate::compute::Policy::version).
    Version {
        /// The column.
        column: Name,
        /// The version of the step that computed the values, if there was one.
        stored: Option<String>,
        /// The version now.
        declared: Option<String>,
    },
    /// A source became a derived column, or the other way round.
    Kind {
        /// The column.
        column: Name,
        /// Whether the column was a source.
        was_source: bool,
    },
    /// The values came [from outside](crate::compute::external) and are computed now, or the other way round.
    External {
        /// The column.
        column: Name,
        /// Whether the values came from outside.
        was_external: bool,
    },
    /// A source of text became one of documents, or the other way round.
    Documents {
        /// The column.
        column: Name,
        /// Whether the column had documents.
        was_documents: bool,
    },
}

impl ColumnChange {
    /// The column.
    pub fn column(&self) -> &Name {
        match self {
            Self::Reads { column, .. }
            | Self::Version { column, .. }
            | Self::Kind { column, .. }
            | Self::External { column, .. }
            | Self::Documents { column, .. } => column,
        }
    }

    /// Whether the column is of another kind. Then the stored values cannot be kept.
    pub(crate) fn is_of_kind(&self) -> bool {
        matches!(self, Self::Kind { .. } | Self::Documents { .. })
    }
}

impl fmt::Display for ColumnChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = self.column();
        match self {
            Self::Reads { stored, declared, .. } => {
                write!(
                    f,
                    "the stored values of `{column}` were computed from ({stored}), and it now reads ({declared})"
                )?;
            }
            Self::Version { stored, declared, .. } => {
                let stored = version(stored.as_deref());
                let declared = version(declared.as_deref());
                write!(
                    f,
                    "the stored values of `{column}` were computed by {stored}, and the step now has {declared}"
                )?;
            }
            Self::External { was_external, .. } => {
                let (stored, declared) = if *was_external {
                    ("answers", "computes them")
                } else {
                    ("computed", "is answered from outside")
                };
                write!(f, "the stored values of `{column}` are {stored}, and the column now {declared}")?;
            }
            Self::Documents { was_documents, .. } => {
                let (stored, declared) =
                    if *was_documents { ("documents", "text") } else { ("text", "documents") };
                return write!(
                    f,
                    "the stored values of `{column}` are {stored}, and the column now holds {declared}: give it another name"
                );
            }
            Self::Kind { was_source, .. } => {
                let (stored, declared) =
                    if *was_source { ("pushed", "computes them") } else { ("computed", "is a source") };
                return write!(
                    f,
                    "the stored values of `{column}` were {stored}, and the column now {declared}: give it another name"
                );
            }
        }
        write!(
            f,
            ": to keep them and use the new declaration for later steps, open `OpenOptions::new(store).keep(\"{column}\")`; to compute all steps again, give it another name"
        )
    }
}

fn version(version: Option<&str>) -> String {
    // Quoted, since a version is any text and may have line breaks.
    version.map_or_else(|| "no version".to_owned(), |version| format!("version {version:?}"))
}
