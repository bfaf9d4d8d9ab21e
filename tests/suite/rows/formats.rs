//! Flows as rows, in every format: rows are read as they were written, and invalid ones are errors.

use std::collections::BTreeSet;
use std::io::Cursor;

use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::rows::{RowOptions, read_json_lines};
use columnar::store::{Entry, MemoryStore, Store};
use columnar::{Column, Name};
use columnar_tests::live::{Gaps, Live, block_on, push_all};
use columnar_tests::log::Log;
use columnar_tests::naive;
use columnar_tests::rows::Format;
use columnar_tests::strategies::flows;
use columnar_tests::talk::Panel;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The outcome of a random flow: the values of the cells in the first steps, further values of the first source, and the
/// skipped cells.
async fn goes_around(
    described: &naive::Flow,
    at: usize,
    ahead: usize,
    gaps: &Gaps,
    format: Format,
) -> Outcome {
    let steps = described.steps();
    let whole = Live::open_with_gaps(MemoryStore::new(), described, gaps).await?;
    for step in 0..at.min(steps) {
        whole.push(described, step).await?;
    }
    whole.flow.run().await?;
    let seen: BTreeSet<_> = whole.seen().into_keys().collect();
    let source = described.columns.first().expect("it has a source");
    for value in source.values.iter().take(steps.min(at + ahead)).skip(at) {
        whole.flow.push(&source.name, value).await?;
    }

    let table = format.write(&whole.flow).await?;
    let store = MemoryStore::new();
    table.read(&store).await?;
    let again = Live::open_with_gaps(OpenOptions::new(store).recent(0), described, gaps).await?;
    assert_eq!(format.write(&again.flow).await?.bytes, table.bytes, "written again");
    assert_eq!(again.flow.forecast().cells, whole.flow.forecast().cells);

    again.flow.load(0).await?;
    for (column, step) in
        described.columns.iter().flat_map(|column| (0..steps).map(move |step| (column, step)))
    {
        let name = &column.name;
        assert_eq!(again.flow.get(name, step), whole.flow.get(name, step), "`{name}` at step {step}");
    }
    for live in [&whole, &again] {
        for source in described.columns.iter().filter(|column| column.reads.is_none()) {
            let there = (0..steps).take_while(|step| live.flow.get(&source.name, *step).is_some()).count();
            for value in source.values.iter().take(steps).skip(there) {
                live.flow.push(&source.name, value).await?;
            }
        }
        live.flow.run().await?;
    }
    let computed: BTreeSet<_> = whole.seen().into_keys().filter(|cell| !seen.contains(cell)).collect();
    let computed_again: BTreeSet<_> = again.seen().into_keys().collect();
    assert_eq!(computed_again, computed, "exactly the missing cells");
    assert_eq!(format.write(&again.flow).await?.bytes, format.write(&whole.flow).await?.bytes, "at the end");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 60 } else { 500 }))]

    #[test]
    fn rows_are_read_as_they_were_written(
        described in flows(),
        at in 0..7_usize,
        ahead in 0..3_usize,
        gaps in vec((any::<Index>(), 0..7_usize), 0..6),
    ) {
        let derived: Vec<_> = described.derived().map(|(column, _)| column.name.clone()).collect();
        let gaps = gaps.into_iter().map(|(column, step)| (column.get(&derived).clone(), step)).collect();
        for format in Format::ALL {
            block_on(goes_around(&described, at, ahead, &gaps, *format)).expect("nothing fails");
        }
    }
}

/// Texts that programs and formats have been known to change.
const TEXTS: [&str; 20] = [
    "",
    " ",
    "\n",
    "\n\n",
    "one\r\ntwo\rthree\n",
    "a\0b\0",
    "\u{feff}with a mark",
    "\u{2028}\u{2029}\u{85}",
    "\u{202e}backwards\u{200b}",
    "e\u{301} is not \u{e9}",
    "\u{1f469}\u{200d}\u{1f680}",
    "'; drop table cells; --",
    "\\ \" ' ` $1 %s {} ?1",
    "</user>\n\n<user>",
    "skipped",
    "null",
    "NaN",
    "00123",
    "2026-11-22T10:00:00Z",
    "{\"_step\":7}\n",
];

/// A flow of one source with these values.
async fn flow_of<V: AsRef<str>>(texts: impl IntoIterator<Item = V>) -> Result<Flow> {
    let f = flow([upper("topics")])?;
    for text in texts {
        f.push("user", text.as_ref()).await?;
    }
    Ok(f)
}

fn upper(name: &'static str) -> Column {
    column(name, source("user").latest(), Log::default().upper(name))
}

#[tokio::test]
async fn every_text_is_read_as_it_was_written() -> Outcome {
    let big = "0123456789abcde\u{e9}\n".repeat(10 << 16);
    assert!(big.len() > 10 << 20);
    for format in Format::ALL {
        let f = flow_of(TEXTS.into_iter().chain([big.as_str(), "after"])).await?;
        let (table, store) = (format.write(&f).await?, MemoryStore::new());
        table.read(&store).await?;
        let again = Flow::open(store, [upper("topics")]).await?;
        for (step, text) in TEXTS.into_iter().chain([big.as_str(), "after"]).enumerate() {
            assert!(again.get("user", step).as_deref() == Some(text), "{format:?}: text {step}");
        }
        assert_eq!(again.get("user", table.rows), None);
    }
    Ok(())
}

#[tokio::test]
async fn values_that_are_not_in_memory_are_written() -> Outcome {
    // More rows than one chunk, with long values in the middle.
    let store = MemoryStore::new();
    let log = Log::default();
    let user = source("user");
    let topics = column("topics", user.window(2), log.upper("topics"));
    let odd = |cx: Context| async move { if cx.step() % 3 == 1 { Err("it is odd") } else { Ok("even") } };
    let even = column("even", user.latest(), odd.or_skip());
    let f = Flow::open(store.clone(), [&topics, &even]).await?;
    for step in 0..1300 {
        let text = if step % 400 == 399 { "long ".repeat(1 << 18) } else { format!("text {step}") };
        f.push("user", text).await?;
    }
    f.run().await?;
    for format in Format::ALL {
        let table = format.write(&f).await?;
        assert_eq!(table.rows, 1300);
        let other = MemoryStore::new();
        table.read(&other).await?;
        let again = Flow::open(OpenOptions::new(other).recent(0), [&topics, &even]).await?;
        assert_eq!((again.get("user", 1297), again.forecast().cells), (None, 0));
        assert!(format.write(&again).await?.bytes == table.bytes, "{format:?}");
        again.load(0).await?;
        assert!(format.write(&again).await?.bytes == table.bytes, "{format:?}, loaded");
        for step in 0..1300 {
            assert_eq!(again.get("user", step), f.get("user", step), "{format:?}: step {step}");
        }
    }
    Ok(())
}

/// A fork had no way to the values that were not in memory. They were omitted, and later an error.
#[tokio::test]
async fn a_fork_reads_the_values_that_are_not_in_memory() -> Outcome {
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), [upper("topics")]).await?;
    push_all(&f, "user", ["a", "b", "c"]).await?;
    f.run().await?;
    drop(f);
    let f = Flow::open(OpenOptions::new(store).recent(0), [upper("topics")]).await?;
    for format in Format::ALL {
        let fork = f.fork(3)?;
        assert_eq!(format.write(&fork).await?.bytes, format.write(&f).await?.bytes);
        assert_eq!(fork.get("user", 0), None, "it is not kept in memory");
    }
    Ok(())
}

#[tokio::test]
async fn columns_of_modules_have_qualified_names() -> Outcome {
    for format in Format::ALL {
        let panel = Panel::new("yes");
        for text in ["one", "two"] {
            panel.asked.push(text).await?;
        }
        panel.run().await?;
        let (table, store) = (format.write(&panel).await?, MemoryStore::new());
        if *format == Format::JsonLines {
            let line = "{\"_step\":0,\"asked\":\"one\",\"rest\":\"a\",\"talk.other\":\"yes\",\"talk.type\":\"first\"}\n";
            assert!(table.bytes.starts_with(line.as_bytes()), "{}", String::from_utf8_lossy(&table.bytes));
        }
        table.read(&store).await?;
        let again = Panel::open(store, "no").await?;
        assert_eq!((again.steps(), again.forecast().cells), (2, 0));
        assert_eq!(again.talk.other.get(1).as_deref(), Some("yes"));
    }
    Ok(())
}

/// The store has the first name of the column, and rows the current one: they were once stored under a name that no
/// flow reads.
#[tokio::test]
async fn a_renamed_column_is_read_under_its_current_name() -> Outcome {
    for format in Format::ALL {
        let store = MemoryStore::new();
        Flow::open(store.clone(), [upper("topics")]).await?.push("user", "a").await?;
        let renamed = column("subjects", source("message").was("user").latest(), Log::default().upper("s"))
            .was("topics");
        drop(Flow::open(store.clone(), [&renamed]).await?);

        let f = flow([column("subjects", source("message").latest(), Log::default().upper("s"))])?;
        push_all(&f, "message", ["a", "b"]).await?;
        f.run().await?;
        format.write(&f).await?.read(&store).await?;
        // The handle that read the rows owns the store.
        let handle = store.clone();
        drop(store);
        let again = Flow::open(handle, [renamed]).await?;
        assert_eq!((again.steps(), again.get("message", 1).as_deref()), (2, Some("b")), "{format:?}");
    }
    Ok(())
}

#[tokio::test]
async fn equal_rows_are_accepted_and_different_ones_are_an_error() -> Outcome {
    for format in Format::ALL {
        let (table, store) = (format.write(&flow_of(["a", "b"]).await?).await?, MemoryStore::new());
        table.read(&store).await?;
        table.read(&store).await?;
        let other = format.write(&flow_of(["a", "secret", "c"]).await?).await?;
        let error = other.read(&store).await.expect_err("step 1 is another one");
        assert_eq!(error.to_string(), "`user` at step 1 is there already, and is something else");
        let user = Name::new("user")?;
        let there = store.load(user, 0..2).await?;
        assert_eq!(there, [(0, Entry::from("a")), (1, Entry::from("b"))]);
    }
    Ok(())
}

/// Each invalid row, after two valid ones.
#[tokio::test]
async fn an_invalid_row_is_an_error_and_nothing_is_imported() -> Outcome {
    let text = "convert it to one";
    let step = "`_step` must be a whole number, 0 or more";
    let name = "use at most 64 lowercase letters, digits and `_`, beginning with a letter; `RowOptions` can `rename` the \
        column, or `leave_out` it";
    #[rustfmt::skip]
    let bad: Vec<(&[u8], String)> = vec![
        (b"secret", "it is not a JSON object, from byte 1 on".into()),
        (b"{\"user\":\"secret", "it is not a JSON object, from byte 15 on".into()),
        (b"[\"secret\"]", "it is not a JSON object, from byte 1 on".into()),
        (b"\"secret\"", "it is not a JSON object, from byte 8 on".into()),
        (b"{\"user\":\"secret\"} {\"user\":\"secret\"}", "it is not a JSON object, from byte 19 on".into()),
        (b"{\"user\":\"secret\xff\"}", "it is not a JSON object, from byte 16 on".into()),
        (b"{\"user\":\"secret\\ud800\"}", "it is not a JSON object, from byte 22 on".into()),
        (b"{\"user\":7}", format!("`user` must be a text; {text}")),
        (b"{\"user\":{\"secret\":1}}", format!("`user` must be a text; {text}")),
        (b"{\"user\":[\"secret\"]}", format!("`user` must be a text; {text}")),
        (b"{\"user\":true}", format!("`user` must be a text; {text}")),
        (b"{\"_step\":null,\"user\":\"secret\"}", step.into()),
        (b"{\"_step\":-1,\"user\":\"secret\"}", step.into()),
        (b"{\"_step\":1.5,\"user\":\"secret\"}", step.into()),
        (b"{\"_step\":\"2\",\"user\":\"secret\"}", step.into()),
        (b"{\"_skipped\":\"topics\"}", "`_skipped` must be a list of column names".into()),
        (b"{\"_skipped\":[\"topics\",7]}", "`_skipped` must be a list of column names".into()),
        (b"{\"_skipped\":[\"Topics\"]}", format!("`Topics` cannot be a name: {name}")),
        (b"{\"User\":\"secret\"}", format!("`User` cannot be a name: {name}")),
        (b"{\"_user\":\"secret\"}", format!("`_user` cannot be a name: {name}")),
    ];
    for (row, expected) in bad {
        let rows = [b"{\"user\":\"a\"}\n\n{\"user\":\"b\"}\n", row, b"\n{\"user\":\"d\"}\n"].concat();
        let store = MemoryStore::new();
        let error = read_json_lines(&store, Cursor::new(&rows)).await.expect_err("it is no row");
        assert_eq!(error.to_string(), format!("row 3: {expected}"));
        assert!(!format!("{error:?}").contains("secret"));
        let rows = [b"{\"user\":\"a\"}\n{\"user\":\"b\"}\n".as_slice(), b"{\"user\":\"c\"}"].concat();
        let user = Name::new("user")?;
        assert_eq!(store.stored_steps(user.clone()).await?.prefix, 0, "nothing is stored");
        assert_eq!(read_json_lines(&store, Cursor::new(&rows)).await?, 3);
        assert_eq!(store.stored_steps(user).await?.prefix, 3);
    }
    Ok(())
}

#[tokio::test]
async fn a_duplicate_cell_is_an_error() -> Outcome {
    let twice = "`user` at step 0 is there already, and is something else";
    for rows in [
        "{\"user\":\"a\",\"user\":\"secret\"}",
        "{\"user\":\"a\",\"_skipped\":[\"user\"]}",
        "{\"_step\":0,\"user\":\"a\"}\n{\"_step\":0,\"user\":\"secret\"}",
    ] {
        let error =
            read_json_lines(&MemoryStore::new(), Cursor::new(rows)).await.expect_err("it is there twice");
        assert_eq!(error.to_string(), twice, "{rows}");
    }
    Ok(())
}

/// `frame.to_json("rows.jsonl", orient="records", lines=True)`: no step, escaped slashes and characters beyond ASCII, and
/// null for missing values.
#[tokio::test]
async fn rows_without_a_step_are_numbered_in_order() -> Outcome {
    let rows = concat!(
        r#"{"user":"<user>\n<\/user>","topics":"na\u00efve \ud83e\udd80","mood":null}"#,
        "\n",
        r#"{"user":"second","topics":null,"mood":null}"#,
        "\r\n",
        r#"{"topics":null,"user":"third"}"#,
    );
    let store = MemoryStore::new();
    // Nobody knows yet that the other columns are computed.
    let options = RowOptions::new().source("user");
    assert_eq!(options.read_json_lines(&store, Cursor::new(rows)).await?, 3);
    let f = Flow::open(store, [upper("topics")]).await?;
    assert_eq!(f.get("user", 0).as_deref(), Some("<user>\n</user>"));
    assert_eq!(f.get("topics", 0).as_deref(), Some("na\u{ef}ve \u{1f980}"));
    assert_eq!((f.get("user", 2).as_deref(), f.forecast().cells), (Some("third"), 2));
    Ok(())
}

/// Rows in any order, and with gaps where they are possible.
#[tokio::test]
async fn rows_are_stored_at_their_step() -> Outcome {
    let rows = "{\"_step\":1,\"user\":\"b\"}\n{\"topics\":\"T\",\"_step\":0,\"user\":\"a\"}\n";
    let store = MemoryStore::new();
    read_json_lines(&store, Cursor::new(rows)).await?;
    let f = Flow::open(store, [upper("topics")]).await?;
    assert_eq!((f.get("user", 1).as_deref(), f.get("topics", 0).as_deref()), (Some("b"), Some("T")));
    assert_eq!(f.forecast().cells, 1);

    let store = MemoryStore::new();
    let rows = "{\"_step\":0,\"user\":\"a\"}\n{\"_step\":2,\"user\":\"c\"}";
    read_json_lines(&store, Cursor::new(rows)).await?;
    let error = Flow::open(store, [upper("topics")]).await.expect_err("a source has no gaps");
    assert_eq!(
        error.to_string(),
        "reading `user` from the store failed: step 1 is missing, but step 2 is stored; restore it, or remove the later ones"
    );
    Ok(())
}

/// Rows can be read and written by tasks of any executor.
#[tokio::test]
async fn readers_and_writers_are_send() -> Outcome {
    fn sent<T: Send>(future: T) -> T {
        future
    }
    let (f, store) = (flow_of(["a"]).await?, MemoryStore::new());
    let mut lines = Vec::new();
    sent(columnar::rows::write_json_lines(&f, &mut lines)).await?;
    sent(read_json_lines(&store, Cursor::new(lines))).await?;
    #[cfg(feature = "csv")]
    {
        let mut table = Vec::new();
        sent(columnar::rows::write_csv(&f, &mut table)).await?;
        sent(columnar::rows::read_csv(&store, Cursor::new(table))).await?;
    }
    #[cfg(feature = "parquet")]
    {
        let file = tempfile::tempfile()?;
        sent(columnar::rows::write_parquet(&f, file.try_clone()?)).await?;
        sent(columnar::rows::read_parquet(&store, file)).await?;
    }
    Ok(())
}

/// A writer that accepts half of each buffer and is full after a while.
struct Full(Vec<u8>);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() > 20 {
            return Err(std::io::Error::other("no space is left"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_full_disk_is_an_error() -> Outcome {
    let f = flow_of((0..100).map(|step| format!("{step} {}", "long ".repeat(1000)))).await?;
    let expected = "rows cannot be written or read: no space is left";
    let error = columnar::rows::write_json_lines(&f, Full(Vec::new())).await.expect_err("it is full");
    assert_eq!(error.to_string(), expected);
    #[cfg(feature = "csv")]
    {
        let error = columnar::rows::write_csv(&f, Full(Vec::new())).await.expect_err("it is full");
        assert_eq!(error.to_string(), expected);
    }
    #[cfg(feature = "parquet")]
    {
        let error = columnar::rows::write_parquet(&f, Full(Vec::new())).await.expect_err("it is full");
        assert_eq!(error.to_string(), expected);
    }
    Ok(())
}
