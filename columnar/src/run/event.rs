//! The events of a run. `driver/computation.rs` reports what a cell does, and `driver/reports.rs` makes events of the reports.

use std::fmt::{self, Write as _};
use std::time::Duration;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::declare::Name;
use crate::history::{SkipReason, Value};
use crate::model::cache::CacheMiss;

/// An event of a run.
///
/// A cell has the deltas of a text, if the compute step streams, and then one value. The joined deltas since the
/// last [`Retry`](Event::Retry) of the cell are the value. The values of a column are emitted in the order of the
/// steps, and after the values that each was computed from. In a typed flow the column is an enum, so a `match` can
/// be exhaustive.
///
/// As JSON, an event is an object with the `type`, and the column by name. Programs may rely on these forms; later
/// versions may add types and fields.
///
/// ```
/// use columnar::{Event, Name};
///
/// # fn main() -> Result<(), columnar::BoxError> {
/// let event = Event::Value { column: Name::new("topics")?, step: 3, value: "tea, coffee".into() };
/// let json = serde_json::to_string(&event)?;
/// assert_eq!(json, r#"{"type":"value","column":"topics","step":3,"value":"tea, coffee"}"#);
/// # Ok(()) }
/// ```
///
/// | `type` | fields besides `column` and `step` |
/// |---|---|
/// | `delta` | `text` |
/// | `retry` | `attempt`, `error` |
/// | `warning` | `message` |
/// | `waiting` | `seconds`, `error` |
/// | `pending` | none |
/// | `cache_miss` | `promised`, `read`, `cause`: see [`CacheMiss`] |
/// | `failed` | `error` |
/// | `skipped` | `reason`: see [`SkipReason`], or null if it is not known |
/// | `value` | `value` |
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<C = Name> {
    /// A piece of the text of a value that is being computed.
    Delta {
        /// The column; prints as the name.
        column: C,
        /// The step, counted from 0.
        step: usize,
        /// The text of the piece.
        text: String,
    },
    /// An attempt failed, and another one follows. Discard the earlier deltas of the cell.
    Retry {
        /// The column; prints as the name.
        column: C,
        /// The step, counted from 0.
        step: usize,
        /// The number of the failed attempt, counted from 1.
        attempt: usize,
        /// The message of the error.
        error: String,
    },
    /// A run begins to compute a column that has a problem: the provider ends the model within 30 days, or has ended the
    /// model. The run goes on.
    Warning {
        /// The column; prints as the name.
        column: C,
        /// The first step that the run computes, counted from 0.
        step: usize,
        /// What is wrong, and what to do.
        message: String,
    },
    /// The model of a cell is overloaded, and the call is repeated after a pause. The cell has no deltas that are to be
    /// discarded.
    Waiting {
        /// The column; prints as the name.
        column: C,
        /// The step, counted from 0.
        step: usize,
        /// The time until the call is repeated. Calls of other cells may be first.
        pause: Duration,
        /// The message of the error.
        error: String,
    },
    /// A cell begins to wait for an [answer](crate::compute::external) from outside. The run goes on without the cell. A run
    /// in a later process has the event again, unless the answer is stored.
    Pending {
        /// The column; prints as the name.
        column: C,
        /// The step, counted from 0.
        step: usize,
    },
    /// The request of a cell read clearly less from the provider's cache than it should have read after the request before.
    /// The event comes before the value, and the run goes on. There is none where the model reports no tokens or the provider
    /// has no cache. [`audit`](crate::flow::LiveFlow::audit) has all calls.
    CacheMiss {
        /// The column; prints as the name.
        column: C,
        /// The step, counted from 0.
        step: usize,
        /// The tokens, and the reason.
        miss: CacheMiss,
    },
    /// A cell could not be computed, and the run continues, because the column has the policy
    /// [`or_wait`](crate::compute::Policy::or_wait) or [`or_skip`](crate::compute::Policy::or_skip). Discard the deltas of the
    /// cell. A [subscription](crate::service::Subscription) also yields this event for the cell whose error ended the run.
    Failed {
        /// The column; prints as the name.
        column: C,
        /// The step, counted from 0.
        step: usize,
        /// The message of the error.
        error: String,
    },
    /// A cell is stored as skipped and will never have a value. The column [leaves out](crate::guide::skipping) the step, or
    /// has no input there, or could not be computed and has the policy [`or_skip`](crate::compute::Policy::or_skip).
    Skipped {
        /// The column; prints as the name.
        column: C,
        /// The step, counted from 0.
        step: usize,
        /// The reason. `None` if an earlier version or another program stored the cell.
        reason: Option<SkipReason>,
    },
    /// A value is computed and stored.
    Value {
        /// The column; prints as the name.
        column: C,
        /// The step, counted from 0.
        step: usize,
        /// The value.
        value: Value,
    },
}

impl<C> Event<C> {
    /// The column of the cell.
    pub fn column(&self) -> &C {
        self.cell().0
    }

    /// The step of the cell, counted from 0.
    pub fn step(&self) -> usize {
        self.cell().1
    }

    fn cell(&self) -> (&C, usize) {
        match self {
            Self::Delta { column, step, .. }
            | Self::Retry { column, step, .. }
            | Self::Warning { column, step, .. }
            | Self::Waiting { column, step, .. }
            | Self::Pending { column, step }
            | Self::CacheMiss { column, step, .. }
            | Self::Failed { column, step, .. }
            | Self::Skipped { column, step, .. }
            | Self::Value { column, step, .. } => (column, *step),
        }
    }
}

/// See [`Event`] for the form.
impl<C: fmt::Display> Serialize for Event<C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Written by hand, because a column of any type is its name, and a pause is a number of seconds.
        let (kind, fields) = match self {
            Self::Delta { .. } => ("delta", 1),
            Self::Retry { .. } => ("retry", 2),
            Self::Warning { .. } => ("warning", 1),
            Self::Waiting { .. } => ("waiting", 2),
            Self::Pending { .. } => ("pending", 0),
            Self::CacheMiss { .. } => ("cache_miss", 3),
            Self::Failed { .. } => ("failed", 1),
            Self::Skipped { .. } => ("skipped", 1),
            Self::Value { .. } => ("value", 1),
        };
        let mut event = serializer.serialize_struct("Event", 3 + fields)?;
        event.serialize_field("type", kind)?;
        event.serialize_field("column", &format_args!("{}", self.column()))?;
        event.serialize_field("step", &self.step())?;
        match self {
            Self::Delta { text, .. } => event.serialize_field("text", text)?,
            Self::Retry { attempt, error, .. } => {
                event.serialize_field("attempt", attempt)?;
                event.serialize_field("error", error)?;
            }
            Self::Warning { message, .. } => event.serialize_field("message", message)?,
            Self::Waiting { pause, error, .. } => {
                event.serialize_field("seconds", &pause.as_secs_f64())?;
                event.serialize_field("error", error)?;
            }
            Self::Pending { .. } => {}
            Self::CacheMiss { miss: CacheMiss { promised, read, cause }, .. } => {
                event.serialize_field("promised", promised)?;
                event.serialize_field("read", read)?;
                event.serialize_field("cause", &format_args!("{cause}"))?;
            }
            Self::Failed { error, .. } => event.serialize_field("error", error)?,
            Self::Skipped { reason, .. } => event.serialize_field("reason", reason)?,
            Self::Value { value, .. } => event.serialize_field("value", value)?,
        }
        event.end()
    }
}

/// The type of the columns in events: [`Name`], or an enum that `flow!` declares.
pub trait ColumnId: Sized {
    /// `None` for a column that an extension of the flow has added.
    #[doc(hidden)]
    fn __of(column: usize, name: &Name) -> Option<Self>;
}

impl ColumnId for Name {
    fn __of(_: usize, name: &Name) -> Option<Self> {
        Some(name.clone())
    }
}

/// The item of a column in a list without the columns `without`, which are sorted.
pub fn listed<I: Copy>(list: &[I], without: &[usize], column: usize) -> Option<I> {
    match without.binary_search(&column) {
        Ok(_) => None,
        // The list is shorter by the left-out columns before this one.
        Err(before) => list.get(column - before).copied(),
    }
}

/// Writes the variant of a column as a derived `Debug` does: `RunningSummary` for `running_summary`.
///
/// # Errors
///
/// The errors of the formatter.
pub fn fmt_variant(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    name.split('_').try_for_each(|part| {
        let mut letters = part.chars();
        letters.next().map_or(Ok(()), |first| f.write_char(first.to_ascii_uppercase()))?;
        f.write_str(letters.as_str())
    })
}
