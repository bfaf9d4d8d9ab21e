//! Topics and a summary for each row of a file: CSV, JSON Lines or Parquet, with any number of rows. A row in the output is a
//! row of the input, with the reason where a model failed. What is done is in a database beside the output: start the program
//! again, and it goes on.
//!
//! ```text
//! cargo run --example annotate --features annotate                              300 rows, interrupted once
//! cargo run --example annotate --features annotate -- reviews.csv out.parquet text    the column `text` of a file
//! ```

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::rows::RowOptions;
use columnar::store::SqliteStore;
use columnar::{BoxError, Progress};
use columnar_examples::{exit_code, stdout};

/// The rows of the demonstration.
const ROWS: usize = 300;

/// The values between two lines about the progress.
const BETWEEN: usize = 1_000;

flow! {
    /// A text in each row, and what a model finds in it.
    pub struct Notes {
        source text;

        column topics(text.latest) = prompt("List the topics.").max_tokens(100).retry(2).or_skip();
        column summary(text.latest) =
            prompt("Summarize the text in a sentence.").max_tokens(200).retry(2).or_skip();
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    exit_code(match &*arguments {
        [] => demonstration().await,
        [input, output, column] => annotate(input.as_ref(), output.as_ref(), column, None).await.map(drop),
        _ => Err("expected nothing, or INPUT OUTPUT COLUMN".into()),
    })
}

/// Annotates a file, or as much of it as `limit` values say. Returns whether all is done.
async fn annotate(input: &Path, output: &Path, column: &str, limit: Option<usize>) -> Result<bool, BoxError> {
    let mut out = stdout();
    let written = format(output)?;
    let database = output.with_extension("db");
    let store = || SqliteStore::new(&database, "rows");
    let options = RowOptions::new().rename(column, "text").source("text");
    let file = File::open(input)?;
    // Rows that the database has already are compared with the file, and not stored again.
    let rows = match format(input)? {
        Format::Csv => options.read_csv(&store(), BufReader::new(file)).await?,
        Format::JsonLines => options.read_json_lines(&store(), BufReader::new(file)).await?,
        Format::Parquet => options.read_parquet(&store(), file).await?,
    };
    let notes = Notes::open(OpenOptions::new(store()).recent(0)).await?;
    writeln!(out, "{rows} rows, {} are done", notes.steps())?;
    let mut run = notes.run();
    let mut values = 0;
    while let Some(event) = run.try_next().await? {
        values += usize::from(matches!(event, Event::Value { .. } | Event::Skipped { .. }));
        if values % BETWEEN == 0 && matches!(event, Event::Value { .. }) {
            writeln!(out, "{values} values")?;
        }
        if limit.is_some_and(|limit| values >= limit) {
            return Ok(false);
        }
    }
    let file = BufWriter::new(File::create(output)?);
    match written {
        Format::Csv => options.write_csv(&notes, file).await?,
        Format::JsonLines => options.write_json_lines(&notes, file).await?,
        Format::Parquet => options.write_parquet(&notes, file).await?,
    };
    let Progress { skipped, .. } = notes.progress();
    writeln!(out, "{} rows are written, {skipped} values are missing, with their reasons", notes.steps())?;
    out.flush()?;
    Ok(true)
}

enum Format {
    Csv,
    JsonLines,
    Parquet,
}

/// The format of a file, by its name.
fn format(path: &Path) -> Result<Format, BoxError> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Ok(Format::Csv),
        Some("jsonl" | "ndjson") => Ok(Format::JsonLines),
        Some("parquet") => Ok(Format::Parquet),
        _ => Err(format!("{} is no .csv, .jsonl or .parquet", path.display()).into()),
    }
}

/// Annotates a file in two processes, so to speak.
async fn demonstration() -> Result<(), BoxError> {
    let mut out = stdout();
    writeln!(out, "model: {}", columnar_examples::model()?)?;
    let folder = tempfile::tempdir()?;
    let [input, output] = ["reviews.jsonl", "annotated.csv"].map(|name| folder.path().join(name));
    let mut file = BufWriter::new(File::create(&input)?);
    for row in 0..ROWS {
        writeln!(
            file,
            "{{\"review\":\"The tent number {row} is light, and the zip broke on day {}.\"}}",
            row % 9
        )?;
    }
    drop(file);
    annotate(&input, &output, "review", Some(ROWS)).await?;
    writeln!(out, "interrupted, and started again:")?;
    annotate(&input, &output, "review", None).await?;
    let table = std::fs::read_to_string(output)?;
    for line in table.lines().take(3) {
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_interrupted_file_becomes_the_same_table() -> Result<(), BoxError> {
        let folder = tempfile::tempdir()?;
        let path = |name: &str| folder.path().join(name);
        let rows: Vec<_> =
            (0..300).map(|row| format!("{{\"text\":\"The zip of tent {row} broke.\"}}\n")).collect();
        std::fs::write(path("in.jsonl"), rows.concat())?;
        annotate(&path("in.jsonl"), &path("whole.csv"), "text", None).await?;
        for limit in [Some(70), Some(200), None] {
            let is_done = annotate(&path("in.jsonl"), &path("parts.csv"), "text", limit).await?;
            assert_eq!(is_done, limit.is_none());
        }
        assert_eq!(std::fs::read(path("parts.csv"))?, std::fs::read(path("whole.csv"))?);
        // A table of the program is a file of its own.
        annotate(&path("whole.csv"), &path("again.parquet"), "text", None).await?;
        assert!(path("again.parquet").exists());
        Ok(())
    }
}
