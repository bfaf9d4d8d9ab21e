//! The entries that fit into the limit: those of the files to which most others refer.

use std::collections::BTreeSet;

/// A file enters if it is among the first ones that have this part of the limit, in percent, and leaves if it is not among
/// the first ones that have all of it. In between, an edit elsewhere moves it neither in nor out.
const ENTRANCE: usize = 90;

/// Chooses from all entries, by rank, each with its tokens. `shown` says which ones are shown now.
pub(super) fn choose<T: Copy + Ord>(
    ranked: impl Iterator<Item = (T, usize)>,
    limit: usize,
    shown: impl Fn(T) -> bool,
) -> BTreeSet<T> {
    let entrance = limit / 100 * ENTRANCE + limit % 100 * ENTRANCE / 100;
    let mut sum: usize = 0;
    let fitting = ranked.map_while(|(entry, tokens)| {
        sum = sum.saturating_add(tokens);
        (sum <= limit).then_some((entry, sum <= entrance))
    });
    fitting.filter(|(entry, enters)| *enters || shown(*entry)).map(|(entry, _)| entry).collect()
}
