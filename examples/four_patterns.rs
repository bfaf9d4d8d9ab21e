//! The four patterns side by side: a column reads all, the latest or none of its own values, and all or the latest of
//! the input. For each pattern the program prints the declaration and the messages array of the last of three steps.
//!
//! ```text
//! cargo run --example four_patterns
//! ```

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use columnar::flow::Derived;
use columnar::prelude::*;
use columnar::testing::script;
use columnar_examples::{exit_code, printable};

flow! {
    /// A flow with one column for each pattern. Scripted answers make the patterns easy to tell apart.
    struct Patterns {
        source user;

        column accumulator(user, self) = script([
            "Since when is it slow?",
            "What else happens on Mondays?",
            "Then let us move the backup to Sunday.",
        ]);
        column reducer(user, self.latest) = script([
            "The site is slow.",
            "The site is slow on Mondays.",
            "The site is slow on Mondays, when the backup runs.",
        ]);
        column journal(user.latest, self) =
            script(["Noted: slowness.", "Noted: it happens on Mondays.", "Noted: the backup is a suspect."]);
        column map(user.latest) = script(["site", "Mondays", "backup, Mondays"]);
    }
}

const MESSAGES: [&str; 3] = ["The site is slow.", "Only on Mondays.", "The backup runs on Mondays."];

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    exit_code(start(&mut columnar_examples::stdout()).await)
}

async fn start(out: &mut impl Write) -> Result<(), columnar::BoxError> {
    let flow = Patterns::new();
    for text in MESSAGES {
        flow.user.push(text).await?;
    }
    flow.run().await?;

    let patterns = [
        (&flow.accumulator, "Full context, as in a chat: all messages of both sides; the call grows."),
        (&flow.reducer, "History compressed into a state: its history is one value, whatever its length."),
        (&flow.journal, "A record that reacts to what is new: all its own entries, one new message."),
        (&flow.map, "A transform of each row: no history, the smallest call."),
    ];
    for (column, purpose) in patterns {
        print(out, column, purpose)?;
    }
    Ok(())
}

fn print(out: &mut impl Write, column: &Derived, purpose: &str) -> Result<(), columnar::BoxError> {
    let bold = Style::new().bold();
    let last = MESSAGES.len() - 1;
    let messages = column.messages(last)?;
    writeln!(out, "{bold}{}{bold:#}", declaration(column.name()))?;
    writeln!(out, "{purpose}\n")?;
    for (role, content) in &messages {
        print_message(out, role, &content)?;
    }
    let answer = column.get(last).ok_or("every column has a value at the last step")?;
    writeln!(out, "{:>11} ╰▶ {}\n", "", printable(answer))?;
    Ok(())
}

fn print_message(out: &mut impl Write, role: Role, content: &str) -> io::Result<()> {
    let style = match role {
        Role::User => AnsiColor::Cyan.on_default(),
        Role::Assistant => AnsiColor::Green.on_default(),
    };
    for (at, line) in printable(content).lines().enumerate() {
        let label = if at == 0 { role.as_str() } else { "" };
        writeln!(out, "{style}{label:>11} │{style:#} {line}")?;
    }
    Ok(())
}

/// The line of the graph that declares a column.
fn declaration(column: &str) -> String {
    let graph = Patterns::GRAPH.to_string();
    let start = format!("column {column}(");
    graph.lines().find(|line| line.starts_with(&start)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_declared_in_the_graph() {
        let patterns = Patterns::ORDER.iter().filter(|name| **name != "user");
        assert!(patterns.clone().count() == 4);
        assert!(patterns.into_iter().all(|name| !declaration(name).is_empty()));
    }
}
