//! Flows that are computed by batches as a whole, without faults and with all of them.

use columnar::Error;
use columnar::model::BatchError;
use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::usage::{Dollars, Price, Usage};
use columnar_tests::batches::{BatchPlan, BatchServer, CallFault};
use columnar_tests::server::{WIRES, Wire};

use super::{Reviews, batch, check, push};

flow! {
    /// Two levels.
    pub(crate) struct Tickets {
        source ticket;
        column topics(ticket.latest) = prompt("List the topics.").max_tokens(200);
        column mood(topics.latest)   = prompt("Name the mood.").max_tokens(200);
    }
}

/// The price of a call of the servers, live and by a batch.
pub(super) fn prices(server: &BatchServer) -> [Dollars; 2] {
    let usage = Usage::new(1000, 100);
    let provider = server.provider();
    let price = Price::by_model(columnar::model::Model::name(&provider)).expect("it has a price");
    [price.cost(&usage), price.batch().expect("it has batches").cost(&usage)]
}

#[tokio::test]
async fn a_flow_with_two_levels_and_a_self_history_is_computed_in_waves() -> Result<()> {
    for wire in WIRES {
        let server = BatchServer::start(wire).await;
        let reviews = Reviews::new();
        push(&reviews, 4).await?;
        reviews.set_model(server.provider());
        let forecast = reviews.forecast();
        assert_eq!((forecast.calls, forecast.waves), (12, 6));
        assert_eq!(forecast.batch_cost + forecast.batch_cost, forecast.cost);
        assert!(forecast.to_string().contains("; by batches $0.01 in 6 waves"), "{forecast}");
        batch(&reviews, &server).await?;
        check(&reviews, 4);
        assert_eq!(server.violations(), [""; 0]);
        let sizes: Vec<_> = server.batches().iter().map(|batch| batch.requests.len()).collect();
        assert_eq!(sizes, [4, 4, 1, 1, 1, 1], "{wire:?}");
        let [live, by_batch] = prices(&server);
        assert_eq!(by_batch + by_batch, live);
        let all: Dollars = (0..12).map(|_| by_batch).sum();
        assert_eq!((reviews.bill().total().cost, server.billed()), (all, [12, 0]));
        assert!(reviews.story.receipt(3).is_some_and(|receipt| receipt.batch && receipt.calls == 1));
        // Nothing is left to do.
        let calls = server.calls().len();
        batch(&reviews, &server).await?;
        assert_eq!(server.calls().len(), calls);
    }
    Ok(())
}

#[tokio::test]
async fn responses_are_a_batch_as_well() -> Result<()> {
    let server = BatchServer::start(Wire::OpenAi).await;
    let reviews = Reviews::new();
    push(&reviews, 2).await?;
    batch(&reviews, &server).await?;
    let url = server.url();
    let provider = columnar::model::Provider::new("openai_resp/gpt-6-luna")
        .expect("a provider")
        .base_url(&format!("{url}/v1"));
    let reviews = Reviews::new();
    push(&reviews, 2).await?;
    let pause = std::time::Duration::from_millis(1);
    reviews.batch(provider.key(|| "sk-batch-7")).pauses(pause, pause).await?;
    check(&reviews, 2);
    assert!(
        reviews
            .topics
            .receipt(0)
            .is_some_and(|receipt| receipt.batch && receipt.usage == Usage::new(1000, 100))
    );
    assert_eq!(server.violations(), [""; 0]);
    Ok(())
}

/// Calls fail in turn with each fault, and each kind of batch ends in its own way.
#[tokio::test]
async fn b1_ten_thousand_cells_survive_all_faults_and_are_paid_once() -> Result<()> {
    for wire in WIRES {
        let server = BatchServer::start(wire).await;
        // Scattered, so that no call fails each time.
        server.faults(|call, _| match (call * 7919 % 1009) % 11 {
            1 => Some(CallFault::Status(429)),
            3 => Some(CallFault::Status(500)),
            5 => Some(CallFault::Lost),
            7 => Some(CallFault::Cut),
            9 => Some(CallFault::Short),
            _ => None,
        });
        server.plans(|batch| match batch {
            0 => BatchPlan { expires: 7, is_messy: true, ..BatchPlan::default() },
            1 => BatchPlan { is_cancelled: true, ..BatchPlan::default() },
            2 => BatchPlan { fails: true, ..BatchPlan::default() },
            5 => BatchPlan { refuses: 50, is_messy: true, ..BatchPlan::default() },
            _ => BatchPlan { is_messy: batch % 2 == 0, ..BatchPlan::default() },
        });
        let tickets = Tickets::open(MemoryStore::new()).await?;
        tickets.ticket.push_all((0..5000).map(|number| format!("ticket {number}."))).await?;
        let mut runs = 0;
        while let Err(error) = batch(&tickets, &server).max_requests(2000).await {
            runs += 1;
            assert!(runs < 20, "{error}");
            assert!(matches!(error, Error::Compute { .. }), "{error}");
        }
        for number in 0..5000 {
            let mood = tickets.mood.get(number).expect("it is computed");
            assert_eq!(&*mood, format!("Seen: Seen: ticket {number}."));
        }
        assert_eq!((server.violations(), server.billed()), (Vec::new(), [10_000, 0]), "{wire:?}");
        let [live, _] = prices(&server);
        let live: Dollars = (0..10_000).map(|_| live).sum();
        let cost = tickets.bill().total().cost;
        assert_eq!(cost + cost, live);
        assert!(runs > 0 && server.batches().iter().all(|batch| batch.requests.len() <= 2000));
    }
    Ok(())
}

#[tokio::test]
async fn a_provider_without_batches_is_an_error_before_anything_is_computed() -> Result<()> {
    let reviews = Reviews::new();
    push(&reviews, 1).await?;
    let provider = columnar::model::Provider::new("ollama/llama3.2").expect("a provider");
    let error = reviews.batch(provider).await.expect_err("it has none");
    let Error::Model { source, .. } = &error else { panic!("{error}") };
    assert!(matches!(source.downcast_ref(), Some(BatchError::NoBatches { .. })), "{error}");
    assert!(
        error.to_string().contains("call `run`, or choose a model of `anthropic`, `openai`, `openai_resp`")
    );
    Ok(())
}
