//! The task that owns the runs of a spawned flow.

use std::pin::pin;

use futures::StreamExt;
use futures::future::{Either, select};
use tokio::sync::watch;
use tokio::task::coop::consume_budget;

use super::hub::{Control, Hub, NextWork, Stop};
use crate::run::Error;

/// Computes missing cells as long as the flow has handles.
pub(super) async fn serve(hub: &Hub) {
    let mut changes = hub.parts.shared.changes();
    let mut requests = hub.control.subscribe();
    loop {
        // Before the decision, so that a change during it is not missed.
        changes.mark_unchanged();
        requests.mark_unchanged();
        match hub.next() {
            NextWork::Run => run(hub, &mut requests).await,
            NextWork::Wait | NextWork::WaitForRun => {
                select(pin!(changes.changed()), pin!(requests.changed())).await;
            }
            NextWork::Close => break,
        }
    }
}

/// Runs the flow once.
pub(super) async fn run(hub: &Hub, requests: &mut watch::Receiver<Control>) {
    let mut run = hub.parts.run();
    hub.feed().begin();
    loop {
        let stop = requests.borrow_and_update().stop;
        match stop {
            Stop::No => {}
            // If the run has not begun, there is nothing to finish.
            Stop::Shutdown if hub.parts.shared.halt() => {}
            Stop::Shutdown | Stop::Cancel | Stop::Abort => break,
        }
        // A request is looked at between two events, also if the run is always ready.
        let event = match select(run.next(), pin!(requests.changed())).await {
            Either::Left((event, _)) => event,
            Either::Right(_) => continue,
        };
        match event {
            Some(Ok(event)) => hub.feed().record(event),
            // Someone else has begun a run. The next one computes what that leaves.
            Some(Err(Error::Running)) => hub.request(|control| control.retry = true),
            Some(Err(error)) => hub.fail(error),
            None => break,
        }
        hub.parts.shared.notify();
        // A run of functions that are ready at once would never let subscribers have the thread.
        consume_budget().await;
    }
    // First, because only the end of the computations settles which values are stored.
    drop(run);
    hub.end_run();
}
