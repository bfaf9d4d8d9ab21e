//! How a flow differs from what its store was written by.

use std::fmt;

use crate::declare::Name;

/// What has changed of a flow since its values were stored: all of it at once.
///
/// Values that are stored stay what they are, so a column that says something else now would be of two kinds.
/// Whether it may be is yours to say: [`OpenOptions::keep`](super::OpenOptions::keep) takes it as it is, and another
/// name computes it anew from step 0. A column that is new, that is gone, or of which nothing is stored is no
/// change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    changes: Vec<Change>,
}

impl Drift {
    pub(super) fn new(changes: Vec<Change>) -> Option<Self> {
        (!changes.is_empty()).then_some(Self { changes })
    }

    /// Each change, in order of declaration; never empty.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}

/// What has changed of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// It reads something else, or something less or more of it.
    Reads {
        /// The column.
        column: Name,
        /// Its views when its values were stored.
        was: String,
        /// Its views now.
        is: String,
    },
    /// Its compute step has another [version](crate::compute::Policy::version).
    Version {
        /// The column.
        column: Name,
        /// The version by which its values were computed, if it had one.
        was: Option<String>,
        /// The version now.
        is: Option<String>,
    },
    /// What was pushed is computed now, or the other way about.
    Kind {
        /// The column.
        column: Name,
        /// Whether it was a source.
        was_source: bool,
    },
}

impl Change {
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

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = self.column();
        match self {
            Self::Reads { was, is, .. } => {
                write!(f, "what is stored of `{column}` was computed from ({was}), and it reads ({is}) now")?;
            }
            Self::Version { was, is, .. } => {
                let (was, is) = (Version(was.as_deref()), Version(is.as_deref()));
                write!(f, "what is stored of `{column}` was computed by {was}, and it is {is} now")?;
            }
            Self::Kind { was_source, .. } => {
                let (was, is) = if *was_source { ("pushed", "computed") } else { ("computed", "pushed") };
                return write!(
                    f,
                    "what is stored of `{column}` was {was}, and it is to be {is} now: give it another name"
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
