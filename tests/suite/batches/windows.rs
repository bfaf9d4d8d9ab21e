//! A table of more rows than a run by batches has in memory at once.

use std::fmt::Write;
use std::io::Cursor;
use std::pin::pin;
use std::sync::Mutex;

use columnar::BoxError;
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::rows::{read_json_lines, write_json_lines};
use columnar::store::MemoryStore;
use columnar_tests::batches::{BatchServer, CallFault};
use columnar_tests::server::Wire;
use futures::future::{Either, select};

use super::batch;

/// A window of a run by batches, and a part of another.
const ROWS: usize = 50_500;

/// The calls at which processes end, once each: in the middle of a window, and in the next one.
const ENDS: [&str; 2] = ["/msgbatch_2/results", "/msgbatch_3/results"];

flow! {
    struct Rows {
        source review;
        column topics(review.latest) = prompt("List the topics.").max_tokens(200);
    }
}

async fn open(store: &MemoryStore) -> Result<Rows> {
    Rows::open(OpenOptions::new(store.clone()).recent(0)).await
}

#[tokio::test]
async fn b2_a_table_in_windows_is_paid_once_though_processes_end() -> Result<(), BoxError> {
    let mut input = String::new();
    let mut expected = String::new();
    for row in 0..ROWS {
        writeln!(input, r#"{{"review":"Review {row}."}}"#)?;
        writeln!(expected, r#"{{"_step":{row},"review":"Review {row}.","topics":"Seen: Review {row}."}}"#)?;
    }
    // One interface is enough: the other one is slow in the same way.
    let server = BatchServer::start(Wire::Anthropic).await;
    let ends = Mutex::new(ENDS.to_vec());
    server.faults(move |_, line| {
        let mut ends = ends.lock().expect("no test panics");
        let at = ends.iter().position(|end| line.contains(end))?;
        ends.swap_remove(at);
        Some(CallFault::HangsAfter)
    });
    let store = MemoryStore::new();
    let mut processes = 1;
    loop {
        // Rows that are in the store are compared with the file, and not stored again.
        assert_eq!(read_json_lines(&store.clone(), Cursor::new(&input)).await?, ROWS);
        let rows = open(&store).await?;
        let run = pin!(IntoFuture::into_future(batch(&rows, &server).max_requests(20_000)));
        let hung = pin!(server.hung());
        match select(run, hung).await {
            Either::Left((done, _)) => break done?,
            Either::Right(_) => processes += 1,
        }
    }
    assert_eq!(processes, 1 + ENDS.len());
    let mut table = Vec::new();
    let rows = open(&store).await?;
    write_json_lines(&rows, &mut table).await?;
    assert!(String::from_utf8(table)? == expected);
    assert_eq!((server.violations(), server.billed()), (Vec::new(), [ROWS, 0]));
    let mut sizes: Vec<_> = server.batches().iter().map(|batch| batch.requests.len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [500, 10_000, 20_000, 20_000]);
    Ok(())
}
