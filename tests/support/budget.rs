//! A naive implementation of budgets: lists of turns in, lists of turns out.

use columnar::budget::Strategy;

use crate::naive::{Flow, IsGap, Missing, Reads, Turn, tokens, turns};

/// The limit of the messages of a column, and the strategy of the truncation.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The most tokens.
    pub tokens: usize,
    /// The strategy.
    pub strategy: Strategy,
    /// The number of newest turns that are kept first.
    pub minimum_recent: usize,
    /// The number of tokens that a persistent truncation leaves.
    pub low_water: Option<usize>,
}

/// A turn by step and role.
type Id = (usize, &'static str);

/// The shown turns, with the notice in between, and the omitted turns. [`Strategy::StopAtLimit`] omits none.
///
/// # Errors
///
/// [`Missing`] if a shown value is missing.
pub fn truncated(
    flow: &Flow,
    column: &str,
    reads: &Reads,
    step: usize,
    limit: Limit,
    is_gap: IsGap<'_>,
) -> Result<(Vec<Turn>, Vec<Turn>), Missing> {
    let mut elided: Vec<Id> = Vec::new();
    // A persistent truncation depends on the truncations of all earlier steps, so the computation starts at step 0.
    let first = if limit.low_water.is_some() && is_persistent(reads) { 0 } else { step };
    for step in first..=step {
        let turns = turns(flow, column, reads, step, is_gap)?;
        if limit.strategy != Strategy::StopAtLimit && size(&marked(&turns, &elided, limit)) > limit.tokens {
            elided = omit(&turns, limit, is_persistent(reads));
        }
    }
    let turns = turns(flow, column, reads, step, is_gap)?;
    let omitted = turns.iter().filter(|turn| elided.contains(&(turn.step, turn.role))).cloned().collect();
    Ok((shown(&turns, &elided, limit), omitted))
}

/// The tokens of the smallest message: one empty input, with tags and groups.
pub fn least_message(reads: &Reads) -> usize {
    let tags = |tag: &str, end: &str| tokens(&format!("<{tag}>\n\n</{tag}>{end}"));
    let groups = |groups: &[String]| groups.iter().map(|group| tags(group, "")).sum::<usize>();
    let views = reads.views.iter().map(|view| tags(&view.tag, "\n\n") + groups(&view.groups));
    views.min().unwrap_or(0)
}

fn is_persistent(reads: &Reads) -> bool {
    reads.self_history.is_some() || reads.views.iter().all(|view| view.window == crate::naive::Window::All)
}

fn size(turns: &[Turn]) -> usize {
    turns.iter().map(|turn| turn.tokens).sum()
}

/// The shown turns, with a notice where some are omitted, unless the notice does not fit.
fn shown(turns: &[Turn], elided: &[Id], limit: Limit) -> Vec<Turn> {
    let marked = marked(turns, elided, limit);
    let strategy = if size(&marked) > limit.tokens { Strategy::RollingWindow } else { limit.strategy };
    self::marked(turns, elided, Limit { strategy, ..limit })
}

/// The shown turns, with a notice where some are omitted.
fn marked(turns: &[Turn], elided: &[Id], limit: Limit) -> Vec<Turn> {
    let is_omitted = |turn: &&Turn| elided.contains(&(turn.step, turn.role));
    let omitted: Vec<&Turn> = turns.iter().filter(is_omitted).collect();
    let mut shown: Vec<Turn> = turns.iter().filter(|turn| !is_omitted(turn)).cloned().collect();
    if let Some(first) = omitted.first()
        && limit.strategy == Strategy::TruncateMiddle
    {
        let sum: usize = omitted.iter().map(|turn| turn.tokens).sum();
        let text = format!("<elided>{} turns, about {sum} tokens</elided>", omitted.len());
        let tokens = tokens(&text) + tokens("\n\n");
        let at =
            // Within a step the inputs come before the column's own value.
            shown.iter().filter(|turn| (turn.step, turn.role != "user") < (first.step, first.role != "user"));
        let at = at.count();
        shown.insert(
            at,
            Turn {
                step: first.step,
                role: "user",
                before: Vec::new(),
                parts: vec![text],
                cells: Vec::new(),
                tokens,
            },
        );
    }
    shown
}

/// The turns to omit.
fn omit(turns: &[Turn], limit: Limit, persists: bool) -> Vec<Id> {
    let count = turns.len();
    let target = limit.low_water.filter(|_| persists).unwrap_or(limit.tokens);
    let between = |start: usize, end: usize| -> Vec<Id> {
        turns.iter().take(end).skip(start).map(|turn| (turn.step, turn.role)).collect()
    };
    let fits = |start, end, tokens| size(&marked(turns, &between(start, end), limit)) <= tokens;
    if limit.strategy == Strategy::RollingWindow {
        // The newest turn stays, even if it alone is too large.
        let first = (0..count).find(|&first| fits(0, first, target)).unwrap_or(count - 1);
        return between(0, first.min(count - 1));
    }
    // At least the newest turn is kept, under any setting.
    let mut end = count.saturating_sub(limit.minimum_recent.max(1));
    while end < count - 1 && !fits(0, end, limit.tokens) {
        end += 1;
    }
    let mut start = 0;
    loop {
        let before = (start, end);
        if start < end && fits(start + 1, end, target) {
            start += 1;
        }
        if start < end && fits(start, end - 1, target) {
            end -= 1;
        }
        if before == (start, end) {
            return between(start, end);
        }
    }
}
