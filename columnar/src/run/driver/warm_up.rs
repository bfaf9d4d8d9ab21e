//! Single flight for requests with a common prefix: one request warms the provider's cache, and the others wait until
//! the reply begins.
//!
//! A provider serves a prefix from the cache only after the reply to an earlier request with that prefix has begun.
//! Requests that are sent at once would all pay for writing the prefix.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};

use futures::future::{BoxFuture, FutureExt};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::compute::{Context, StepSettings};
use crate::context::SharedPrefix;
use crate::model::cache::CachePolicy;

/// The most prefixes that a run remembers. The prefixes of the first steps are forgotten first, and instructions last.
const REMEMBERED: usize = 256;

/// The prefixes of the requests of a run.
#[derive(Debug, Default)]
pub(super) struct SingleFlight(BTreeMap<RequestPrefix, Flight>);

/// A prefix of requests to one model with one instruction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RequestPrefix {
    // The first field in the order: `pop_first` forgets by length, and instructions last.
    length: PrefixEnd,
    model: Arc<str>,
    instruction: Arc<str>,
}

/// The end of a prefix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PrefixEnd {
    /// The prefix ends with these messages.
    SharedPrefix(SharedPrefix),
    /// The prefix ends with the instruction.
    Instruction,
}

/// Whether a prefix is warm. The request that warms the prefix holds the lock.
type Flight = Arc<Mutex<bool>>;

/// The warm-ups that one request takes part in: for itself, and for others.
#[derive(Default)]
pub(super) struct WarmUp {
    waiting: Option<BoxFuture<'static, Vec<OwnedMutexGuard<bool>>>>,
    /// The prefixes that this request warms. Waiting requests go on when these guards are dropped.
    warming: Vec<OwnedMutexGuard<bool>>,
}

impl SingleFlight {
    /// Adds a request.
    pub(super) fn join(&mut self, settings: &StepSettings, context: &Context) -> WarmUp {
        let flights = self.flights(settings, context).unwrap_or_default();
        let waiting = (!flights.is_empty()).then(|| acquire(flights).boxed());
        WarmUp { waiting, warming: Vec::new() }
    }

    /// The flights of a request, the shortest prefix first: all requests acquire flights in this order.
    fn flights(&mut self, settings: &StepSettings, context: &Context) -> Option<Vec<Flight>> {
        let instruction = context.instruct(settings.instruction.as_ref()?);
        let flow = &context.defaults.model;
        // A batch is sent as a whole.
        let model = settings.model.as_ref().filter(|model| !model.is_queued(flow))?.resolve(flow).ok()?;
        let model: Arc<str> = model.name().into();
        let policy = CachePolicy::by_model(&model);
        // If reads are not cheaper or the prefix is too short to be cached, waiting would only cost time.
        let least = if policy.read < 1.0 { policy.minimum } else { usize::MAX };
        let tokens = context.messages().system_tokens();
        let prefix = context.messages().shared_prefix();
        let prefix = prefix.filter(|(_, more)| tokens + more >= least).map(|(prefix, _)| prefix);
        let lengths =
            [(tokens >= least).then_some(PrefixEnd::Instruction), prefix.map(PrefixEnd::SharedPrefix)];
        let flights = lengths.into_iter().flatten().map(|length| {
            let model = Arc::clone(&model);
            let instruction = Arc::clone(&instruction);
            Arc::clone(self.0.entry(RequestPrefix { length, model, instruction }).or_default())
        });
        let flights = flights.collect();
        while self.0.len() > REMEMBERED {
            // Requests that hold a forgotten flight still wait. A later one warms the prefix again.
            self.0.pop_first();
        }
        Some(flights)
    }
}

/// Waits for the request that warms each prefix, and returns the guards of those that are still cold.
async fn acquire(flights: Vec<Flight>) -> Vec<OwnedMutexGuard<bool>> {
    let mut warming = Vec::new();
    for flight in flights {
        // Guards of shorter prefixes are held meanwhile. The common order keeps requests from a deadlock.
        let is_warm = flight.lock_owned().await;
        if !*is_warm {
            warming.push(is_warm);
        }
    }
    warming
}

impl WarmUp {
    /// Ready when the request may be sent.
    pub(super) fn poll_ready(&mut self, task: &mut TaskContext<'_>) -> Poll<()> {
        if let Some(waiting) = &mut self.waiting {
            self.warming = ready!(waiting.poll_unpin(task));
            self.waiting = None;
        }
        Poll::Ready(())
    }

    /// Releases the waiting requests, because the reply to this one has begun.
    pub(super) fn reply_began(&mut self) {
        for mut is_warm in self.warming.drain(..) {
            *is_warm = true;
        }
    }
}
