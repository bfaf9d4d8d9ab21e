//! Batches that end otherwise than with all answers.

use columnar::Error;
use columnar::model::BatchError;
use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar_tests::batches::{BatchPlan, BatchServer, CallFault};
use columnar_tests::server::{WIRES, Wire};

use super::{Reviews, batch, check, push};

/// The error of a run with one batch of ten requests that ends so.
async fn ended(wire: Wire, plan: BatchPlan) -> Result<(BatchServer, Reviews, Error)> {
    let server = BatchServer::start(wire).await;
    server.plans(move |batch| if batch == 0 { plan } else { BatchPlan::default() });
    let reviews = Reviews::new();
    push(&reviews, 10).await?;
    let error = batch(&reviews, &server).await.expect_err("requests have no answer");
    Ok((server, reviews, error))
}

#[tokio::test]
async fn b4_a_batch_that_ends_early_leaves_its_answers_stored_and_names_the_others() -> Result<()> {
    let expired = BatchPlan { expires: 3, ..BatchPlan::default() };
    let cancelled = BatchPlan { is_cancelled: true, ..BatchPlan::default() };
    for wire in WIRES {
        let is_openai = wire == Wire::OpenAi;
        for (plan, word, answered, cells) in
            [(expired, "expired", 7, "`topics` at 2, 5, 8"), (cancelled, "cancel", 5, "`topics` at 5 to 9")]
        {
            let (server, reviews, error) = ended(wire, plan).await?;
            let Error::Compute { source, .. } = &error else { panic!("{error}") };
            let Some(BatchError::Unanswered { end, missing, requests, cells: named, .. }) =
                source.downcast_ref()
            else {
                panic!("{error}")
            };
            assert!(end.contains(word), "{end}");
            assert_eq!((*missing, *requests, &**named), (10 - answered, 10, cells));
            assert!(error.to_string().contains("run it again to submit these in another one"), "{error}");
            let stored = (0..10).filter(|step| reviews.topics.get(*step).is_some()).count();
            assert_eq!(stored, answered, "{wire:?}");
            batch(&reviews, &server).await?;
            check(&reviews, 10);
            assert_eq!(server.billed(), [30, 0]);
        }
        if is_openai {
            let (server, reviews, error) =
                ended(wire, BatchPlan { fails: true, ..BatchPlan::default() }).await?;
            assert!(error.to_string().contains("the batch failed (token_limit_exceeded)"), "{error}");
            assert!(!error.to_string().contains("Enqueued"), "a sentence of a server may quote any request");
            batch(&reviews, &server).await?;
            check(&reviews, 10);
        }
    }
    Ok(())
}

#[tokio::test]
async fn b4_a_refused_request_is_an_error_of_its_cell_alone() -> Result<()> {
    for wire in WIRES {
        let (server, reviews, error) = ended(wire, BatchPlan { refuses: 10, ..BatchPlan::default() }).await?;
        assert!(
            error.to_string().contains("at step 9") && error.to_string().contains("Bad request."),
            "{error}"
        );
        assert!((0..9).all(|step| reviews.topics.get(step).is_some()));
        batch(&reviews, &server).await?;
        assert_eq!(server.billed(), [30, 0]);
    }
    Ok(())
}

#[tokio::test]
async fn b5_results_in_any_order_and_twice_are_the_first_answers_of_their_requests() -> Result<()> {
    for wire in WIRES {
        let server = BatchServer::start(wire).await;
        server.plans(|_| BatchPlan { is_messy: true, ..BatchPlan::default() });
        let reviews = Reviews::new();
        push(&reviews, 20).await?;
        batch(&reviews, &server).await?;
        check(&reviews, 20);
        assert_eq!(server.billed(), [60, 0]);
    }
    Ok(())
}

/// The part before the cut is no whole file, wherever the cut is, and the rest is fetched again.
#[tokio::test]
async fn b5_results_that_end_in_the_middle_are_fetched_again() -> Result<()> {
    for wire in WIRES {
        for fault in [CallFault::Cut, CallFault::Short, CallFault::Lost, CallFault::Status(500)] {
            let server = BatchServer::start(wire).await;
            server.faults(move |call, line| {
                let is_result = line.contains("/content") || line.contains("/results");
                (is_result && call < 10).then_some(fault)
            });
            let reviews = Reviews::new();
            push(&reviews, 10).await?;
            batch(&reviews, &server).await?;
            check(&reviews, 10);
            assert_eq!((server.violations(), server.billed()), (Vec::new(), [30, 0]), "{wire:?} {fault:?}");
        }
    }
    Ok(())
}

/// A server that cannot be reached for longer than the attempts take loses nothing: the next run goes on.
#[tokio::test]
async fn b2_results_that_cannot_be_fetched_stay_for_the_next_run() -> Result<()> {
    for wire in WIRES {
        let server = BatchServer::start(wire).await;
        server.faults(|_, line| {
            (line.contains("/content") || line.contains("/results")).then_some(CallFault::Status(500))
        });
        let reviews = Reviews::open(MemoryStore::new()).await?;
        push(&reviews, 3).await?;
        let error = batch(&reviews, &server).await.expect_err("the results are not there");
        assert!(error.to_string().contains("its results are not here yet"), "{error}");
        server.faults(|_, _| None);
        batch(&reviews, &server).await?;
        check(&reviews, 3);
        assert_eq!((server.billed(), server.batches().len()), ([9, 0], 5));
    }
    Ok(())
}

#[tokio::test]
async fn b4_a_refused_submission_is_an_error_that_shows_no_content() -> Result<()> {
    for wire in WIRES {
        for status in [400, 401, 403, 413] {
            let server = BatchServer::start(wire).await;
            server.faults(move |_, line| line.starts_with("POST").then_some(CallFault::Status(status)));
            let reviews = Reviews::new();
            push(&reviews, 2).await?;
            let error = batch(&reviews, &server).await.expect_err("it is refused").to_string();
            assert!(error.contains("a batch of 2 requests could not be submitted"), "{error}");
            assert!(error.contains(&status.to_string()) && !error.contains("sk-batch"), "{error}");
            assert_eq!(server.calls().iter().filter(|call| call.starts_with("POST")).count(), 1);
            server.faults(|_, _| None);
            batch(&reviews, &server).await?;
            check(&reviews, 2);
        }
    }
    Ok(())
}
