//! A flow that is declared in a TOML file: columns, prompts and settings are data, and functions are steps that the
//! file names.
//!
//! ```text
//! cargo run --example from_toml                              the included help desk, and included messages
//! cargo run --example from_toml -- FLOW.toml < messages      another flow with one source; one message per line
//! ```
//!
//! The steps that a file can name are `numbers` and `words`. Mistakes in the file are reported all at once.

use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;

use anstyle::Style;
use columnar::BoxError;
use columnar::data::Declaration;
use columnar::prelude::*;
use columnar_examples::{exit_code, printable};

const INCLUDED: &str = include_str!("desk.toml");

const MESSAGES: [&str; 3] = [
    "I ordered 2 tyres on the 14th, order 88123, and only one arrived.",
    "It is still missing, and I need it on Friday!",
    "Thank you, 88123 is complete now.",
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    exit_code(start(&mut columnar_examples::stdout()).await)
}

async fn start(out: &mut impl Write) -> Result<(), BoxError> {
    let (name, text) = match std::env::args().nth(1) {
        Some(path) => match fs::read_to_string(&path) {
            Ok(text) => (path, text),
            Err(error) => return Err(format!("{path}: {error}").into()),
        },
        None => ("desk.toml".to_owned(), INCLUDED.to_owned()),
    };
    writeln!(out, "model: {}", columnar_examples::model()?)?;
    let messages = input()?;
    let (f, source) = declare(&text).map_err(|error| format!("{name}: {error}"))?;
    play(out, &f, &source, &messages).await
}

/// Makes the flow of a TOML text, and returns the flow with the name of the source.
fn declare(toml: &str) -> Result<(Flow, String), BoxError> {
    let declaration = Declaration::read(toml, toml::from_str)?;
    let steps = [("numbers", Step::new(numbers)), ("words", Step::new(words))];
    let f = flow(declaration.to_columns(steps))?;
    match &declaration.sources[..] {
        [source] => Ok((f, source.name.clone())),
        _ => Err("this program has messages for a flow with one source".into()),
    }
}

/// Runs a flow on messages.
async fn play(out: &mut impl Write, f: &Flow, source: &str, messages: &[String]) -> Result<(), BoxError> {
    let bold = Style::new().bold();
    writeln!(out, "\n{bold}The columns, in the order in which a step is computed{bold:#}")?;
    write!(out, "{}", printable(f.outline()))?;
    for message in messages {
        f.push(source, message.as_str()).await?;
    }
    writeln!(out, "\n{bold}The values, in the order in which they are stored{bold:#}")?;
    let mut run = f.run();
    while let Some(event) = run.try_next().await? {
        match event {
            Event::Value { column, step, value } => writeln!(out, "{column} {step}: {}", printable(value))?,
            Event::Failed { column, step, error } => {
                writeln!(out, "{column} {step} failed: {}", printable(error))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// A step that a file can name: the numbers in the input of this step.
async fn numbers(cx: Context) -> String {
    let words = cx.inputs().flat_map(|(_, value)| value.split(|c: char| !c.is_ascii_digit()));
    let numbers: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    if numbers.is_empty() { "no numbers".to_owned() } else { numbers.join(", ") }
}

/// A step that a file can name: the number of words in the input of this step.
async fn words(cx: Context) -> String {
    let count: usize = cx.inputs().map(|(_, value)| value.split_whitespace().count()).sum();
    count.to_string()
}

/// The lines of standard input, or the included messages if there are none.
fn input() -> io::Result<Vec<String>> {
    let mut text = String::new();
    // At a terminal the program would wait for a person, who expects the included messages.
    if !io::stdin().is_terminal() {
        io::stdin().read_to_string(&mut text)?;
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty()).map(ToOwned::to_owned);
    let piped: Vec<String> = lines.collect();
    Ok(if piped.is_empty() { MESSAGES.map(ToOwned::to_owned).to_vec() } else { piped })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(toml: &str) -> String {
        declare(toml).map(drop).expect_err("a mistake").to_string()
    }

    #[tokio::test]
    async fn the_included_flow_needs_no_order_of_its_columns() -> Result<(), BoxError> {
        let (mut out, (f, source)) = (anstream::StripStream::new(Vec::new()), declare(INCLUDED)?);
        play(&mut out, &f, &source, &MESSAGES.map(ToOwned::to_owned)).await?;
        let text = String::from_utf8(out.into_inner())?;
        let at = |line: &str| text.find(line).unwrap_or_else(|| panic!("{line}\n{text}"));
        assert!(at("facts     level 1") < at("reply     level 2"), "{text}");
        assert!(at("facts 0: 2, 14, 88123") < at("reply 0: "), "{text}");
        assert!(text.contains("handover 2: ") && !text.contains("handover 1: "), "{text}");
        Ok(())
    }

    #[test]
    fn all_mistakes_of_a_file_are_reported_at_once() {
        let wrong = INCLUDED.replace("mood.latest", "mod.latest").replace("\"numbers\"", "\"number\"");
        assert_eq!(
            error(&wrong),
            "line 5, column 1: `reply` reads `mod`, but the flow has no such column: did you mean `mood`?\n\
             line 26, column 1: `facts` has the compute step `number`, which the program does not have; did you mean \
             `numbers`?"
        );
        let unknown = error(&INCLUDED.replace("retry", "rettry"));
        assert!(unknown.contains("line 11") && unknown.contains("did you mean `retry`?"), "{unknown}");
        assert!(error("sources = [\"a\", \"b\"]").contains("one source"));
    }
}
