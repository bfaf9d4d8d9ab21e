//! `columnar`: a command that shows, checks, copies and exports the flows of a store, without the program that declares them.
//!
//! The command reads beside the owner of a flow, and writes only what is named as a target.

mod copies;
mod output;
mod place;
mod serve;
mod shown;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use columnar::BoxError;

use crate::copies::TableFormat;
use crate::output::{Output, is_closed_pipe};
use crate::place::{FlowArguments, StorePlace};

const STORES: &str = "\
STORE is a file of SQLite, a folder of a file store or of several, or the address of a PostgreSQL database.
A flow of a file, of a database or of several folders has a KEY, which may be left out where there is one flow.
The store has no prompts, notes, budgets and filters: contexts show what the views of the columns select.";

/// Shows, checks, copies and exports the flows of a store, also while a program has them open.
#[derive(Parser)]
#[command(name = "columnar", version, after_help = STORES)]
struct CommandLine {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Lists the keys of the flows.
    List {
        /// A file of SQLite, a folder, or the address of a PostgreSQL database.
        store: String,
        /// Opens each flow, and shows the numbers of steps and cells.
        #[arg(short, long)]
        long: bool,
    },
    /// Shows a flow as a table, the values of a column, or one value.
    Show {
        #[command(flatten)]
        flow: FlowArguments,
        /// Shows only the last steps.
        #[arg(long, value_name = "STEPS")]
        last: Option<usize>,
    },
    /// Shows what the calls of models cost, by column; by flow where there are several and no key.
    Bill {
        #[command(flatten)]
        flow: FlowArguments,
    },
    /// Shows the context of a cell: the messages that its column selects.
    Messages {
        #[command(flatten)]
        flow: FlowArguments,
        /// Prints the messages array.
        #[arg(long)]
        json: bool,
    },
    /// Reads everything that is stored, and lists the defects.
    Verify {
        #[command(flatten)]
        flow: FlowArguments,
    },
    /// Copies all flows into a new file of SQLite, a folder or a database.
    Backup {
        /// A file of SQLite, a folder, or the address of a PostgreSQL database.
        store: String,
        /// The new file, folder or database; what is there is not overwritten.
        to: String,
    },
    /// Writes a flow as a table: a row for each step, a column for each column.
    Export {
        #[command(flatten)]
        flow: FlowArguments,
        /// The file; the end of its name tells the format. Without it, standard output.
        #[arg(short, long, value_name = "FILE")]
        to: Option<PathBuf>,
        /// The format.
        #[arg(short, long)]
        format: Option<TableFormat>,
    },
    /// Writes the report of a flow: a page for a browser, with each request, reply and cost.
    Report {
        #[command(flatten)]
        flow: FlowArguments,
        /// The file.
        #[arg(short, long, value_name = "FILE", default_value = "report.html")]
        to: PathBuf,
    },
    /// Serves pages that show the flows as other programs compute them, and their reports.
    Serve {
        /// A file of SQLite, a folder, or the address of a PostgreSQL database.
        store: String,
        /// The address. Elsewhere than on this machine, the variable `COLUMNAR_TOKEN` has the token that a browser needs.
        #[arg(short, long, default_value = "127.0.0.1:8123")]
        listen: SocketAddr,
    },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments = CommandLine::parse();
    let mut output = Output::new();
    match run(arguments.verb, &mut output).await {
        Ok(code) => code,
        // Who reads the output has seen enough.
        Err(error) if is_closed_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&*error);
            ExitCode::FAILURE
        }
    }
}

async fn run(verb: Verb, output: &mut Output) -> Result<ExitCode, BoxError> {
    match verb {
        Verb::List { store, long } => shown::list(&StorePlace::find(&store)?, long, output).await?,
        Verb::Show { flow, last } => shown::show(&flow.select().await?, last, output).await?,
        Verb::Bill { flow } if flow.names.is_empty() => {
            shown::bills(&StorePlace::find(&flow.store)?, output).await?;
        }
        Verb::Bill { flow } => shown::bill(&flow.select().await?, output).await?,
        Verb::Messages { flow, json } => shown::messages(&flow.select().await?, json, output).await?,
        Verb::Verify { flow } => {
            let place = StorePlace::find(&flow.store)?;
            let keys =
                if flow.names.is_empty() { place.keys().await? } else { vec![flow.select().await?.key] };
            return copies::verify(&place, &keys, output).await;
        }
        Verb::Backup { store, to } => return copies::backup(&StorePlace::find(&store)?, &to, output).await,
        Verb::Export { flow, to, format } => {
            copies::export(&flow.select().await?, to.as_deref(), format, output).await?;
        }
        Verb::Serve { store, listen } => {
            let token = std::env::var("COLUMNAR_TOKEN").ok();
            serve::serve(StorePlace::find(&store)?, listen, token, output).await?;
        }
        Verb::Report { flow, to } => copies::report(&flow.select().await?, &to, output).await?,
    }
    Ok(ExitCode::SUCCESS)
}
