//! Fault injection into compute steps: random delays, errors, panics, and steps that never return.

use std::future::pending;
use std::panic::resume_unwind;

use futures::stream::{BoxStream, StreamExt};
use tokio::time::sleep;

use super::world::{Fault, World};
use crate::compute::{Context, Piece, PieceSource, Reply, Step};
use crate::declare::Name;
use crate::declare::error::BoxError;
use crate::flow::LiveFlow;

impl World {
    /// Wraps the compute steps that the flow has at this moment: from now on these steps have random delays and
    /// faults.
    pub fn enter<C, I>(&self, flow: &LiveFlow<'_, C, I>) {
        self.add_columns(flow);
        let world = self.clone();
        flow.steps.wrap(move |step, cx| start_with_faults(world.clone(), step, cx));
    }
}

/// Starts a step with random delays, and with the fault that the world chose for the cell.
fn start_with_faults<'a>(world: World, step: &Step<'a>, cx: Context) -> Reply<'a> {
    world
        .check_that(|invariants| invariants.compute_started(cx.column(), cx.step(), cx.messages().to_json()));
    Reply::of(FaultyReply {
        fault: world.fault(cx.column(), cx.step(), &Fault::COMPUTE),
        cell: (cx.column().clone(), cx.step()),
        world,
        pieces: step.start(cx).0,
        texts: 0,
        success: false,
    })
}

struct FaultyReply<'a> {
    world: World,
    cell: (Name, usize),
    fault: Option<Fault>,
    pieces: BoxStream<'a, Result<Piece, BoxError>>,
    /// The number of pieces of text so far.
    texts: usize,
    success: bool,
}

impl PieceSource for FaultyReply<'_> {
    async fn next(&mut self) -> Option<Result<Piece, BoxError>> {
        sleep(self.world.delay()).await;
        let Some(fault) = self.fault else {
            let piece = self.pieces.next().await;
            // A stream with a whole text is not polled to the end.
            self.success |= matches!(piece, None | Some(Ok(Piece::Whole(_))));
            return piece;
        };
        if fault == Fault::BreaksOff && self.texts < 1 {
            match self.pieces.next().await {
                // The request is not a part of the text.
                Some(Ok(piece @ Piece::CallStarted(..))) => return Some(Ok(piece)),
                Some(Ok(piece @ Piece::Text(_))) => {
                    self.texts += 1;
                    return Some(Ok(piece));
                }
                Some(Err(error)) => return Some(Err(error)),
                _ => {}
            }
        }
        match fault {
            // `panic!` would print a message for every simulated panic.
            Fault::Panic => resume_unwind(Box::new("a simulated panic")),
            Fault::Silence => pending().await,
            Fault::Dropped => {
                self.world.0.dropped.notify_one();
                pending().await
            }
            _ => Some(Err("a simulated failure".into())),
        }
    }
}

impl Drop for FaultyReply<'_> {
    fn drop(&mut self) {
        let (column, step) = &self.cell;
        let success = self.success;
        self.world.check_that(|invariants| invariants.compute_ended(column, *step, success));
    }
}
