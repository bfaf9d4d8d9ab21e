//! A follower: the events of a flow that another program computes, read from its store.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use tokio::time::{sleep, timeout};

use super::position::Position;
use crate::declare::Name;
use crate::declare::default_limits::{FOLLOW_FALLBACK, FOLLOW_INTERVAL};
use crate::flow::Flow;
use crate::model::usage::Receipt;
use crate::run::reopen::OpenOptions;
use crate::run::{Event, Result, SeenCells, receipt, skip_reason};
use crate::store::{Entry, Store};

/// The events of a flow that another program has open, from a [`Position`] on: the values and skipped cells that are stored,
/// and those that will be, sources included. The follower looks at the store when a server tells it of a
/// [change](Store::changed), or else each second, and changes nothing.
///
/// There are no deltas, because a value is stored whole, and values have no attachments.
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
///
/// A cell that waits for an [answer](crate::compute::external) has an [`Event::Pending`] when all that is stored was read. Filters are
/// in the program alone, so a cell that a filter keeps from being asked for seems to wait until its owner skips it.
pub struct Follower {
    store: Arc<dyn Store>,
    position: Position,
    /// The receipt of the cell of the last event.
    receipt: Option<Arc<Receipt>>,
    /// The flow as of the last look, with what this follower has seen of it.
    reading: Option<(Flow, SeenCells)>,
    /// The pending cells that this follower has seen, and the ones among them without an event so far.
    pending: BTreeSet<(Name, usize)>,
    untold: VecDeque<(Name, usize)>,
}

impl Follower {
    /// Follows the flow of a store from a position on. Nothing is opened yet.
    pub fn new(store: impl Store, position: &Position) -> Self {
        Self {
            store: Arc::new(store),
            position: position.clone(),
            receipt: None,
            reading: None,
            pending: BTreeSet::new(),
            untold: VecDeque::new(),
        }
    }

    /// The next event. Waits for as long as nothing new is stored. A cell that cannot be read is passed, as
    /// [`Event::Failed`]. Dropping the future loses no event.
    ///
    /// # Errors
    ///
    /// [`Error::Open`](crate::Error::Open) or [`Error::Load`](crate::Error::Load) if the store cannot be read at this look.
    /// The next call looks again.
    pub async fn next(&mut self) -> Result<Event> {
        loop {
            if let Some((flow, seen)) = &mut self.reading {
                let Some((cell, _)) = flow.shared.next_unseen(seen) else {
                    if let Some((column, step)) = self.untold.pop_front() {
                        self.receipt = None;
                        return Ok(Event::Pending { column, step });
                    }
                    match self.store.changed() {
                        // A connection that was lost may be noticed late.
                        Some(changed) => drop(timeout(FOLLOW_FALLBACK, changed).await),
                        None => sleep(FOLLOW_INTERVAL).await,
                    }
                    self.reading = None;
                    continue;
                };
                let column = seen.plan.schema().name(cell.column).clone();
                let step = cell.step;
                // One by one, so that a damaged entry is an event of its own cell.
                let entries = flow.shared.entries(column.as_str(), step..step.saturating_add(1)).await;
                seen.insert(cell);
                self.position = Position::new(seen);
                self.receipt = None;
                match entries.map(|mut entries| entries.pop()) {
                    Ok(Some((_, entry))) => return Ok(self.stored(column, step, entry)),
                    Ok(None) => {}
                    Err(error) => return Ok(Event::Failed { column, step, error: error.to_string() }),
                }
            } else {
                let options = OpenOptions::new(Arc::clone(&self.store)).recent(0);
                let flow = Flow::open_stored(options).await?;
                let seen = SeenCells::new(flow.shared.plan(), |column| self.position.of(column));
                let pending = flow.shared.pending_cells().into_iter();
                self.untold.extend(pending.filter(|cell| self.pending.insert(cell.clone())));
                self.reading = Some((flow, seen));
            }
        }
    }

    fn stored(&mut self, column: Name, step: usize, entry: Entry) -> Event {
        self.receipt = receipt(&entry).ok().and_then(|receipt| receipt.calls);
        match entry.value {
            Some(value) => Event::Value { column, step, value },
            None => Event::Skipped { column, step, reason: skip_reason(&entry) },
        }
    }

    /// The position after the last event. A follower or a [subscription](super::Spawned::subscribe_from) continues there.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The receipt of the cell of the last event; `None` if the cell called no model.
    pub fn receipt(&self) -> Option<&Receipt> {
        self.receipt.as_deref()
    }
}

impl fmt::Debug for Follower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follower").field("position", &self.position).finish_non_exhaustive()
    }
}
