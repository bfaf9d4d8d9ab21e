//! Rehearsals by batches.

use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::usage::Dollars;
use columnar_tests::batches::{BatchPlan, BatchServer};
use columnar_tests::server::WIRES;

use super::batch;
use super::whole::prices;

flow! {
    /// Each reply knows the last ones, so a live flow has one request at a time.
    struct Desk {
        source ticket;
        column reply(ticket.latest, self.window(3)) =
            |cx: Context| async move { format!("Reply {}.", cx.step()) };
    }
}

#[tokio::test]
async fn a_thousand_steps_are_one_wave_at_half_the_price() -> Result<()> {
    for wire in WIRES {
        let server = BatchServer::start(wire).await;
        server.plans(|batch| BatchPlan { is_messy: batch % 2 == 0, ..BatchPlan::default() });
        let desk = Desk::new();
        desk.ticket.push_all((0..1000).map(|ticket| format!("ticket {ticket}."))).await?;
        desk.run().await?;
        let store = MemoryStore::new();
        let begin = || {
            let other = prompt("Reply in two sentences.").max_tokens(200);
            let rehearsal = desk.rehearse("reply").with(other).store(store.clone());
            async {
                let rehearsal = rehearsal.await?;
                rehearsal.set_model(server.provider());
                Ok::<_, Error>(rehearsal)
            }
        };
        let rehearsal = begin().await?;
        let forecast = rehearsal.forecast();
        assert_eq!((forecast.calls, forecast.waves), (1000, 1));
        assert_eq!(forecast.batch_cost + forecast.batch_cost, forecast.cost);
        // The process ends when it has seen the first answers.
        let mut run = batch(&rehearsal, &server).max_requests(400);
        while !matches!(run.try_next().await?, Some(Event::Value { .. })) {}
        drop(run);
        drop(rehearsal);
        let rehearsal = begin().await?;
        let ended = batch(&rehearsal, &server).max_requests(400).await;
        assert!(ended.is_ok(), "{}", ended.unwrap_err());

        let comparison = rehearsal.comparison();
        assert_eq!((comparison.different(), comparison.missing()), (1000, 0));
        for step in [0, 1, 999] {
            let new = comparison.steps[step].new.as_deref();
            assert_eq!(new, Some(&*format!("Seen: ticket {step}.")), "{wire:?}");
        }
        assert_eq!((server.billed(), server.violations()), ([1000, 0], vec![]));
        let [live, _] = prices(&server);
        let live: Dollars = (0..1000).map(|_| live).sum();
        let paid = comparison.new_total().cost;
        assert_eq!(paid + paid, live, "{paid} in place of {live}");
        assert!(desk.bill().total().cost == Dollars::ZERO);
    }
    Ok(())
}
