//! The table of an audit, and its JSON form. Programs depend on the names of the fields.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};

use super::{AuditTotal, AuditedCall, CacheAudit};
use crate::history::tokens::Ratio;
use crate::model::figures::{FigureLine, write_figures};
use crate::model::usage::{CacheDiagnosis, Dollars};

impl fmt::Display for CacheAudit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Calls that follow each other and have nothing else to say are one line.
        let alike = self.calls.chunk_by(|one, other| {
            one.column == other.column && words(one) == words(other) && one.missed() + other.missed() == 0
        });
        let total = self.total();
        let lines: Vec<_> =
            alike.filter_map(line).chain([total.line("total".to_owned(), String::new())]).collect();
        write_figures(f, ["call", ""], &["input", "promised", "read", "written", "missed"], &lines)?;
        if let Some(ratio) = Ratio::new(total.input, total.counted) {
            write!(f, "\ntokens of the provider over counted tokens: {ratio}")?;
        }
        if self.not_audited > 0 {
            write!(f, "\ncalls that are not audited: {}", self.not_audited)?;
        }
        Ok(())
    }
}

fn line(calls: &[AuditedCall]) -> Option<FigureLine> {
    let first = calls.first()?;
    let last = calls.last()?;
    let to = if calls.len() > 1 { format!(" to {}", last.step) } else { String::new() };
    let total: AuditTotal = calls.iter().collect();
    Some(total.line(format!("{} {}{to}", first.column, first.step), words(first)))
}

/// The reason in words, with the provider's own.
fn words(call: &AuditedCall) -> String {
    let cause = call.cause.as_ref().map(ToString::to_string);
    let own = call.receipt.diagnosis.as_ref().map(|diagnosis| format!("by the provider {diagnosis}"));
    let untimed = call.receipt.at.is_none().then(|| "unknown time".to_owned());
    cause.into_iter().chain(own).chain(untimed).collect::<Vec<_>>().join("; ")
}

impl AuditTotal {
    fn line(&self, name: String, words: String) -> FigureLine {
        let Self { input, promised, read, written, missed, cost, .. } = *self;
        let figures = [input, promised, read, written, missed].map(|figure| usize::try_from(figure).ok());
        let cost = (cost > Dollars::ZERO).then(|| cost.to_string());
        let holds = cost
            .into_iter()
            .chain(Some(words).filter(|words| !words.is_empty()))
            .collect::<Vec<_>>()
            .join(": ");
        FigureLine { name, figures: figures.into(), holds }
    }
}

impl Serialize for CacheAudit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let AuditTotal { calls, input, counted, promised, read, written, missed, cost } = self.total();
        let each: Vec<Json> = self.calls.iter().map(AuditedCall::json).collect();
        let total = json!({
            "calls": calls,
            "input": input,
            "counted": counted,
            "promised": promised,
            "read": read,
            "written": written,
            "missed": missed,
            "cost": cost.to_string(),
        });
        json!({ "calls": each, "not_audited": self.not_audited, "total": total }).serialize(serializer)
    }
}

impl AuditedCall {
    fn json(&self) -> Json {
        let usage = self.receipt.usage;
        json!({
            "column": self.column,
            "step": self.step,
            "model": self.receipt.model.as_deref(),
            "input": usage.input,
            "counted": self.counted,
            "promised": self.promised,
            "read": usage.cache_read,
            "written": usage.cache_write,
            "missed": self.missed(),
            "cost": self.cost().map(|cost| cost.to_string()),
            "cause": self.cause.as_ref().map(ToString::to_string),
            "diagnosis": self.receipt.diagnosis.as_ref().map(CacheDiagnosis::to_string),
        })
    }
}
