//! Copies of flows in other stores that are interrupted: they are no flows, and can be made again.

use std::env;
use std::future;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use columnar::prelude::*;
use columnar::reopen::{self, OpenOptions};
#[cfg(feature = "sqlite")]
use columnar::store::SqliteStore;
use columnar::store::{FileStore, MemoryStore, Store, StoreError};
use columnar_tests::live::push_all;
use columnar_tests::process::test_alone;
use columnar_tests::store::on_put;
use futures::future::FutureExt;

flow! {
    struct Chat {
        source user;
        column answer(user.latest) =
            |cx: Context| async move { format!("answer to {}", cx.input("user").expect("it is shown")) };
    }
}

const STEPS: usize = 40;

async fn chat() -> Result<Chat> {
    let chat = Chat::open(MemoryStore::new()).await?;
    for step in 0..STEPS {
        chat.user.push(format!("said {step}")).await?;
    }
    chat.run().await?;
    Ok(chat)
}

/// The store in which the `write`-th put of a copy never ends. `reached` is called then.
fn stuck(store: impl Store, write: usize, reached: fn()) -> impl Store {
    let puts = AtomicUsize::new(0);
    on_put(store, move |inner, column, step, entry| {
        let is_stuck = puts.fetch_add(1, Ordering::SeqCst) >= write;
        async move {
            if is_stuck {
                reached();
                future::pending::<()>().await;
            }
            inner.put(column, step, entry).await
        }
    })
}

/// Checks that an interrupted copy is no flow, and that the same copy can be made again.
async fn is_made_again<S: Store>(chat: &Chat, store: impl Fn() -> S) -> Result<()> {
    let error = Chat::open(store()).await.map(drop).expect_err("it is a part of a copy");
    let Error::Open { source } = &error else { panic!("{error}") };
    let reason = "it holds a part of a copy that was interrupted: make the same copy again, or delete it";
    assert_eq!(source.to_string(), reason);
    assert_eq!(reopen::verify(&store()).await.expect_err("it is no flow").to_string(), reason);
    let error = chat.fork_into(STEPS - 1, store()).await.map(drop).expect_err("it is another copy");
    assert!(error.to_string().contains("a part of another copy: delete it"), "{error}");
    drop(chat.fork_into(STEPS, store()).await?);
    let copy = Chat::open(store()).await?;
    assert_eq!((copy.steps(), copy.forecast().cells), (STEPS, 0));
    for step in 0..STEPS {
        assert_eq!(copy.user.get(step), chat.user.get(step));
        assert_eq!(copy.answer.get(step), chat.answer.get(step));
    }
    Ok(())
}

/// A half of the values was opened as a flow, which went on there and computed others.
#[tokio::test]
async fn s22_a_copy_that_is_dropped_is_no_flow() -> Result<()> {
    let chat = chat().await?;
    for write in [1, STEPS / 2, STEPS + 1, 2 * STEPS - 1] {
        let memory = MemoryStore::new();
        let copy = chat.fork_into(STEPS, stuck(memory.clone(), write, || ())).now_or_never();
        assert!(copy.is_none(), "it is stuck");
        is_made_again(&chat, || memory.clone()).await?;
    }
    Ok(())
}

/// Marks the process that copies, and has the place.
const COPY: &str = "COLUMNAR_COPY_INTO";

fn print_that_it_is_stuck() {
    println!("\nstuck");
}

/// Copies in another process, which is killed in the middle.
fn copy_and_kill(test: &str, place: &str) {
    let mut process = test_alone(module_path!(), test);
    process.env(COPY, place).stdout(Stdio::piped());
    let mut process = process.spawn().expect("it runs twice");
    let lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
    let is_stuck = lines.map_while(std::result::Result::ok).any(|line| line == "stuck");
    assert!(is_stuck, "it ended before");
    process.kill().expect("it lives");
    process.wait().expect("it ends");
}

async fn copy_until_killed(store: impl Store) -> Result<()> {
    let copy = chat().await?.fork_into(STEPS, stuck(store, STEPS + STEPS / 2, print_that_it_is_stuck)).await;
    panic!("it is stuck, but {:?}", copy.map(drop));
}

#[tokio::test(flavor = "multi_thread")]
async fn s22_a_copy_into_a_folder_whose_process_is_killed_is_no_flow() -> Result<()> {
    if let Some(folder) = env::var_os(COPY) {
        return copy_until_killed(FileStore::new(folder)).await;
    }
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().join("copy");
    let test = "s22_a_copy_into_a_folder_whose_process_is_killed_is_no_flow";
    copy_and_kill(test, folder.to_str().expect("it is text"));
    is_made_again(&chat().await?, || FileStore::new(&folder)).await
}

#[cfg(feature = "sqlite")]
#[tokio::test(flavor = "multi_thread")]
async fn s22_a_copy_into_a_sqlite_file_whose_process_is_killed_is_no_flow() -> Result<()> {
    if let Some(file) = env::var_os(COPY) {
        return copy_until_killed(SqliteStore::new(file, "copy")).await;
    }
    let scratch = tempfile::tempdir().expect("a folder");
    let file = scratch.path().join("chats.db");
    let test = "s22_a_copy_into_a_sqlite_file_whose_process_is_killed_is_no_flow";
    copy_and_kill(test, file.to_str().expect("it is text"));
    is_made_again(&chat().await?, || SqliteStore::new(&file, "copy")).await
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread")]
async fn s22_a_copy_into_postgres_whose_process_is_killed_is_no_flow() -> Result<()> {
    use columnar::store::PostgresStore;
    use columnar_tests::cuts::open_at_last;
    use columnar_tests::postgres::Database;

    if let Some(address) = env::var_os(COPY) {
        return copy_until_killed(PostgresStore::new(address.to_str().expect("it is text"), "copy")).await;
    }
    let Some(database) = Database::new("s22").await else { return Ok(()) };
    let address = database.address();
    copy_and_kill("s22_a_copy_into_postgres_whose_process_is_killed_is_no_flow", &address);
    // The server notices the end of the process a little later.
    drop(open_at_last(|| PostgresStore::new(&address, "copy")).await.expect("it is free in the end"));
    is_made_again(&chat().await?, || PostgresStore::new(&address, "copy")).await
}

/// The definition of a fork was written before its exclusions, so a fork without these looked whole.
#[tokio::test]
async fn s22_a_copy_without_its_exclusions_is_no_flow() -> Result<()> {
    let chat = chat().await?;
    chat.user.exclude(3).await?;
    let memory = MemoryStore::new();
    let copy = chat.fork_into(STEPS, stuck(memory.clone(), 2 * STEPS, || ())).now_or_never();
    assert!(copy.is_none(), "it is stuck");
    is_made_again(&chat, || memory.clone()).await
}

#[tokio::test]
async fn s22_a_flow_that_is_recomputed_elsewhere_or_salvaged_is_no_flow_before_the_end() -> Result<()> {
    let echo = |version: &str| {
        let echo = |cx: Context| async move { cx.messages().last_text().into_owned() };
        column("echo", source("user").latest(), echo.version(version))
    };
    let [from, other, salvaged] = [(); 3].map(|()| MemoryStore::new());
    let flow = Flow::open(from.clone(), [echo("1")]).await?;
    push_all(&flow, "user", ["a", "b", "c"]).await?;
    flow.run().await?;
    drop(flow);

    let recompute = |into: Arc<dyn Store>| OpenOptions::new(from.clone()).recompute_from(1, ["echo"], into);
    let into = Arc::new(stuck(other.clone(), 2, || ()));
    assert!(Flow::open(recompute(into), [echo("2")]).now_or_never().is_none(), "it is stuck");
    let refused = Flow::open(other.clone(), [echo("2")]).await.map(drop);
    assert!(matches!(&refused, Err(Error::Open { source: StoreError::Other(_) })), "{refused:?}");
    let flow = Flow::open(recompute(Arc::new(other.clone())), [echo("2")]).await?;
    assert_eq!((flow.steps(), flow.forecast().cells), (1, 2));
    drop(flow);
    assert_eq!(Flow::open(other, [echo("2")]).await?.forecast().cells, 2);

    let into = stuck(salvaged.clone(), 2, || ());
    assert!(reopen::salvage(&from, &into).now_or_never().is_none(), "it is stuck");
    drop(into);
    let refused = Flow::open(salvaged.clone(), [echo("1")]).await.map(drop);
    assert!(matches!(&refused, Err(Error::Open { source: StoreError::Other(_) })), "{refused:?}");
    assert_eq!(reopen::salvage(&from, &salvaged).await.expect("it goes on"), []);
    assert_eq!(Flow::open(salvaged, [echo("1")]).await?.steps(), 3);
    Ok(())
}
