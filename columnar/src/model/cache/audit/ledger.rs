//! The prefixes that requests have written, by the rules of the providers.
//!
//! What the rules leave open is assumed in favour of the provider, so that a difference is never invented: reading a prefix
//! keeps no shorter one alive, a prefix counts as written when the reply is complete, and only if the provider has billed a
//! write where writes have a price.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use super::super::mark::Lifetime;
use super::super::pace::Pace;
use super::super::plan::CachePlan;
use super::super::prefix::{Difference, StablePrefix};
use super::prefix::{PrefixEnd, index, prefix_ends};
use super::{AuditedCall, CacheCause, missed};
use crate::context::Messages;
use crate::history::tokens::{Counter as _, Estimate};
use crate::model::registry::{CachePolicy, Effort};
use crate::model::usage::{Receipt, UnixTime};

/// A request of the past, with its receipt.
pub(crate) struct AuditedRequest {
    pub(crate) column: usize,
    pub(crate) messages: Messages,
    /// The instruction of the column.
    pub(crate) instruction: Arc<str>,
    pub(crate) receipt: Arc<Receipt>,
    /// The fingerprint of the prompt, if it was stored.
    pub(crate) prompt: Option<u32>,
    /// The effort of the column: another one ends sharing with other columns.
    pub(crate) effort: Option<Effort>,
    pub(crate) pace: Pace,
}

/// The prefixes that requests have written so far.
#[derive(Default)]
pub(crate) struct Ledger {
    /// The entries by text. The same text may be written by several columns and models.
    entries: HashMap<u64, Vec<CacheEntry>>,
    /// The last request of each column.
    last: BTreeMap<usize, LastRequest>,
}

/// A prefix that a request wrote.
struct CacheEntry {
    column: usize,
    model: Arc<str>,
    prompt: Option<u32>,
    effort: Option<Effort>,
    lifetime: Lifetime,
    /// The beginning of the last request that used the entry, and the end of its reply, if the receipt has the time.
    times: Option<RequestTimes>,
    /// The tokens of the prefix, by the provider.
    billed: Option<u64>,
}

/// Times of a request in milliseconds.
#[derive(Clone, Copy)]
struct RequestTimes {
    begun: u64,
    ended: u64,
}

struct LastRequest {
    tokens: usize,
    /// Whether the provider has kept anything of the request.
    has_written: bool,
    difference: Option<Difference>,
}

/// A request beside the rules of its provider.
struct Entering<'r> {
    request: &'r AuditedRequest,
    model: Arc<str>,
    policy: &'static CachePolicy,
    ends: Vec<PrefixEnd>,
    /// The marked ends. Every end, for a provider that caches by itself; none, for one without a cache.
    marks: Vec<usize>,
    /// The lifetime of what the request has written, by the bill, or else by the plan.
    lifetime: Lifetime,
    times: Option<RequestTimes>,
}

/// An entry that a request repeats.
struct FoundEntry {
    /// The index of the end.
    at: usize,
    /// The index among the entries of that text.
    which: usize,
    /// The reason why the entry cannot be read.
    obstacle: Option<CacheCause>,
}

impl Ledger {
    /// Adds a request, in the order of time, and compares it with the requests before.
    pub(crate) fn enter(&mut self, request: &AuditedRequest) -> AuditedCall {
        let entering = Entering::new(request);
        let usage = request.receipt.usage;
        let found = self.find(&entering);
        let promised = found.as_ref().map_or(0, |found| self.promise(&entering, found));
        let is_unreported = request.receipt.unreported > 0 || usage.input == 0;
        let cause = match &found {
            _ if !entering.has_cache() => Some(CacheCause::NoCache),
            _ if is_unreported => Some(CacheCause::Unreported),
            None => Some(self.why_nothing(&entering)),
            Some(found) if missed(promised, usage.cache_read) > 0 => {
                Some(found.obstacle.clone().unwrap_or(CacheCause::Evicted))
            }
            Some(_) => None,
        };
        if !is_unreported {
            self.write(&entering, found.as_ref());
        }
        let counted = entering.ends.last().map_or(0, |end| end.tokens);
        AuditedCall {
            column: request.messages.column().clone(),
            step: request.messages.step(),
            receipt: Arc::clone(&request.receipt),
            counted,
            promised,
            cause,
        }
    }

    /// The entry of the longest prefix that the request repeats: one that can be read, or else one of the column itself.
    fn find(&self, entering: &Entering<'_>) -> Option<FoundEntry> {
        let Entering { policy, ends, marks, .. } = entering;
        let reachable = marks.iter().rev().flat_map(|&mark| {
            let until = ends.get(mark).map_or(0, |end| end.blocks);
            let is_near = move |end: &PrefixEnd| until - end.blocks < policy.look_back;
            (0..=mark).rev().take_while(move |&at| ends.get(at).is_some_and(is_near))
        });
        let mut ats: Vec<usize> = reachable.collect();
        ats.sort_unstable();
        ats.dedup();
        let mut found = ats.into_iter().rev().filter_map(|at| {
            let entries = self.entries.get(&ends.get(at)?.text)?.iter().enumerate();
            let known = entries.filter_map(|(which, entry)| {
                let obstacle = entering.obstacle(entry)?;
                Some(FoundEntry { at, which, obstacle })
            });
            known.min_by_key(|found| found.obstacle.is_some())
        });
        found.next()
    }

    /// The tokens of a prefix, by the provider.
    fn promise(&self, entering: &Entering<'_>, found: &FoundEntry) -> u64 {
        let [prefix, all] = [Some(found.at), None].map(|at| {
            let end = at.map_or(entering.ends.last(), |at| entering.ends.get(at));
            end.map_or(0, |end| end.tokens as u128)
        });
        let Receipt { usage, calls, .. } = &*entering.request.receipt;
        // Several calls of a cell have sent the request several times.
        let counted = all * u128::from((*calls).max(1));
        let scaled = if counted == 0 { 0 } else { prefix * u128::from(usage.input) / counted };
        let billed = self.entry(entering, found).and_then(|entry| entry.billed);
        billed.unwrap_or_else(|| u64::try_from(scaled).unwrap_or(u64::MAX)).min(usage.input)
    }

    fn entry(&self, entering: &Entering<'_>, found: &FoundEntry) -> Option<&CacheEntry> {
        self.entries.get(&entering.ends.get(found.at)?.text)?.get(found.which)
    }

    /// The reason why a request repeats nothing that was written.
    fn why_nothing(&self, entering: &Entering<'_>) -> CacheCause {
        let minimum = entering.policy.minimum;
        match self.last.get(&entering.request.column) {
            None => CacheCause::First,
            Some(last) if last.has_written => CacheCause::Changed(last.difference.clone()),
            Some(last) if last.tokens < minimum => CacheCause::BelowMinimum { minimum },
            Some(LastRequest { difference: Some(first), .. }) => CacheCause::Changed(Some(first.clone())),
            Some(_) => CacheCause::Unwritten,
        }
    }

    /// Writes the prefixes at the marks of a request, and uses the one that it found.
    fn write(&mut self, entering: &Entering<'_>, found: Option<&FoundEntry>) {
        let Entering { request, policy, ends, marks, .. } = entering;
        let usage = request.receipt.usage;
        let kept = usage.cache_read.saturating_add(usage.cache_write);
        // A provider that bills writes and billed none has kept nothing.
        let has_written = kept > 0 || policy.short.factor <= 1.0;
        let read = found.filter(|_| usage.cache_read > 0);
        let lifetime = read.and_then(|found| Some(self.entry(entering, found)?.lifetime));
        let is_long = |at: &usize| ends.get(*at).is_some_and(|end| end.tokens >= policy.minimum);
        let marked: Vec<usize> = marks.iter().copied().filter(is_long).filter(|_| has_written).collect();
        let deepest = marked.last().copied().filter(|_| policy.most_marks > 0 && request.receipt.calls == 1);
        for &at in marked.iter().chain(read.map(|found| &found.at)) {
            let Some(end) = ends.get(at) else { continue };
            let lifetime = lifetime.filter(|_| read.is_some_and(|read| at <= read.at));
            let entry = CacheEntry {
                column: request.column,
                model: Arc::clone(&entering.model),
                prompt: request.prompt,
                effort: request.effort,
                lifetime: lifetime.unwrap_or(entering.lifetime),
                times: entering.times,
                billed: deepest.filter(|deepest| at == *deepest && kept > 0).map(|_| kept),
            };
            let entries = self.entries.entry(end.text).or_default();
            entries.retain(|known| (known.column, &known.model) != (entry.column, &entry.model));
            entries.push(entry);
        }
        let tokens = ends.last().map_or(0, |end| end.tokens);
        let difference = StablePrefix::of(&request.messages).difference;
        let has_written = !marked.is_empty();
        self.last.insert(request.column, LastRequest { tokens, has_written, difference });
    }
}

impl<'r> Entering<'r> {
    fn new(request: &'r AuditedRequest) -> Self {
        let AuditedRequest { messages, instruction, receipt, pace, .. } = request;
        let model: Arc<str> = receipt.model.clone().unwrap_or_default();
        let policy = CachePolicy::by_model(&model);
        let system = messages.system(instruction);
        let ends = prefix_ends(messages, &system);
        // As the request was sent.
        let plan = CachePlan::of(messages, Estimate.count(&system), policy, *pace);
        let marks = match policy.most_marks {
            _ if policy.read >= 1.0 => Vec::new(),
            0 => (0..ends.len()).collect(),
            _ => plan.marks.iter().map(|mark| index(mark.position)).collect(),
        };
        let lifetime = match (receipt.usage.cache_write, receipt.usage.cache_write_long) {
            (0, _) => plan.marks.first().map_or(Lifetime::Short, |mark| mark.lifetime),
            (_, 0) => Lifetime::Short,
            _ => Lifetime::Long,
        };
        let begun = receipt.at.map(UnixTime::as_millis);
        let times = begun.map(|begun| RequestTimes { begun, ended: begun.saturating_add(receipt.ms) });
        Self { request, model, policy, ends, marks, lifetime, times }
    }

    /// Whether the request repeats a prefix that this entry has, and the reason why it cannot be read. `None` for an entry
    /// that another column has written under other conditions, or of which nobody knows that it was written in time.
    #[expect(clippy::option_option, reason = "no entry, no obstacle, an obstacle")]
    fn obstacle(&self, entry: &CacheEntry) -> Option<Option<CacheCause>> {
        let is_own = entry.column == self.request.column;
        let is_alike = entry.model == self.model && entry.effort == self.request.effort;
        let times = entry.times.zip(self.times);
        // A request with the own history of the column follows the reply before. Of others the clock tells, in milliseconds.
        let follows = is_own && self.request.messages.snapshot().reads.self_view.is_some();
        let is_ready = follows || times.map_or(is_own, |(then, now)| then.ended < now.begun);
        if !is_ready || !(is_own || is_alike) {
            return None;
        }
        if entry.model != self.model {
            return Some(Some(CacheCause::OtherModel { written_by: Arc::clone(&entry.model) }));
        }
        let prompts = entry.prompt.zip(self.request.prompt);
        if is_own && prompts.is_some_and(|(then, now)| then != now) {
            return Some(Some(CacheCause::OtherPrompt));
        }
        if entry.lifetime != self.lifetime {
            return Some(Some(CacheCause::OtherLifetime));
        }
        let lifetime = self.policy.write(entry.lifetime).unwrap_or(self.policy.short).lifetime;
        let after = times.map(|(then, now)| Duration::from_millis(now.begun.saturating_sub(then.begun)));
        let expired = after.filter(|after| *after > lifetime);
        Some(expired.map(|after| CacheCause::Expired { after, lifetime }))
    }

    fn has_cache(&self) -> bool {
        self.policy.read < 1.0
    }
}
