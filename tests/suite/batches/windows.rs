//! A table of more rows than a run by batches has in memory at once.

use std::fmt::Write;
use std::io::Cursor;
use std::pin::pin;

use columnar::BoxError;
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::rows::{read_json_lines, write_json_lines};
use columnar::store::MemoryStore;
use columnar_tests::batches::{BatchServer, CallFault};
use columnar_tests::server::WIRES;
use futures::future::{Either, select};

use super::batch;

/// A window of a run by batches, and a part of another.
const ROWS: usize = 50_500;

/// The calls at which processes end. The requests of a window are in three batches.
const ENDS: [usize; 6] = [2, 6, 11, 15, 17, 22];

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
    for wire in WIRES {
        let server = BatchServer::start(wire).await;
        server.faults(|call, _| {
            let fault = if call % 2 == 0 { CallFault::Hangs } else { CallFault::HangsAfter };
            ENDS.contains(&call).then_some(fault)
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
        assert_eq!(processes, 1 + ENDS.len(), "{wire:?} has {} calls", server.calls().len());
        let mut table = Vec::new();
        let rows = open(&store).await?;
        write_json_lines(&rows, &mut table).await?;
        assert!(String::from_utf8(table)? == expected, "{wire:?}");
        assert_eq!((server.violations(), server.billed()), (Vec::new(), [ROWS, 0]), "{wire:?}");
        let sizes: Vec<_> = server.batches().iter().map(|batch| batch.requests.len()).collect();
        assert_eq!(sizes, [20_000, 20_000, 10_000, 500], "{wire:?}");
    }
    Ok(())
}
