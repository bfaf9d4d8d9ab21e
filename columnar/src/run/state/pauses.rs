//! The time since the last request of a column, and what the pauses so far have told.

use std::time::Duration;

use super::FlowState;
use crate::model::cache::{
    CachePolicy, Experience, LearntLifetime, Pace, PastRequest, PastRequests, PrefixTokens, Write,
};
use crate::model::usage::{Receipt, UnixTime, Usage};

/// The number of last receipts of a column from which a flow that was reopened learns.
const REPLAYED: usize = 256;

impl FlowState {
    /// The time since the last request of a column began: by the clock of this process, and, before the first request of
    /// this process, by the wall clock and the last receipt in memory. `None` if no request is known.
    pub(crate) fn since_last_request(&self, column: usize) -> Option<Duration> {
        if let Some(call) = self.requests.get(column) {
            return Some(call.at.elapsed());
        }
        let at = self.receipts.of(column).next_back()?.1.at?;
        Some(UnixTime::now().since(at))
    }

    /// For how long the provider keeps the prefix that the last request of a column wrote, and at which fee; `None` if that
    /// request had no marks, where the provider takes any.
    pub(crate) fn last_write(&self, column: usize, policy: &CachePolicy) -> Option<Write> {
        if policy.most_marks == 0 {
            return Some(policy.short);
        }
        let marked = self.requests.get(column).and_then(|call| call.marked.as_ref());
        let lifetime = marked.map_or_else(|| self.relearn(column).lifetime(), |marked| marked.lifetime);
        policy.write(lifetime?)
    }

    /// The fee of that, over the price of a token, where the lifetime of marks changes it.
    pub(crate) fn write_factor(&self, column: usize, policy: &CachePolicy) -> Option<f64> {
        Some(policy).filter(|policy| policy.most_marks > 0)?;
        Some(self.last_write(column, policy)?.factor)
    }

    /// The requests before the next one of a column.
    pub(crate) fn past_requests(&self, column: usize) -> PastRequests {
        let thread = self.plan.schema().thread_of(column).filter(|thread| {
            let settings = self.settings.get(column).zip(self.settings.get(*thread));
            // A provider caches for one effort and one schema.
            settings
                .is_some_and(|(own, other)| (own.effort(), &own.schema) == (other.effort(), &other.schema))
        });
        let continued = thread.and_then(|thread| self.past_request(thread));
        PastRequests { own: self.past_request(column), continued }
    }

    fn past_request(&self, column: usize) -> Option<PastRequest> {
        let pause = self.since_last_request(column)?;
        if let Some(marked) = self.requests.get(column).and_then(|call| call.marked.as_ref()) {
            return Some(marked.past(pause));
        }
        let model = self.receipts.of(column).next_back()?.1.model.clone()?;
        Some(PastRequest { model, pause, learnt: self.relearn(column), pace: Pace::learnt() })
    }

    /// The lifetime that the receipts in memory tell: a program that opens a flow for each step learns as well.
    fn relearn(&self, column: usize) -> LearntLifetime {
        let mut learnt = LearntLifetime::default();
        let mut before: Option<(usize, UnixTime)> = None;
        let mut receipts: Vec<&Receipt> =
            self.receipts.of(column).rev().take(REPLAYED).map(|(_, receipt)| &**receipt).collect();
        receipts.reverse();
        for receipt in receipts {
            let (Some(model), Some(at)) = (&receipt.model, receipt.at) else { continue };
            let marked = cacheable(receipt);
            let repeated = before.map_or(0, |(marked, _)| marked).min(marked);
            let pause = before.map(|(_, then)| at.since(then));
            let request = PrefixTokens { repeated, marked, ..PrefixTokens::default() };
            learnt = learnt.next(request, pause, CachePolicy::by_model(model), Experience::default());
            before = Some((marked, at));
        }
        learnt
    }
}

/// The tokens of one request that were cached, or that might have been.
fn cacheable(receipt: &Receipt) -> usize {
    let Usage { input, cache_read, cache_write, .. } = receipt.usage;
    let cached = cache_read.saturating_add(cache_write);
    let tokens = if cached > 0 { cached } else { input };
    usize::try_from(tokens / u64::from(receipt.calls.max(1))).unwrap_or(usize::MAX)
}
