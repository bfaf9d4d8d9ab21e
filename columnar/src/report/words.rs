//! The facts of a cell in words, for the page and for its script.

use std::time::SystemTime;

use super::collect::ReportedFlow;
use crate::compute::error_class;
use crate::context::{Messages, Part};
use crate::declare::error::Printable;
use crate::history::Attachment;
use crate::model::cache::AuditedCall;
use crate::model::usage::{CallTime, Grouped, Price, Receipt, UnixTime, grouped};
use crate::run::CellState;
use crate::schedule::Cell;

/// The cells that a budget leaves out and that are named.
const NAMED: usize = 20;

/// Dates of HTTP have years of four digits.
const YEAR_10000: u64 = 253_402_300_800_000;

/// The names of the facts of a receipt.
pub(super) const FACTS: [&str; 18] = [
    "Model",
    "Calls",
    "Calls without reported usage",
    "Attempts",
    "Failed calls",
    "Tokens in",
    "of these read from the cache",
    "of these written to the cache",
    "of these kept for long",
    "Tokens out",
    "Cost",
    "Time",
    "Last call at",
    "Finish",
    "Cache, by the provider",
    "Reply",
    "Answered at",
    "Proposal",
];

/// The facts of a receipt, in the order of their names. `None` for what there is nothing to say about.
pub(super) fn facts(receipt: &Receipt) -> [Option<String>; FACTS.len()] {
    let usage = receipt.usage;
    let price = receipt.model.as_deref().and_then(Price::by_model);
    let cost = price.map_or_else(|| "no price is known".to_owned(), |price| price.cost(&usage).to_string());
    let is_called = receipt.calls > 0;
    let proposal = receipt.answer.as_ref().and_then(|answer| match &answer.edited {
        Some(edited) => Some(format!("edited: {}", shown(edited))),
        None => answer.is_proposal.then(|| "accepted".to_owned()),
    });
    [
        receipt.model.as_ref().map(shown),
        positive(receipt.calls.into()),
        positive(receipt.unreported.into()),
        positive(receipt.attempts.into()),
        failures(&receipt.call_times),
        is_called.then(|| Grouped(usage.input).to_string()),
        positive(usage.cache_read),
        positive(usage.cache_write),
        positive(usage.cache_write_long),
        is_called.then(|| Grouped(usage.output).to_string()),
        is_called.then_some(cost),
        is_called.then(|| format!("{} ms", Grouped(receipt.ms))),
        receipt.at.map(date),
        receipt.finish.as_ref().map(shown),
        receipt.diagnosis.as_ref().map(shown),
        receipt.id.as_ref().map(shown),
        receipt.answer.as_ref().map(|answer| date(answer.at)),
        proposal,
    ]
}

/// The calls whose attempts failed, with the reasons.
pub(super) fn failures(calls: &[CallTime]) -> Option<String> {
    let failed = calls.iter().enumerate().filter_map(|(at, call)| match call.error.as_deref()? {
        error_class::OTHER => Some(format!("call {}: another error", at + 1)),
        class => Some(format!("call {}: {}", at + 1, shown(class))),
    });
    let failed: Vec<String> = failed.collect();
    (!failed.is_empty()).then(|| failed.join(", "))
}

fn positive(figure: u64) -> Option<String> {
    (figure > 0).then(|| Grouped(figure).to_string())
}

/// A text of a provider or of an error, without characters that nobody sees.
pub(super) fn shown(text: impl std::fmt::Display) -> String {
    Printable(text).to_string()
}

fn date(at: UnixTime) -> String {
    match at.as_millis() {
        ms @ YEAR_10000.. => format!("{ms} ms since 1970"),
        _ => httpdate::fmt_http_date(SystemTime::from(at)),
    }
}

/// The reason why a cell has no value to show.
pub(super) fn without_value(state: &CellState) -> Option<String> {
    match state {
        CellState::Stored(_) => None,
        CellState::Skipped(Some(reason)) => Some(format!("Skipped: {}.", shown(reason))),
        CellState::Skipped(None) => Some("Skipped.".to_owned()),
        CellState::Waiting => Some("Waiting: the cell has no value yet.".to_owned()),
        CellState::Pending => Some("Pending: the cell waits for an answer from outside.".to_owned()),
        CellState::NotLoaded => Some("Not in memory: the value is stored.".to_owned()),
    }
}

/// The cell whose value a part shows.
pub(super) fn cell_of(flow: &ReportedFlow<'_>, part: &Part<'_>) -> Option<Cell> {
    let origin = part.origin()?;
    Some(Cell { column: flow.find(origin.column)?, step: origin.step })
}

/// The name of a part.
pub(super) fn kind(part: &Part<'_>) -> String {
    match (part.origin(), part.hidden()) {
        (Some(origin), _) => origin.to_string(),
        (None, Some(hidden)) => format!("marker of {} hidden values of {}", hidden.values, hidden.column),
        _ if part.is_instruction() => "instruction".to_owned(),
        _ if part.tier().is_some() => "documents".to_owned(),
        _ => "marker".to_owned(),
    }
}

/// The cells that a budget left out of a request.
pub(super) fn cut(messages: &Messages) -> Option<String> {
    let left_out: Vec<String> = messages.elided().map(|origin| origin.to_string()).collect();
    let left_out = match left_out.split_at_checked(NAMED) {
        _ if left_out.is_empty() => String::new(),
        Some((named, more)) if !more.is_empty() => {
            format!(" Left out: {} and {} more cells.", named.join(", "), more.len())
        }
        _ => format!(" Left out: {}.", left_out.join(", ")),
    };
    Some(format!("Budget: {}.{left_out}", shown(messages.report()?)))
}

pub(super) fn audited(call: &AuditedCall) -> String {
    let [promised, read] = [call.promised, call.read()].map(Grouped);
    let cause = call.cause.as_ref().map_or_else(String::new, |cause| format!(": {}", shown(cause)));
    format!("Audit: {promised} tokens should have been read from the cache, and {read} were{cause}.")
}

pub(super) fn attachment(file: &Attachment) -> String {
    let instead = file.alt_text().map_or_else(String::new, |alt| format!(", instead: {}", shown(alt)));
    let bytes = grouped(file.len());
    format!("Attachment: {}, {bytes} bytes, SHA-256 {}{instead}", file.media_type(), file.digest())
}

/// The size of a request.
pub(super) fn size(messages: &Messages) -> String {
    let system = grouped(messages.system_tokens());
    format!("About {} tokens of messages, and {system} of the system text.", grouped(messages.tokens()))
}
