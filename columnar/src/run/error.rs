//! What can go wrong while a flow is used.

use std::fmt;

#[cfg(feature = "typed")]
use crate::compute::SchemaMismatch;
use crate::context::budget::BudgetError;
use crate::declare::{Name, SchemaErrors};
use crate::error::{BoxError, list, nearest, unknown_column};
use crate::reopen::Drift;
use crate::store::StoreError;

/// The result of what a flow does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, where, and what to do next. Never holds text of the conversation, unless a
/// compute of yours puts it into its own error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A compute step failed. What its siblings computed is stored; the next run computes what is
    /// missing.
    #[error(
        "computing `{column}` at step {step} failed{}: {source}; what is stored stays, and the next run goes on from there",
        Tries(*attempt)
    )]
    Compute {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
        /// Which attempt it was, counted from 1; more than 1 where the column retries.
        attempt: usize,
        /// What the compute step said.
        source: BoxError,
    },
    /// A context does not go into its budget.
    #[error("`{column}` cannot be asked at step {step}: {source}")]
    Budget {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
        /// Why not.
        source: BudgetError,
    },
    /// The model of a column cannot be asked, which is found out before a run computes anything.
    #[error("`{column}` cannot be computed, so nothing was: {source}")]
    Model {
        /// The column.
        column: Name,
        /// What is missing, such as a model of that name, or its key.
        source: BoxError,
    },
    /// A value that is not there (yet).
    #[error("`{column}` has no value at step {step}: push or run first")]
    Missing {
        /// The column without the value.
        column: Name,
        /// The step.
        step: usize,
    },
    /// A push to a column that is computed.
    #[error("`{column}` is computed, so nothing can be pushed to it; the sources are {}", list(sources))]
    NotASource {
        /// The column.
        column: Name,
        /// The sources of the flow.
        sources: Vec<Name>,
    },
    /// A derived column was needed and a source was named.
    #[error("`{column}` is a source: it reads nothing, so it has no messages")]
    NotDerived {
        /// The column.
        column: Name,
    },
    /// A compute step panicked. Otherwise as [`Compute`](Error::Compute). Where the program is built
    /// with `panic = "abort"`, a panic ends it instead.
    #[error(
        "computing `{column}` at step {step} panicked, which is a bug in its compute step; what is stored stays, and the next run tries again"
    )]
    Panicked {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
    },
    /// A second run, or a column to be removed, while a run goes on.
    #[error("this flow is running already: read the run that there is, or drop it first")]
    Running,
    /// A cell that nobody was asked for, because all that would be new to it is empty.
    #[error("`{column}` was skipped at step {step}: all it reads is empty there, so there are no messages")]
    Skipped {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
    },
    /// A column to be removed that others read.
    #[error(
        "`{column}` is needed by {}: remove them first, or all with `remove_with_dependents`",
        list(dependents)
    )]
    HasDependents {
        /// The column.
        column: Name,
        /// The columns whose values depend on it, in topological order.
        dependents: Vec<Name>,
    },
    /// A declaration that breaks the rules.
    #[error(transparent)]
    Schema(#[from] SchemaErrors),
    /// The store cannot be opened.
    #[error("the store cannot be opened: {source}")]
    Open {
        /// What the store said.
        source: StoreError,
    },
    /// The flow is not what the store was written by.
    #[error(transparent)]
    Drift(#[from] Drift),
    /// A value that is stored and not in memory.
    #[error(
        "`{column}` at step {step} is stored, but not in memory: bring it back with `load({step}).await` first"
    )]
    NotLoaded {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
    },
    /// The store failed. Whether the value arrived is known when the flow is opened again.
    #[error(
        "storing `{column}` at step {step} failed: {source}; open the flow again to learn what is stored"
    )]
    Store {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
        /// What the store said.
        source: StoreError,
    },
    /// Reading a store failed.
    #[error("reading `{column}` from the store failed: {source}")]
    Load {
        /// The column.
        column: Name,
        /// What the store said, or what is wrong with what it holds.
        source: StoreError,
    },
    /// A stored value that is not of the type of its column, as one that was stored before the column had that type.
    #[cfg(feature = "typed")]
    #[error("`{column}` at step {step} does not match the type of its column: {source}")]
    SchemaMismatch {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
        /// What is wrong with it, and where.
        source: SchemaMismatch,
    },
    /// A name that no column of the flow has.
    #[error("{}", unknown_column(name, suggestion.as_ref(), columns))]
    UnknownColumn {
        /// The unknown name.
        name: String,
        /// The column with the most similar name, if one is similar.
        suggestion: Option<Name>,
        /// The columns of the flow, in order of declaration.
        columns: Vec<Name>,
    },
}

impl Error {
    /// The error for a name that none of these columns has.
    pub(crate) fn unknown_column(name: &str, columns: Vec<Name>) -> Self {
        let suggestion = nearest(name, &columns).cloned();
        Self::UnknownColumn { name: name.to_owned(), suggestion, columns }
    }

    /// The class that a trace shows, where the causes of the error do not show it.
    pub(crate) fn class(&self) -> Option<&'static str> {
        match self {
            Self::Panicked { .. } => Some("panic"),
            Self::Store { .. } => Some("store"),
            _ => None,
        }
    }

    /// What went wrong with a cell, without which cell it was and what is to be done about it.
    pub(crate) fn cause(&self) -> String {
        match self {
            Self::Compute { source, .. } => source.to_string(),
            Self::Budget { source, .. } => source.to_string(),
            Self::Panicked { .. } => "the compute step panicked, which is a bug in it".into(),
            other => other.to_string(),
        }
    }
}

/// How often something was tried, if more than once.
struct Tries(usize);

impl fmt::Display for Tries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 > 1 { write!(f, " {} times, the last time", self.0) } else { Ok(()) }
    }
}
