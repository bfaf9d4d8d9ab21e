//! A page that follows a flow while it is computed, and the events that a server sends to it.
//!
//! A server of any kind has two addresses for it: the page, and beside it `events`, where the page connects for
//! [server-sent events](https://developer.mozilla.org/docs/Web/API/Server-sent_events). The ID of an event is the
//! [`Position`](crate::service::Position) after it, so a page that has lost its connection continues. The page has the texts of
//! the conversation, and asks nobody but its own server for anything.
//!
//! ```text
//! GET …/live     [page]
//! GET …/events   id: 3,topics:2                the position, from `Last-Event-ID` or `?from=` on
//!                data: {"type":"value",…}      [event]
//! ```
//!
//! `columnar serve` and the example `server` are such servers.

use std::fmt;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::{Value as Json, json};

use super::markup::{head, number};
use super::page::anchor;
use super::words::{FACTS, facts};
use crate::declare::Outline;
use crate::declare::default_limits::FOLLOWED_STEPS;
use crate::flow::LiveFlow;
use crate::model::usage::{Receipt, Total};
use crate::run::{Event, PendingCell};

/// The last steps of the flow with which the page begins.
pub const STEPS: usize = FOLLOWED_STEPS;

const TITLE: &str = "A flow as it is computed";

const SCRIPT: PreEscaped<&str> = PreEscaped(include_str!("live.js"));

/// The page of a flow, with the [last steps](crate::guide::limits) and all that come: the columns as they stream, the cells
/// that wait, the progress with cells and rows a second, the cost, and failures with their reasons.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::report::live;
///
/// # fn main() -> Result<()> {
/// let f = flow([column("topics", source("user").latest(), prompt("List the topics."))])?;
/// let page = live::page(&f);
/// assert!(page.contains("topics"));
/// # Ok(()) }
/// ```
pub fn page<C, I>(flow: &LiveFlow<'_, C, I>) -> String {
    page_of(flow, false)
}

/// The same page for people who answer the cells of [external](crate::external) columns. A pending cell is a form with the
/// proposal, and its answer is sent to `answers/COLUMN/STEP` beside the page, as the body of a POST. The server gives it to
/// [`answer`](crate::flow::LiveFlow::answer); a refusal has the status of an error and the JSON `{"error": "…"}`.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::report::live;
///
/// # fn main() -> Result<()> {
/// let f = flow([column("reply", source("ticket").latest(), external())])?;
/// assert!(live::answer_page(&f).contains("\"takesAnswers\":true"));
/// # Ok(()) }
/// ```
pub fn answer_page<C, I>(flow: &LiveFlow<'_, C, I>) -> String {
    page_of(flow, true)
}

fn page_of<C, I>(flow: &LiveFlow<'_, C, I>, takes_answers: bool) -> String {
    let (_, steps) = flow.shared.rows();
    let outline = flow.shared.outline();
    let first = steps.saturating_sub(STEPS);
    let bill = flow.bill();
    let before: Total =
        bill.receipts().filter(|(_, step, _)| *step < first).map(|(.., receipt)| receipt).collect();
    let sources: Vec<bool> = outline.columns.iter().map(|column| column.pattern.is_none()).collect();
    let start = json!({
        "columns": outline.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(),
        "sources": sources,
        "first": first,
        "dollars": number(before.cost),
        "isWhole": bill.not_loaded() == 0,
        "takesAnswers": takes_answers,
    });
    document(&start, &outline).into_string()
}

fn document(start: &Json, outline: &Outline) -> Markup {
    let drawing = PreEscaped(outline.linked_svg(|column| format!("#{}", anchor(column))));
    // No text of a conversation is in it, and the name of a column ends no element.
    let start = PreEscaped(start.to_string());
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(TITLE, SCRIPT, "connect-src 'self'"))
            body.live {
                header {
                    h1 { (TITLE) }
                    p id="connection" role="status" { "Connecting …" }
                    noscript { p { "This page needs its script. The report has the same values without one." } }
                    progress id="progress" aria-label="Cells that are done" max="1" value="0" {}
                    dl id="facts" {}
                }
                main {
                    figure {
                        div.scroll role="region" tabindex="0" aria-label="Graph of the columns" { (drawing) }
                    }
                    section aria-labelledby="failures" hidden {
                        h2 id="failures" { "Failures" }
                        ul id="failed" {}
                    }
                    h2 id="steps" { "Steps" }
                    div.scroll role="region" tabindex="0" aria-labelledby="steps" {
                        table {
                            thead { tr { th scope="col" { "Step" } @for column in &outline.columns { th scope="col" id=(anchor(column)) { (column.name) } } } }
                            tbody id="rows" {}
                        }
                    }
                }
                script id="start" type="application/json" { (start) }
                script { (SCRIPT) }
            }
        }
    }
}

/// The data of a server-sent event for the page: the [event](Event) as JSON and, if there is a receipt, what the calls of the
/// cell cost and took.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::report::live;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let topics = prompt("List the topics.").model("offline");
/// let f = flow([column("topics", source("user").latest(), topics)])?;
/// f.push("user", "Hello").await?;
/// let mut run = f.run();
/// while let Some(event) = run.try_next().await? {
///     let receipt = f.try_receipt(event.column(), event.step())?;
///     println!("data: {}\n", live::event(&event, receipt.as_deref()));
/// }
/// # Ok(()) }
/// ```
pub fn event<C: fmt::Display>(event: &Event<C>, receipt: Option<&Receipt>) -> String {
    let mut json = serde_json::to_value(event).unwrap_or_default();
    if let (Json::Object(fields), Some(receipt)) = (&mut json, receipt) {
        let total: Total = [receipt].into_iter().collect();
        fields.insert("dollars".to_owned(), number(total.cost).into());
        let facts = FACTS.iter().zip(facts(receipt)).filter_map(|(name, fact)| Some(json!([name, fact?])));
        fields.insert("facts".to_owned(), facts.collect());
    }
    json.to_string()
}

/// The data of the event of a cell that begins to wait for an answer: as [`event`], with the proposal for the form.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::report::live;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let f = flow([column("reply", source("ticket").latest(), external().default(|_| "We look into it."))])?;
/// f.push("ticket", "Hello").await?;
/// let data = live::pending(&f.pending()?[0]);
/// assert_eq!(data, r#"{"type":"pending","column":"reply","step":0,"proposal":"We look into it."}"#);
/// # Ok(()) }
/// ```
pub fn pending(cell: &PendingCell) -> String {
    let PendingCell { column, step, proposal, .. } = cell;
    let proposal = proposal.as_deref();
    json!({ "type": "pending", "column": column, "step": step, "proposal": proposal }).to_string()
}
