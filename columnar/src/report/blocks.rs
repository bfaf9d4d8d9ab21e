//! The cells as JSON for the script of the page, in blocks of one column, which a browser reads as they come into view. A
//! value is in the page once: the part of a request that shows a value names the cell.

use std::collections::HashMap;

use maud::{Markup, PreEscaped, html};
use serde_json::{Value as Json, json};

use super::cells::picture;
use super::collect::{ReportedCell, ReportedFlow, ReportedRequest};
use super::edits::EditPiece;
use super::markup::number;
use super::words::{self, FACTS};
use crate::context::Part;
use crate::history::Attachment;
use crate::model::cache::Lifetime;
use crate::model::usage::{Dollars, Price, Receipt, object};
use crate::run::CellState;

/// The steps of a block.
const BLOCK: usize = 500;

#[derive(Default)]
pub(super) struct CellBlocks {
    blocks: Vec<CellBlock>,
    /// The texts that are not the value of a cell, each once, with its number.
    texts: Vec<Json>,
    numbers: HashMap<String, usize>,
}

/// Cells of a column that follow each other.
struct CellBlock {
    id: String,
    cells: String,
}

impl CellBlocks {
    /// Appends a cell. Cells come column by column, and step by step.
    pub(super) fn push(&mut self, flow: &ReportedFlow<'_>, cell: &ReportedCell<'_>) {
        let text = if let CellState::Stored(value) = &cell.state { Some(value) } else { None };
        let files = text.map_or(&[][..], |value| value.attachments());
        let receipt = cell.receipt.as_deref();
        let (request, error) = match &cell.request {
            Some(Ok(request)) => (Some(self.request(flow, request)), None),
            Some(Err(error)) => (None, Some(format!("No request is shown: {}.", words::shown(error)))),
            None => (None, None),
        };
        let json = object([
            ("text", text.map(|value| value.as_str().into())),
            ("without", words::without_value(&cell.state).map(Json::from)),
            ("files", some(files.iter().map(file).collect())),
            ("facts", receipt.map(|receipt| words::facts(receipt).into_iter().collect())),
            ("thoughts", receipt.and_then(|receipt| Some(receipt.thoughts.as_deref()?.into()))),
            ("billed", receipt.map(billed)),
            ("request", request),
            ("error", error.map(Json::from)),
            ("audit", cell.audited.map(|call| words::audited(call).into())),
        ]);
        if cell.cell.step.is_multiple_of(BLOCK) {
            let id = format!("b{}-{}", cell.cell.column, cell.cell.step / BLOCK);
            self.blocks.push(CellBlock { id, cells: String::new() });
        }
        if let Some(CellBlock { cells, .. }) = self.blocks.last_mut() {
            if !cells.is_empty() {
                cells.push(',');
            }
            cells.push_str(&json.to_string());
        }
    }

    fn request(&mut self, flow: &ReportedFlow<'_>, request: &ReportedRequest<'_>) -> Json {
        let ReportedRequest { sent, pieces, stable, .. } = request;
        let pieces = pieces.iter().map(|piece| match piece {
            EditPiece::Kept { parts, .. } => json!([parts.start, parts.len()]),
            EditPiece::New(part) => self.part(flow, part),
        });
        let pieces: Json = pieces.collect();
        object([
            ("system", Some(self.text(&sent.system).into())),
            ("system_tokens", Some(sent.messages.system_tokens().into())),
            ("pieces", Some(pieces)),
            ("cut", words::cut(&sent.messages).map(Json::from)),
            ("stable", Some(stable.tokens.into())),
            ("cache", Some(words::shown(stable).into())),
        ])
    }

    fn part(&mut self, flow: &ReportedFlow<'_>, part: &Part<'_>) -> Json {
        let cell = words::cell_of(flow, part);
        let [separator, opening, value, closing] = part.chunks();
        let stored = cell.and_then(|cell| flow.state(cell).into_value());
        let is_stored = stored.is_some_and(|stored| stored.as_str() == value);
        let around = [opening, closing].map(|text| self.text(text));
        object([
            ("of", cell.map(|cell| json!([cell.column, cell.step]))),
            ("kind", cell.is_none().then(|| words::kind(part).into())),
            ("role", Some(part.role().as_str().into())),
            ("tokens", Some(part.tokens().into())),
            ("tier", part.tier().map(|tier| tier.to_string().into())),
            ("separator", (!separator.is_empty()).then(|| self.text(separator).into())),
            ("around", (opening.len() + closing.len() > 0).then(|| json!(around))),
            ("text", (!is_stored).then(|| self.text(value).into())),
            ("files", some(part.attachments().iter().map(|file| words::attachment(file).into()).collect())),
        ])
    }

    /// The number of a text.
    fn text(&mut self, text: &str) -> usize {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        self.texts.push(text.into());
        self.numbers.insert(text.to_owned(), self.texts.len() - 1);
        self.texts.len() - 1
    }

    pub(super) fn markup(self, flow: &ReportedFlow<'_>) -> Markup {
        let names = flow.outline.columns.iter().map(|column| column.name.as_str());
        let index = json!({
            "columns": names.collect::<Vec<_>>(),
            "steps": flow.steps,
            "block": BLOCK,
            "firstRequest": flow.first_request,
            "facts": FACTS,
        });
        html! {
            (data("index", &index.to_string()))
            (data("texts", &Json::from(self.texts).to_string()))
            @for CellBlock { id, cells } in self.blocks { (data(&id, &format!("[{cells}]"))) }
        }
    }
}

/// The array, unless it is empty.
fn some(array: Vec<Json>) -> Option<Json> {
    (!array.is_empty()).then(|| array.into())
}

fn file(file: &Attachment) -> Json {
    let alt = words::shown(file.alt_text().unwrap_or_default());
    object([
        ("about", Some(words::attachment(file).into())),
        ("picture", picture(file).map(Json::from)),
        ("alt", Some(alt.into())),
    ])
}

/// The tokens that a call was billed for, and the dollars for a million of them: read from the cache, written to it, others.
fn billed(Receipt { model, usage, .. }: &Receipt) -> Json {
    let price = model.as_deref().and_then(Price::by_model).map(|price| price.for_call(usage));
    let lifetime = if usage.cache_write_long > 0 { Lifetime::Long } else { Lifetime::Short };
    let rates = price.map(|price| {
        [price.cache_read(), price.cache_write(lifetime).unwrap_or(Dollars::ZERO), price.input()].map(number)
    });
    object([
        ("input", Some(usage.input.into())),
        ("read", Some(usage.cache_read.into())),
        ("written", Some(usage.cache_write.into())),
        ("rates", rates.map(|rates| json!(rates))),
    ])
}

/// JSON in an element whose text is not parsed as markup. No text ends the element or begins a comment in it.
fn data(id: &str, json: &str) -> Markup {
    html! { script type="application/json" id=(id) { (PreEscaped(json.replace('<', "\\u003c"))) } }
}
