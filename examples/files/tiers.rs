//! The report of a request: a line for each tier, the moves, the cache marks and the prefix of the next request.

use std::collections::BTreeSet;
use std::io::Write;

use columnar::BoxError;
use columnar::cache::{CachePolicy, Pace};
use columnar::documents::{Documents, Kind};
use columnar::prelude::*;
use columnar::tiers::{Item, Move, Tier};
use columnar::tokens::{Chars, Counter};
use columnar_examples::printable;

use crate::Desk;

/// A person edits and asks within some minutes.
pub(crate) fn pace() -> Pace {
    Pace::think(secs(75))
}

/// A tier of a request.
struct Row {
    tier: Tier,
    tokens: usize,
    documents: Vec<String>,
    /// The steps whose questions are in the tier.
    questions: BTreeSet<usize>,
}

/// Prints the tiers of a step, and the cache marks for a model.
pub(crate) fn show(out: &mut impl Write, desk: &Desk, step: usize, model: &str) -> Result<(), BoxError> {
    let messages = desk.answer.messages(step)?;
    let Some(moves) = messages.moves() else { return Ok(()) };
    for row in rows(&messages) {
        let state = match row.tier {
            Tier::Active => "not cached",
            tier if moves.broken().contains(&tier) => "changed",
            _ => "same",
        };
        writeln!(out, "{:<6} {state:<10} {:>6} tokens  {}", row.tier, row.tokens, printable(row.items()))?;
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

/// The tiers that are not empty, in the order of the request.
fn rows(messages: &Messages) -> Vec<Row> {
    let empty = |tier| Row { tier, tokens: 0, documents: Vec::new(), questions: BTreeSet::new() };
    let mut rows = Tier::ALL.map(empty);
    let mut in_messages = BTreeSet::new();
    for part in messages.parts() {
        let Some(row) = rows.iter_mut().find(|row| Some(row.tier) == part.tier()) else { continue };
        row.tokens += part.tokens();
        row.documents.extend(part.items().map(|item| format!("{} (N {})", item.key.path(), item.n)));
        in_messages.extend(part.items().map(|item| item.key.clone()));
        row.questions.extend(part.origin().map(|origin| origin.step));
    }
    // The documents in L0 end the system text, so no part of a message has them.
    let [system, ..] = &mut rows;
    let shown = messages.documents().into_iter().flat_map(Documents::iter);
    let stable = shown.filter(|(key, _)| key.kind() == Kind::File && !in_messages.contains(*key));
    system.documents.extend(stable.map(|(key, _)| format!("{} (N 12)", key.path())));
    system.tokens += Chars.count(&messages.system(""));
    rows.into_iter().filter(|row| row.tokens > 0).collect()
}

impl Row {
    fn items(&self) -> String {
        let questions = match (self.questions.first(), self.questions.last()) {
            (Some(first), Some(last)) if first < last => Some(format!("questions {first} to {last}")),
            (first, _) => first.map(|step| format!("question {step}")),
        };
        self.documents.iter().cloned().chain(questions).collect::<Vec<_>>().join(", ")
    }
}

fn arrow(moved: &Move) -> String {
    let name = match &moved.item {
        Item::Document(key) => key.path().to_owned(),
        Item::Exchange(step) => format!("question {step}"),
    };
    format!("{name} {} → {}", moved.from, moved.to)
}
