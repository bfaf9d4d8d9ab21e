//! A debate in six columns, one for each kind of view of the past, with the reply and the cost of every call.
//!
//! ```text
//! cargo run --example debate                           an included debate
//! cargo run --example debate -- "A statement." …       your own, with a round for each statement
//! ```
//!
//! With the feature `report`, the debate is also a page for a browser: `debate.html` in the current folder.
//!
//! The offline model replies unless the environment names another one:
//!
//! ```text
//! COLUMNAR_MODEL=anthropic/claude-sonnet-5 cargo run --example debate --features providers
//! tests/local-model run cargo run --example debate --features providers
//! ```

use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use columnar::BoxError;
use columnar::model::Offline;
use columnar::prelude::*;
use columnar::usage::{Price, Receipt, Total};
use columnar_examples::{exit_code, printable};

flow! {
    /// Two sides of a question, and three columns that follow both sides.
    pub struct Debate {
        /// The statement of a round.
        source topic;

        column advocate(topic, critic.prev, self) =
            short("Summarise the case for the statement, and meet the doubts.");
        column critic(advocate.latest, self) =
            short("Criticise the advocate: name a weak point, never the same twice.");
        column standing(advocate.latest, critic.latest, self.latest) =
            short("Update the summary of who is ahead, and why.");
        column keywords(advocate.latest) = short("List the key phrases, separated by commas.");
        column verdict(group("debate", advocate.window(2), critic.window(2)), standing.latest) =
            short("Reply to both sides with a verdict of one sentence.");
    }
}

/// All columns ask for a short reply, and the beginning of a longer one will do.
fn short(instruction: &'static str) -> impl columnar::Compute {
    prompt(instruction).max_tokens(64).allow_truncated().temperature(0.0).lenient()
}

const STATEMENTS: [&str; 3] = [
    "We should rewrite the backend in Rust, because the old one fails every week.",
    "Nobody in the team has written Rust yet, but three of us want to learn it.",
    "The deadline is in May, and the old backend can be kept alive until June.",
];

/// The model whose prices stand in for those of the offline model, which costs nothing.
const STAND_IN: &str = "anthropic/claude-sonnet-5";

/// The cost of calls, at the stand-in's prices if the offline model made them.
fn cost<'r>(receipts: impl IntoIterator<Item = &'r Receipt>) -> Total {
    let mut total = Total::default();
    for receipt in receipts {
        let model = receipt.model.as_deref().unwrap_or_default();
        let priced = if model == Offline::NAME { STAND_IN } else { model };
        total.count(receipt, Price::by_model(priced));
    }
    total
}

const LABEL: Style = AnsiColor::Cyan.on_default();
const COST: Style = Style::new().dimmed();

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    exit_code(start(&mut columnar_examples::stdout()).await)
}

async fn start(out: &mut impl Write) -> Result<(), BoxError> {
    let statements: Vec<String> = std::env::args().skip(1).collect();
    let model = columnar_examples::model()?;
    writeln!(out, "model: {model}")?;
    if model.starts_with(Offline::NAME) {
        writeln!(out, "prices: those of `{STAND_IN}`, which stand in for the offline model")?;
    }
    let debate = Debate::new();
    let included = STATEMENTS.map(str::to_owned);
    for statement in if statements.is_empty() { &included[..] } else { &statements } {
        let step = debate.topic.push(statement.as_str()).await?;
        writeln!(out, "\n{LABEL}topic {step}{LABEL:#}  {}", printable(statement))?;
        let mut run = debate.run();
        while let Some(event) = run.try_next().await? {
            if let Event::Value { column, step, value } = event {
                writeln!(out, "{LABEL}{column} {step}{LABEL:#}  {}", printable(value.trim()))?;
                let cost = cost(debate.receipt(column, step).as_deref());
                writeln!(out, "{COST}    {cost}{COST:#}")?;
            }
        }
    }
    let bill = debate.bill();
    writeln!(out, "\nThe cost:\n")?;
    // The first column is the source, which costs nothing.
    for column in Debate::ORDER.iter().skip(1) {
        let of_column = bill.receipts().filter(|(name, ..)| *name == column).map(|(_, _, receipt)| receipt);
        writeln!(out, "{column:10}{}", cost(of_column))?;
    }
    writeln!(out, "{:10}{}", "all", cost(bill.receipts().map(|(_, _, receipt)| receipt)))?;
    #[cfg(feature = "report")]
    {
        columnar::report::write(&debate, "debate.html")?;
        writeln!(out, "\nThe debate as a page: debate.html")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_round_fills_every_column() {
        let debate = Debate::new();
        debate.set_model(Offline::new());
        for statement in STATEMENTS {
            debate.topic.push(statement).await.expect("in memory");
        }
        debate.run().await.expect("the offline model does not fail");
        assert_eq!((Debate::ORDER.len(), debate.steps()), (6, STATEMENTS.len()));
    }
}
