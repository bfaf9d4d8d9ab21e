//! A help desk: a model drafts the reply to each ticket, a person accepts or edits the draft, and the reply is sent. The
//! person answers when it suits, in any later process.
//!
//! ```text
//! cargo run --example desk                                  300 tickets: a third accepted, a third edited, a third the next day
//! cargo run --example desk -- ~/desk                        drafts what is missing, sends what was answered, lists what waits
//! cargo run --example desk -- ~/desk push "Where is it?"    a new ticket
//! cargo run --example desk -- ~/desk accept 3               sends the draft
//! cargo run --example desk -- ~/desk answer 4 "On its way." sends another text
//! cargo run --example desk -- ~/desk decline 5 "spam"       sends nothing
//! ```

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use columnar::model::{self, Model};
use columnar::prelude::*;
use columnar::store::FileStore;
use columnar::{BoxError, Compute, PendingCell, Reply};
use columnar_examples::{exit_code, printable, stdout};

/// The tickets of the demonstration.
const TICKETS: usize = 300;

/// The letters of a draft in the list.
const SHOWN: usize = 60;

flow! {
    /// Tickets of customers, and what they get.
    pub struct Desk<M: Model + Clone>(model: M, outbox: Outbox) {
        /// A message of a customer.
        source ticket;

        column draft(ticket.latest) = prompt("Reply to the customer in two sentences.").model(model.clone());
        column reply(draft.latest, ticket.latest) =
            external().default(|cx| cx.input("draft").cloned().ok_or("there is no draft")).or_skip();
        column sent(reply.latest) = outbox.clone();
    }
}

/// What leaves the desk: a line for each reply, in a file.
#[derive(Clone, Debug)]
pub struct Outbox(PathBuf);

impl Outbox {
    fn send(&self, step: usize, reply: &str) -> std::io::Result<String> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.0)?;
        // In one piece, so that no process leaves half a line.
        file.write_all(format!("{step}\t{}\n", reply.replace(['\n', '\t'], " ")).as_bytes())?;
        Ok(format!("sent, {} letters", reply.chars().count()))
    }
}

impl Compute for Outbox {
    fn compute(&self, cx: Context) -> Reply<'static> {
        let sent = match cx.input("reply") {
            Some(reply) => self.send(cx.step(), reply).map(Value::from).map_err(BoxError::from),
            None => Err("`sent` reads `reply`".into()),
        };
        Reply::whole(std::future::ready(sent))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    exit_code(match arguments.split_first() {
        None => demonstration().await,
        Some((folder, command)) => work(Path::new(folder), command).await,
    })
}

type ModelDesk = Desk<std::sync::Arc<dyn Model>>;

async fn open(folder: &Path) -> Result<ModelDesk, BoxError> {
    let outbox = Outbox(folder.join("sent.txt"));
    Ok(Desk::open(FileStore::new(folder.join("desk")), model::from_env()?, outbox).await?)
}

/// Carries out a command of the person at the desk.
async fn work(folder: &Path, command: &[&str]) -> Result<(), BoxError> {
    let desk = open(folder).await?;
    match command {
        [] => {}
        ["push", ticket] => _ = desk.ticket.push(*ticket).await?,
        ["accept", step] => desk.reply.accept(step.parse()?).await?,
        ["answer", step, reply] => desk.reply.answer(step.parse()?, *reply).await?,
        ["decline", step, reason] => desk.reply.decline(step.parse()?, *reason).await?,
        _ => return Err("expected a folder, then nothing, or `push TICKET`, `accept STEP`, `answer STEP TEXT` or `decline STEP REASON`".into()),
    }
    desk.run().await?;
    list(&desk.reply.pending()?)?;
    writeln!(stdout(), "{}", desk.progress())?;
    Ok(())
}

/// Lists the tickets that wait, with their drafts.
fn list(pending: &[PendingCell]) -> std::io::Result<()> {
    let mut out = stdout();
    for PendingCell { step, proposal, .. } in pending {
        let draft = proposal.as_deref().unwrap_or_default();
        let begin: String = draft.chars().take(SHOWN).collect();
        writeln!(out, "ticket {step} waits: {}", printable(begin.replace('\n', " ")))?;
    }
    out.flush()
}

/// Two days at the desk: a person decides about two thirds of the tickets on the first day, and about the rest in another
/// process on the second.
async fn demonstration() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let mut out = stdout();
    writeln!(out, "model: {}", columnar_examples::model()?)?;
    let desk = open(folder.path()).await?;
    desk.ticket.push_all((0..TICKETS).map(ticket)).await?;
    desk.run().await?;
    writeln!(out, "monday, 9:00: {} drafts, {} tickets wait", desk.draft.len(), desk.progress().pending)?;
    decide(&desk, |step| step % 3 < 2).await?;
    desk.run().await?;
    writeln!(
        out,
        "monday, 17:00: {} replies sent, {} tickets wait",
        desk.sent.iter()?.count(),
        desk.progress().pending
    )?;
    // The desk is closed, and nothing waits in memory.
    drop(desk);

    let desk = open(folder.path()).await?;
    writeln!(out, "tuesday, 9:00: {} tickets wait", desk.reply.pending()?.len())?;
    decide(&desk, |_| true).await?;
    let second = desk.reply.answer(0, "Something else.").await.err();
    writeln!(out, "a second answer: {}", second.map(|error| error.to_string()).unwrap_or_default())?;
    desk.run().await?;
    let receipts: Vec<_> = (0..TICKETS).filter_map(|step| desk.reply.receipt(step)?.answer.clone()).collect();
    let accepted = receipts.iter().filter(|answer| answer.is_proposal).count();
    let edited = receipts.iter().filter(|answer| answer.edited.is_some()).count();
    writeln!(
        out,
        "tuesday, 17:00: {} replies sent, {accepted} as drafted, {edited} edited",
        desk.sent.len()
    )?;
    Ok(out.flush()?)
}

/// Decides about the pending tickets for which the person has time: one of two drafts is fine.
async fn decide<M: Model + Clone>(desk: &Desk<M>, has_time: impl Fn(usize) -> bool) -> Result<()> {
    for PendingCell { step, proposal, .. } in desk.reply.pending()? {
        match proposal {
            _ if !has_time(step) => {}
            Some(draft) if step % 3 == 1 => {
                desk.reply.answer(step, format!("{draft}\n\nKind regards")).await?;
            }
            _ => desk.reply.accept(step).await?,
        }
    }
    Ok(())
}

/// The ticket with this number.
fn ticket(number: usize) -> String {
    const TROUBLES: [&str; 4] =
        ["has a broken zip", "came a size too large", "is not here yet", "was charged twice"];
    let trouble = TROUBLES.get(number % TROUBLES.len()).copied().unwrap_or_default();
    format!("My jacket from order {} {trouble}. What can I do?", 5_000 + number)
}

#[cfg(test)]
mod tests;
