//! The errors of batches.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::request::BatchCell;
use crate::declare::Name;
use crate::declare::error::list;
use crate::history::StepRanges;
use crate::model::provider::ProviderError;
use crate::model::registry::PROVIDERS;
use crate::model::usage::grouped;

/// The ranges of steps of a column that an error names.
const NAMED: usize = 8;

/// The error of a cell whose request was part of a batch: the batch was not submitted, not answered, or not collected yet.
///
/// ```
/// use columnar::model::{BatchError, Provider};
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::result::Result<(), columnar::BoxError> {
/// let chat = flow! {
///     source user;
///     column topics(user.latest) = prompt("List the topics.");
/// };
/// chat.user.push("Hello!").await?;
/// let error = chat.batch(Provider::new("ollama/llama3.2")?).await.expect_err("it has no batches");
/// assert!(error.to_string().contains("`ollama/llama3.2` takes no batches"), "{error}");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The library knows no batches of this provider.
    #[error("`{model}` takes no batches: call `run`, or choose a model of {}", with_batches())]
    NoBatches {
        /// The name of the model.
        model: String,
    },
    /// The batch could not be submitted. If the provider refused it, the next run submits another one; otherwise the next
    /// run looks whether the provider has it.
    #[error("a batch of {} requests could not be submitted: {source}", grouped(*requests))]
    NotSubmitted {
        /// The number of requests.
        requests: usize,
        /// The reason.
        source: Arc<ProviderError>,
    },
    /// The batch was submitted, and its results could not be fetched. The next run goes on with this batch.
    #[error(
        "a batch of {} requests was submitted, and its results are not here yet: {source}; run it again to go on with it",
        grouped(*requests)
    )]
    NotCollected {
        /// The number of requests.
        requests: usize,
        /// The reason.
        source: Arc<ProviderError>,
    },
    /// The batch is over, and some requests have no answer.
    #[error(
        "the batch {end}, and {} of its {} requests have no answer: {cells}; run it again to submit these in another one",
        grouped(*missing),
        grouped(*requests)
    )]
    Unanswered {
        /// The end of the batch, such as `expired`.
        end: String,
        /// The number of requests without an answer for which a cell waits.
        missing: usize,
        /// The number of requests of the batch.
        requests: usize,
        /// The cells without an answer, as a part of a sentence.
        cells: Arc<str>,
    },
    /// The state of a batch could not be written into the store.
    #[error("the state of a batch could not be stored: {reason}; open the flow again to go on with it")]
    NotStored {
        /// The reason.
        reason: String,
    },
}

fn with_batches() -> String {
    let names = PROVIDERS.iter().filter(|provider| provider.batches.is_some()).map(|provider| provider.name);
    list(names)
}

/// The cells as a part of a sentence, with the steps of each column as ranges.
pub(super) fn listed(cells: &[BatchCell]) -> String {
    let mut columns: BTreeMap<&Name, StepRanges> = BTreeMap::new();
    for cell in cells {
        columns.entry(&cell.column).or_default().insert(cell.step..cell.step + 1);
    }
    let columns = columns.into_iter().map(|(column, steps)| {
        let named = steps.iter().take(NAMED).map(|range| match range.len() {
            1 => grouped(range.start),
            _ => format!("{} to {}", grouped(range.start), grouped(range.end - 1)),
        });
        let more = steps.iter().skip(NAMED).map(|range| range.len()).sum::<usize>();
        let more = (more > 0).then(|| format!("{} more", grouped(more)));
        format!("`{column}` at {}", named.chain(more).collect::<Vec<_>>().join(", "))
    });
    columns.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_listed_by_column_and_in_ranges() {
        let cell = |column: &str, step| BatchCell { column: Name::new(column).expect("a name"), step };
        let cells = [cell("b", 4), cell("a", 2), cell("a", 0), cell("a", 1), cell("a", 1207)];
        assert_eq!(listed(&cells), "`a` at 0 to 2, 1,207; `b` at 4");
        let many: Vec<_> = (0..20).map(|at| cell("a", 2 * at)).collect();
        assert_eq!(listed(&many), "`a` at 0, 2, 4, 6, 8, 10, 12, 14, 12 more");
    }
}
