//! A request with marks, and what the request before it tells about them.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::beginnings::InstructionKey;
use super::learnt::LearntLifetime;
use super::mark::Lifetime;
use super::pace::Pace;
use super::plan::{PrefixTokens, lifetime};
use super::sightings::{observe, observed};
use crate::context::Messages;
use crate::model::registry::CachePolicy;

/// The last request of a column, as the next one sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PastRequest {
    /// The time since that request.
    pub(crate) pause: Duration,
    pub(crate) learnt: LearntLifetime,
}

/// A request to a model that takes marks.
#[derive(Clone, Debug)]
pub(crate) struct MarkedRequest {
    model: Arc<str>,
    /// The pace by which the request is marked.
    pub(crate) pace: Pace,
    /// The lifetime of the marks, by the pace.
    pub(crate) lifetime: Option<Lifetime>,
    tokens: PrefixTokens,
    /// Whether more than the instruction is marked, which other conversations share.
    is_own: bool,
    pause: Option<Duration>,
    pub(crate) learnt: LearntLifetime,
    instruction: InstructionKey,
}

impl MarkedRequest {
    /// The request with this system text; `None` if the model takes no marks. A stated pace stands above what is learnt.
    pub(crate) fn new(
        model: &str,
        system: &str,
        messages: &Messages,
        before: Option<PastRequest>,
        stated: Pace,
    ) -> Option<Self> {
        let documented = CachePolicy::by_model(model);
        if documented.most_marks == 0 {
            return None;
        }
        let policy = observed(model).correct(documented);
        let tokens = PrefixTokens::of(messages, messages.system_tokens(), &policy);
        let pause = before.map(|before| before.pause);
        let learnt = before.map_or_else(LearntLifetime::default, |before| before.learnt);
        let instruction = InstructionKey::of(model, system);
        let learnt = learnt.next(tokens, pause, &policy, instruction.experience());
        let pace = if stated.is_learnt() { learnt.pace() } else { stated };
        let lifetime = lifetime(&policy, pace);
        let is_worth = before.is_some()
            || lifetime
                .and_then(|lifetime| policy.write(lifetime))
                .is_none_or(|write| instruction.is_worth_marking(&policy, write));
        let pace = if stated.is_learnt() && (stated.is_last || !is_worth) { pace.last() } else { pace };
        let is_own = tokens.marked > messages.system_tokens() && !pace.is_last;
        Some(Self { model: model.into(), pace, lifetime, tokens, is_own, pause, learnt, instruction })
    }

    /// Counts the conversation, whose request before this one began at this time, and compares what was read of the prefix
    /// that the request before wrote, as far as both are known.
    pub(crate) fn handle_sent(&self, at: Instant, cache_read: u64, before: Option<(&Self, Instant, u64)>) {
        self.instruction.add(self.tokens, self.pause, CachePolicy::by_model(&self.model));
        let Some((before, begun, cached)) = before else {
            if self.pause.is_none() {
                self.instruction.begin(at);
            }
            return;
        };
        if before.pause.is_none() {
            before.instruction.go_on(begun);
        }
        let is_repeated = before.model == self.model
            && before.is_own
            && before.tokens.marked <= self.tokens.repeated
            && cached > 0;
        if let (Some(lifetime), Some(pause), true) = (before.lifetime, self.pause, is_repeated) {
            // Providers count alike each time, but a margin is no harm: a shorter prefix has far fewer tokens.
            observe(&self.model, lifetime, pause, cache_read >= cached - cached / 10);
        }
    }
}
