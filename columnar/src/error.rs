//! Words for errors that every layer may use.

use std::time::Duration;

/// Any error, as computes, models and stores give it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// An error, and what it comes from, one after the other.
pub(crate) fn chain<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// A call that took too long.
#[derive(Debug, thiserror::Error)]
#[error("no answer within {0:?}")]
pub(crate) struct TimedOut(pub(crate) Duration);

/// The end of a message about an unknown name: the nearest of the known ones, or all of them.
pub(crate) fn suggest<'n>(name: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    let near = known
        .clone()
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .filter(|(distance, known)| *distance <= known.len().max(3) / 3)
        .min();
    match near {
        Some((_, known)) => format!("; did you mean `{known}`?"),
        None => format!("; there are {}", list(known)),
    }
}

/// Names as text: `` `a`, `b` ``.
pub(crate) fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
