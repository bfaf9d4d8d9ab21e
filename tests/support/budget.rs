//! The rules of budgets in the plainest words: lists of turns in, lists of turns out.

use columnar::budget::Strategy;

use crate::naive::{Flow, IsGap, Missing, Reads, Turn, tokens, turns};

/// What the messages of a column may have, and how they are cut.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// At most so many tokens.
    pub tokens: usize,
    /// How.
    pub strategy: Strategy,
    /// How many of the newest turns are kept first.
    pub minimum_recent: usize,
    /// How many tokens a cut leaves that then stays.
    pub low_water: Option<usize>,
}

/// A turn by its step and role.
type Id = (usize, &'static str);

/// The turns that are left, with the marker among them, and those that are not. With
/// [`Strategy::StopAtLimit`] what is too much is left as it is.
///
/// # Errors
///
/// [`Missing`] when a value that they show is not there.
pub fn fitted(
    flow: &Flow,
    column: &str,
    reads: &Reads,
    step: usize,
    limit: Limit,
    is_gap: IsGap<'_>,
) -> Result<(Vec<Turn>, Vec<Turn>), Missing> {
    let mut elided: Vec<Id> = Vec::new();
    let first = if limit.low_water.is_some() && goes_by_step(reads) { 0 } else { step };
    for step in first..=step {
        let turns = turns(flow, column, reads, step, is_gap)?;
        if limit.strategy != Strategy::StopAtLimit && size(&left(&turns, &elided, limit)) > limit.tokens {
            elided = cut(&turns, limit, goes_by_step(reads));
        }
    }
    let turns = turns(flow, column, reads, step, is_gap)?;
    let gone = turns.iter().filter(|turn| elided.contains(&(turn.step, turn.role))).cloned().collect();
    Ok((left(&turns, &elided, limit), gone))
}

fn goes_by_step(reads: &Reads) -> bool {
    reads.own.is_some() || reads.views.iter().all(|view| view.window == crate::naive::Window::All)
}

fn size(turns: &[Turn]) -> usize {
    turns.iter().map(|turn| turn.tokens).sum()
}

/// What is left of turns, with a marker where some are missing.
fn left(turns: &[Turn], elided: &[Id], limit: Limit) -> Vec<Turn> {
    let is_gone = |turn: &&Turn| elided.contains(&(turn.step, turn.role));
    let gone: Vec<&Turn> = turns.iter().filter(is_gone).collect();
    let mut left: Vec<Turn> = turns.iter().filter(|turn| !is_gone(turn)).cloned().collect();
    if let Some(first) = gone.first()
        && limit.strategy == Strategy::TruncateMiddle
    {
        let sum: usize = gone.iter().map(|turn| turn.tokens).sum();
        let text = format!("<elided>{} turns, about {sum} tokens</elided>", gone.len());
        let tokens = tokens(&text) + tokens("\n\n");
        let at =
            left.iter().filter(|turn| (turn.step, turn.role != "user") < (first.step, first.role != "user"));
        let at = at.count();
        left.insert(
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
    left
}

/// Which turns go.
fn cut(turns: &[Turn], limit: Limit, lasts: bool) -> Vec<Id> {
    let count = turns.len();
    let target = limit.low_water.filter(|_| lasts).unwrap_or(limit.tokens);
    let between = |start: usize, end: usize| -> Vec<Id> {
        turns.iter().take(end).skip(start).map(|turn| (turn.step, turn.role)).collect()
    };
    let fits = |start, end, tokens| size(&left(turns, &between(start, end), limit)) <= tokens;
    if limit.strategy == Strategy::RollingWindow {
        let first = (0..count).find(|&first| fits(0, first, target)).unwrap_or(count - 1);
        return between(0, first.min(count - 1));
    }
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
