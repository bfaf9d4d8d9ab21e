//! The errors of flows.

use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "typed")]
use crate::compute::SchemaMismatch;
use crate::context::budget::BudgetError;
use crate::context::documents::{UpdateError, UpdateFault};
use crate::declare::error::{BoxError, list, nearest, unknown_column};
use crate::declare::{Name, SchemaErrors};
use crate::model::ModelError;
use crate::run::reopen::Drift;
use crate::store::StoreError;

/// The result of an operation on a flow.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a flow. The message names the column and the step, the cause, and the next thing to do.
///
/// An error contains no text of the conversation, unless the error of a compute step does.
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let f = flow([column("topics", source("user").latest(), prompt("List the topics."))])?;
/// match f.push("usr", "Hello").await {
///     Err(Error::UnknownColumn { suggestion: Some(name), .. }) => assert_eq!(name, "user"),
///     other => panic!("{other:?}"),
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A compute step failed. The values that other cells computed are stored, and the next run computes the missing
    /// cells.
    #[error(
        "computing `{column}` at step {step} failed{}: {source}; stored values are kept, and the next run continues",
        attempts(*attempt)
    )]
    Compute {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
        /// The number of the failed attempt, counted from 1.
        attempt: usize,
        /// The error of the compute step.
        source: BoxError,
    },
    /// A context exceeds the budget.
    #[error("the context of `{column}` at step {step} exceeds its budget: {source}")]
    Budget {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
        /// The numbers of tokens.
        source: BudgetError,
    },
    /// The budget of a column holds no message, however short. A run checks this before anything is computed.
    #[error("the budget of `{column}` holds no message: {source}")]
    BudgetTooSmall {
        /// The column.
        column: Name,
        /// The numbers of tokens.
        source: BudgetError,
    },
    /// The model of a column cannot be used. A run checks this before anything is computed.
    #[error("the model of `{column}` cannot be used, so nothing was computed: {source}")]
    Model {
        /// The column.
        column: Name,
        /// The reason, for example an unknown name or a missing key.
        source: BoxError,
    },
    /// A model that was asked for by name cannot be used.
    #[error("the model cannot be used: {0}")]
    UnusableModel(#[from] ModelError),
    /// A value is not stored yet.
    #[error("`{column}` has no value at step {step}: push or run first")]
    Missing {
        /// The column without the value.
        column: Name,
        /// The step.
        step: usize,
    },
    /// A push to a derived column.
    #[error("`{column}` is computed, so nothing can be pushed to it; the sources are {}", list(sources))]
    NotASource {
        /// The column.
        column: Name,
        /// The sources of the flow.
        sources: Vec<Name>,
    },
    /// A push to a source of documents that is no [`Update`](crate::documents::Update), or one that cannot be applied to the
    /// documents. Nothing is stored.
    #[error("the update of `{column}` at step {step} was not stored: {}", refused_update(column, source))]
    Update {
        /// The source.
        column: Name,
        /// The step that the update would have had.
        step: usize,
        /// All faults of the update.
        source: UpdateError,
    },
    /// A source has no messages.
    #[error("`{column}` is a source: it reads nothing, so it has no messages")]
    NotDerived {
        /// The source.
        column: Name,
    },
    /// A compute step panicked, or a filter or counter of tokens that the cell needs; otherwise the same as
    /// [`Compute`](Error::Compute). In a program that is built with `panic = "abort"`, a panic ends the program instead.
    #[error(
        "computing `{column}` at step {step} panicked, which is a bug in its compute step, a filter or the counter of tokens; stored values are kept, and the next run tries again"
    )]
    Panicked {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
    },
    /// A second run, or the removal of a column, during a run.
    #[error("this flow is running already: finish or drop that run first")]
    Running,
    /// The [flows](crate::service::Flows) of a service are shut down.
    #[error("the flows of this service are shut down, so none is opened: what is stored is in the stores")]
    Closed,
    /// A skipped cell has no messages.
    #[error(
        "`{column}` was skipped at step {step}: all its inputs are empty there, so there are no messages"
    )]
    Skipped {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
    },
    /// An answer for a column that is computed, or that is a source.
    #[error("nobody answers the cells of `{column}`; {}", answered_columns(external))]
    NotExternal {
        /// The column.
        column: Name,
        /// The columns whose values come from outside.
        external: Vec<Name>,
    },
    /// A second answer for a cell. The first one stays.
    #[error(
        "`{column}` at step {step} is {} already{}: a stored value never changes; read it with `get({step})`, or answer \
         otherwise in a `fork({step})`",
        if *is_declined { "declined" } else { "answered" },
        since.map(|since| format!(", since {}", in_words(since))).unwrap_or_default()
    )]
    Answered {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
        /// The time since the first answer, where the receipt has it.
        since: Option<Duration>,
        /// Whether the cell was declined, and is skipped.
        is_declined: bool,
    },
    /// An answer for a cell that failed in the run that is active.
    #[error("`{column}` at step {step} failed in this run: answer it when the run has ended")]
    NotPending {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
    },
    /// There is no proposal that could be accepted.
    #[error(
        "`{column}` at step {step} has no proposal to accept: {source}; `answer({step}, text)` gives a text"
    )]
    NoProposal {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
        /// The reason.
        source: BoxError,
    },
    /// An answer was declined, and the column has no policy for it. The next run asks again.
    #[error("`{column}` at step {step} was declined: {reason}; the next run asks again")]
    Declined {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
        /// The reason.
        reason: String,
    },
    /// An answer does not match the type of the column. Nothing is stored.
    #[error("the answer for `{column}` at step {step} was not stored: {source}")]
    Answer {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
        /// The mismatch.
        source: BoxError,
    },
    /// The store of a [rehearsal](crate::flow::Rehearsal) has another one.
    #[error(
        "the store has another rehearsal of `{column}`: {reason}; rehearse into an empty store, or as that rehearsal did"
    )]
    OtherRehearsal {
        /// The rehearsed column.
        column: Name,
        /// The difference.
        reason: Box<str>,
    },
    /// The removal of a column that others depend on.
    #[error(
        "`{column}` is needed by {}: remove them first, or all with `remove_with_dependents`",
        list(dependents)
    )]
    HasDependents {
        /// The column.
        column: Name,
        /// The columns whose values depend on the column, in topological order.
        dependents: Vec<Name>,
    },
    /// An invalid declaration.
    #[error(transparent)]
    Schema(#[from] SchemaErrors),
    /// The store cannot be opened.
    #[error("the store cannot be opened: {source}")]
    Open {
        /// The error of the store.
        source: StoreError,
    },
    /// Columns have changed since values were stored.
    #[error(transparent)]
    Drift(#[from] Drift),
    /// A stored value is not in memory, because the flow was opened with
    /// [`OpenOptions::recent`](crate::reopen::OpenOptions::recent).
    #[error(
        "`{column}` at step {step} is stored, but not in memory: load it with `load({step}).await` first"
    )]
    NotLoaded {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
    },
    /// The store failed. Opening the flow again shows whether the value is stored.
    #[error(
        "storing `{column}` at step {step} failed: {source}; open the flow again to learn what is stored"
    )]
    Store {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
        /// The error of the store.
        source: StoreError,
    },
    /// A store could not be read.
    #[error("reading `{column}` from the store failed: {source}")]
    Load {
        /// The column.
        column: Name,
        /// The error of the store, or the defect of the stored values.
        source: StoreError,
    },
    /// A stored value does not match the type of the column, for example because the column had another type then.
    #[cfg(feature = "typed")]
    #[error("`{column}` at step {step} does not match the type of its column: {source}")]
    SchemaMismatch {
        /// The column.
        column: Name,
        /// The step.
        step: usize,
        /// The mismatch and the position.
        source: SchemaMismatch,
    },
    /// The error that ended a run of a [spawned](crate::service) flow. All who wait for the run share the error.
    #[error(transparent)]
    Shared(Arc<Error>),
    /// No column of the flow has this name.
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
    /// The reply that does not match the type of a column, if that is the reason; see
    /// [`SchemaMismatch`](crate::compute::SchemaMismatch). The error itself never prints the reply.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column score(user.latest): Vec<u8> = |_: Context| async { "about four" };
    /// };
    /// chat.user.push("How was it?").await?;
    /// let error = chat.run().await.unwrap_err();
    /// assert_eq!(error.reply(), Some("about four"));
    /// # Ok(()) }
    /// ```
    #[cfg(feature = "typed")]
    pub fn reply(&self) -> Option<&str> {
        SchemaMismatch::of(self).map(SchemaMismatch::reply)
    }

    /// The error of a store that cannot be opened.
    pub(crate) fn open(source: StoreError) -> Self {
        Self::Open { source }
    }

    /// The error for a name that none of these columns has.
    pub(crate) fn unknown_column(name: &str, columns: Vec<Name>) -> Self {
        let suggestion = nearest(name, &columns).cloned();
        Self::UnknownColumn { name: name.to_owned(), suggestion, columns }
    }

    /// The column and the step that a run failed for. There is no step if the run failed before the first cell.
    pub(crate) fn cell(&self) -> Option<(&Name, Option<usize>)> {
        match self {
            Self::Compute { column, step, .. }
            | Self::Budget { column, step, .. }
            | Self::Missing { column, step }
            | Self::NotLoaded { column, step }
            | Self::Declined { column, step, .. }
            | Self::Panicked { column, step }
            | Self::Store { column, step, .. } => Some((column, Some(*step))),
            Self::Load { column, .. } | Self::Model { column, .. } | Self::BudgetTooSmall { column, .. } => {
                Some((column, None))
            }
            _ => None,
        }
    }

    /// The class of the error in a trace, if the sources do not show a class.
    pub(crate) fn class(&self) -> Option<&'static str> {
        match self {
            Self::Panicked { .. } => Some("panic"),
            Self::Store { .. } => Some("store"),
            _ => None,
        }
    }

    /// The cause of the failure of a cell, without the cell and the next thing to do.
    pub(crate) fn cause(&self) -> String {
        match self {
            Self::Compute { source, .. } => source.to_string(),
            Self::Budget { source, .. } => source.to_string(),
            Self::BudgetTooSmall { source, .. } => format!("the budget holds no message: {source}"),
            Self::Declined { reason, .. } => format!("declined: {reason}"),
            Self::Panicked { .. } => {
                "its compute step, a filter or the counter of tokens panicked, which is a bug in that".into()
            }
            other => other.to_string(),
        }
    }
}

/// The columns that are answered, for an error.
fn answered_columns(external: &[Name]) -> String {
    match external {
        [] => "the flow has no `external()` column".to_owned(),
        columns => format!("the columns that are answered are {}", list(columns)),
    }
}

/// A time in its largest unit.
fn in_words(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 86_400, seconds / 3_600, seconds / 60) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, _) => format!("{hours} h"),
        (days, ..) => format!("{days} days"),
    }
}

/// The number of failed attempts, if there were several.
fn attempts(attempt: usize) -> String {
    if attempt > 1 { format!(" {attempt} times, the last time") } else { String::new() }
}

/// The reason why an update of a source was refused. A pushed text that is no update is most likely the text of a document,
/// and not a damaged update.
fn refused_update(column: &Name, error: &UpdateError) -> String {
    match error.faults() {
        [UpdateFault::Text { at, fault }] => format!(
            "a value of `{column}` is the text of an update: push `Update::new().file(path, text).to_text()?`; this \
             text is none, as byte {at} shows: {fault}"
        ),
        _ => error.to_string(),
    }
}
