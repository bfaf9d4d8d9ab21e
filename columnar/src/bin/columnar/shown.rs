//! What the command prints about flows: keys, tables, values, bills, contexts.

use columnar::usage::Total;
use columnar::{BoxError, CellState, Flow};

use crate::output::Output;
use crate::place::{Place, Selection};

pub(crate) async fn list(place: &Place, long: bool, output: &mut Output) -> Result<(), BoxError> {
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
    let flow = selection.open().await?;
    let begun = flow.order().iter().map(|column| flow.len(column)).collect::<Result<Vec<_>, _>>()?;
    let begun = begun.into_iter().max().unwrap_or(0);
    let first = begun.saturating_sub(last.unwrap_or(begun));
    match (&selection.column, selection.step) {
        (None, _) => output.line(flow.table().steps(first..))?,
        (Some(column), None) => {
            for step in first..begun {
                match flow.cell(column, step)? {
                    CellState::Stored(value) => output.line(format_args!("── {column} {step}\n{value}"))?,
                    state => output.line(format_args!("── {column} {step}: {}", word(&state)))?,
                }
            }
        }
        (Some(column), Some(step)) => match flow.cell(column, step)? {
            CellState::Stored(value) => output.text(&value)?,
            state => return Err(format!("`{column}` at step {step} has no value: it is {}", word(&state)).into()),
        },
    }
    Ok(())
}

fn word(state: &CellState) -> String {
    match state {
        CellState::Skipped(Some(reason)) => format!("skipped: {reason}"),
        CellState::Skipped(None) => "skipped".to_owned(),
        _ => "not computed".to_owned(),
    }
}

pub(crate) async fn bill(selection: &Selection, output: &mut Output) -> Result<(), BoxError> {
    Ok(output.line(selection.whole()?.open().await?.bill())?)
}

/// The bills of all flows.
pub(crate) async fn bills(place: &Place, output: &mut Output) -> Result<(), BoxError> {
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
