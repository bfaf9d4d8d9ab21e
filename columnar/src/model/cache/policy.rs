//! The rules and the fees of a provider's cache.

use std::sync::LazyLock;

use super::mark::Lifetime;
use crate::model::registry::{self, ByLifetimes, CachePolicy, Family, Write, dollars};

impl CachePolicy {
    /// The policy for a model, by its name or as a version of it, or else by the longest prefix that is known. An
    /// unknown model has no marks and no discount.
    ///
    /// An interface may lack the long lifetime that another interface to the same models has:
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use columnar::cache::CachePolicy;
    ///
    /// let responses = CachePolicy::by_model("openai_resp/gpt-6.1-sol");
    /// assert_eq!(responses.long.map(|long| (long.factor, long.lifetime)), Some((2.5, Duration::from_hours(12))));
    /// let completions = CachePolicy::by_model("openai/gpt-6.1-sol");
    /// assert_eq!((completions.long, &completions.short), (None, &responses.short));
    /// ```
    pub fn by_model(model: &str) -> &'static Self {
        let policies = registry::caching(model).and_then(|at| POLICIES.get(at)?.as_ref());
        policies.map_or(&UNKNOWN, |policies| policies.of(model))
    }

    /// All policies that are known. Interfaces to the same models may have different policies.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        POLICIES.iter().flatten().flat_map(ByLifetimes::all)
    }

    /// The fee and the time of a lifetime, if the provider offers it.
    pub fn write(&self, lifetime: Lifetime) -> Option<Write> {
        match lifetime {
            Lifetime::Short => Some(self.short),
            Lifetime::Long => self.long,
        }
    }

    fn new(family: &Family) -> Option<Self> {
        let rules = family.cache.clone()?;
        let models = if family.names.is_empty() { family.prefixes } else { family.names };
        Some(Self {
            // Leaked once, for a table that lives as long as the program.
            models: models.split_ascii_whitespace().collect::<Vec<_>>().leak(),
            price: family.price().map(|price| dollars(price.rates.input)).filter(|price| *price > 0.0),
            read: family.read_factor(&rules),
            ..rules
        })
    }
}

/// The policies in the order of the registry; `None` for families without rules.
static POLICIES: LazyLock<Vec<Option<ByLifetimes<CachePolicy>>>> = LazyLock::new(|| {
    let policies = registry::families().map(|family| {
        let policy = CachePolicy::new(family)?;
        Some(ByLifetimes { short: CachePolicy { long: None, ..policy.clone() }, all: policy })
    });
    policies.collect()
});

static UNKNOWN: CachePolicy = CachePolicy::UNKNOWN;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_longest_name_or_prefix_wins() {
        assert_eq!(CachePolicy::by_model("anthropic/claude-opus-4-20250514").minimum, 1024);
        assert_eq!(CachePolicy::by_model("anthropic/claude-opus-4-1").minimum, 1024);
        assert_eq!(CachePolicy::by_model("anthropic/claude-opus-4-5-20251101").minimum, 4096);
        assert_eq!(CachePolicy::by_model("openai/gpt-5.5").most_marks, 0);
        assert!(CachePolicy::by_model("openai_resp/gpt-5.5").read < 1.0);
        assert!(CachePolicy::by_model("openai_resp/gpt-5.5-pro").read >= 1.0, "there is no discount");
        assert_eq!(CachePolicy::by_model("openai/gpt-5.6-mini").most_marks, 4);
    }

    #[test]
    fn the_long_lifetime_of_openai_exists_in_responses_alone() {
        for model in ["gpt-5.6", "gpt-6.1-sol", "gpt-6.3-mini"] {
            let [responses, completions] =
                ["openai_resp", "openai"].map(|api| CachePolicy::by_model(&format!("{api}/{model}")));
            let long = responses.long.expect("Responses has one");
            assert_eq!((long.factor, long.lifetime), (2.5, Duration::from_hours(12)), "{model}");
            assert_eq!(*completions, CachePolicy { long: None, ..responses.clone() }, "{model}");
        }
        assert_eq!(CachePolicy::by_model("openai_resp/gpt-5.5").long, None);
        assert!(CachePolicy::by_model("anthropic/claude-opus-5").long.is_some());
    }

    #[test]
    fn no_discount_is_assumed_for_an_unknown_model() {
        for model in ["", "anthropic", "offline", "xai/grok", "claude-sonnet-5-5", "anthropic/other"] {
            let row = CachePolicy::by_model(model);
            assert_eq!((row.most_marks, row.price, row.long), (0, None, None), "{model}");
            assert!(row.read >= 1.0 && row.short.factor >= 1.0, "{model}");
        }
    }

    #[test]
    fn every_name_and_prefix_finds_its_own_policy() {
        for row in CachePolicy::all() {
            for models in row.models {
                assert!(models.contains('/'), "{models}");
                // A name that ends in `/` names no model.
                let model = if models.ends_with('/') { format!("{models}x") } else { (*models).to_owned() };
                let found = CachePolicy::by_model(&model);
                // The prefix of unlisted models may be the name of a listed one.
                assert!(found == row || found.models.contains(models), "{models}");
            }
        }
    }

    #[test]
    fn every_row_is_plausible() {
        for row in CachePolicy::all() {
            let name = row.models.first().expect("it is for some models");
            assert!((0.0..=1.0).contains(&row.read), "{name}");
            assert!(row.price.is_none_or(|price| (0.01..100.0).contains(&price)), "{name}");
            assert!((1.0..=2.0).contains(&row.short.factor), "{name}");
            assert!(!row.short.lifetime.is_zero(), "{name}");
            if let Some(long) = row.long {
                assert!(long.factor > row.short.factor && long.lifetime > row.short.lifetime, "{name}");
            }
            assert!(row.minimum > 0 && row.look_back > 0, "{name}");
            assert!(row.source.starts_with("https://"), "{name}");
            let date: Vec<&str> = row.date.split('-').collect();
            assert_eq!(date.iter().map(|part| part.len()).collect::<Vec<_>>(), [4, 2, 2], "{name}");
            let number = |at: usize| date[at].parse::<u32>().expect(name);
            assert!(number(0) >= 2025 && (1..=12).contains(&number(1)) && (1..=31).contains(&number(2)));
        }
    }
}
