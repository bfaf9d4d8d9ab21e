//! A flow that is declared at run time: a module is a function from one column to three, a definition is used twice, a
//! column is added during a run, the flow is printed as a table, and the mistakes of a declaration are values.
//!
//! ```text
//! cargo run --example runtime                  included statements
//! cargo run --example runtime < statements     one statement per line
//! ```

use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use columnar::prelude::*;
use columnar::{BoxError, Name};
use columnar_examples::{exit_code, printable};

const STATEMENTS: [&str; 3] = [
    "Remote work is great, because everyone is clearly more productive at home.",
    "Newcomers learn slowly at home, and bad habits are never corrected.",
    "Two office days a week should be enough to learn well and stay happy.",
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    exit_code(start(&mut columnar_examples::stdout()).await)
}

async fn start(out: &mut impl Write) -> Result<(), BoxError> {
    let user = source("user");
    let debate = debate(&user);
    let summary = summarizer("summary", &user);
    let outcome = summarizer("outcome", &debate.synthesis);
    let f = flow([&debate.steelman, &debate.critic, &debate.synthesis, &summary, &outcome])?;

    heading(out, "The order in which a step is computed")?;
    writeln!(out, "{}", f.order().iter().map(Name::as_str).collect::<Vec<_>>().join(" → "))?;

    for statement in input()? {
        f.push("user", statement).await?;
    }
    heading(out, "The values, in the order in which they are stored")?;
    run_and_extend(out, &f, &sentiment(&user)).await?;

    heading(out, "The flow as a table")?;
    writeln!(out, "{}", f.table())?;

    heading(out, "A declaration with mistakes, as values")?;
    for mistake in mistakes() {
        writeln!(out, "- {mistake}")?;
    }
    Ok(())
}

/// The columns of a debate.
struct Debate {
    steelman: Column,
    critic: Column,
    synthesis: Column,
}

/// A module is a function from inputs to columns.
fn debate(input: &Column) -> Debate {
    let steelman = column("steelman", input.latest(), prompt("Give key phrases of the best case for this."));
    let critic = column("critic", steelman.latest(), prompt("Raise the strongest objection."));
    let synthesis = column(
        "synthesis",
        [steelman.latest(), critic.latest(), this().latest()],
        prompt("Summarise the debate in one text."),
    );
    Debate { steelman, critic, synthesis }
}

/// A reusable definition: each name and input make a column.
fn summarizer(name: &str, input: &Column) -> Column {
    column(name, (input, this().latest()), prompt("Maintain a running summary of the input."))
}

/// A compute step without a model, which counts words.
fn sentiment(input: &Column) -> Column {
    column("sentiment", input.latest().named("text"), |cx: Context| async move {
        let text = cx.input("text").ok_or("`sentiment` reads `text`")?.to_lowercase();
        let count = |known: &[&str]| {
            text.split(|c: char| !c.is_alphabetic()).filter(|word| known.contains(word)).count()
        };
        let good = count(&["good", "great", "happy", "productive", "well"]);
        let bad = count(&["bad", "hate", "slow", "slowly", "terrible"]);
        // The type of the error is written here, because an async block cannot declare that type.
        Ok::<_, &str>(format!("{good} good words, {bad} bad ones"))
    })
}

/// Prints the values of a run. After the first synthesis the function adds a column, which the same run computes from
/// step 0.
async fn run_and_extend(out: &mut impl Write, f: &Flow, later: &Column) -> Result<(), BoxError> {
    let mut later = Some(later);
    let mut run = f.run();
    while let Some(event) = run.try_next().await? {
        let Event::Value { column, step, value } = event else { continue };
        let label = format!("{column} {step}");
        let style = if column == "sentiment" { AnsiColor::Yellow.on_default() } else { Style::new() };
        writeln!(out, "{style}{label:<11} │{style:#} {}", printable(value))?;
        if column == "synthesis"
            // Taken, because a second column of this name would be an error.
            && let Some(later) = later.take()
        {
            f.add_column(later).await?;
            writeln!(out, "{:<11} ╪ column `{}` is added", "", later.name())?;
        }
    }
    Ok(())
}

/// A wrong declaration makes no flow; the error lists all mistakes.
fn mistakes() -> Vec<String> {
    let user = source("user");
    let ignore = || prompt("Never asked.");
    let wrong = [
        column("nothing_new", this(), ignore()),
        column("shut", user.window(0), ignore()),
        column("twins", [user.latest(), user.all()], ignore()),
        column("twins", &user, ignore()),
        column("Topics", &user, ignore()),
    ];
    match flow(wrong) {
        Err(Error::Schema(error)) => error.errors().iter().map(ToString::to_string).collect(),
        Err(other) => vec![other.to_string()],
        Ok(_) => Vec::new(),
    }
}

/// The lines of standard input, or the included statements if there are none.
fn input() -> io::Result<Vec<String>> {
    let mut text = String::new();
    // At a terminal the program would wait for a person, who expects the included statements.
    if !io::stdin().is_terminal() {
        io::stdin().read_to_string(&mut text)?;
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty()).map(ToOwned::to_owned);
    let piped: Vec<String> = lines.collect();
    Ok(if piped.is_empty() { STATEMENTS.map(ToOwned::to_owned).to_vec() } else { piped })
}

fn heading(out: &mut impl Write, text: &str) -> io::Result<()> {
    let bold = Style::new().bold();
    writeln!(out, "\n{bold}{text}{bold:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_added_column_is_computed_from_step_0() -> Result<(), BoxError> {
        let user = source("user");
        let debate = debate(&user);
        let f = flow([debate.synthesis])?;
        for statement in STATEMENTS {
            f.push("user", statement).await?;
        }
        run_and_extend(&mut Vec::new(), &f, &sentiment(&user)).await?;
        assert_eq!(f.get("sentiment", 0).as_deref(), Some("2 good words, 0 bad ones"));
        assert_eq!(f.steps(), STATEMENTS.len());
        Ok(())
    }

    #[test]
    fn every_mistake_is_listed() {
        assert_eq!(mistakes().len(), 5, "{:#?}", mistakes());
    }
}
