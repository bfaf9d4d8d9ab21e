//! The cost of requests by the rules and prices of a provider: computed, not measured.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use columnar::Messages;
use columnar::cache::{CachePlan, CachePolicy, Lifetime, Position};
use columnar::usage::{Dollars, Price, Usage};

use crate::INSTRUCTION;

/// The cache of the provider of a model, and the bill of a session. Each request is assumed to follow within the
/// lifetime of the entries.
pub(crate) struct Costs {
    model: String,
    /// The hashes of the prefixes that the provider keeps.
    kept: HashSet<u64>,
    /// The bills with the cache, and without the cache.
    session: [Dollars; 2],
}

impl Costs {
    pub(crate) fn new(model: &str) -> Self {
        Self { model: model.to_owned(), kept: HashSet::new(), session: [Dollars::ZERO; 2] }
    }

    /// The lines of a request and the session until then. `reply` is the number of tokens of the answer. `None` if the price
    /// of the model is unknown.
    pub(crate) fn lines(&mut self, messages: &Messages, plan: &CachePlan, reply: usize) -> Option<String> {
        let usage = self.usage(messages, plan, reply);
        let request = costs(&self.model, plan, &usage)?;
        self.session.iter_mut().zip(request).for_each(|(session, cost)| *session += cost);
        let Usage { input, cache_read, cache_write, output, .. } = usage;
        let shown =
            |[cached, plain]: [Dollars; 2]| format!("{cached:.4} instead of {plain:.4} without a cache");
        Some(format!(
            "computed for {}, not measured: {input} tokens in ({cache_read} cached, {cache_write} written), {output} out\n\
             {}; session: {}",
            self.model,
            shown(request),
            shown(self.session)
        ))
    }

    /// The tokens of a request. The provider reads the longest prefix in the cache.
    fn usage(&mut self, messages: &Messages, plan: &CachePlan, reply: usize) -> Usage {
        let policy = CachePolicy::by_model(&self.model);
        let tokens = messages.breakdown(INSTRUCTION).tokens;
        let (mut hasher, mut end) = (DefaultHasher::new(), tokens - messages.tokens());
        messages.system(INSTRUCTION).hash(&mut hasher);
        let mut prefixes = vec![(Position::System, end, hasher.finish())];
        for (at, part) in messages.parts().enumerate() {
            part.text().hash(&mut hasher);
            end += part.tokens();
            prefixes.push((Position::Part(at), end, hasher.finish()));
        }
        // Some providers keep all prefixes without marks.
        let is_automatic = policy.most_marks == 0 && policy.read < 1.0;
        let is_kept = |position| is_automatic || plan.marks.iter().any(|mark| mark.position == position);
        let kept = prefixes.iter().filter(|(at, tokens, _)| *tokens >= policy.minimum && is_kept(*at));
        let (last, until) =
            kept.clone().map(|(at, tokens, _)| (Some(*at), *tokens)).next_back().unwrap_or_default();
        let read = prefixes.iter().filter(|(at, _, hash)| Some(*at) <= last && self.kept.contains(hash));
        let read = read.map(|(_, tokens, _)| *tokens).max().unwrap_or(0);
        self.kept.extend(kept.map(|(.., hash)| *hash));
        let [tokens, reply, read, until] =
            [tokens, reply, read, until].map(|tokens| u64::try_from(tokens).unwrap_or(u64::MAX));
        Usage::new(tokens, reply).cached(read, until - read)
    }
}

/// The costs of a request with the cache and without. `None` if the price is unknown.
fn costs(model: &str, plan: &CachePlan, usage: &Usage) -> Option<[Dollars; 2]> {
    let (price, policy) = (Price::by_model(model)?, CachePolicy::by_model(model));
    // A price has the fee of the short lifetime, and the plan may have chosen the long one.
    let lifetime = plan.marks.first().map_or(Lifetime::Short, |mark| mark.lifetime);
    let written = u32::try_from(usage.cache_write).unwrap_or(u32::MAX);
    let fee = policy.price.unwrap_or(0.0) * policy.write(lifetime)?.factor * f64::from(written) / 1e6;
    let others = Usage::new(usage.input - usage.cache_write, usage.output).cached(usage.cache_read, 0);
    let plain = Usage::new(usage.input, usage.output);
    Some([price.cost(&others) + Dollars::new(fee), price.cost(&plain)])
}
