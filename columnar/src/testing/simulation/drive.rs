//! Runs a flow to the end and checks every event.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::{Either, select};
use tokio::time::timeout;

use super::world::World;
use crate::declare::Name;
use crate::flow::LiveFlow;
use crate::run::{CellState, Error, Event, Run};

/// A time that is longer than any reply takes: a compute step that is silent for this time never returns.
const SILENCE: Duration = Duration::from_hours(24);

/// The maximum number of runs that a flow may need to finish.
const MAX_RUNS: usize = 1000;

impl World {
    /// Runs the flow as often as necessary to store every cell of the steps that have begun, and checks every event
    /// against the promises of a flow.
    ///
    /// # Panics
    ///
    /// When a promise is broken, or the flow does not finish.
    pub async fn drive<C, I>(&self, flow: &LiveFlow<'_, C, I>) {
        self.add_columns(flow);
        let mut runs = 0;
        while !self.run(flow).await {
            runs += 1;
            assert!(runs < MAX_RUNS, "after {runs} runs the flow has not finished");
        }
        let state = self.lock();
        for (column, step, computed) in state.invariants.messages() {
            let shown = flow.messages(column, step).map(|messages| messages.to_json());
            assert!(
                shown.as_deref().is_ok_and(|shown| shown == computed),
                "`{column}` at step {step} was computed from other messages than it shows now"
            );
        }
    }

    /// Runs the flow once; `true` if everything is stored.
    async fn run<C, I>(&self, flow: &LiveFlow<'_, C, I>) -> bool {
        self.lock().invariants.run_started();
        let mut run: Run<'_, Name> = Run::new(Arc::clone(&flow.shared), flow.steps.clone());
        loop {
            let next = timeout(SILENCE, select(run.next(), Box::pin(self.0.dropped.notified()))).await;
            match next {
                Ok(Either::Left((Some(Ok(event)), _))) => self.emitted(flow, &event),
                Ok(Either::Left((Some(Err(error)), _))) => {
                    self.expect(&error);
                    assert!(run.next().await.is_none(), "an error is the last item of a run");
                    return false;
                }
                Ok(Either::Left((None, _))) => break,
                // A compute step is silent, or a fault drops the run.
                Ok(Either::Right(_)) | Err(_) => {
                    // Dropped first, because only the end of the computations settles which values are stored.
                    drop(run);
                    self.lock().invariants.run_dropped(|column, step| {
                        matches!(flow.cell(column, step), Ok(CellState::Stored(_)))
                    });
                    self.check();
                    return false;
                }
            }
        }
        self.check();
        let progress = flow.progress();
        // Behind a failed cell others may wait until the next run, and behind a pending one until the answer.
        let is_waiting = progress.waiting > 0 && progress.failed + progress.pending == 0;
        assert!(progress.running == 0 && !is_waiting, "a run that ends leaves nothing to do: {progress:?}");
        progress.failed == 0
    }

    fn emitted<C, I>(&self, flow: &LiveFlow<'_, C, I>, event: &Event) {
        let stored = flow.cell(event.column(), event.step()).ok().and_then(CellState::into_value);
        self.check_that(|invariants| invariants.emitted(event, stored.as_deref()));
        self.check();
    }

    /// Checks that the error of a run comes from a fault.
    fn expect(&self, error: &Error) {
        self.check();
        let (column, step) = match error {
            Error::Compute { column, step, .. }
            | Error::Panicked { column, step }
            | Error::Store { column, step, .. } => (column, *step),
            #[expect(clippy::panic, reason = "it is how a test fails")]
            other => panic!("a run ended with an error without a fault: {other}"),
        };
        self.lock().invariants.run_failed(column, step);
    }
}
