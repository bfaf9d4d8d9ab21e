//! The articles of cells, which need no script: the state, the facts of the receipt, the value and the request.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};

use super::collect::{ReportedCell, ReportedFlow, ReportedRequest};
use super::edits::EditPiece;
use super::markup::{block, line, plain};
use super::words::{self, FACTS};
use crate::context::Part;
use crate::history::{Attachment, Value};
use crate::model::usage::{Receipt, grouped};
use crate::run::CellState;
use crate::schedule::Cell;

/// The length of a text that is not folded, in bytes.
const UNFOLDED: usize = 2000;

/// The words for a part that continues the message of the part before.
const JOINED: &str = ", after an empty line";

/// The pictures that a browser shows and that can run nothing.
const PICTURES: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/webp"];

/// The largest picture in a page, in bytes.
const LARGEST_PICTURE: usize = 256 << 10;

pub(super) fn article(flow: &ReportedFlow<'_>, cell: &ReportedCell<'_>) -> Markup {
    let id = id(cell.cell);
    html! {
        article aria-labelledby=(id) {
            h3 id=(id) { (name(flow, cell.cell)) }
            @if let CellState::Stored(value) = &cell.state { (reply(value)) }
            @if let Some(words) = words::without_value(&cell.state) { p { (words) } }
            @if let Some(receipt) = &cell.receipt { (facts(receipt)) }
            @match &cell.request {
                Some(Ok(request)) => (sent(flow, cell.cell, request)),
                Some(Err(error)) => p { "No request is shown: " (line(error)) "." },
                None => {},
            }
            @if let Some(call) = cell.audited { p { (words::audited(call)) } }
        }
    }
}

/// The name by which links find a cell.
pub(super) fn id(Cell { column, step }: Cell) -> String {
    format!("c{step}-{column}")
}

pub(super) fn name(flow: &ReportedFlow<'_>, cell: Cell) -> Markup {
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
        @for file in value.attachments() {
            p { (words::attachment(file)) }
            @if let Some(source) = picture(file) { img src=(source) alt=(words::shown(file.alt_text().unwrap_or_default())); }
        }
    }
}

/// The address of a picture that is in the page itself.
pub(super) fn picture(file: &Attachment) -> Option<String> {
    let is_shown = PICTURES.contains(&file.media_type()) && file.len() <= LARGEST_PICTURE;
    is_shown.then(|| format!("data:{};base64,{}", file.media_type(), STANDARD.encode(file.bytes())))
}

fn facts(receipt: &Receipt) -> Markup {
    html! {
        h4 { "Receipt" }
        dl {
            @for (name, fact) in FACTS.iter().zip(words::facts(receipt)) {
                @if let Some(fact) = fact { div { dt { (name) } dd { bdi { (fact) } } } }
            }
        }
        @if let Some(thoughts) = &receipt.thoughts { details { summary { "Thoughts" } (block(thoughts)) } }
    }
}

fn sent(flow: &ReportedFlow<'_>, cell: Cell, request: &ReportedRequest<'_>) -> Markup {
    let ReportedRequest { sent, before, pieces, stable } = request;
    let earlier = before.map(|before| Cell { step: before.step, ..cell });
    let is_same = before.is_some_and(|before| before.system == sent.system);
    let mut next = 1;
    let pieces = pieces.iter().map(|piece| {
        let first = next;
        next += piece.len();
        (first, piece)
    });
    html! {
        h4 { "Request" }
        p { (words::size(&sent.messages)) }
        @match earlier {
            _ if sent.system.is_empty() => {},
            Some(earlier) if is_same => p { "The system text is the one of " (link(flow, earlier)) "." },
            _ => (folded(&plain("System text"), &sent.system)),
        }
        ol {
            @for (first, piece) in pieces {
                @match (piece, earlier) {
                    (EditPiece::New(part), _) => li value=(first) class={ "new " (colour(words::cell_of(flow, part))) } { (new_part(flow, part)) },
                    (EditPiece::Kept { parts, tokens }, Some(earlier)) => li value=(first) class="kept" {
                        "Repeats " (numbers(parts.start + 1, parts.end)) " of " (link(flow, earlier)) ", " (grouped(*tokens)) " tokens"
                    },
                    (EditPiece::Kept { .. }, None) => {},
                }
            }
        }
        @if let Some(cut) = words::cut(&sent.messages) { p { (cut) } }
        p { "Cache: " (line(stable)) "." }
    }
}

/// The class of what comes from a column.
pub(super) fn colour(cell: Option<Cell>) -> String {
    cell.map_or_else(String::new, |cell| format!("o{}", cell.column % 8))
}

fn numbers(first: usize, last: usize) -> String {
    if first == last { format!("part {first}") } else { format!("parts {first} to {last}") }
}

fn new_part(flow: &ReportedFlow<'_>, part: &Part<'_>) -> Markup {
    let tier = part.tier().map_or_else(String::new, |tier| format!(", tier {tier}"));
    // Words tell the line break in front of a part that continues a message: two empty lines look like a mistake.
    let [separator, ..] = part.chunks();
    let joined = if separator.is_empty() { "" } else { JOINED };
    let head = html! {
        b { (words::kind(part)) } ", " (part.role().as_str()) ", " (grouped(part.tokens())) " tokens" (tier) (joined)
    };
    let text = part.text();
    html! {
        (folded(&head, text.strip_prefix(separator).unwrap_or(&text)))
        @for file in part.attachments() { p { (words::attachment(file)) } }
        @if let Some(cell) = words::cell_of(flow, part) { p { "Value of " (link(flow, cell)) } }
    }
}

/// A text below a line, unfolded unless it is long.
fn folded(head: &Markup, text: &str) -> Markup {
    html! { details open[text.len() <= UNFOLDED] { summary { (head) } (block(text)) } }
}
