//! Rows of other programs: nulls of sources, marks at the beginning of a file, and columns of other names.

use std::io::Cursor;

use columnar::prelude::*;
use columnar::rows::{InvalidRow, RowOptions, RowsError, read_json_lines};
use columnar::store::{MemoryStore, Store};
use columnar::{Column, Name};
use columnar_tests::log::Log;
use columnar_tests::rows::{Format, Table};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn topics() -> Column {
    column("topics", source("review").latest(), Log::default().upper("topics"))
}

/// A store with the definition of a flow, and no values.
async fn defined() -> Result<MemoryStore> {
    let store = MemoryStore::new();
    drop(Flow::open(store.clone(), [topics()]).await?);
    Ok(store)
}

async fn stored(store: &MemoryStore, column: &str) -> usize {
    let steps = store.stored_steps(Name::new(column).expect("a name")).await.expect("it is in memory");
    steps.prefix + steps.beyond.len()
}

/// A null was passed over. The flow could not be opened on what had been imported, or had fewer steps than the file has
/// rows.
#[tokio::test]
async fn a_null_of_a_source_is_an_error_of_its_row_and_nothing_is_imported() -> Outcome {
    let refused = "row 1201: `review` has no value, and a source needs one in each row";
    // In the middle and at the end, as a null and as a member that is missing, with a step and without.
    for odd in ["{\"review\":null,\"topics\":\"T\"}", "{\"topics\":\"T\"}", "{}"] {
        for after in [0, 1, 700] {
            let good = "{\"review\":\"secret\",\"topics\":\"T\"}\n";
            let rows = format!("{}{odd}\n{}", good.repeat(1200), good.repeat(after));
            let store = defined().await?;
            let error = read_json_lines(&store, Cursor::new(&rows)).await.expect_err("a source has no gaps");
            assert!(matches!(error, RowsError::Row { source: InvalidRow::NoValue { .. }, .. }));
            assert!(!format!("{error:?}").contains("secret"));
            let error = error.to_string();
            assert_eq!((error.as_str(), stored(&store, "review").await), (refused, 0), "{odd}");
            // The same of a store that knows no flow, where any column may be a source, and if the source is named.
            for options in [RowOptions::new(), RowOptions::new().source("review")] {
                let store = MemoryStore::new();
                let read = options.read_json_lines(&store, Cursor::new(&rows)).await;
                let error = read.expect_err("a source has no gaps").to_string();
                assert_eq!((error.as_str(), stored(&store, "topics").await), (refused, 0), "{odd}");
            }
        }
    }
    let numbered =
        "{\"_step\":1,\"review\":\"b\"}\n{\"_step\":0,\"review\":null}\n{\"_step\":2,\"review\":null}\n";
    let store = defined().await?;
    let error = read_json_lines(&store, Cursor::new(numbered)).await.expect_err("step 0 has none");
    assert_eq!(error.to_string(), "row 2: `review` has no value, and a source needs one in each row");
    assert_eq!(stored(&store, "review").await, 0);
    Ok(())
}

#[tokio::test]
async fn a_computed_column_may_have_nulls() -> Outcome {
    let rows =
        "{\"review\":\"a\",\"topics\":null}\n{\"review\":\"b\",\"topics\":\"T\"}\n{\"review\":\"c\"}\n";
    let (store, other) = (defined().await?, MemoryStore::new());
    assert_eq!(read_json_lines(&store, Cursor::new(rows)).await?, 3);
    let options = RowOptions::new().source("review");
    assert_eq!(options.read_json_lines(&other, Cursor::new(rows)).await?, 3);
    for store in [store, other] {
        let f = Flow::open(store, [topics()]).await?;
        assert_eq!((f.len("review")?, f.forecast().cells, f.get("topics", 1).as_deref()), (3, 2, Some("T")));
    }
    let error = read_json_lines(&MemoryStore::new(), Cursor::new(rows)).await.expect_err("nobody knows");
    assert_eq!(error.to_string(), "row 1: `topics` has no value, and a source needs one in each row");
    let options = RowOptions::new().source("text");
    let error = options.read_json_lines(&MemoryStore::new(), Cursor::new(rows)).await.expect_err("a typo");
    assert_eq!(error.to_string(), "row 1: `text` has no value, and a source needs one in each row");
    Ok(())
}

/// A source may be ahead of another one, so an exported table may end in nulls.
#[tokio::test]
async fn a_table_of_a_flow_whose_sources_are_ahead_is_imported() -> Outcome {
    let both = || column("both", (source("review"), source("stars")), Log::default().upper("both"));
    for format in Format::ALL {
        let f = flow([both()])?;
        f.push_all("review", ["a", "b", "c"]).await?;
        f.push("stars", "5").await?;
        let table = format.write(&f).await?;
        for is_known in [false, true] {
            let store = MemoryStore::new();
            if is_known {
                drop(Flow::open(store.clone(), [both()]).await?);
            }
            table.read(&store).await?;
            let again = Flow::open(store, [both()]).await?;
            assert_eq!((again.len("stars")?, again.len("review")?), (1, 3), "{format:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_mark_at_the_beginning_is_passed_over() -> Outcome {
    let rows = "\u{feff}{\"review\":\"\u{feff}a\"}\n";
    let store = MemoryStore::new();
    assert_eq!(read_json_lines(&store, Cursor::new(rows)).await?, 1);
    let f = Flow::open(store, [topics()]).await?;
    assert_eq!(f.get("review", 0).as_deref(), Some("\u{feff}a"));
    // And where the caller has read a part of the file.
    let mut rows = Cursor::new("# exported\n\u{feff}{\"review\":\"a\"}\n");
    std::io::BufRead::read_line(&mut rows, &mut String::new())?;
    assert_eq!(read_json_lines(&MemoryStore::new(), rows).await?, 1);
    for short in ["", "\u{feff}", "\n"] {
        assert_eq!(read_json_lines(&MemoryStore::new(), Cursor::new(short)).await?, 0);
    }
    for mark in [[0xff, 0xfe, b'{', 0], [0xfe, 0xff, 0, b'{']] {
        let error = read_json_lines(&MemoryStore::new(), Cursor::new(mark)).await.expect_err("it is UTF-16");
        let expected = "rows cannot be written or read: the file is UTF-16; save it as UTF-8";
        assert_eq!(error.to_string(), expected);
    }
    Ok(())
}

/// Names that no column can have, both ways.
#[tokio::test]
async fn columns_have_other_names_in_the_file() -> Outcome {
    let options = RowOptions::new().rename("Review, as \"text\"", "review").rename("review", "topics");
    for format in Format::ALL {
        let f = flow([topics()])?;
        f.push_all("review", ["a", "", "c"]).await?;
        f.run().await?;
        let table = format.write_with(&options, &f).await?;
        if *format == Format::JsonLines {
            let line = "{\"_step\":0,\"Review, as \\\"text\\\"\":\"a\",\"review\":";
            assert!(table.bytes.starts_with(line.as_bytes()), "{}", String::from_utf8_lossy(&table.bytes));
        }
        let store = MemoryStore::new();
        assert_eq!(format.read_with(&options, &store, &table.path).await?, 3);
        let again = Flow::open(store, [topics()]).await?;
        assert_eq!(again.forecast().cells, 0, "{format:?}");
        assert!(format.write_with(&options, &again).await?.bytes == table.bytes, "{format:?}");

        let unknown = format.write_with(&RowOptions::new().rename("a", "reviews"), &f).await;
        let error = unknown.expect_err("there is no such column").to_string();
        assert!(error.contains("`reviews`") && error.contains("`review`"), "{error}");
        for taken in ["topics", "_step", "_skipped"] {
            let twice = format.write_with(&RowOptions::new().rename(taken, "review"), &f).await;
            let error =
                twice.map(|table: Table| table.rows).expect_err("two columns of one name").to_string();
            assert!(error.ends_with("would have a name that another column has in the file"), "{error}");
        }
    }
    let rows = Cursor::new("{\"Text\":\"a\"}\n");
    let read = RowOptions::new().rename("Review", "review").read_json_lines(&MemoryStore::new(), rows).await;
    assert!(read.expect_err("a typo").to_string().starts_with("row 1: `Text` cannot be a name"));
    let rows = Cursor::new("{\"text\":\"a\"}\n");
    let read = RowOptions::new().rename("Review", "review").read_json_lines(&MemoryStore::new(), rows).await;
    assert!(read.expect_err("a typo").to_string().starts_with("row 1: `review` has no value"));
    Ok(())
}
