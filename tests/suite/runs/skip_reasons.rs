//! The reason of a skipped cell, wherever the cell is shown: `cell`, events, rows and their exports, subscriptions; during
//! the run and after a restart, in forks and copies.

use std::io::Cursor;

use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::rows::{read_json_lines, write_json_lines};
use columnar::service::Position;
use columnar::store::{Entry, FileStore, MemoryStore, Store};
use columnar::{CellState, Column, Name, Reply, SkipReason};
use columnar_tests::live::push_all;
use columnar_tests::log::Log;
use columnar_tests::models::ChunkModel;
use columnar_tests::rows::Format;
use futures::future::ready;

type Outcome = std::result::Result<(), Box<dyn std::error::Error>>;

/// A column for each reason. All are skipped at step 0.
const COLUMNS: [&str; 5] = ["every", "when", "step", "inputs", "failed"];

fn reasons() -> [SkipReason; 5] {
    let failed = SkipReason::Failed("no answer".into());
    [SkipReason::Every, SkipReason::When, SkipReason::Step, SkipReason::Inputs, failed]
}

fn columns() -> [Column; 5] {
    let (log, user) = (Log::default(), source("user"));
    let every = column("every", user.latest(), log.upper("every").every(2));
    let when = column("when", user.latest(), log.upper("when").when(|cx| cx.step() > 0));
    let step = column("step", user.latest(), |_: Context| Reply::skip());
    let inputs = column("inputs", every.latest(), log.upper("inputs"));
    let failed =
        column("failed", user.latest(), (|_: Context| async { Err::<String, _>("no answer") }).or_skip());
    [every, when, step, inputs, failed]
}

/// The reasons at step 0 as memory has them.
fn by_cell(f: &Flow) -> Result<Vec<Option<SkipReason>>> {
    let cells = COLUMNS.map(|column| match f.cell(column, 0)? {
        CellState::Skipped(reason) => Ok(reason),
        state => panic!("{column}: {state:?}"),
    });
    cells.into_iter().collect()
}

/// The reasons at step 0 as rows have them, from memory or the store.
async fn by_row(f: &Flow) -> Result<Vec<Option<SkipReason>>> {
    let row = f.rows(..1).try_next().await?.expect("a row");
    Ok(COLUMNS.map(|column| row.skip_reason(column)).into())
}

/// The reasons at step 0 as events, in the order of [`COLUMNS`].
fn by_event<'e>(events: impl IntoIterator<Item = &'e Event>) -> Vec<Option<SkipReason>> {
    let mut found = vec![None; COLUMNS.len()];
    for event in events {
        if let Event::Skipped { column, step: 0, reason } = event {
            let at = COLUMNS.iter().position(|name| column == name).expect("it is declared");
            found[at].clone_from(reason);
        }
    }
    found
}

async fn shows_the_reasons<S: Store>(store: impl Fn() -> S) -> Outcome {
    let expected: Vec<_> = reasons().into_iter().map(Some).collect();
    let f = Flow::open(store(), columns()).await?;
    push_all(&f, "user", ["a", "b"]).await?;
    let events: Vec<_> = f.run().try_collect().await?;
    assert_eq!(by_event(&events), expected, "the run");
    assert_eq!((by_cell(&f)?, by_row(&f).await?), (expected.clone(), expected.clone()));
    assert_eq!(by_cell(&f.fork(1)?)?, expected, "a fork");
    let copied = MemoryStore::new();
    drop(f.fork_into(1, copied.clone()).await?);
    assert_eq!(by_cell(&Flow::open(copied, columns()).await?)?, expected, "a copy");
    let mut lines = Vec::new();
    write_json_lines(&f, &mut lines).await?;
    drop(f);

    let f = Flow::open(store(), columns()).await?;
    assert_eq!((by_cell(&f)?, by_row(&f).await?), (expected.clone(), expected.clone()), "opened again");
    let mut again = Vec::new();
    write_json_lines(&f, &mut again).await?;
    assert!(again == lines, "the same rows");
    drop(f);

    // The cells are in the store alone.
    let f = Flow::open(OpenOptions::new(store()).recent(0), columns()).await?;
    assert_eq!(by_row(&f).await?, expected, "rows from the store");
    let f = f.spawn();
    let events: Vec<_> = f.subscribe_from(&Position::START).take(COLUMNS.len()).collect().await;
    assert_eq!(by_event(&events), expected, "a subscription from the store");
    assert!(matches!(f.cell("when", 0)?, CellState::NotLoaded));
    f.load(0).await?;
    let events: Vec<_> = f.subscribe_from(&Position::START).take(COLUMNS.len()).collect().await;
    assert_eq!(by_event(&events), expected, "a subscription from memory");
    Ok(())
}

#[tokio::test]
async fn a_skipped_cell_has_its_reason_wherever_it_is_shown() -> Outcome {
    let folder = tempfile::tempdir()?;
    let memory = MemoryStore::new();
    shows_the_reasons(|| memory.clone()).await?;
    shows_the_reasons(|| FileStore::new(folder.path().join("files"))).await?;
    #[cfg(feature = "sqlite")]
    {
        let file = folder.path().join("chats.db");
        shows_the_reasons(|| columnar::store::SqliteStore::new(&file, "monday")).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_flow_without_a_store_knows_the_reasons() -> Result<()> {
    let f = flow(columns())?;
    push_all(&f, "user", ["a", "b"]).await?;
    f.run().await?;
    let expected: Vec<_> = reasons().into_iter().map(Some).collect();
    assert_eq!((by_cell(&f)?, by_row(&f).await?), (expected.clone(), expected));
    assert_eq!(f.bill().receipts().count(), 0, "no cell called a model");
    assert_eq!((f.receipt("when", 0), f.receipt("when", 1)), (None, None));
    Ok(())
}

/// A declaration that has changed since does not change what was the reason.
#[tokio::test]
async fn a_reason_stays_when_the_declaration_changes() -> Result<()> {
    let store = MemoryStore::new();
    let digest = |step: Step<'static>| [column("digest", source("user").latest(), step)];
    let f = Flow::open(store.clone(), digest(Log::default().upper("digest").every(2))).await?;
    push_all(&f, "user", ["a", "b", "c"]).await?;
    f.run().await?;
    drop(f);
    let f = Flow::open(store, digest(Log::default().upper("digest").when(|cx| cx.step() < 2))).await?;
    push_all(&f, "user", ["d"]).await?;
    f.run().await?;
    let reasons = [0, 2, 3].map(|step| f.cell("digest", step));
    let expected = [SkipReason::Every, SkipReason::Every, SkipReason::When];
    for (state, reason) in reasons.into_iter().zip(expected) {
        assert_eq!(state?, CellState::Skipped(Some(reason)));
    }
    Ok(())
}

#[tokio::test]
async fn a_cell_of_an_earlier_version_has_no_reason() -> Outcome {
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), columns()).await?;
    push_all(&f, "user", ["a"]).await?;
    drop(f);
    store.open().await?;
    for column in COLUMNS {
        store.put(Name::new(column)?, 0, Entry::SKIPPED).await?;
    }
    let f = Flow::open(store, columns()).await?;
    assert_eq!((by_cell(&f)?, by_row(&f).await?), (vec![None; 5], vec![None; 5]));
    let mut lines = Vec::new();
    write_json_lines(&f, &mut lines).await?;
    assert!(!String::from_utf8(lines)?.contains("_skip_reasons"));
    Ok(())
}

#[tokio::test]
async fn rows_take_the_reasons_into_another_store() -> Outcome {
    let f = flow(columns())?;
    push_all(&f, "user", ["a", "b"]).await?;
    f.run().await?;
    for format in Format::ALL {
        let store = MemoryStore::new();
        format.write(&f).await?.read(&store).await?;
        let again = Flow::open(store, columns()).await?;
        assert_eq!(by_cell(&again)?, by_cell(&f)?, "{format:?}");
    }
    let mut lines = Vec::new();
    write_json_lines(&f, &mut lines).await?;
    let end = r#""_skipped":["every","when","step","inputs","failed"],"_skip_reasons":["every","when","step","inputs","failed: no answer"]}"#;
    assert!(String::from_utf8(lines)?.lines().next().expect("a line").ends_with(end));
    Ok(())
}

/// The row of a cell that was paid for in vain has the reason without the calls.
#[tokio::test(start_paused = true)]
async fn rows_are_read_again_into_their_own_store() -> Outcome {
    let store = MemoryStore::new();
    let model = ChunkModel::new("openai/gpt-5.4-mini", |_, _| vec![Err("no".into())]);
    let mood = [column("mood", source("user").latest(), prompt("Name the mood.").model(model).or_skip())];
    let f = Flow::open(store.clone(), &mood).await?;
    push_all(&f, "user", ["a"]).await?;
    f.run().await?;
    let cell = f.cell("mood", 0)?;
    assert!(matches!(cell, CellState::Skipped(Some(SkipReason::Failed(_)))), "{cell:?}");
    let receipt = f.receipt("mood", 0).expect("it called a model");
    let mut lines = Vec::new();
    write_json_lines(&f, &mut lines).await?;
    drop(f);
    let writer = store.clone();
    assert_eq!(read_json_lines(&writer, Cursor::new(lines)).await?, 1);
    drop(writer);
    let f = Flow::open(store, &mood).await?;
    assert_eq!((f.cell("mood", 0)?, f.receipt("mood", 0)), (cell, Some(receipt)));
    Ok(())
}

#[tokio::test]
async fn the_message_of_a_failure_is_cut() -> Result<()> {
    let store = MemoryStore::new();
    let mood = [column(
        "mood",
        source("user").latest(),
        (|_: Context| ready(Err::<String, _>("é".repeat(9_999)))).or_skip(),
    )];
    let f = Flow::open(store.clone(), &mood).await?;
    push_all(&f, "user", ["a"]).await?;
    f.run().await?;
    let cell = f.cell("mood", 0)?;
    let CellState::Skipped(Some(SkipReason::Failed(message))) = &cell else { panic!("{cell:?}") };
    assert_eq!(**message, "é".repeat(150));
    drop(f);
    assert_eq!(Flow::open(store, &mood).await?.cell("mood", 0)?, cell);
    Ok(())
}

/// A filter that leaves nothing to show is an empty input, too.
#[tokio::test]
async fn a_cell_without_a_value_that_passes_the_filter_has_nothing_to_read() -> Result<()> {
    let question = |text: &str| text.ends_with('?');
    let f = flow([column("answer", source("user").filter(question), Log::default().upper("answer"))])?;
    push_all(&f, "user", ["Why?", "So."]).await?;
    f.run().await?;
    assert_eq!(f.cell("answer", 1)?, CellState::Skipped(Some(SkipReason::Inputs)));
    Ok(())
}
