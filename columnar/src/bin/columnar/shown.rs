//! The verbs that print flows: keys, tables, values, bills, contexts.

use columnar::usage::Total;
use columnar::{BoxError, CellState, Flow, Value};

use crate::output::Output;
use crate::place::{Selection, StorePlace};

pub(crate) async fn list(place: &StorePlace, long: bool, output: &mut Output) -> Result<(), BoxError> {
    for key in place.keys().await? {
        let name = if key.is_empty() { "(the flow of this folder)" } else { &key };
        if !long {
            output.line(name)?;
            continue;
        }
        match Flow::open_stored(place.store(&key)).await {
            Ok(flow) => output.line(format_args!("{name}: {}, {}", flow.progress(), flow.bill().total()))?,
            // The others can be read.
            Err(error) => output.line(format_args!("{name}: {error}"))?,
        }
    }
    Ok(())
}

/// A table, the values of a column, or one value.
pub(crate) async fn show(
    selection: &Selection,
    last: Option<usize>,
    output: &mut Output,
) -> Result<(), BoxError> {
    let Some(column) = &selection.column else {
        let flow = match last {
            Some(steps) => selection.open_last(steps).await?,
            None => selection.open().await?,
        };
        return Ok(output.line(flow.table().steps(first_step(&flow, last)?..))?);
    };
    // Values are read one after another, and not kept.
    let flow = selection.open_last(0).await?;
    if let Some(step) = selection.step {
        return match value(&flow, column, step).await? {
            Ok(value) => Ok(output.text(&value)?),
            Err(word) => Err(format!("`{column}` at step {step} has no value: it is {word}").into()),
        };
    }
    for step in first_step(&flow, last)?..flow.len(column)? {
        match value(&flow, column, step).await? {
            Ok(value) => output.line(format_args!("── {column} {step}\n{value}"))?,
            Err(word) => output.line(format_args!("── {column} {step}: {word}"))?,
        }
    }
    Ok(())
}

/// The first of the last steps.
fn first_step(flow: &Flow, last: Option<usize>) -> Result<usize, BoxError> {
    let steps = flow.order().iter().map(|column| flow.len(column)).collect::<Result<Vec<_>, _>>()?;
    Ok(last.map_or(0, |last| steps.into_iter().max().unwrap_or(0).saturating_sub(last)))
}

/// The value of a cell, or the word for a cell without one.
async fn value(flow: &Flow, column: &str, step: usize) -> Result<Result<Value, String>, BoxError> {
    if let Some(value) = flow.value(column, step).await? {
        return Ok(Ok(value));
    }
    // The reason is loaded with the later cells.
    flow.load(step).await?;
    Ok(Err(match flow.cell(column, step)? {
        CellState::Skipped(Some(reason)) => format!("skipped: {reason}"),
        CellState::Skipped(None) => "skipped".to_owned(),
        _ => "not computed".to_owned(),
    }))
}

pub(crate) async fn bill(selection: &Selection, output: &mut Output) -> Result<(), BoxError> {
    Ok(output.line(selection.whole()?.open().await?.bill())?)
}

/// The bills of all flows.
pub(crate) async fn bills(place: &StorePlace, output: &mut Output) -> Result<(), BoxError> {
    let keys = place.keys().await?;
    if let [only] = keys.as_slice() {
        return Ok(output.line(Flow::open_stored(place.store(only)).await?.bill())?);
    }
    let mut all = Vec::new();
    for key in keys {
        let bill = Flow::open_stored(place.store(&key)).await?.bill();
        output.line(format_args!("{key}: {}", bill.total()))?;
        all.push(bill.total());
    }
    Ok(output.line(format_args!("all: {}", all.into_iter().sum::<Total>()))?)
}

pub(crate) async fn messages(selection: &Selection, json: bool, output: &mut Output) -> Result<(), BoxError> {
    let Selection { column: Some(column), step: Some(step), .. } = selection else {
        return Err("name a column and a step, as in `columnar messages chats.db ada answer 3`".into());
    };
    let flow = selection.open().await?;
    let messages = flow.messages(column, *step)?;
    if json {
        output.text(&messages.to_json())?;
        return Ok(output.line("")?);
    }
    for (role, content) in &messages {
        output.line(format_args!("── {role}\n{content}"))?;
    }
    Ok(())
}
