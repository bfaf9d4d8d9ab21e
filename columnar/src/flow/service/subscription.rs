//! A subscription: the events of a spawned flow for one reader.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::iter;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};

use futures::future::{BoxFuture, FutureExt};
use futures::stream::{self, BoxStream, Stream, StreamExt};

use super::feed::{ProgressKey, TextInProgress};
use super::hub::{Hub, HubHandle};
use super::position::Position;
use crate::declare::Name;
use crate::run::{CellState, ColumnId, Event, Result, SeenCells, skip_reason};
use crate::schedule::Cell;
use crate::store::Entry;

/// The number of steps of a column that are read from the store at once.
const CHUNK: usize = 64;

/// The events of a spawned flow from a [`Position`] on, as a [`Stream`].
///
/// A subscription has no queue. A poll reads stored values, so a subscription may begin at any step of the past, and a
/// slow reader delays nobody. A subscription keeps the flow open; dropping a subscription cancels nothing.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::service::Position;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let f = flow([column("answer", source("user").latest(), prompt("Answer."))])?.spawn();
/// let mut events = f.subscribe().with_sources();
/// f.push("user", "Which language?").await?;
/// let mut answer = String::new();
/// while let Some(event) = events.next().await {
///     match event {
///         Event::Delta { text, .. } => answer.push_str(&text),
///         Event::Retry { .. } => answer.clear(),
///         Event::Value { column, value, .. } if column == "answer" => {
///             answer = value.to_string();         // a fast answer has no delta
///             break;
///         }
///         _ => {}
///     }
/// }
/// assert_eq!(events.position(), Position::before(1));
/// # Ok(()) }
/// ```
///
/// # The events
///
/// A subscription has the events of a [run](crate::Run), for the cells whose values the subscription has not seen:
///
/// - **Values** come once each, step by step, and within a step in topological order, so a value comes after the values
///   that it was computed from. The values of a column are in order of steps. A failed step, or a step that an ended
///   run has left missing, holds nothing back; the value comes when a later run has stored it. Skipped cells are in the
///   same order.
/// - **Deltas**: the deltas of a cell, joined since its last [`Retry`](Event::Retry), are its value. A slow reader gets
///   few long deltas, and none for a cell that is stored before the first read.
/// - **[`Retry`](Event::Retry)**: discard the deltas of the cell. The event comes if there are deltas to discard, also
///   when the cell was cancelled.
/// - **[`Failed`](Event::Failed)**: the cell has failed in the last run, also if the failure ended the run. Later
///   subscriptions get the event as well, until another run begins. The subscription goes on.
/// - **[`Pending`](Event::Pending)**: the cell waits for an answer from outside. Later subscriptions get the event as well, until
///   the cell is answered.
/// - **[`CacheMiss`](Event::CacheMiss)**: before the value, of a cell that the last run has computed.
///
/// The stream ends when the task has ended and all that is stored has been read.
pub struct Subscription<I = Name> {
    seen: SeenCells,
    /// The texts of which a part is sent, with the number of its bytes.
    drafts: BTreeMap<ProgressKey, (Arc<TextInProgress>, usize)>,
    failures: Failures,
    /// The number of cells that runs have asked for, and that were looked at.
    asked: usize,
    /// The cell whose miss of a cache is sent, and whose value comes next.
    missed: Option<Cell>,
    /// Stored cells that are not in the memory of the flow.
    entries: BTreeMap<ProgressKey, Entry>,
    loading: Option<Loading>,
    changes: BoxStream<'static, ()>,
    has_sources: bool,
    // `fn() -> I` is `Send` and `Sync` for every `I`. A subscription holds no value of `I`.
    id: PhantomData<fn() -> I>,
    /// `None` when the stream has ended. Dropped after all else, so that without it nothing holds the flow.
    handle: Option<HubHandle>,
}

/// The failures of one run.
#[derive(Default)]
struct Failures {
    run: u64,
    /// The number of failures that were looked at.
    read: usize,
    /// The failures that are not sent yet.
    unsent: BTreeSet<ProgressKey>,
}

/// Entries on the way from the store.
struct Loading {
    cell: Cell,
    entries: BoxFuture<'static, Result<Vec<(usize, Entry)>>>,
}

/// The outcome of a look at the flow.
enum NextLook<I> {
    Event(Event<I>),
    /// There may be more at the next look.
    Again,
    Nothing,
}

impl<I> Subscription<I> {
    pub(super) fn new(handle: HubHandle, seen: SeenCells) -> Self {
        let changes = stream::unfold(handle.parts.shared.changes(), |mut changes| async {
            changes.changed().await.ok()?;
            Some(((), changes))
        });
        Self {
            seen,
            drafts: BTreeMap::new(),
            failures: Failures::default(),
            asked: 0,
            missed: None,
            entries: BTreeMap::new(),
            loading: None,
            changes: changes.boxed(),
            has_sources: false,
            id: PhantomData,
            handle: Some(handle),
        }
    }

    /// The position after the last event. A subscription [from](super::Spawned::subscribe_from) there continues with
    /// the next value, and repeats the deltas of the cells in progress from the first byte.
    pub fn position(&self) -> Position {
        Position::new(&self.seen)
    }

    /// The same subscription with the values of the sources as well. The events name columns by [`Name`].
    #[must_use]
    pub fn with_sources(self) -> Subscription<Name> {
        let Self { seen, drafts, failures, asked, missed, entries, loading, changes, handle, .. } = self;
        let has_sources = true;
        let id = PhantomData;
        Subscription {
            seen,
            drafts,
            failures,
            asked,
            missed,
            entries,
            loading,
            changes,
            has_sources,
            id,
            handle,
        }
    }
}

impl<I: ColumnId> Stream for Subscription<I> {
    type Item = Event<I>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<Event<I>>> {
        loop {
            if let Some(Loading { cell, entries }) = &mut self.loading {
                let cell = *cell;
                let entries = ready!(entries.poll_unpin(task));
                self.loading = None;
                if let NextLook::Event(event) = self.loaded(cell, entries) {
                    return Poll::Ready(Some(event));
                }
            }
            let Some(handle) = &self.handle else { return Poll::Ready(None) };
            let hub = Arc::clone(&handle.hub);
            // Before the look, which then sees all that the task has left.
            let is_closed = hub.is_closed();
            match self.look(&hub) {
                NextLook::Event(event) => return Poll::Ready(Some(event)),
                NextLook::Again => {}
                NextLook::Nothing if is_closed => self.handle = None,
                NextLook::Nothing => {
                    ready!(self.changes.poll_next_unpin(task));
                }
            }
        }
    }
}

impl<I: ColumnId> Subscription<I> {
    /// The next event, without waiting.
    fn look(&mut self, hub: &Hub) -> NextLook<I> {
        let stored = hub.parts.shared.next_unseen(&mut self.seen);
        let failure = self.next_failure(hub);
        match (stored, failure) {
            // A cell that fails and is stored as skipped has both, in this order.
            (Some((cell, _)), Some((failed, error))) if self.order(failed) <= self.order(cell) => {
                self.failed(failed, error)
            }
            (Some((cell, stored)), _) => self.stored(hub, cell, stored),
            (None, Some((failed, error))) => self.failed(failed, error),
            (None, None) => self.in_progress(hub),
        }
    }

    /// The next failure of the last run that is not sent.
    fn next_failure(&mut self, hub: &Hub) -> Option<(Cell, String)> {
        let feed = hub.feed();
        if self.failures.run != feed.run {
            self.failures = Failures { run: feed.run, ..Failures::default() };
        }
        let failed = feed.failed_after(self.failures.read);
        self.failures.read += failed.len();
        let unseen = failed.iter().filter(|key| self.cell(key).is_none_or(|cell| !self.seen.contains(cell)));
        let unseen: Vec<_> = unseen.cloned().collect();
        self.failures.unsent.extend(unseen);
        // The failures are sorted by step, and only the failures of the first step are compared.
        let mut cells = self.failures.unsent.iter().filter_map(|key| Some((self.unseen(key)?, key)));
        let first = cells.next()?;
        let of_step = cells.take_while(|(cell, _)| cell.step == first.0.step);
        let (cell, key) = iter::once(first).chain(of_step).min_by_key(|(cell, _)| self.order(*cell))?;
        Some((cell, feed.failure(key)?.clone()))
    }

    fn failed(&mut self, cell: Cell, error: String) -> NextLook<I> {
        let key = self.key(cell);
        self.drafts.remove(&key);
        self.failures.unsent.remove(&key);
        self.event(cell, |column, step| Event::Failed { column, step, error })
    }

    /// The event of a stored cell, or the rest of its text before it.
    fn stored(&mut self, hub: &Hub, cell: Cell, stored: CellState) -> NextLook<I> {
        let key = self.key(cell);
        let value = match (stored, self.entries.get(&key)) {
            (CellState::Stored(value), _) => Ok(value),
            (CellState::Skipped(reason), _) => Err(reason),
            (CellState::NotLoaded | CellState::Waiting | CellState::Pending, Some(entry)) => {
                entry.value.clone().ok_or_else(|| skip_reason(entry))
            }
            (CellState::NotLoaded | CellState::Waiting | CellState::Pending, None) => {
                return self.load(hub, cell);
            }
        };
        if let (Ok(value), Some((draft, sent))) = (&value, self.drafts.remove(&key)) {
            if !draft.is_prefix(sent, value) {
                return self.retry(cell, &draft);
            }
            if let Some(text) = value.get(sent..).filter(|rest| !rest.is_empty()).map(str::to_owned) {
                return self.event(cell, |column, step| Event::Delta { column, step, text });
            }
        }
        if self.missed != Some(cell)
            && let Some(miss) = hub.feed().miss(&key).cloned()
        {
            self.missed = Some(cell);
            return self.event(cell, |column, step| Event::CacheMiss { column, step, miss });
        }
        self.drafts.remove(&key);
        self.entries.remove(&key);
        self.failures.unsent.remove(&key);
        self.seen.insert(cell);
        self.event(cell, |column, step| match value {
            Ok(value) => Event::Value { column, step, value },
            Err(reason) => Event::Skipped { column, step, reason },
        })
    }

    /// An event of the cells in progress, when all that is stored is sent.
    fn in_progress(&mut self, hub: &Hub) -> NextLook<I> {
        // Locked for both looks: the next attempt would continue a text that is discarded in between.
        let feed = hub.feed();
        let mut discarded = self.drafts.iter().filter(|(_, (draft, _))| draft.discarded().is_some());
        // A column that was removed since has no cell.
        let discarded = discarded.find_map(|(key, _)| Some((key.clone(), self.unseen(key)?)));
        if let Some((key, cell)) = discarded
            && let Some((draft, _)) = self.drafts.remove(&key)
        {
            return self.retry(cell, &draft);
        }
        for key in feed.asked_after(self.asked) {
            self.asked += 1;
            if let Some(cell) = self.unseen(key)
                && hub.parts.shared.is_asked(&key.1, key.0)
            {
                return self.event(cell, |column, step| Event::Pending { column, step });
            }
        }
        let more = feed.drafts.iter().find_map(|(key, draft)| {
            // No draft of an earlier attempt is left: the look at discarded texts has come before.
            let sent = self.drafts.get(key).map_or(0, |(_, sent)| *sent);
            let cell = self.unseen(key)?;
            let text = draft.text_from(sent)?;
            Some((key.clone(), cell, Arc::clone(draft), sent + text.len(), text))
        });
        drop(feed);
        let Some((key, cell, draft, sent, text)) = more else { return NextLook::Nothing };
        self.drafts.insert(key, (draft, sent));
        self.event(cell, |column, step| Event::Delta { column, step, text })
    }

    fn retry(&self, cell: Cell, draft: &TextInProgress) -> NextLook<I> {
        let attempt = draft.attempt;
        let error = draft.discarded().unwrap_or_else(|| "another value was stored".to_owned());
        self.event(cell, |column, step| Event::Retry { column, step, attempt, error })
    }

    /// Starts to load a cell and those after it.
    fn load(&mut self, hub: &Hub, cell: Cell) -> NextLook<I> {
        let shared = Arc::clone(&hub.parts.shared);
        let (step, column) = self.key(cell);
        let steps = step..step.saturating_add(CHUNK);
        let entries = async move { shared.entries(&column, steps).await };
        self.loading = Some(Loading { cell, entries: entries.boxed() });
        NextLook::Again
    }

    /// Takes over the loaded entries. A cell that cannot be read is passed, with an event.
    fn loaded(&mut self, cell: Cell, entries: Result<Vec<(usize, Entry)>>) -> NextLook<I> {
        let (_, column) = self.key(cell);
        match entries {
            Ok(entries) => {
                let entries = entries.into_iter().map(|(step, entry)| ((step, column.clone()), entry));
                self.entries.extend(entries);
                NextLook::Again
            }
            Err(error) => {
                self.seen.insert(cell);
                let error = error.to_string();
                self.event(cell, |column, step| Event::Failed { column, step, error })
            }
        }
    }

    /// The event of a cell, if the subscription shows the column.
    fn event(&self, cell: Cell, event: impl FnOnce(I, usize) -> Event<I>) -> NextLook<I> {
        let schema = self.seen.plan.schema();
        let is_shown = self.has_sources || !schema.is_source(cell.column);
        let column = is_shown.then(|| I::__of(cell.column, schema.name(cell.column))).flatten();
        column.map_or(NextLook::Again, |column| NextLook::Event(event(column, cell.step)))
    }

    /// The place of a cell in the order of values.
    fn order(&self, cell: Cell) -> (usize, usize) {
        (cell.step, self.seen.plan.rank(cell.column))
    }

    fn key(&self, cell: Cell) -> ProgressKey {
        (cell.step, self.seen.plan.schema().name(cell.column).clone())
    }

    /// The cell of a key, if the flow has its column.
    fn cell(&self, (step, column): &ProgressKey) -> Option<Cell> {
        Some(Cell { column: self.seen.plan.schema().find(column)?, step: *step })
    }

    /// The cell of a key, if no value of it is sent.
    fn unseen(&self, key: &ProgressKey) -> Option<Cell> {
        self.cell(key).filter(|cell| !self.seen.contains(*cell))
    }
}

impl<I> fmt::Debug for Subscription<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("position", &self.position()).finish_non_exhaustive()
    }
}
