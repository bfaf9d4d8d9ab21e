//! The page around the cells: head, columns, steps, bills, and the audit of caches.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::blocks::CellBlocks;
use super::cells::{article, id};
use super::collect::ReportedFlow;
use super::markup::{SCRIPT, count, excerpt, head, line, plain, table};
use super::{plots, timeline};
use crate::declare::ColumnOutline;
use crate::model::cache::AuditedCall;
use crate::model::usage::{Dollars, Grouped, Total};
use crate::run::CellState;
use crate::schedule::Cell;

/// The sections with the names that links have.
const SECTIONS: [(&str, &str); 5] = [
    ("columns", "Columns"),
    ("steps", "Steps"),
    ("bills", "Bills"),
    ("cache", "Cache"),
    ("timeline", "Timeline"),
];

pub(super) fn page(flow: &ReportedFlow<'_>) -> Markup {
    let title = format!(
        "A flow of {} and {}",
        count(flow.steps, "step"),
        count(flow.outline.columns.len(), "column")
    );
    let mut blocks = CellBlocks::default();
    let contents =
        [columns(flow), steps(flow, &mut blocks), bills(flow), cache(flow), timeline::section(flow)];
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&title, SCRIPT, "img-src data:"))
            body {
                header {
                    h1 { (title) }
                    p { (plain(flow.bill.total())) }
                    @for note in notes(flow) { p { (note) } }
                    nav aria-label="Parts of the page" {
                        @for (id, name) in SECTIONS { a href={ "#" (id) } { (name) } " " }
                    }
                }
                main {
                    @for ((id, name), content) in SECTIONS.iter().zip(&contents) {
                        section aria-labelledby=(id) { h2 id=(id) { (name) } (content) }
                    }
                }
                (blocks.markup(flow))
                script { (SCRIPT) }
            }
        }
    }
}

/// The notes about cells that the page lacks.
fn notes(flow: &ReportedFlow<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if flow.first_request > 0 {
        notes.push(format!("The requests before step {} are not in this page.", flow.first_request));
    }
    if flow.bill.not_loaded() > 0 {
        let cells = count(flow.bill.not_loaded(), "cell");
        notes.push(format!("Not in memory, and not in the bills: {cells}. The program can load them first."));
    }
    notes
}

fn columns(flow: &ReportedFlow<'_>) -> Markup {
    let rows = flow.outline.columns.iter().zip(&flow.views);
    let rows = rows.map(|(column, views)| {
        let ColumnOutline { name, level, pattern, growth, repeats, shares, is_documents, .. } = column;
        let pattern = match pattern {
            Some(pattern) => pattern.to_string(),
            None if *is_documents => "source of documents".to_owned(),
            None => "source".to_owned(),
        };
        let is_source = column.pattern.is_none();
        vec![
            html! { span id=(anchor(column)) { (name) } },
            plain(pattern),
            plain(level),
            html! { @for (at, view) in views.iter().enumerate() { @if at > 0 { ", " } code { (view) } } },
            html! { @if !is_source { (plain(growth)) } },
            html! { @if !is_source { (plain(repeats)) @for shared in shares { ", " (plain(shared)) } } },
        ]
    });
    let drawing = flow.outline.linked_svg(|column| format!("#{}", anchor(column)));
    html! {
        figure {
            div.scroll role="region" tabindex="0" aria-label="Graph of the columns" { (PreEscaped(drawing)) }
            figcaption { (flow.outline.legend()) }
        }
        (table("Columns by name", &["Column", "Pattern", "Level", "Reads", "Context", "Next request"], rows))
    }
}

/// The id of the row of a column.
pub(super) fn anchor(column: &ColumnOutline) -> String {
    format!("col-{}", column.name)
}

/// The last steps without a script, which replaces them by all steps; fills the blocks for it.
fn steps(flow: &ReportedFlow<'_>, blocks: &mut CellBlocks) -> Markup {
    let columns = 0..flow.outline.columns.len();
    let names = flow.outline.columns.iter().map(|column| column.name.as_str());
    let head: Vec<&str> = ["Step"].into_iter().chain(names).collect();
    let rows = flow.shown.clone().map(|step| {
        let cells = columns.clone().map(|column| {
            let cell = Cell { column, step };
            html! { a href={ "#" (id(cell)) } { (state(&flow.state(cell))) } }
        });
        [plain(step)].into_iter().chain(cells).collect()
    });
    let articles = columns.clone().map(|column| {
        let mut articles = Vec::new();
        flow.visit(column, |cell| {
            blocks.push(flow, cell);
            articles.extend(flow.shown.contains(&cell.cell.step).then(|| article(flow, cell)));
        });
        articles.into_iter()
    });
    let mut articles: Vec<_> = articles.collect();
    html! {
        div id="static" {
            @if flow.shown.start > 0 { p { "Without a script, the page has the steps from " (flow.shown.start) " on." } }
            (table("Values by step and column", &head, rows))
            @for step in flow.shown.clone() {
                details open[step + 1 == flow.shown.end] {
                    summary { "Step " (step) }
                    @for article in articles.iter_mut().filter_map(Iterator::next) { (article) }
                }
            }
        }
    }
}

/// The state of a cell in the table.
fn state(state: &CellState) -> Markup {
    match state {
        CellState::Stored(value) => html! { bdi { (excerpt(value.as_str())) } },
        CellState::Skipped(_) => html! { i { "skipped" } },
        CellState::Waiting => html! { i { "waiting" } },
        CellState::Pending => html! { i { "pending" } },
        CellState::NotLoaded => html! { i { "not in memory" } },
    }
}

const TOTALS: [&str; 7] =
    ["Calls", "Tokens in", "Read from the cache", "Written to the cache", "Tokens out", "Cost", "Time"];

fn bills(flow: &ReportedFlow<'_>) -> Markup {
    let columns = flow.outline.columns.iter().filter(|column| column.pattern.is_some());
    let mut rows: Vec<_> =
        columns.map(|column| total(&column.name, &flow.bill.column(&column.name))).collect();
    rows.push(total("all", &flow.bill.total()));
    let steps = flow.shown.clone().map(|step| total(&step.to_string(), &flow.bill.step(step)));
    let [by_column, by_step] = ["Column", "Step"].map(|first| [&[first], &TOTALS[..]].concat());
    html! {
        (plots::by_column(flow))
        (table("Cost by column", &by_column, rows))
        (plots::by_step(flow))
        (table("Cost by step", &by_step, steps))
    }
}

fn total(name: &str, total: &Total) -> Vec<Markup> {
    let Total { calls, unpriced, unreported, usage, cost, ms, .. } = *total;
    // If no call has a price, an amount of zero would look like the cost.
    let cost = match unpriced + unreported {
        0 => cost.to_string(),
        _ if unpriced >= calls => "no price".to_owned(),
        _ => format!("at least {cost}"),
    };
    let counts = [calls, usage.input, usage.cache_read, usage.cache_write, usage.output];
    let counts = counts.map(|figure| plain(Grouped(figure)));
    let rest = [plain(cost), plain(format_args!("{} ms", Grouped(ms)))];
    [plain(name)].into_iter().chain(counts).chain(rest).collect()
}

fn cache(flow: &ReportedFlow<'_>) -> Markup {
    let Some(audit) = &flow.audit else {
        return html! { p { "The flow is too long for an audit in a page; the method audit of the flow makes it." } };
    };
    let total = audit.total();
    let missed: Vec<_> = audit.calls.iter().filter(|call| call.missed() > 0).map(missed).collect();
    let is_none = missed.is_empty();
    html! {
        p { "Of " (plain(Grouped(total.input))) " input tokens in " (count(total.calls, "call")) ", the caches of providers should have served "
            (plain(Grouped(total.promised))) ", and served " (plain(Grouped(total.read))) "."
            @if total.cost > Dollars::ZERO { " The difference cost " (plain(total.cost)) "." }
            @if audit.not_audited > 0 { " Not audited: " (count(audit.not_audited, "call")) "." }
        }
        @if is_none { p { "No call read much less than it should have." } }
        @else { (table("Calls that read less than they should have", &["Call", "Input", "Promised", "Read", "Missed", "Cost", "Reason"], missed)) }
    }
}

fn missed(call: &AuditedCall) -> Vec<Markup> {
    let counts = [call.receipt.usage.input, call.promised, call.read(), call.missed()];
    let counts = counts.map(|figure| plain(Grouped(figure)));
    let cost = call.cost().map_or_else(|| plain("no price"), plain);
    let cause = html! { @if let Some(cause) = &call.cause { (line(cause)) } };
    let name = plain(format_args!("{} {}", call.column, call.step));
    [name].into_iter().chain(counts).chain([cost, cause]).collect()
}
