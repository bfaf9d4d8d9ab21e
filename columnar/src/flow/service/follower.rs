//! A follower: the events of a flow that another program computes, read from its store.

use std::fmt;
use std::sync::Arc;

use tokio::time::sleep;

use super::position::Position;
use crate::declare::default_limits::FOLLOW_INTERVAL;
use crate::flow::Flow;
use crate::run::reopen::OpenOptions;
use crate::run::{CellState, Event, Result, SeenCells};
use crate::store::Store;

/// The events of a flow that another program has open, from a [`Position`] on: the values and skipped cells that are stored,
/// and those that will be, sources included. The follower looks at the store each second, and changes nothing.
///
/// There are no deltas, because a value is stored whole.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::service::{Follower, Position};
/// use columnar::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let store = MemoryStore::new();
/// let owner = Flow::open(store.clone(), [column("topics", source("user").latest(), prompt("List the topics."))]).await?;
/// owner.push("user", "hello").await?;
///
/// let mut events = Follower::new(store, &Position::START);
/// let Event::Value { column, value, .. } = events.next().await? else { panic!("a value is stored") };
/// assert_eq!((column.as_str(), &*value), ("user", "hello"));
/// assert_eq!(events.position().to_string(), "0,user:1");
/// # Ok(()) }
/// ```
pub struct Follower {
    store: Arc<dyn Store>,
    position: Position,
    /// The flow as of the last look, with what this follower has seen of it.
    reading: Option<(Flow, SeenCells)>,
}

impl Follower {
    /// Follows the flow of a store from a position on. Nothing is opened yet.
    pub fn new(store: impl Store, position: &Position) -> Self {
        Self { store: Arc::new(store), position: position.clone(), reading: None }
    }

    /// The next event. Waits for as long as nothing new is stored. Dropping the future loses no event.
    ///
    /// # Errors
    ///
    /// [`Error::Open`](crate::Error::Open) or [`Error::Load`](crate::Error::Load) if the store cannot be read at this look.
    /// The next call looks again.
    pub async fn next(&mut self) -> Result<Event> {
        loop {
            if let Some((flow, seen)) = &mut self.reading {
                if let Some((cell, mut state)) = flow.shared.next_unseen(seen) {
                    let column = seen.plan.schema().name(cell.column).clone();
                    if matches!(state, CellState::NotLoaded) {
                        // With all later ones, which come next.
                        flow.load(cell.step).await?;
                        state = flow.cell(&column, cell.step)?;
                    }
                    seen.insert(cell);
                    self.position = Position::new(seen);
                    match state {
                        CellState::Stored(value) => {
                            return Ok(Event::Value { column, step: cell.step, value });
                        }
                        CellState::Skipped(reason) => {
                            return Ok(Event::Skipped { column, step: cell.step, reason });
                        }
                        CellState::NotLoaded | CellState::Waiting => {}
                    }
                    continue;
                }
                sleep(FOLLOW_INTERVAL).await;
            }
            let options = OpenOptions::new(Arc::clone(&self.store)).recent(0);
            let flow = Flow::open_stored(options).await?;
            let seen = SeenCells::new(flow.shared.plan(), |column| self.position.of(column));
            self.reading = Some((flow, seen));
        }
    }

    /// The position after the last event. A follower or a [subscription](super::Spawned::subscribe_from) continues there.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The flow as of the last look; `None` before the first event.
    pub fn flow(&self) -> Option<&Flow> {
        self.reading.as_ref().map(|(flow, _)| flow)
    }
}

impl fmt::Debug for Follower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follower").field("position", &self.position).finish_non_exhaustive()
    }
}
