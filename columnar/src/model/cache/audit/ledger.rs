//! The prefixes that requests have written, by the rules of the providers.
//!
//! What the rules leave open is assumed in favour of the provider, so that a difference is never invented: reading a prefix
//! keeps no shorter one alive, a prefix counts as written when the reply is complete, and only if the provider has billed a
//! write where writes have a price.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::super::mark::Lifetime;
use super::super::pace::Pace;
use super::super::plan::CachePlan;
use super::super::prefix::{Difference, StablePrefix};
use super::prefix::{BlockEnd, block_ends, index};
use super::{AuditedCall, CacheCause, missed};
use crate::context::Messages;
use crate::history::tokens::{Counter as _, Estimate, Ratio};
use crate::model::registry::{CachePolicy, Effort};
use crate::model::usage::{Receipt, UnixTime, Usage};

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
}

/// The prefixes that requests have written so far.
#[derive(Default)]
pub(crate) struct Ledger {
    /// The last entry of each column, by text.
    entries: BTreeMap<(u64, usize), CacheEntry>,
    /// The last request of each column.
    last: BTreeMap<usize, PriorRequest>,
}

/// A prefix that a request wrote.
#[derive(Clone)]
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

struct PriorRequest {
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
    ends: Vec<BlockEnd>,
    /// The ends that a plan marks at any pace; every end, for a provider that caches by itself.
    marks: Vec<usize>,
    /// The lifetime of what the request has written, by the bill.
    lifetime: Option<Lifetime>,
    /// The tokens up to the deepest mark, by the bill. `None` for a provider that bills no writes.
    kept: Option<u64>,
    times: Option<RequestTimes>,
}

/// An entry that a request repeats.
struct FoundEntry {
    /// The index of the end.
    at: usize,
    entry: CacheEntry,
    /// The reason why the entry cannot be read.
    obstacle: Option<CacheCause>,
}

impl Ledger {
    /// Adds a request, in the order of time, and compares it with the requests before.
    pub(crate) fn enter(&mut self, request: &AuditedRequest) -> AuditedCall {
        let entering = Entering::new(request);
        let usage = request.receipt.usage;
        let has_cache = entering.policy.read < 1.0;
        // What was marked is read or written, so a request without either had no marks, and promised nothing.
        let is_marked = has_cache && entering.kept != Some(0);
        let found = self.find(&entering).filter(|_| is_marked);
        let promised = found.as_ref().map_or(0, |found| entering.promise(found));
        let is_unreported = request.receipt.unreported > 0 || usage.input == 0;
        let cause = match &found {
            _ if !has_cache => Some(CacheCause::NoCache),
            _ if is_unreported => Some(CacheCause::Unreported),
            None => Some(self.why_nothing(&entering, is_marked)),
            Some(found) if missed(promised, usage.cache_read) > 0 => {
                Some(found.obstacle.clone().unwrap_or(CacheCause::Evicted))
            }
            Some(_) => None,
        };
        if has_cache && !is_unreported {
            self.write(&entering, found.as_ref());
        }
        AuditedCall {
            column: request.messages.column().clone(),
            step: request.messages.step(),
            receipt: Arc::clone(&request.receipt),
            counted: entering.tokens(),
            promised,
            cause,
        }
    }

    /// The entry of the longest prefix that the request repeats: one that can be read, or else one of the column itself.
    fn find(&self, entering: &Entering<'_>) -> Option<FoundEntry> {
        let Entering { policy, ends, marks, .. } = entering;
        let mut longest_first = ends.iter().enumerate().rev().filter(|(at, end)| {
            let mut after = marks.iter().filter(|mark| *mark >= at).filter_map(|mark| ends.get(*mark));
            policy.most_marks == 0 || after.any(|mark| mark.blocks - end.blocks < policy.look_back)
        });
        longest_first.find_map(|(at, end)| {
            let entries = self.entries.range((end.text, 0)..=(end.text, usize::MAX));
            let known = entries.filter_map(|(_, entry)| {
                let obstacle = entering.obstacle(entry)?;
                Some(FoundEntry { at, entry: entry.clone(), obstacle })
            });
            known.min_by_key(|found| found.obstacle.is_some())
        })
    }

    /// The reason why a request repeats nothing that was written.
    fn why_nothing(&self, entering: &Entering<'_>, is_marked: bool) -> CacheCause {
        let minimum = entering.policy.minimum;
        match self.last.get(&entering.request.column) {
            None => CacheCause::First,
            Some(last) if last.has_written && !is_marked => CacheCause::Unmarked,
            Some(last) if last.has_written => CacheCause::Changed(last.difference.clone()),
            Some(last) if last.tokens < minimum => CacheCause::BelowMinimum { minimum },
            Some(PriorRequest { difference: Some(first), .. }) => CacheCause::Changed(Some(first.clone())),
            Some(_) => CacheCause::Unmarked,
        }
    }

    /// Writes the prefixes at the marks of a request, and uses the one that it read.
    fn write(&mut self, entering: &Entering<'_>, found: Option<&FoundEntry>) {
        let Entering { request, policy, ends, marks, .. } = entering;
        let Receipt { usage, calls, .. } = &*request.receipt;
        let marked = marks.iter().copied().filter(|_| entering.kept != Some(0));
        let marked = marked.filter(|at| ends.get(*at).is_some_and(|end| end.tokens >= policy.minimum));
        let marked: Vec<usize> = marked.collect();
        let read = found.filter(|_| usage.cache_read > 0);
        let deepest = marked.last().copied();
        for &at in marked.iter().chain(read.map(|read| &read.at)) {
            let Some(end) = ends.get(at) else { continue };
            let before = read.filter(|read| at <= read.at).map(|read| read.entry.lifetime);
            let entry = CacheEntry {
                column: request.column,
                model: Arc::clone(&entering.model),
                prompt: request.prompt,
                effort: request.effort,
                lifetime: before.or(entering.lifetime).unwrap_or(Lifetime::Short),
                times: entering.times,
                // Of the deepest mark that was sent, wherever it was. Several calls of a cell have the same prefix.
                billed: entering
                    .kept
                    .filter(|_| deepest == Some(at))
                    .map(|kept| kept / u64::from((*calls).max(1))),
            };
            self.entries.insert((end.text, request.column), entry);
        }
        let tokens = entering.tokens();
        let difference = StablePrefix::of(&request.messages).difference;
        self.last
            .insert(request.column, PriorRequest { tokens, has_written: !marked.is_empty(), difference });
    }
}

impl<'r> Entering<'r> {
    fn new(request: &'r AuditedRequest) -> Self {
        let AuditedRequest { messages, instruction, receipt, .. } = request;
        let model: Arc<str> = receipt.model.clone().unwrap_or_default();
        let policy = CachePolicy::by_model(&model);
        let system = messages.system(instruction);
        let ends = block_ends(messages, &system);
        // Marks depend on the pace at that time, which may have been learnt: the bill tells which of them were sent.
        let plan = CachePlan::of(messages, Estimate.count(&system), policy, Pace::batch());
        let marks = if policy.most_marks == 0 {
            (0..ends.len()).collect()
        } else {
            plan.marks.iter().map(|mark| index(mark.position)).collect()
        };
        let Usage { cache_read, cache_write, cache_write_long, .. } = receipt.usage;
        let lifetime = if cache_write_long > 0 { Lifetime::Long } else { Lifetime::Short };
        let lifetime = (cache_write > 0).then_some(lifetime);
        let kept = (policy.short.factor > 1.0).then(|| cache_read.saturating_add(cache_write));
        let begun = receipt.at.map(UnixTime::as_millis);
        let times = begun.map(|begun| RequestTimes { begun, ended: begun.saturating_add(receipt.ms) });
        Self { request, model, policy, ends, marks, lifetime, kept, times }
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
        let lifetime = self.policy.write(entry.lifetime).unwrap_or(self.policy.short).lifetime;
        let after = times.map(|(then, now)| Duration::from_millis(now.begun.saturating_sub(then.begun)));
        if let Some(after) = after.filter(|after| *after > lifetime) {
            return Some(Some(CacheCause::Expired { after, lifetime }));
        }
        let is_other = self.lifetime.is_some_and(|lifetime| lifetime != entry.lifetime);
        Some(is_other.then_some(CacheCause::OtherLifetime))
    }

    /// The tokens of the request, by the counter of the flow.
    fn tokens(&self) -> usize {
        self.ends.last().map_or(0, |end| end.tokens)
    }

    /// The tokens of a prefix, by the provider.
    fn promise(&self, found: &FoundEntry) -> u64 {
        let Receipt { usage, calls, .. } = &*self.request.receipt;
        // Several calls of a cell have sent the request several times.
        let counted = (self.tokens() as u64).saturating_mul(u64::from(*calls));
        let prefix = self.ends.get(found.at).map_or(0, |end| end.tokens);
        let scaled = Ratio::new(usage.input, counted).map_or(0, |ratio| ratio.apply(prefix) as u64);
        found.entry.billed.unwrap_or(scaled).min(usage.input)
    }
}
