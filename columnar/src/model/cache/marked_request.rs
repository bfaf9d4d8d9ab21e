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

/// A request of the past, as a later one sees it.
#[derive(Clone, Debug)]
pub(crate) struct PastRequest {
    pub(crate) model: Arc<str>,
    /// The time since that request.
    pub(crate) pause: Duration,
    pub(crate) learnt: LearntLifetime,
    /// The pace by which that request was marked.
    pub(crate) pace: Pace,
}

/// The requests that may have written the beginning of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct PastRequests {
    /// The last request of the column.
    pub(crate) own: Option<PastRequest>,
    /// The last request of the column whose conversation continues. It has just used the prefix, so it tells the marks and
    /// the pause, and the own request does not. Another model has another cache.
    pub(crate) continued: Option<PastRequest>,
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
    /// Whether the pause is the time since the request of the column whose conversation continues.
    pub(crate) is_continued: bool,
    instruction: InstructionKey,
}

impl MarkedRequest {
    /// The request with this system text; `None` if the model takes no marks. A stated pace stands above what is learnt.
    pub(crate) fn new(
        model: &str,
        system: &str,
        messages: &Messages,
        past: PastRequests,
        stated: Pace,
    ) -> Option<Self> {
        let documented = CachePolicy::by_model(model);
        if documented.most_marks == 0 {
            return None;
        }
        let policy = observed(model).correct(documented);
        let tokens = PrefixTokens::of(messages, messages.system_tokens(), &policy);
        let continued = past.continued.filter(|continued| *continued.model == *model);
        let is_continued = continued.is_some();
        let stated = match &continued {
            Some(PastRequest { pace, .. }) if stated.is_learnt() && !pace.is_learnt() => *pace,
            _ => stated,
        };
        let before = continued.or(past.own);
        let pause = before.as_ref().map(|before| before.pause);
        let learnt = before.as_ref().map_or_else(LearntLifetime::default, |before| before.learnt);
        let instruction = InstructionKey::of(model, system);
        let learnt = learnt.next(counted(tokens, is_continued), pause, &policy, instruction.experience());
        let pace = if stated.is_learnt() { learnt.pace() } else { stated };
        let lifetime = lifetime(&policy, pace);
        let is_worth = before.is_some()
            || lifetime
                .and_then(|lifetime| policy.write(lifetime))
                .is_none_or(|write| instruction.is_worth_marking(&policy, write));
        let pace = if stated.is_learnt() && (stated.is_last || !is_worth) { pace.last() } else { pace };
        let is_own = tokens.marked > messages.system_tokens() && !pace.is_last;
        let model = model.into();
        Some(Self { model, pace, lifetime, tokens, is_own, pause, learnt, is_continued, instruction })
    }

    /// The request as a later one sees it, after a pause.
    pub(crate) fn past(&self, pause: Duration) -> PastRequest {
        let Self { model, learnt, pace, .. } = self;
        PastRequest { model: Arc::clone(model), pause, learnt: *learnt, pace: *pace }
    }

    /// Counts the conversation, whose request before this one began at this time, and compares what was read of the prefix
    /// that the request before wrote, as far as both are known.
    pub(crate) fn handle_sent(&self, at: Instant, cache_read: u64, before: Option<(&Self, Instant, u64)>) {
        let tokens = counted(self.tokens, self.is_continued);
        self.instruction.add(tokens, self.pause, CachePolicy::by_model(&self.model));
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

/// The tokens from which a lifetime is learnt. The conversation counts the new text of a thread with its own next request.
fn counted(tokens: PrefixTokens, is_continued: bool) -> PrefixTokens {
    if is_continued { PrefixTokens { marked: tokens.repeated, ..tokens } } else { tokens }
}
