//! A journal in a folder: what is written today is answered with what was written before in mind, and all of it
//! lies in text files that any program can read. Each start goes on where the last one ended.
//!
//! ```text
//! cargo run --example journal -- FOLDER                    what is in it
//! cargo run --example journal -- FOLDER "The text." …      adds entries, and answers them
//! grep -r deadline FOLDER                                  what was ever written or said about it
//! ```
//!
//! The offline model answers unless the environment names another one, as in
//! `COLUMNAR_MODEL=openai/gpt-4o-mini cargo run --example journal --features genai -- FOLDER "The text."`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use columnar::prelude::*;
use columnar::reopen;
use columnar::store::FileStore;
use columnar::{BoxError, rows};
use columnar_examples::exit_code;

flow! {
    /// Entries, and what is made of them.
    pub struct Journal {
        /// What the person wrote.
        source entry;

        column themes(entry.latest)               = prompt("Extract the main themes as a comma-separated list.");
        column reflection(entry.latest, self)     = prompt("Reflect on this entry in the light of the earlier ones.");
        column week(entry.window(7), themes.window(7)) = prompt("Summarise the last seven entries.");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    exit_code(start(&mut anstream::stdout()).await)
}

async fn start(out: &mut impl Write) -> Result<(), BoxError> {
    let mut arguments = std::env::args_os().skip(1);
    let Some(folder) = arguments.next().map(PathBuf::from) else {
        return Err(
            "say in which folder the journal is, as in `cargo run --example journal -- FOLDER`".into()
        );
    };
    let entries = arguments.map(|text| text.into_string().map_err(|_| "an entry is not UTF-8"));
    let entries = entries.collect::<Result<Vec<String>, _>>()?;

    writeln!(out, "model: {}", columnar_examples::model()?)?;
    let journal = Journal::open(FileStore::new(&folder)).await?;
    writeln!(out, "{} entries so far, in {}", journal.steps(), folder.display())?;
    for entry in entries {
        journal.entry.push(entry).await?;
    }
    let mut run = journal.run();
    while let Some(event) = run.try_next().await? {
        if let Event::Value { column, step, value } = event {
            writeln!(out, "{column}/{step}.txt  {value}")?;
        }
    }
    export(out, &journal, &folder).await?;
    drop(journal);
    check(out, &folder).await
}

/// The journal as a table for other programs, beside the files that it consists of.
async fn export(out: &mut impl Write, journal: &Journal, folder: &Path) -> Result<(), BoxError> {
    let table = folder.join("journal.jsonl");
    let rows = rows::write_json_lines(journal, std::fs::File::create(&table)?).await?;
    writeln!(out, "{rows} rows in {}", table.display())?;
    Ok(())
}

/// Reads everything that was ever stored.
async fn check(out: &mut impl Write, folder: &Path) -> Result<(), BoxError> {
    let defects = reopen::verify(&FileStore::new(folder)).await?;
    for defect in &defects {
        writeln!(out, "{defect}")?;
    }
    writeln!(out, "{} defects", defects.len())?;
    Ok(())
}
