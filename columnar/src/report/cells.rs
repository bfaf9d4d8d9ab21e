//! The articles of cells: the state, the facts of the receipt, the value and the request.

use std::time::SystemTime;

use maud::{Markup, html};

use super::collect::{ReportedFlow, ReportedRequest};
use super::edits::{EditPiece, edit};
use super::markup::{block, line, plain};
use crate::context::Part;
use crate::history::{Attachment, Value};
use crate::model::cache::{AuditedCall, StablePrefix};
use crate::model::usage::{Grouped, Price, Receipt, UnixTime, grouped};
use crate::run::{CellState, Error};
use crate::schedule::Cell;

/// The cells that a budget leaves out and that are named.
const NAMED: usize = 20;

/// The length of a text that is not folded, in bytes.
const UNFOLDED: usize = 2000;

/// The words for a part that continues the message of the part before.
const JOINED: &str = ", after an empty line";

/// Dates of HTTP have years of four digits.
const YEAR_10000: u64 = 253_402_300_800_000;

/// The articles of a column, by step. The request before is held meanwhile, because an edit shares nothing with older ones.
pub(super) fn articles(flow: &ReportedFlow<'_>, column: usize) -> Vec<Markup> {
    let mut before = flow.request_before(column);
    let mut articles = Vec::new();
    for step in flow.shown.clone() {
        let cell = Cell { column, step };
        let state = flow.state(cell);
        let request = flow.request(cell, &state);
        articles.push(article(flow, cell, &state, request.as_ref(), before.as_ref()));
        before = request.and_then(Result::ok).or(before);
    }
    articles
}

fn article(
    flow: &ReportedFlow<'_>,
    cell: Cell,
    state: &CellState,
    request: Option<&Result<ReportedRequest, Error>>,
    before: Option<&ReportedRequest>,
) -> Markup {
    let receipt = flow.receipt(cell);
    html! {
        article aria-labelledby=(id(cell)) {
            h3 id=(id(cell)) { (name(flow, cell)) }
            @match state {
                CellState::Stored(value) => (reply(value)),
                CellState::Skipped(Some(reason)) => p { "Skipped: " (line(reason)) "." },
                CellState::Skipped(None) => p { "Skipped." },
                CellState::Waiting => p { "Waiting: the cell has no value yet." },
                CellState::NotLoaded => p { "Not in memory: the value is stored." },
            }
            @if let Some(receipt) = &receipt { (facts(receipt)) }
            @match request {
                Some(Ok(request)) => (sent(flow, cell, request, before)),
                Some(Err(error)) => p { "No request is shown: " (line(error)) "." },
                None => {},
            }
            @if let Some(call) = flow.audited(cell) { (audited(call)) }
        }
    }
}

/// The name by which links find the article of a cell.
pub(super) fn id(Cell { column, step }: Cell) -> String {
    format!("c{step}-{column}")
}

fn name(flow: &ReportedFlow<'_>, cell: Cell) -> Markup {
    html! { @if let Some(column) = flow.column(cell.column) { (column.name.as_str()) " " } (cell.step) }
}

/// The name of a cell, with a link if the page has the article.
fn link(flow: &ReportedFlow<'_>, cell: Cell) -> Markup {
    let name = name(flow, cell);
    html! { @if flow.shown.contains(&cell.step) { a href={ "#" (id(cell)) } { (name) } } @else { (name) } }
}

fn reply(value: &Value) -> Markup {
    html! {
        h4 { "Value" }
        (block(value.as_str()))
        (attachments(value.attachments()))
    }
}

fn attachments(attachments: &[Attachment]) -> Markup {
    html! {
        @for file in attachments {
            p { "Attachment: " (file.media_type()) ", " (grouped(file.len())) " bytes, SHA-256 " code { (file.digest()) }
                @if let Some(alt) = file.alt_text() { ", instead: " (line(alt)) }
            }
        }
    }
}

fn facts(receipt: &Receipt) -> Markup {
    let usage = receipt.usage;
    let model = receipt.model.as_deref();
    let cost = model.and_then(Price::by_model).map(|price| price.cost(&usage));
    let figures = [
        ("Calls", receipt.calls.into()),
        ("Calls without reported usage", receipt.unreported.into()),
        ("Attempts", receipt.attempts.into()),
        ("Tokens in", usage.input),
        ("of these read from the cache", usage.cache_read),
        ("of these written to the cache", usage.cache_write),
        ("of these kept for long", usage.cache_write_long),
        ("Tokens out", usage.output),
    ];
    // A call has these figures also where they are zero.
    let usual = ["Calls", "Tokens in", "Tokens out"];
    html! {
        h4 { "Receipt" }
        dl {
            @if let Some(model) = model { (fact("Model", &line(model))) }
            @for (name, figure) in figures {
                @if figure > 0 || usual.contains(&name) { (fact(name, &plain(Grouped(figure)))) }
            }
            (fact("Cost", &cost.map_or_else(|| plain("no price is known"), plain)))
            (fact("Time", &plain(format_args!("{} ms", Grouped(receipt.ms)))))
            @if let Some(at) = receipt.at { (fact("Last call at", &date(at))) }
            @if let Some(finish) = &receipt.finish { (fact("Finish", &line(finish))) }
            @if let Some(diagnosis) = &receipt.diagnosis { (fact("Cache, by the provider", &line(diagnosis))) }
            @if let Some(id) = &receipt.id { (fact("Reply", &line(id))) }
        }
        @if let Some(thoughts) = &receipt.thoughts { details { summary { "Thoughts" } (block(thoughts)) } }
    }
}

fn fact(name: &str, value: &Markup) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

fn date(at: UnixTime) -> Markup {
    match at.as_millis() {
        ms @ YEAR_10000.. => plain(format_args!("{ms} ms since 1970")),
        _ => plain(httpdate::fmt_http_date(SystemTime::from(at))),
    }
}

fn sent(
    flow: &ReportedFlow<'_>,
    cell: Cell,
    request: &ReportedRequest,
    before: Option<&ReportedRequest>,
) -> Markup {
    let ReportedRequest { messages, system, .. } = request;
    let earlier = before.map(|before| Cell { step: before.step, ..cell });
    let is_same = before.is_some_and(|before| before.system == *system);
    let mut next = 1;
    let pieces = edit(before.map(|before| &before.messages), messages).into_iter().map(|piece| {
        let first = next;
        next += piece.len();
        (first, piece)
    });
    html! {
        h4 { "Request" }
        p { "About " (grouped(messages.tokens())) " tokens of messages, and " (grouped(messages.system_tokens())) " of the system text." }
        @match earlier {
            _ if system.is_empty() => {},
            Some(earlier) if is_same => p { "The system text is the one of " (link(flow, earlier)) "." },
            _ => (folded(&plain("System text"), system)),
        }
        ol {
            @for (first, piece) in pieces {
                li value=(first) class=@match piece { EditPiece::Kept { .. } => "kept", EditPiece::New(_) => "new" } {
                    @match (&piece, earlier) {
                        (EditPiece::New(part), _) => (new_part(flow, part)),
                        (EditPiece::Kept { parts, tokens }, Some(earlier)) => {
                            "Repeats " (numbers(parts.start + 1, parts.end)) " of " (link(flow, earlier)) ", " (grouped(*tokens)) " tokens"
                        },
                        (EditPiece::Kept { .. }, None) => {},
                    }
                }
            }
        }
        (cut(request))
        p { "Cache: " (line(StablePrefix::of(messages))) "." }
    }
}

fn numbers(first: usize, last: usize) -> String {
    if first == last { format!("part {first}") } else { format!("parts {first} to {last}") }
}

fn new_part(flow: &ReportedFlow<'_>, part: &Part<'_>) -> Markup {
    let origin = part.origin();
    let cell = origin.and_then(|origin| Some(Cell { column: flow.find(origin.column)?, step: origin.step }));
    let kind = match (origin, part.hidden()) {
        (Some(origin), _) => origin.to_string(),
        (None, Some(hidden)) => format!("marker of {} hidden values of {}", hidden.values, hidden.column),
        _ if part.is_instruction() => "instruction".to_owned(),
        _ if part.tier().is_some() => "documents".to_owned(),
        _ => "marker".to_owned(),
    };
    let tier = part.tier().map_or_else(String::new, |tier| format!(", tier {tier}"));
    // Words tell the line break in front of a part that continues a message: two empty lines look like a mistake.
    let [separator, ..] = part.delimiters();
    let joined = if separator.is_empty() { "" } else { JOINED };
    let head = html! { b { (kind) } ", " (part.role().as_str()) ", " (grouped(part.tokens())) " tokens" (tier) (joined) };
    let text = part.text();
    html! {
        (folded(&head, text.strip_prefix(separator).unwrap_or(&text)))
        (attachments(part.attachments()))
        @if let Some(cell) = cell { p { "Value of " (link(flow, cell)) } }
    }
}

/// A text below a line, unfolded unless it is long.
fn folded(head: &Markup, text: &str) -> Markup {
    html! { details open[text.len() <= UNFOLDED] { summary { (head) } (block(text)) } }
}

/// The cells that a budget left out of a request.
fn cut(request: &ReportedRequest) -> Markup {
    let left_out: Vec<String> = request.messages.elided().map(|origin| origin.to_string()).collect();
    html! {
        @if let Some(report) = request.messages.report() {
            p { "Budget: " (line(report)) "."
                @if !left_out.is_empty() {
                    " Left out: " (left_out.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", "))
                    @if left_out.len() > NAMED { " and " (left_out.len() - NAMED) " more cells" } "."
                }
            }
        }
    }
}

fn audited(call: &AuditedCall) -> Markup {
    html! {
        p { "Audit: " (Grouped(call.promised).to_string()) " tokens should have been read from the cache, and "
            (Grouped(call.read()).to_string()) " were"
            @if let Some(cause) = &call.cause { ": " (line(cause)) } "."
        }
    }
}
