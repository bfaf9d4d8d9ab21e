//! Two prompts on 200 tickets: what would another prompt have written, is that better, and what does it cost? The flow does
//! not change until the other prompt is adopted.
//!
//! ```text
//! cargo run --example rehearse
//! cargo run --example rehearse -- "Reply to the customer."    another prompt of yours
//! ```
//!
//! A rule is the judge: a note for the next colleague must name the order.

use std::io::Write;
use std::process::ExitCode;

use columnar::flow::Comparison;
use columnar::prelude::*;
use columnar::{BoxError, Compute, Reply};
use columnar_examples::{exit_code, printable, stdout};

/// The tickets.
const TICKETS: usize = 200;

/// The letters of a note that are shown.
const SHOWN: usize = 60;

/// The prompt to try.
const PROMPT: &str = "List the topics of the ticket.";

flow! {
    /// Tickets of customers, each with a note for the colleague who takes it.
    pub struct Desk {
        /// A message of a customer.
        source ticket;

        column note(ticket.latest) = prompt("Summarize the ticket in a sentence.").max_tokens(60);
        column queue(note.latest)  = async |note| if note.contains("Friday") { "today" } else { "this week" };
    }
}

/// The judge: the better note names the order that the ticket names.
struct NamesOrder;

impl Compute for NamesOrder {
    fn compute(&self, cx: Context) -> Reply<'static> {
        let order = cx.input("request").and_then(|request| order(request));
        let names = |tag| order.is_some_and(|order| cx.input(tag).is_some_and(|note| note.contains(order)));
        Reply::text(match (names("old"), names("new")) {
            (false, true) => "better",
            (true, false) => "worse",
            _ => "as good",
        })
    }
}

/// The number of the order in a ticket.
fn order(ticket: &str) -> Option<&str> {
    let (_, rest) = ticket.split_once("order ")?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    exit_code(match &*arguments {
        [] => compare(PROMPT).await,
        [text] => compare(text).await,
        _ => Err("expected nothing, or one prompt".into()),
    })
}

async fn compare(text: &str) -> Result<(), BoxError> {
    let mut out = stdout();
    writeln!(out, "model: {}", columnar_examples::model()?)?;
    let desk = Desk::new();
    desk.ticket.push_all((0..TICKETS).map(ticket)).await?;
    desk.run().await?;

    let rehearsal = desk.rehearse("note").with(prompt(text).max_tokens(60)).judge(NamesOrder).await?;
    writeln!(out, "\n{}\n", rehearsal.forecast())?;
    rehearsal.run().await?;
    let comparison = rehearsal.comparison();
    writeln!(out, "{comparison}")?;
    for verdict in ["better", "worse"] {
        show(&comparison, verdict, &mut out)?;
    }

    // For the program, the decision is a rule as well; a person looks at the table above.
    let count =
        |verdict| comparison.steps.iter().filter(|step| step.judgement.as_deref() == Some(verdict)).count();
    if count("better") <= count("worse") {
        writeln!(out, "\nthe prompt stays")?;
        return Ok(out.flush()?);
    }
    let adopted = rehearsal.adopt()?;
    adopted.run().await?;
    let moved = (0..TICKETS).filter(|step| adopted.queue.get(*step) != desk.queue.get(*step)).count();
    writeln!(out, "\nadopted in a fork: {} notes, {moved} tickets in another queue", adopted.note.len())?;
    Ok(out.flush()?)
}

/// Shows the first two notes with a judgement.
fn show(comparison: &Comparison, verdict: &str, out: &mut impl Write) -> std::io::Result<()> {
    let steps = comparison.steps.iter().filter(|step| step.judgement.as_deref() == Some(verdict));
    for step in steps.take(2) {
        writeln!(out, "\n{verdict}, ticket {}", step.step)?;
        for (name, note) in [("old", Some(&step.old)), ("new", step.new.as_ref())] {
            let note: String = note.into_iter().flat_map(|note| note.chars()).take(SHOWN).collect();
            writeln!(out, "  {name}  {}", printable(note.replace('\n', " ")))?;
        }
    }
    Ok(())
}

/// The ticket with this number.
fn ticket(number: usize) -> String {
    const TROUBLES: [&str; 4] =
        ["has a broken zip", "came a size too large", "is not here yet", "was charged twice"];
    const THINGS: [&str; 3] = ["jacket", "tent", "pair of boots"];
    const MORE: [&str; 5] = [
        "I leave for Norway on Friday.",
        "The shop in Bergen told me to write to you.",
        "",
        "I wrote two weeks ago, and nobody answered. My friend has the same one, without any trouble.",
        "What can I do?",
    ];
    let trouble = TROUBLES.get(number % TROUBLES.len()).copied().unwrap_or_default();
    let thing = THINGS.get(number % THINGS.len()).copied().unwrap_or_default();
    let more = MORE.get(number % MORE.len()).copied().unwrap_or_default();
    format!("My {thing} {trouble}. {more} It is order {}.", 7_000 + number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_same_prompt_is_as_good_on_all_tickets() -> Result<()> {
        let desk = Desk::new();
        desk.set_model("offline");
        desk.ticket.push_all((0..20).map(ticket)).await?;
        desk.run().await?;
        let rehearsal = desk.rehearse("note").judge(NamesOrder).await?;
        rehearsal.run().await?;
        let comparison = rehearsal.comparison();
        assert_eq!((comparison.same(), comparison.judgements()), (20, vec![("as good", 20)]));
        Ok(())
    }

    #[test]
    fn a_ticket_names_its_order() {
        assert_eq!(order(&ticket(12)), Some("7012"));
        assert_eq!(order("Where is it?"), None);
    }
}
