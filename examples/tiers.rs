//! The report of a request in tiers: a line for each tier, the moves, and the cache marks.

use std::collections::BTreeSet;
use std::io::{self, Write};

use columnar::Messages;
use columnar::breakdown::{Breakdown, TierBreakdown};
use columnar::cache::{CachePlan, Pace};
use columnar::documents::Kind;
use columnar::prelude::secs;
use columnar::tiers::{Item, Move, Moves, Tier};

use crate::printable;

/// The number of moves that a line names.
const NAMED: usize = 5;

/// A person edits and asks within some minutes.
pub fn pace() -> Pace {
    Pace::think(secs(75))
}

/// Prints a line for each tier of a request that is not empty, and the items that moved.
///
/// # Errors
///
/// The errors of the output.
pub fn show_tiers(out: &mut impl Write, messages: &Messages, breakdown: &Breakdown) -> io::Result<()> {
    let Some(moves) = messages.moves() else { return Ok(()) };
    for tier in breakdown.tiers.iter().filter(|tier| tier.tokens > 0) {
        let state = match tier.tier {
            Tier::Active => "not cached",
            cached if moves.broken().contains(&cached) => "changed",
            _ => "same",
        };
        let items = printable(items(tier, messages));
        writeln!(out, "{:<6} {state:<10} {:>6} tokens  {items}", tier.tier, tier.tokens)?;
    }
    match moved(moves) {
        Some(moved) => writeln!(out, "moved: {}", printable(moved)),
        None => Ok(()),
    }
}

/// Prints the cache marks for a model on one line.
///
/// # Errors
///
/// The errors of the output.
pub fn show_marks(out: &mut impl Write, plan: &CachePlan, model: &str) -> io::Result<()> {
    let marks: Vec<String> = plan.marks.iter().map(ToString::to_string).collect();
    let marks = if marks.is_empty() { "none".to_owned() } else { marks.join("; ") };
    writeln!(out, "marks for {}: {marks}", printable(model))
}

/// The files of a tier with the N of each, the number of entries of the map, and the steps whose questions are in the
/// tier.
fn items(tier: &TierBreakdown, messages: &Messages) -> String {
    let (entries, files): (Vec<_>, Vec<_>) =
        tier.documents.iter().partition(|document| document.key.kind() == Kind::Symbol);
    let entries = match entries.len() {
        0 => None,
        1 => Some("1 entry".to_owned()),
        count => Some(format!("{count} entries")),
    };
    let single = [(tier.legend, "legend"), (tier.tree, "tree")];
    let single = single.iter().filter(|(tokens, _)| *tokens > 0).map(|(_, name)| (*name).to_owned());
    let files = files.iter().map(|document| format!("{} (N {})", document.key.path(), document.n));
    let turns = messages.parts().filter(|part| part.tier() == Some(tier.tier));
    let steps: BTreeSet<usize> = turns.filter_map(|part| part.origin()).map(|origin| origin.step).collect();
    let questions = match (steps.first(), steps.last()) {
        (Some(first), Some(last)) if first < last => Some(format!("questions {first} to {last}")),
        (first, _) => first.map(|step| format!("question {step}")),
    };
    single.chain(entries).chain(files).chain(questions).collect::<Vec<_>>().join(", ")
}

/// The first items that moved, files and questions before entries.
fn moved(moves: &Moves) -> Option<String> {
    let is_entry = |moved: &&Move| matches!(&moved.item, Item::Document(key) if key.kind() == Kind::Symbol);
    let all = || moves.promotions().iter().chain(moves.demotions());
    let ordered = all().filter(|moved| !is_entry(moved)).chain(all().filter(is_entry));
    let named: Vec<String> = ordered.take(NAMED).map(arrow).collect();
    let more = match all().count().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| named.join(", ") + &more)
}

fn arrow(moved: &Move) -> String {
    let name = match &moved.item {
        Item::Document(key) => key.path().to_owned(),
        Item::Exchange(step) => format!("question {step}"),
    };
    format!("{name} {} → {}", moved.from, moved.to)
}
