//! The rows of a flow, as other programs read them.
//!
//! `tests/foreign-reader run cargo test -p columnar-tests --features parquet --test suite foreign_reader`

use std::env;
use std::path::Path;
use std::process::Command;

use columnar::Column;
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::store::MemoryStore;
use columnar_tests::log::Log;
use columnar_tests::rows::{Format, Table};
use serde_json::{Value as Json, json};

/// The Python interpreter that has the other readers, set by `tests/foreign-reader`.
const READER: &str = "COLUMNAR_FOREIGN_READER";

const SECOND: &str = "2026-11-22\n\0 \u{1f980} na\u{ef}ve \u{2028}\"quoted\\\" \r\n";

fn columns() -> [Column; 2] {
    let user = source("user");
    let odd = |cx: Context| async move { if cx.step() % 3 == 1 { Err("it is odd") } else { Ok("007") } };
    [
        column("topics", user.latest(), odd.or_skip()),
        column("talk.mood", user.latest(), Log::default().upper("mood")),
    ]
}

/// A thousand steps, the last of which are not computed.
async fn filled() -> Result<Flow> {
    let f = flow(columns())?;
    let texts = (0..1000).map(|step| match step {
        1 => SECOND.to_owned(),
        500 => "\u{e9}".repeat(100_000),
        501 => String::new(),
        _ => format!("{step}"),
    });
    for (step, text) in texts.enumerate() {
        if step == 990 {
            f.run().await?;
        }
        f.push("user", text).await?;
    }
    Ok(f)
}

/// The report of each reader, if there is an interpreter.
fn ask(python: &str, what: &str, table: &Table, folder: &Path) -> Option<Vec<Json>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("foreign-reader.py");
    let mut ask = Command::new(python);
    let output = ask.arg(script).arg(what).arg(&table.path).arg(folder).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output_text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    Some(output_text.lines().map(|line| serde_json::from_str(line).expect("a line for each")).collect())
}

#[tokio::test]
async fn other_programs_read_the_rows_and_write_them_back() -> Result<(), Box<dyn std::error::Error>> {
    let f = filled().await?;
    let python = env::var(READER).ok();
    let mut readers = Vec::new();
    for format in Format::ALL {
        let (table, folder) = (format.write(&f).await?, tempfile::tempdir()?);
        let Some(found) = ask(python.as_deref().unwrap_or("python3"), format.ending(), &table, folder.path())
        else {
            assert_eq!(python, None, "{READER} can be started");
            eprintln!("SKIPPED {format:?}: there is no python3");
            continue;
        };
        for mut found in found {
            let reader = found["reader"].take();
            let reader = reader.as_str().expect("its name");
            let expected = json!({
                "reader": null, "rows": 1000, "longest": 100_000, "empty": 330 + 10, "user": SECOND.as_bytes(),
                "skipped": ["topics"],
            });
            assert_eq!(found, expected, "{reader} and {format:?}");

            let store = MemoryStore::new();
            let again = folder.path().join(reader).with_extension(format.ending());
            assert_eq!(format.read(&store, &again).await?, 1000, "{reader} and {format:?}");
            let again = Flow::open(OpenOptions::new(store), columns()).await?;
            assert!(
                format.write(&again).await?.bytes == table.bytes,
                "{reader} and {format:?}: the same again"
            );
            readers.push(format!("{format:?} by {reader}"));
        }
    }
    println!("read: {}", readers.join(", "));
    let is_present = |by: &str| readers.iter().any(|reader| reader.ends_with(by));
    if python.is_some() {
        assert!(is_present("by duckdb"), "{READER} has it");
    } else {
        eprintln!("SKIPPED DuckDB and Parquet: {READER} is not set; `tests/foreign-reader run` sets it");
    }
    Ok(())
}

/// Columns of whole numbers, numbers and booleans, some with texts that are not found from the value.
#[cfg(feature = "parquet")]
#[tokio::test]
async fn other_programs_find_typed_columns_and_write_them_back() -> Result<(), Box<dyn std::error::Error>> {
    let (user, steps) = (source("user"), 100);
    let typed = || {
        let stars = |cx: Context| async move { (cx.step() % 5).to_string() };
        let score = |cx: Context| async move { format!("{}.50", cx.step()) };
        let good = |cx: Context| async move { cx.step().is_multiple_of(4).to_string() };
        [
            column("stars", user.latest(), stars.typed::<u8>()),
            column("score", user.latest(), score.typed::<f64>()),
            column("good", user.latest(), good.typed::<bool>()),
        ]
    };
    let f = flow(typed())?;
    f.push_all("user", (0..steps).map(|step| step.to_string())).await?;
    f.run().await?;
    let (table, folder) = (Format::Parquet.write(&f).await?, tempfile::tempdir()?);
    let Some(python) = env::var(READER).ok() else {
        eprintln!("SKIPPED: {READER} is not set");
        return Ok(());
    };
    let found = ask(&python, "typed", &table, folder.path()).expect("it can be started");
    assert!(!found.is_empty(), "{READER} has DuckDB");
    for mut found in found {
        let reader = found["reader"].take();
        let reader = reader.as_str().expect("its name");
        let expected =
            json!({"reader": null, "stars": 200, "score": 4950.0 + 50.0, "good": 25, "texts": 100});
        assert_eq!(found, expected, "{reader}");
        let store = MemoryStore::new();
        let again = folder.path().join(reader).with_extension("parquet");
        assert_eq!(Format::Parquet.read(&store, &again).await?, steps, "{reader}");
        let again = Flow::open(OpenOptions::new(store), typed()).await?;
        assert!(Format::Parquet.write(&again).await?.bytes == table.bytes, "{reader}: the same again");
    }
    Ok(())
}
