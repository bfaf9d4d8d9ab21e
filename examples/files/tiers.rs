//! The report of a request: a line for each tier, the moves, the cache marks and the prefix of the next request.

use std::collections::BTreeSet;
use std::io::Write;

use columnar::BoxError;
use columnar::breakdown::TierBreakdown;
use columnar::cache::{CachePolicy, Pace};
use columnar::prelude::*;
use columnar::tiers::{Item, Move, Tier};
use columnar_examples::printable;

use crate::{Desk, INSTRUCTION};

/// A person edits and asks within some minutes.
pub(crate) fn pace() -> Pace {
    Pace::think(secs(75))
}

/// Prints the tiers of a step, and the cache marks for a model.
pub(crate) fn show(out: &mut impl Write, desk: &Desk, step: usize, model: &str) -> Result<(), BoxError> {
    let messages = desk.answer.messages(step)?;
    let Some(moves) = messages.moves() else { return Ok(()) };
    for tier in messages.breakdown(INSTRUCTION).tiers.iter().filter(|tier| tier.tokens > 0) {
        let state = match tier.tier {
            Tier::Active => "not cached",
            cached if moves.broken().contains(&cached) => "changed",
            _ => "same",
        };
        let items = printable(items(tier, &messages));
        writeln!(out, "{:<6} {state:<10} {:>6} tokens  {items}", tier.tier, tier.tokens)?;
    }
    let moved: Vec<String> = moves.promotions().iter().chain(moves.demotions()).map(arrow).collect();
    if !moved.is_empty() {
        writeln!(out, "moved: {}", printable(moved.join(", ")))?;
    }
    let plan = desk.answer.cache_plan(step, CachePolicy::by_model(model), pace())?;
    let marks: Vec<String> = plan.marks.iter().map(ToString::to_string).collect();
    let marks = if marks.is_empty() { "none".to_owned() } else { marks.join("; ") };
    writeln!(out, "marks for {}: {marks}", printable(model))?;
    writeln!(out, "if nothing is edited, {}", desk.answer.explain_cache(step)?)?;
    Ok(())
}

/// The documents of a tier with their N, and the steps whose questions are in it.
fn items(tier: &TierBreakdown, messages: &Messages) -> String {
    let documents =
        tier.documents.iter().map(|document| format!("{} (N {})", document.key.path(), document.n));
    let turns = messages.parts().filter(|part| part.tier() == Some(tier.tier));
    let steps: BTreeSet<usize> = turns.filter_map(|part| part.origin()).map(|origin| origin.step).collect();
    let questions = match (steps.first(), steps.last()) {
        (Some(first), Some(last)) if first < last => Some(format!("questions {first} to {last}")),
        (first, _) => first.map(|step| format!("question {step}")),
    };
    documents.chain(questions).collect::<Vec<_>>().join(", ")
}

fn arrow(moved: &Move) -> String {
    let name = match &moved.item {
        Item::Document(key) => key.path().to_owned(),
        Item::Exchange(step) => format!("question {step}"),
    };
    format!("{name} {} → {}", moved.from, moved.to)
}
