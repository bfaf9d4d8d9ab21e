//! A compute step that takes its time, and goes wrong when the world says so.

use std::future::pending;
use std::panic::resume_unwind;

use futures::stream::{self, BoxStream, StreamExt};
use tokio::time::sleep;

use super::fault::Fault;
use super::world::World;
use crate::compute::{Context, Kind, Piece, Reply, Step};
use crate::declare::Name;
use crate::error::BoxError;

/// What a step replies, disturbed.
pub(super) fn disturb<'a>(world: World, step: &Step<'a>, cx: Context) -> Reply<'a> {
    world.hold(|account| account.starts(cx.column(), cx.step(), cx.messages().to_json()));
    let disturbed = Disturbed {
        fault: world.fault(cx.column(), cx.step(), &Fault::OF_COMPUTES),
        cell: (cx.column().clone(), cx.step()),
        world,
        pieces: step.start(cx).pieces(),
        heard: 0,
        success: false,
    };
    let pieces = stream::unfold(Some(disturbed), |disturbed| async move {
        let mut disturbed = disturbed?;
        match disturbed.next().await {
            Some(Ok(piece)) => Some((Ok(piece), Some(disturbed))),
            Some(Err(error)) => Some((Err(error), None)),
            None => {
                disturbed.success = true;
                None
            }
        }
    });
    Reply(Kind::Pieces(pieces.boxed()))
}

struct Disturbed<'a> {
    world: World,
    cell: (Name, usize),
    fault: Option<Fault>,
    pieces: BoxStream<'a, Result<Piece, BoxError>>,
    heard: usize,
    success: bool,
}

impl Disturbed<'_> {
    async fn next(&mut self) -> Option<Result<Piece, BoxError>> {
        sleep(self.world.delay()).await;
        let Some(fault) = self.fault else {
            let piece = self.pieces.next().await;
            // A whole answer is not followed by an end that anybody waits for.
            self.success |= matches!(piece, Some(Ok(Piece::Whole(_))));
            return piece;
        };
        if fault == Fault::BreaksOff && self.heard < 1 {
            match self.pieces.next().await {
                // That somebody is asked is nothing that is heard.
                Some(Ok(piece @ Piece::Asked(_))) => return Some(Ok(piece)),
                Some(Ok(piece @ Piece::Text(_))) => {
                    self.heard += 1;
                    return Some(Ok(piece));
                }
                Some(Err(error)) => return Some(Err(error)),
                _ => {}
            }
        }
        match fault {
            Fault::Panic => resume_unwind(Box::new("a simulated panic")),
            Fault::Silence => pending().await,
            Fault::Dropped => {
                self.world.drop_run();
                pending().await
            }
            _ => Some(Err("a simulated failure".into())),
        }
    }
}

impl Drop for Disturbed<'_> {
    fn drop(&mut self) {
        let ((column, step), success) = (&self.cell, self.success);
        self.world.hold(|account| account.ends(column, *step, success));
    }
}
