//! What is said before, between and after the runs.

use std::io::Write;

use columnar::{BoxError, Forecast};

use crate::Shop;

/// How many rows of the results are printed.
const SHOWN: usize = 8;

/// What a run will cost.
pub(crate) fn forecast(forecast: &Forecast) -> String {
    let Forecast { cells, calls, width, rounds, .. } = forecast;
    let (input, output) = (forecast.input_tokens, forecast.output_tokens);
    let mut text = format!(
        "This run computes {cells} cells: {calls} calls, about {input} tokens in and {output} out,\n\
         at most {width} at once, in at least {rounds} rounds.\n\n\
         column    cells   calls  tokens in  tokens out  at once\n"
    );
    for part in &forecast.columns {
        let (name, cells, calls, width) = (part.column.as_str(), part.cells, part.calls, part.width);
        let (input, output) = (part.input_tokens, part.output_tokens);
        let line = format!("{name:<8}{cells:>7}{calls:>8}{input:>11}{output:>12}{width:>9}\n");
        text.push_str(&line);
    }
    text
}

/// What an interruption leaves behind.
pub(crate) fn interrupted(inbox: &Shop, calls: usize) -> String {
    let (progress, missing) = (inbox.progress(), inbox.forecast());
    format!(
        "\nInterrupted. {} values are stored, and none of them is computed again; {calls} calls were made.\n\
         The next run goes on with the {} cells that are missing: {} calls, those that were cut off among them.\n\
         (This program keeps values in memory, so the next run must be one of this process.)\n",
        progress.done, missing.cells, missing.calls,
    )
}

/// A few of the rows, and how many there are.
pub(crate) fn results(out: &mut impl Write, inbox: &Shop) -> Result<(), BoxError> {
    let columns = [&inbox.order, &inbox.topics, &inbox.reply];
    writeln!(out, "{:<5} {:<6} {:<40} {:<40}", "step", "order", "topics", "reply")?;
    for step in 0..inbox.message.len().min(SHOWN) {
        let [order, topics, reply] =
            columns.map(|column| column.get(step).map_or_else(|| "-".to_owned(), |value| short(&value, 40)));
        writeln!(out, "{step:<5} {order:<6} {topics:<40} {reply:<40}")?;
    }
    writeln!(out, "… {} steps are complete", inbox.steps())?;
    Ok(())
}

/// The beginning of a text, on one line.
fn short(text: &str, width: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= width {
        return line;
    }
    line.chars().take(width - 1).chain(['…']).collect()
}
