//! Processes that end while batches are under way, and go on later.

use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar_tests::batches::{BatchServer, CallFault};
use columnar_tests::server::WIRES;
use futures::future::{Either, select};
use std::pin::pin;

use super::{Reviews, batch, check, push};

/// Runs a stored flow until the server hangs, or to the end. Returns whether it ended.
async fn run(store: &MemoryStore, server: &BatchServer) -> Result<bool> {
    let reviews = Reviews::open(store.clone()).await?;
    let run = pin!(IntoFuture::into_future(batch(&reviews, server)));
    let hung = pin!(server.hung());
    match select(run, hung).await {
        Either::Left((done, _)) => done.map(|()| true),
        Either::Right(_) => Ok(false),
    }
}

/// The process ends before a call is carried out, or after, at every call.
#[tokio::test]
async fn b2_a_process_that_ends_at_any_call_loses_nothing_and_pays_nothing_twice() -> Result<()> {
    for wire in WIRES {
        for fault in [CallFault::Hangs, CallFault::HangsAfter] {
            let mut at = 0;
            loop {
                let server = BatchServer::start(wire).await;
                server.faults(move |call, _| (call == at).then_some(fault));
                let store = MemoryStore::new();
                push(&Reviews::open(store.clone()).await?, 2).await?;
                let has_ended = run(&store, &server).await?;
                assert!(has_ended || run(&store, &server).await?, "the second process hangs at {at}");
                let reviews = Reviews::open(store).await?;
                check(&reviews, 2);
                assert_eq!(server.billed(), [6, 0], "{wire:?}, {fault:?} at call {at}");
                assert_eq!(server.violations(), [""; 0]);
                if has_ended {
                    break;
                }
                at += 1;
            }
            assert!(at > 15, "each call of {wire:?} was one at which the process ended: {at}");
        }
    }
    Ok(())
}

/// The batch exists, and the client did not learn of it.
#[tokio::test]
async fn b3_a_batch_whose_confirmation_was_lost_is_found_and_not_submitted_again() -> Result<()> {
    for wire in WIRES {
        let server = BatchServer::start(wire).await;
        server.faults(|_, line| {
            (line.starts_with("POST") && line.contains("/batches")).then_some(CallFault::Lost)
        });
        let reviews = Reviews::new();
        push(&reviews, 5).await?;
        batch(&reviews, &server).await?;
        check(&reviews, 5);
        assert_eq!((server.billed(), server.batches().len()), ([15, 0], 7), "{wire:?}");
    }
    Ok(())
}

/// A prompt that changed while its batch was under way gets no answer to the earlier one.
#[tokio::test]
async fn b6_a_request_that_has_changed_never_gets_the_answer_of_the_earlier_one() -> Result<()> {
    let flow_of =
        |text: &'static str| column("topics", source("review").latest(), prompt(text).max_tokens(200));
    for wire in WIRES {
        let server = BatchServer::start(wire).await;
        // The process ends when the first batch is looked at.
        server.faults(|call, line| {
            (call < 6 && line.starts_with("GET") && !line.contains('?')).then_some(CallFault::Hangs)
        });
        let store = MemoryStore::new();
        let f = Flow::open(store.clone(), [flow_of("List the topics.")]).await?;
        f.push("review", "review 0.").await?;
        let run = IntoFuture::into_future(batch(&f, &server));
        assert!(matches!(select(run, pin!(server.hung())).await, Either::Right(_)));
        drop(f);
        server.faults(|_, _| None);
        let f = Flow::open(store, [flow_of("List the main topics.")]).await?;
        batch(&f, &server).await?;
        let batches = server.batches();
        let ids = [0, 1].map(|batch| batches[batch].requests[0].id.rsplit('-').next().map(str::to_owned));
        assert_ne!(ids[0], ids[1]);
        assert_eq!((batches.len(), f.get("topics", 0).as_deref()), (2, Some("Seen: review 0.")));
    }
    Ok(())
}

/// Another process wrote the batches of a flow, whose values are then salvaged.
#[tokio::test]
async fn b2_a_repaired_store_keeps_the_batches_that_are_under_way() -> Result<()> {
    let server = BatchServer::start(WIRES[0]).await;
    server.faults(|call, line| {
        (call < 6 && line.starts_with("GET") && !line.contains('?')).then_some(CallFault::Hangs)
    });
    let store = MemoryStore::new();
    push(&Reviews::open(store.clone()).await?, 2).await?;
    assert!(!run(&store, &server).await?);
    server.faults(|_, _| None);
    let into = MemoryStore::new();
    let defects = columnar::reopen::salvage(&store, &into.clone()).await.expect("both are stores");
    assert!(defects.is_empty(), "{defects:?}");
    assert!(run(&into, &server).await?);
    assert_eq!(server.billed(), [6, 0]);
    Ok(())
}
