//! Many values of a source with one write a batch: first writer wins, in order, and without a gap after a crash.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs};

use columnar::documents::{Kind, Update};
use columnar::prelude::*;
use columnar::store::{FileStore, MemoryStore, Put, Store, StoreError};
use columnar_tests::process::test_alone;
use columnar_tests::store::{on_put, stores_on_disk};
use futures::SinkExt;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn numbers(count: usize) -> impl Iterator<Item = String> + Send {
    (0..count).map(|number| number.to_string())
}

async fn opened(store: impl Store) -> Result<Flow> {
    Flow::open(store, [column("topics", source("user").latest(), prompt("List the topics."))]).await
}

fn values(f: &Flow) -> Vec<String> {
    (0..f.len("user").expect("a source"))
        .map(|step| f.get("user", step).expect("no gap").to_string())
        .collect()
}

/// Each push was a write of its own.
#[tokio::test]
async fn two_thousand_values_are_a_few_writes() -> Outcome {
    let folder = tempfile::tempdir()?;
    let f = opened(FileStore::new(folder.path())).await?;
    assert_eq!(f.push_all("user", numbers(2000)).await?, 2000);
    drop(f);
    // The log has a line for each write.
    let log = fs::read_to_string(folder.path().join(".columnar/cells"))?;
    let writes = log.lines().filter(|line| line.starts_with("done ")).count();
    assert!((4..20).contains(&writes), "{writes} writes");
    let f = opened(FileStore::new(folder.path())).await?;
    assert_eq!(values(&f), numbers(2000).collect::<Vec<_>>());
    Ok(())
}

#[tokio::test]
async fn values_are_pushed_in_order_whatever_they_come_from() -> Outcome {
    for store in [None, Some(MemoryStore::new())] {
        let f = match store {
            Some(store) => opened(store).await?,
            None => flow([column("topics", source("user").latest(), prompt("List the topics."))])?,
        };
        assert_eq!(f.push_all("user", Vec::<String>::new()).await?, 0);
        assert_eq!(f.push_all("user", ["a", "b"]).await?, 2);
        assert_eq!(f.push_all("user", "c\nd\n".lines()).await?, 2);
        assert_eq!(f.push_stream("user", futures::stream::iter(numbers(1100))).await?, 1100);
        assert_eq!(f.push("user", "last").await?, 1104);
        let expected = ["a", "b", "c", "d"].map(str::to_owned).into_iter().chain(numbers(1100));
        assert_eq!(values(&f), expected.chain(["last".to_owned()]).collect::<Vec<_>>());
        f.run().await?;
        let wrong = f.push_all("topics", ["a"]).await.expect_err("it is computed");
        assert!(matches!(wrong, Error::NotASource { .. }), "{wrong:?}");
        let wrong = f.push_all("users", Vec::<String>::new()).await.expect_err("there is none");
        assert!(matches!(wrong, Error::UnknownColumn { .. }), "{wrong:?}");
    }
    Ok(())
}

/// Values do not wait for a batch to be full.
#[tokio::test]
async fn a_slow_stream_delays_no_value() -> Outcome {
    let f = opened(MemoryStore::new()).await?;
    let (mut values, stream) = futures::channel::mpsc::channel::<String>(8);
    let send = async {
        for number in 0..3 {
            values.send(number.to_string()).await.expect("it is read");
            while f.len("user").expect("a source") <= number {
                tokio::task::yield_now().await;
            }
        }
        drop(values);
    };
    let (pushed, ()) = tokio::join!(f.push_stream("user", stream), send);
    assert_eq!(pushed?, 3);
    Ok(())
}

/// Updates depend on each other: each one is checked against the documents so far.
#[tokio::test]
async fn updates_of_documents_are_checked_one_after_another() -> Outcome {
    let files = documents("files");
    let f = Flow::open(MemoryStore::new(), [column("map", &files, prompt("Describe."))]).await?;
    let remove = Update::new().remove(Kind::File, "a.rs").to_text()?;
    let updates = [Update::new().file("a.rs", "1").to_text()?, remove.clone(), remove];
    let error = f.push_all("files", updates).await.expect_err("it is gone already");
    assert!(matches!(error, Error::Update { step: 2, .. }), "{error:?}");
    assert_eq!(f.len("files")?, 2, "those before it are there");
    Ok(())
}

/// A store that does not promise the order gets one value after another.
#[tokio::test]
async fn a_failing_store_of_any_kind_leaves_no_gap() -> Outcome {
    let inner = MemoryStore::new();
    let store = on_put(inner.clone(), |inner, column, step, entry| async move {
        if step == 700 {
            Err(StoreError::other("the disk is full"))
        } else {
            inner.put(column, step, entry).await
        }
    });
    let f = opened(store).await?;
    let error = f.push_all("user", numbers(1500)).await.expect_err("it is full");
    assert!(matches!(error, Error::Store { step: 700, .. }), "{error:?}");
    assert_eq!(values(&f), numbers(700).collect::<Vec<_>>());
    drop(f);
    let f = opened(inner).await?;
    assert_eq!(values(&f), numbers(700).collect::<Vec<_>>());
    Ok(())
}

/// The values of a dropped call that the store has come first, and nothing of the next call is lost or out of order.
async fn dropped_calls(open: impl AsyncFn() -> Result<Flow>) -> Outcome {
    let f = open().await?;
    let mut expected = Vec::new();
    for round in 0..12_u64 {
        let first: Vec<_> = numbers(600).map(|number| format!("dropped {round} {number}")).collect();
        let pushed = f.push_all("user", first.clone());
        let pushed = tokio::time::timeout(Duration::from_micros(round * round * 60), pushed).await;
        let second: Vec<_> = numbers(600).map(|number| format!("whole {round} {number}")).collect();
        assert_eq!(f.push_all("user", second.clone()).await?, 600);
        let found = values(&f);
        let added = found.get(expected.len()..).expect("what was there stays");
        let kept = added.len() - second.len();
        assert!(pushed.is_err() || kept == first.len(), "{kept}");
        assert_eq!(added[..kept], first[..kept], "a prefix of the dropped ones");
        assert_eq!(added[kept..], second);
        expected = found;
    }
    drop(f);
    assert_eq!(values(&open().await?), expected);
    Ok(())
}

#[tokio::test]
async fn a_dropped_call_disturbs_no_order_in_a_folder() -> Outcome {
    let folder = tempfile::tempdir()?;
    dropped_calls(async || opened(FileStore::new(folder.path())).await).await
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn a_dropped_call_disturbs_no_order_in_sqlite() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("chats.db");
    dropped_calls(async || opened(columnar::store::SqliteStore::new(&file, "today")).await).await
}

/// Marks the other process, and names its folder.
const CHILD: &str = "COLUMNAR_PUSHES_CHILD";

fn confirmed(line: &str) -> Option<usize> {
    line.split_once("confirmed ")?.1.parse().ok()
}

/// Pushes until it is killed, and prints what is confirmed.
async fn push_forever(folder: &Path, store: usize) -> Outcome {
    let f = opened(stores_on_disk(folder).swap_remove(store)).await?;
    for round in 0_usize.. {
        f.push_all("user", (0..700).map(|number| (round * 700 + number).to_string())).await?;
        println!("confirmed {}", (round + 1) * 700);
    }
    Ok(())
}

#[tokio::test]
async fn a_killed_process_leaves_the_confirmed_values_and_no_gap() -> Outcome {
    if let Ok(place) = env::var(CHILD) {
        let (store, folder) = place.split_once(' ').expect("a number and a folder");
        return push_forever(Path::new(folder), store.parse()?).await;
    }
    for store in 0..stores_on_disk(Path::new("")).len() {
        for pause in [0, 3, 11] {
            let folder = tempfile::tempdir()?;
            let test = "a_killed_process_leaves_the_confirmed_values_and_no_gap";
            let mut command = test_alone(module_path!(), test);
            command.env(CHILD, format!("{store} {}", folder.path().display()));
            let mut child = command.stdout(Stdio::piped()).spawn()?;
            let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
            let first = lines.by_ref().find_map(|line| confirmed(&line.ok()?)).expect("it pushes");
            tokio::time::sleep(Duration::from_millis(pause)).await;
            child.kill()?;
            child.wait()?;
            let least =
                lines.map_while(Result::ok).filter_map(|line| confirmed(&line)).last().unwrap_or(first);
            let f = opened(stores_on_disk(folder.path()).swap_remove(store)).await?;
            let found = values(&f);
            assert!(found.len() >= least, "{} of {least}", found.len());
            assert_eq!(found, numbers(found.len()).collect::<Vec<_>>());
            assert_eq!(f.push("user", "next").await?, found.len());
        }
    }
    Ok(())
}

/// A store that promises the order, and has a value that nobody pushed.
#[tokio::test]
async fn a_value_of_somebody_else_is_an_error() -> Outcome {
    let store = Arc::new(MemoryStore::new());
    let f = opened(Arc::clone(&store)).await?;
    let put = store.put(columnar::Name::new("user")?, 2, columnar::store::Entry::from("theirs")).await?;
    assert_eq!(put, Put::Stored);
    let error = f.push_all("user", ["a", "b", "c", "d"]).await.expect_err("step 2 is taken");
    let chain = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    let text = chain.map(ToString::to_string).collect::<Vec<_>>().join(": ");
    assert!(text.contains("`user` at step 2 is there already, and is something else"), "{text}");
    Ok(())
}
