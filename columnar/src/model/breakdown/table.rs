//! The table of a breakdown: what changed, then a line for each tier or column, and the total.

use std::fmt;

use super::{Breakdown, TierBreakdown, hit_rate, longest_reply};
use crate::context::documents::Kind;
use crate::context::tiers::Move;
use crate::declare::error::Printable;
use crate::model::figures::{FigureLine, write_figures};
use crate::model::usage::{Grouped, Receipt, grouped};

/// The number of items that a line of moves names.
const NAMED: usize = 3;

impl fmt::Display for Breakdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "request of `{}` at step {}", self.column, self.step)?;
        if let Some(moves) = &self.moves {
            write_moves(f, moves.promotions(), "")?;
            write_moves(f, moves.demotions(), ", changed")?;
            write!(f, "empty tiers: {}", moves.empty().len())?;
            match self.empty_tiers {
                Some(session) => writeln!(f, ", {} in the session", grouped(session))?,
                None => writeln!(f)?,
            }
        }
        if let Some(report) = &self.budget {
            writeln!(f, "budget: {report}")?;
        }
        // The marks of tiers are in the lines of the tiers.
        let marks = self.plan.iter().filter(|_| self.tiers.is_empty()).flat_map(|plan| &plan.marks);
        for mark in marks {
            writeln!(f, "mark {mark}")?;
        }
        if let Some(receipt) = &self.receipt {
            write_receipt(f, receipt)?;
        }
        if let Some(total) = &self.total {
            writeln!(f, "session: {total}")?;
        }
        if let Some(window) = &self.window {
            writeln!(f, "window: {} of {} tokens", grouped(self.tokens), grouped(window.most_input))?;
        }
        if self.tiers.is_empty() { self.write_columns(f) } else { self.write_tiers(f) }
    }
}

/// A line for each pair of tiers.
fn write_moves(f: &mut fmt::Formatter<'_>, moves: &[Move], why: &str) -> fmt::Result {
    for same in moves.chunk_by(|one, other| (one.from, one.to) == (other.from, other.to)) {
        let Some(first) = same.first() else { continue };
        write!(f, "{} to {}{why}: ", first.from, first.to)?;
        for (at, moved) in same.iter().take(NAMED).enumerate() {
            write!(f, "{}{}", if at > 0 { ", " } else { "" }, Printable(&moved.item))?;
        }
        match same.len().saturating_sub(NAMED) {
            0 => writeln!(f)?,
            more => writeln!(f, " and {} more", grouped(more))?,
        }
    }
    Ok(())
}

fn write_receipt(f: &mut fmt::Formatter<'_>, receipt: &Receipt) -> fmt::Result {
    f.write_str("last request")?;
    if let Some(model) = &receipt.model {
        write!(f, " to `{}`", Printable(model))?;
    }
    let usage = &receipt.usage;
    write!(f, ": {} tokens in", Grouped(usage.input))?;
    if let Some(rate) = hit_rate(usage) {
        // Rounded down, so that a little uncached input is not hidden.
        write!(f, " ({:.0} % cached)", (rate * 100.0).floor())?;
    }
    write!(f, ", {} out", Grouped(usage.output))?;
    if let Some(longest) = longest_reply(receipt) {
        write!(f, " of {} at most", Grouped(longest.into()))?;
    }
    writeln!(f)
}

impl Breakdown {
    fn write_tiers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers = ["symbols", "files", "pages", "history", "prompt", "other", "tokens"];
        let tiers = self.tiers.iter().map(|tier| {
            let [symbols, files, pages] =
                [Kind::Symbol, Kind::File, Kind::Url].map(|kind| tier.tokens_of(kind));
            let history = tier.history;
            let prompt = tier.prompt;
            let other = tier.tokens.saturating_sub(tier.document_tokens() + history + prompt);
            let figures = [symbols, files, pages, history, prompt, other, tier.tokens].map(Some);
            FigureLine { name: tier.tier.to_string(), figures: figures.into(), holds: holds(tier) }
        });
        self.write_table(f, &headers, "holds", tiers)
    }

    fn write_columns(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.columns.iter().map(|column| {
            let is_self = column.column == self.column;
            let name = if is_self { "self".to_owned() } else { column.column.to_string() };
            let figures = [column.values, column.hidden, column.tokens].map(Some);
            FigureLine { name, figures: figures.into(), holds: String::new() }
        });
        self.write_table(f, &["values", "hidden", "tokens"], "", columns)
    }

    /// Writes the table with a line for each tier or column, between the lines that each request has. `last` is the
    /// header of the words at the end.
    fn write_table(
        &self,
        f: &mut fmt::Formatter<'_>,
        headers: &[&str],
        last: &str,
        parts: impl Iterator<Item = FigureLine>,
    ) -> fmt::Result {
        let instruction = [
            ("instruction", self.instruction),
            ("of the flow", self.flow),
            ("notes", self.notes),
            ("instructions", self.instructions),
            ("thread", self.thread),
        ];
        let before = instruction.into_iter().filter(|(name, tokens)| *name == "instruction" || *tokens > 0);
        let after = (self.omitted > 0).then_some(("omitted turns", self.omitted));
        let before = before.map(|(name, tokens)| FigureLine::of_tokens(name, headers.len(), tokens));
        let after = after.map(|(name, tokens)| FigureLine::of_tokens(name, headers.len(), tokens));
        let mut lines: Vec<FigureLine> = before.chain(parts).chain(after).collect();
        let mut total = FigureLine::of_tokens("total", headers.len(), self.tokens);
        for (at, sum) in total.figures.iter_mut().enumerate() {
            // The last figure is known, and does not depend on the lines.
            let of_lines = lines.iter().filter_map(|line| *line.figures.get(at)?).sum();
            *sum = sum.or(Some(of_lines));
        }
        lines.push(total);
        write_figures(f, ["part", last], headers, &lines)
    }
}

/// The contents of a tier in words.
fn holds(tier: &TierBreakdown) -> String {
    let documents =
        [(Kind::Symbol, "symbol"), (Kind::File, "file"), (Kind::Url, "page")].map(|(kind, noun)| {
            (tier.documents.iter().filter(|document| document.key.kind() == kind).count(), noun)
        });
    let counts = documents.into_iter().chain([(tier.exchanges.len(), "exchange")]);
    let counted = counts.filter(|(count, _)| *count > 0).map(|(count, noun)| {
        let plural = if count == 1 { "" } else { "s" };
        format!("{} {noun}{plural}", grouped(count))
    });
    let single = [(tier.legend, "legend"), (tier.tree, "tree"), (tier.prompt, "prompt")];
    let single = single.into_iter().filter(|(tokens, _)| *tokens > 0).map(|(_, noun)| noun.to_owned());
    let mut contents = counted.chain(single).collect::<Vec<_>>().join(", ");
    if contents.is_empty() {
        contents.push_str("nothing");
    }
    match (tier.tier.is_cached(), tier.marked) {
        (false, _) => contents,
        (true, Some(true)) => format!("cached, marked: {contents}"),
        (true, _) => format!("cached: {contents}"),
    }
}
