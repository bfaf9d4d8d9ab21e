//! A journal in a folder. The context of each answer has all earlier entries, and every value is a text file that any
//! program can read. Each start continues the journal.
//!
//! ```text
//! cargo run --example journal -- FOLDER                    the number of entries
//! cargo run --example journal -- FOLDER "The text." …      adds and answers entries
//! grep -r deadline FOLDER                                  finds everything about the deadline
//! ```
//!
//! The offline model replies unless the environment names another one, as in
//! `COLUMNAR_MODEL=openai/gpt-5.4-mini cargo run --example journal --features providers -- FOLDER "The text."`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use columnar::prelude::*;
use columnar::reopen;
use columnar::store::FileStore;
use columnar::{BoxError, rows};
use columnar_examples::{exit_code, printable};

flow! {
    /// Entries, and the columns that are computed from them.
    pub struct Journal {
        /// An entry, as the person wrote it.
        source entry;

        column themes(entry.latest) = prompt("Extract the main themes as a comma-separated list.");
        column reflection(entry.latest, self) =
            prompt("Reflect on this entry in the light of the earlier ones.");
        column week(entry.window(7), themes.window(7)) = prompt("Summarise the last seven entries.");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    exit_code(start(&mut columnar_examples::stdout()).await)
}

async fn start(out: &mut impl Write) -> Result<(), BoxError> {
    let mut arguments = std::env::args_os().skip(1);
    let Some(folder) = arguments.next().map(PathBuf::from) else {
        return Err(
            "the folder of the journal is missing, as in `cargo run --example journal -- FOLDER`".into()
        );
    };
    let entries = arguments.map(|text| text.into_string().map_err(|_| "an entry is not UTF-8"));
    let entries = entries.collect::<Result<Vec<String>, _>>()?;

    // First of all: a model without a key is an error before any entry is stored.
    writeln!(out, "model: {}", columnar_examples::model()?)?;
    let journal = Journal::open(FileStore::new(&folder)).await?;
    writeln!(out, "{} entries so far, in {}", journal.steps(), printable(folder.display()))?;
    for entry in entries {
        journal.entry.push(entry).await?;
    }
    let mut run = journal.run();
    while let Some(event) = run.try_next().await? {
        if let Event::Value { column, step, value } = event {
            writeln!(out, "{column}/{step}.txt  {}", printable(value))?;
        }
    }
    export(out, &journal, &folder).await?;
    // A store has one owner, so the journal is closed before `verify` opens the folder.
    drop(journal);
    check(out, &folder).await
}

/// Writes the journal as a table for other programs, beside the files.
async fn export(out: &mut impl Write, journal: &Journal, folder: &Path) -> Result<(), BoxError> {
    let table = folder.join("journal.jsonl");
    let rows = rows::write_json_lines(journal, std::fs::File::create(&table)?).await?;
    writeln!(out, "{rows} rows in {}", printable(table.display()))?;
    Ok(())
}

/// Reads everything that is stored, and prints the defects.
async fn check(out: &mut impl Write, folder: &Path) -> Result<(), BoxError> {
    let defects = reopen::verify(&FileStore::new(folder)).await?;
    for defect in &defects {
        writeln!(out, "{}", printable(defect))?;
    }
    writeln!(out, "{} defects", defects.len())?;
    Ok(())
}
