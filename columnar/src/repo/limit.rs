//! The entries that fit into the limit: those of the files to which most others refer.

/// A file enters if it is among the first ones that have this part of the limit, in percent, and leaves if it is not among
/// the first ones that have all of it. In between, an edit elsewhere moves it neither in nor out.
const ENTRANCE: usize = 90;

/// Chooses from all entries, by rank, each with its tokens. `is_shown` says which ones are shown now.
pub(super) fn choose<T>(
    ranked: impl Iterator<Item = (T, usize)>,
    limit: usize,
    is_shown: impl Fn(&T) -> bool,
) -> impl Iterator<Item = T> {
    let entrance = limit / 100 * ENTRANCE + limit % 100 * ENTRANCE / 100;
    let mut sum: usize = 0;
    let fitting = ranked.map_while(move |(entry, tokens)| {
        sum = sum.saturating_add(tokens);
        (sum <= limit).then_some((entry, sum <= entrance))
    });
    fitting.filter(move |(entry, enters)| *enters || is_shown(entry)).map(|(entry, _)| entry)
}
