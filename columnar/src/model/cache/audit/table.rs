//! The table of an audit, and its JSON form. Programs depend on the names of the fields.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};

use super::{AuditTotal, AuditedCall, CacheAudit};
use crate::history::tokens::Ratio;
use crate::model::usage::{CacheDiagnosis, Dollars, Grouped};

/// The figures of a line.
const HEADERS: [&str; 5] = ["input", "promised", "read", "written", "missed"];

struct AuditLine {
    name: String,
    figures: [String; 5],
    /// The reason, and what it cost.
    why: String,
}

impl fmt::Display for CacheAudit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let alike = self.calls.chunk_by(|one, other| {
            one.column == other.column && words(one) == words(other) && one.missed() + other.missed() == 0
        });
        let total = self.total();
        let lines: Vec<_> =
            alike.filter_map(line).chain([AuditLine::new("total", &total, String::new())]).collect();
        let name = lines.iter().map(|line| line.name.len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..HEADERS.len())
            .zip(HEADERS)
            .map(|(at, header)| {
                let figures = lines.iter().filter_map(|line| line.figures.get(at));
                figures.map(String::len).max().unwrap_or(0).max(header.len())
            })
            .collect();
        write!(f, "{:name$}", "call")?;
        for (header, width) in HEADERS.iter().zip(&widths) {
            write!(f, "  {header:>width$}")?;
        }
        for AuditLine { name: named, figures, why } in &lines {
            write!(f, "\n{named:name$}")?;
            for (figure, width) in figures.iter().zip(&widths) {
                write!(f, "  {figure:>width$}")?;
            }
            if !why.is_empty() {
                write!(f, "  {why}")?;
            }
        }
        if let Some(ratio) = Ratio::new(total.input, total.counted).filter(|_| total.input > 0) {
            write!(f, "\ntokens of the provider over counted tokens: {ratio}")?;
        }
        if self.not_audited > 0 {
            write!(f, "\ncalls whose context is not in memory: {}", self.not_audited)?;
        }
        Ok(())
    }
}

/// The line of calls that follow each other and have the same reason.
fn line(calls: &[AuditedCall]) -> Option<AuditLine> {
    let [first, .., last] = calls else {
        let call = calls.first()?;
        return Some(AuditLine::new(
            &format!("{} {}", call.column, call.step),
            &calls.iter().collect(),
            words(call),
        ));
    };
    let name = format!("{} {} to {}", first.column, first.step, last.step);
    Some(AuditLine::new(&name, &calls.iter().collect(), words(first)))
}

impl AuditLine {
    fn new(name: &str, total: &AuditTotal, mut why: String) -> Self {
        let AuditTotal { input, promised, read, written, missed, cost, .. } = *total;
        let figures = [input, promised, read, written, missed].map(|figure| Grouped(figure).to_string());
        if cost > Dollars::ZERO {
            why = if why.is_empty() { cost.to_string() } else { format!("{cost}: {why}") };
        }
        Self { name: name.to_owned(), figures, why }
    }
}

/// The reason in words, with the provider's own.
fn words(call: &AuditedCall) -> String {
    let cause = call.cause.as_ref().map(ToString::to_string);
    let own = call.diagnosis().map(|diagnosis| format!("by the provider {diagnosis}"));
    let untimed = call.receipt.at.is_none().then(|| "unknown time".to_owned());
    cause.into_iter().chain(own).chain(untimed).collect::<Vec<_>>().join("; ")
}

impl Serialize for CacheAudit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let AuditTotal { calls, input, counted, promised, read, written, missed, cost } = self.total();
        let each: Vec<Json> = self.calls.iter().map(AuditedCall::json).collect();
        let json = json!({
            "calls": each,
            "not_audited": self.not_audited,
            "total": {
                "calls": calls,
                "input": input,
                "counted": counted,
                "promised": promised,
                "read": read,
                "written": written,
                "missed": missed,
                "cost": cost.to_string(),
            },
        });
        json.serialize(serializer)
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
            "cause": self.cause.as_ref().map(|cause| json!({ "type": cause.word(), "text": cause.to_string() })),
            "diagnosis": self.diagnosis().map(CacheDiagnosis::to_string),
        })
    }
}
