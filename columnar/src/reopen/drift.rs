//! The differences between a flow and the definition in its store.

use std::fmt;

use crate::declare::Name;

/// The changes of a flow's columns since their values were stored, all at once.
///
/// Values that are stored stay what they are, so a column that says something else now would be of two kinds.
/// Whether it may be is yours to say: [`OpenOptions::keep`](super::OpenOptions::keep) takes it as it is, and another
/// name computes it anew from step 0. A column that is new, that is gone, or of which nothing is stored is no
/// change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    changes: Vec<ColumnChange>,
}

impl Drift {
    pub(super) fn new(changes: Vec<ColumnChange>) -> Option<Self> {
        (!changes.is_empty()).then_some(Self { changes })
    }

    /// Each change, in order of declaration; never empty.
    pub fn changes(&self) -> &[ColumnChange] {
        &self.changes
    }
}

/// A change of a column since its values were stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnChange {
    /// The column reads other columns, or more or less of them.
    Reads {
        /// The column.
        column: Name,
        /// Its views when its values were stored.
        stored: String,
        /// Its views now.
        declared: String,
    },
    /// Its compute step has another [version](crate::compute::Policy::version).
    Version {
        /// The column.
        column: Name,
        /// The version by which its values were computed, if it had one.
        stored: Option<String>,
        /// The version now.
        declared: Option<String>,
    },
    /// A source became a derived column, or the other way round.
    Kind {
        /// The column.
        column: Name,
        /// Whether it was a source.
        was_source: bool,
    },
}

impl ColumnChange {
    /// The column.
    pub fn column(&self) -> &Name {
        match self {
            Self::Reads { column, .. } | Self::Version { column, .. } | Self::Kind { column, .. } => column,
        }
    }
}

impl std::error::Error for Drift {}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, change) in self.changes.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{change}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ColumnChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = self.column();
        match self {
            Self::Reads { stored, declared, .. } => {
                write!(
                    f,
                    "what is stored of `{column}` was computed from ({stored}), and it reads ({declared}) now"
                )?;
            }
            Self::Version { stored, declared, .. } => {
                let (stored, declared) = (Version(stored.as_deref()), Version(declared.as_deref()));
                write!(f, "what is stored of `{column}` was computed by {stored}, and it is {declared} now")?;
            }
            Self::Kind { was_source, .. } => {
                let (stored, declared) =
                    if *was_source { ("pushed", "computed") } else { ("computed", "pushed") };
                return write!(
                    f,
                    "what is stored of `{column}` was {stored}, and it is to be {declared} now: give it another name"
                );
            }
        }
        write!(
            f,
            ": to keep that and go on the new way, open `OpenOptions::new(store).keep(\"{column}\")`; to compute all of it anew, give it another name"
        )
    }
}

struct Version<'v>(Option<&'v str>);

impl fmt::Display for Version<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(version) => write!(f, "version {version:?}"),
            None => f.write_str("no version in particular"),
        }
    }
}
