//! Requests that begin the same: one goes first, and the others follow when it begins to be answered.
//!
//! A provider that keeps what requests have in common can be read from only then. Sent at once, all of them
//! would pay for writing it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context as Poller, Poll, ready};

use futures::future::{BoxFuture, FutureExt};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::cache::CachePolicy;
use crate::compute::{Context, Settings};
use crate::context::SharedPrefix;

/// So many beginnings are remembered. Those of the first steps are forgotten first, and instructions last.
const REMEMBERED: usize = 256;

/// The beginnings of requests that are on their way in a run, or were.
#[derive(Debug, Default)]
pub(super) struct Leading(BTreeMap<Beginning, Gate>);

/// What requests begin with that are sent to the same model under the same instruction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Beginning {
    length: Length,
    model: Arc<str>,
    instruction: Arc<str>,
}

/// How far requests are the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Length {
    /// Up to the end of what is shown here.
    SharedPrefix(SharedPrefix),
    /// Up to the end of the instruction.
    Instruction,
}

/// Held by who goes first, and says whether somebody has been answered.
type Gate = Arc<Mutex<bool>>;

/// A request among those that begin the same.
#[derive(Default)]
pub(super) struct Lead {
    waiting: Option<BoxFuture<'static, Vec<OwnedMutexGuard<bool>>>>,
    leads: Vec<OwnedMutexGuard<bool>>,
}

impl Leading {
    /// The place of a request.
    pub(super) fn join(&mut self, settings: &Settings, context: &Context) -> Lead {
        let gates = self.gates(settings, context).unwrap_or_default();
        let waiting = (!gates.is_empty()).then(|| pass(gates).boxed());
        Lead { waiting, leads: Vec::new() }
    }

    /// In the same order for all, the shortest beginning first.
    fn gates(&mut self, settings: &Settings, context: &Context) -> Option<Vec<Gate>> {
        let instruction = context.instruct(settings.instruction.as_ref()?);
        let model = settings.model.as_ref()?.model(&context.defaults().model).ok()?;
        let model: Arc<str> = model.name().into();
        let provider = CachePolicy::of(&model);
        let keeps = |tokens: usize| provider.read < 1.0 && tokens >= provider.minimum;
        let tokens = context.messages().instruction();
        let (prefix, more) = context.messages().shared_prefix();
        let lengths = [
            keeps(tokens).then_some(Length::Instruction),
            keeps(tokens + more).then_some(Length::SharedPrefix(prefix)),
        ];
        let gates = lengths.into_iter().flatten().map(|length| {
            let (model, instruction) = (Arc::clone(&model), Arc::clone(&instruction));
            Arc::clone(self.0.entry(Beginning { length, model, instruction }).or_default())
        });
        let gates = gates.collect();
        while self.0.len() > REMEMBERED {
            self.0.pop_first();
        }
        Some(gates)
    }
}

/// Waits at each gate for who leads there, and leads where nobody has been answered yet.
async fn pass(gates: Vec<Gate>) -> Vec<OwnedMutexGuard<bool>> {
    let mut leads = Vec::new();
    for gate in gates {
        let answered = gate.lock_owned().await;
        if !*answered {
            leads.push(answered);
        }
    }
    leads
}

impl Lead {
    /// Whether the request may go.
    pub(super) fn poll(&mut self, poller: &mut Poller<'_>) -> Poll<()> {
        if let Some(waiting) = &mut self.waiting {
            self.leads = ready!(waiting.poll_unpin(poller));
            self.waiting = None;
        }
        Poll::Ready(())
    }

    /// The request begins to be answered: the others may follow.
    pub(super) fn answered(&mut self) {
        for mut gate in self.leads.drain(..) {
            *gate = true;
        }
    }
}
