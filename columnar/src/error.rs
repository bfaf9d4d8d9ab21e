//! The error types and functions that every layer uses.

use std::time::Duration;

/// Any error: the type in which compute steps, models and stores report theirs.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// An error and its sources, from the error itself to its root cause.
pub(crate) fn chain<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// A timeout that ended a compute step.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TimedOut {
    #[error("one attempt took longer than {0:?}")]
    Attempt(Duration),
    #[error(
        "all attempts together took longer than {limit:?}, at attempt {attempt}: put `.timeout` before `.{repeated_by}` to limit each one"
    )]
    Attempts {
        limit: Duration,
        /// The number of the attempt that was ended, counted from 1.
        attempt: usize,
        /// The policy that makes the attempts.
        repeated_by: &'static str,
    },
}

/// The known name that is most similar to an unknown one, if one is similar.
pub(crate) fn nearest<'n, N: AsRef<str> + Ord>(name: &str, known: &'n [N]) -> Option<&'n N> {
    let distance = |known: &str| strsim::damerau_levenshtein(name, known);
    known
        .iter()
        .map(|known| (distance(known.as_ref()), known))
        // A third of the letters may differ, and one in the shortest names.
        .filter(|(distance, known)| *distance <= known.as_ref().len().max(3) / 3)
        .min()
        .map(|(_, known)| known)
}

/// The message about a name that no column has.
pub(crate) fn unknown_column<N: AsRef<str>>(name: &str, similar: Option<&N>, columns: &[N]) -> String {
    match similar {
        Some(similar) => format!("no column is named `{name}`; did you mean `{}`?", similar.as_ref()),
        None => format!("no column is named `{name}`; there are {}", list(columns)),
    }
}

/// Names as text: `` `a`, `b` ``.
pub(crate) fn list<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> String {
    names.into_iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}
