//! The rows of [`Price`], in dollars for a million tokens: of the request, of the reply, read from a cache. Where
//! sources contradict each other, a row has the higher price, and where a price is lower for a while, the one that
//! is announced for afterwards. Its day is that of the provider's page, or of a list that was made from it.

use super::Price;

/// A price, and the models that have it.
pub(super) struct Row {
    /// Their names, without versions. One that ends in `/` is for all models of a provider.
    pub(super) models: &'static [&'static str],
    pub(super) price: Price,
}

type Models = &'static [&'static str];

impl Row {
    /// Seen on another day than the rest of the provider's.
    const fn on(self, day: &'static str) -> Self {
        Self { models: self.models, price: self.price.seen_at(self.price.source(), day) }
    }

    /// So many percent of it for a request of more than so many tokens, and for its reply.
    const fn beyond(self, tokens: u64, request: u64, reply: u64) -> Self {
        Self { models: self.models, price: self.price.beyond(tokens, self.price.percent(request, reply)) }
    }
}

const fn anthropic(models: Models, input: f64, output: f64, read: f64) -> Row {
    let page = "https://platform.claude.com/docs/en/about-claude/pricing";
    let price = Price::new(input, output).cached(read, 1.25 * input).kept(2.0 * input);
    Row { models, price: price.seen_at(page, "2026-10-24") }
}

/// What these write to a cache costs nothing extra.
const fn openai(models: Models, input: f64, output: f64, read: f64) -> Row {
    let page = "https://developers.openai.com/api/docs/pricing";
    Row { models, price: Price::new(input, output).cached(read, input).seen_at(page, "2026-07-02") }
}

/// A long request costs twice as much, and its reply half as much again.
const fn openai_long(models: Models, input: f64, output: f64, read: f64) -> Row {
    openai(models, input, output, read).beyond(272_000, 200, 150)
}

/// Since GPT-5.6, what is written to a cache costs a quarter more.
const fn openai_marked(models: Models, input: f64, output: f64, read: f64) -> Row {
    let Row { price, .. } = openai(models, input, output, read);
    Row { models, price: price.cached(read, 1.25 * input) }.beyond(272_000, 200, 150)
}

/// Keeping what was written by hand costs by the hour, and is not asked for.
const fn gemini(models: Models, input: f64, output: f64, read: f64) -> Row {
    let page = "https://ai.google.dev/gemini-api/docs/pricing";
    Row { models, price: Price::new(input, output).cached(read, input).seen_at(page, "2026-07-02") }
}

/// A long request costs twice as much, and its reply half as much again.
const fn gemini_long(models: Models, input: f64, output: f64, read: f64) -> Row {
    gemini(models, input, output, read).beyond(200_000, 200, 150)
}

/// The price is that of the busy hours, twice the other.
const fn deepseek(models: Models, input: f64, output: f64, read: f64) -> Row {
    let page = "https://api-docs.deepseek.com/quick_start/pricing";
    Row { models, price: Price::new(input, output).cached(read, input).seen_at(page, "2026-10-27") }
}

/// A request of 200,000 tokens and more costs twice as much, and so does its reply.
const fn xai(models: Models, input: f64, output: f64, read: f64) -> Row {
    let price = Price::new(input, output).cached(read, input);
    let price = price.seen_at("https://docs.x.ai/developers/models", "2026-07-13");
    Row { models, price }.beyond(199_999, 200, 200)
}

/// Names that end in `latest` move from model to model here, and their prices with them: they have none.
const fn mistral(models: Models, input: f64, output: f64, read: f64) -> Row {
    let price = Price::new(input, output).cached(read, input);
    Row { models, price: price.seen_at("https://mistral.ai/pricing", "2026-06-09") }
}

const fn groq(models: Models, input: f64, output: f64, read: f64) -> Row {
    let price = Price::new(input, output).cached(read, input);
    Row { models, price: price.seen_at("https://groq.com/pricing", "2026-07-02") }
}

const fn cohere(models: Models, input: f64, output: f64) -> Row {
    Row { models, price: Price::new(input, output).seen_at("https://cohere.com/pricing", "2026-07-02") }
}

pub(super) const ROWS: &[Row] = &[
    Row { models: &["offline", "ollama/"], price: Price::new(0.0, 0.0) },
    //
    anthropic(&["anthropic/claude-fable-5-2", "anthropic/claude-mythos-5-2"], 8.0, 40.0, 0.2)
        .on("2026-11-10"),
    anthropic(&["anthropic/claude-fable-5-1", "anthropic/claude-mythos-5-1"], 10.0, 50.0, 0.25),
    anthropic(&["anthropic/claude-fable-5", "anthropic/claude-mythos-5"], 10.0, 50.0, 1.0),
    anthropic(&["anthropic/claude-opus-5-5"], 4.0, 20.0, 0.2),
    anthropic(&["anthropic/claude-opus-5"], 5.0, 25.0, 0.5),
    anthropic(&["anthropic/claude-opus-4-8", "anthropic/claude-opus-4-7"], 5.0, 25.0, 0.5),
    anthropic(&["anthropic/claude-opus-4-6", "anthropic/claude-opus-4-5"], 5.0, 25.0, 0.5),
    anthropic(
        &["anthropic/claude-opus-4-1", "anthropic/claude-opus-4-0", "anthropic/claude-opus-4"],
        15.0,
        75.0,
        1.5,
    ),
    anthropic(&["anthropic/claude-sonnet-5-5"], 2.0, 10.0, 0.1),
    anthropic(&["anthropic/claude-sonnet-5"], 2.0, 10.0, 0.2),
    anthropic(&["anthropic/claude-sonnet-4-6"], 3.0, 15.0, 0.3),
    anthropic(
        &["anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-0", "anthropic/claude-sonnet-4"],
        3.0,
        15.0,
        0.3,
    )
    .beyond(200_000, 200, 150),
    anthropic(&["anthropic/claude-3-7-sonnet", "anthropic/claude-3-5-sonnet"], 3.0, 15.0, 0.3)
        .on("2026-07-29"),
    anthropic(&["anthropic/claude-haiku-5-5"], 0.1, 0.5, 0.01).beyond(100_000, 500, 500),
    anthropic(&["anthropic/claude-haiku-4-5"], 1.0, 5.0, 0.1),
    anthropic(&["anthropic/claude-3-5-haiku"], 0.8, 4.0, 0.08),
    //
    openai_marked(&["openai/gpt-6.2-astra"], 8.0, 40.0, 0.4).on("2026-11-18"),
    openai_marked(&["openai/gpt-6.2-sol"], 2.0, 10.0, 0.1).on("2026-11-18"),
    openai_marked(&["openai/gpt-6.1-sol"], 2.0, 10.0, 0.1).on("2026-10-13"),
    openai_marked(&["openai/gpt-6-astra"], 10.0, 50.0, 1.0).on("2026-09-24"),
    openai_marked(&["openai/gpt-6-sol"], 2.0, 10.0, 0.2).on("2026-09-24"),
    openai_marked(&["openai/gpt-6-luna"], 0.1, 0.5, 0.01).on("2026-09-24"),
    openai_marked(&["openai/gpt-5.6-sol", "openai/gpt-5.6"], 4.0, 20.0, 0.4).on("2026-09-22"),
    openai_marked(&["openai/gpt-5.6-terra"], 2.0, 12.0, 0.2).on("2026-09-22"),
    openai_marked(&["openai/gpt-5.6-luna"], 0.2, 1.2, 0.02).on("2026-09-22"),
    openai_long(&["openai/gpt-5.5"], 5.0, 30.0, 0.5),
    openai_long(&["openai/gpt-5.5-pro", "openai/gpt-5.4-pro"], 30.0, 180.0, 30.0),
    openai_long(&["openai/gpt-5.4"], 2.5, 15.0, 0.25),
    openai(&["openai/gpt-5.4-mini"], 0.75, 4.5, 0.075),
    openai(&["openai/gpt-5.4-nano"], 0.2, 1.25, 0.02),
    openai(&["openai/gpt-5.3", "openai/gpt-5.3-chat", "openai/gpt-5.3-codex"], 1.75, 14.0, 0.175),
    openai(&["openai/gpt-5.2", "openai/gpt-5.2-chat", "openai/gpt-5.2-codex"], 1.75, 14.0, 0.175),
    openai(&["openai/gpt-5.2-pro"], 21.0, 168.0, 21.0),
    openai(&["openai/gpt-5.1", "openai/gpt-5.1-chat", "openai/gpt-5.1-codex"], 1.25, 10.0, 0.125),
    openai(&["openai/gpt-5", "openai/gpt-5-chat", "openai/gpt-5-codex"], 1.25, 10.0, 0.125),
    openai(&["openai/gpt-5-mini", "openai/gpt-5.1-codex-mini"], 0.25, 2.0, 0.025),
    openai(&["openai/gpt-5-nano"], 0.05, 0.4, 0.005),
    openai(&["openai/gpt-5-pro"], 15.0, 120.0, 15.0),
    openai(&["openai/gpt-4.1"], 2.0, 8.0, 0.5),
    openai(&["openai/gpt-4.1-mini"], 0.4, 1.6, 0.1),
    openai(&["openai/gpt-4.1-nano"], 0.1, 0.4, 0.025),
    openai(&["openai/gpt-4o"], 2.5, 10.0, 1.25),
    openai(&["openai/gpt-4o-2024-05-13"], 5.0, 15.0, 5.0),
    openai(&["openai/gpt-4o-mini"], 0.15, 0.6, 0.075),
    openai(&["openai/o3"], 2.0, 8.0, 0.5),
    openai(&["openai/o4-mini"], 1.1, 4.4, 0.275),
    // It is half of this until 2026-11-30.
    gemini(&["gemini/gemini-4-carbon"], 4.0, 20.0, 0.2).on("2026-11-11"),
    gemini(&["gemini/gemini-4-argon"], 4.0, 20.0, 0.2).on("2026-10-20"),
    // It is half of this until 2026-12-31.
    gemini(&["gemini/gemini-3.8-flash"], 1.5, 7.5, 0.15).on("2026-10-07"),
    gemini(&["gemini/gemini-3.7-flash", "gemini/gemini-3.6-flash"], 1.5, 7.5, 0.15).on("2026-08-13"),
    gemini(&["gemini/gemini-3.5-flash"], 1.5, 9.0, 0.15),
    gemini(&["gemini/gemini-3.5-flash-lite"], 0.3, 2.5, 0.03).on("2026-07-22"),
    gemini_long(&["gemini/gemini-3.1-pro", "gemini/gemini-3-pro"], 2.0, 12.0, 0.2),
    gemini(&["gemini/gemini-3.1-flash-lite"], 0.25, 1.5, 0.025),
    gemini(&["gemini/gemini-3-flash"], 0.5, 3.0, 0.05),
    gemini_long(&["gemini/gemini-2.5-pro"], 1.25, 10.0, 0.125),
    gemini(&["gemini/gemini-2.5-flash"], 0.3, 2.5, 0.03),
    gemini(&["gemini/gemini-2.5-flash-lite"], 0.1, 0.4, 0.01),
    gemini(&["gemini/gemini-2.0-flash"], 0.1, 0.4, 0.025),
    // V4 Flash is an older name of what is now Flash.
    deepseek(&["deepseek/deepseek-flash", "deepseek/deepseek-v4-flash"], 0.3, 1.2, 0.006),
    deepseek(&["deepseek/deepseek-v4-pro"], 1.32, 3.96, 0.044),
    //
    xai(&["xai/grok-4.7", "xai/grok-4.6"], 2.0, 6.0, 0.5).on("2026-09-29"),
    xai(&["xai/grok-4.5"], 2.0, 6.0, 0.5),
    xai(&["xai/grok-4.3", "xai/grok-4.20"], 1.25, 2.5, 0.2),
    xai(&["xai/grok-4.20-reasoning", "xai/grok-4.20-0309-reasoning"], 1.25, 2.5, 0.2),
    xai(&["xai/grok-4.20-non-reasoning", "xai/grok-4.20-0309-non-reasoning"], 1.25, 2.5, 0.2),
    //
    mistral(&["mistral/mistral-large-2512"], 0.5, 1.5, 0.05).on("2026-09-05"),
    mistral(&["mistral/mistral-medium-3-5", "mistral/mistral-medium-2604"], 1.5, 7.5, 1.5).on("2026-06-17"),
    mistral(&["mistral/mistral-medium-2508", "mistral/mistral-medium-2505"], 0.4, 2.0, 0.4).on("2026-07-02"),
    mistral(&["mistral/mistral-small-2603"], 0.15, 0.6, 0.015),
    mistral(&["mistral/codestral-2508"], 0.3, 0.9, 0.03),
    mistral(&["mistral/devstral-2512"], 0.4, 2.0, 0.04),
    //
    groq(&["groq/llama-3.3-70b-versatile"], 0.59, 0.79, 0.59),
    groq(&["groq/llama-3.1-8b-instant"], 0.05, 0.08, 0.05),
    groq(&["groq/openai/gpt-oss-120b"], 0.15, 0.6, 0.075),
    groq(&["groq/openai/gpt-oss-20b"], 0.075, 0.3, 0.0375),
    //
    cohere(&["cohere/command-a-03-2025", "cohere/command-r-plus-08-2024"], 2.5, 10.0),
    cohere(&["cohere/command-r-08-2024"], 0.15, 0.6).on("2026-11-11"),
    cohere(&["cohere/command-r7b-12-2024"], 0.0375, 0.15),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cache::{CachePolicy, Lifetime};
    use crate::usage::Dollars;

    fn all() -> impl Iterator<Item = (&'static str, &'static Price)> {
        ROWS.iter().flat_map(|row| row.models.iter().map(|model| (*model, &row.price)))
    }

    fn number(amount: Dollars) -> f64 {
        std::format!("{amount:.12}")[1..].parse().expect("a number")
    }

    #[test]
    fn every_row_is_found_by_its_names_alone() {
        let mut seen = BTreeSet::new();
        for (model, price) in all() {
            assert!(seen.insert(model), "{model}");
            if !model.ends_with('/') {
                assert_eq!(Price::of(model), Some(price), "{model}");
            }
        }
    }

    #[test]
    fn every_row_is_plausible() {
        for (model, price) in all().filter(|(_, price)| price.input() > Dollars::ZERO) {
            assert!((0.01..100.0).contains(&number(price.input())), "{model}");
            assert!((1.0..10.0).contains(&(number(price.output()) / number(price.input()))), "{model}");
            assert!(price.cache_read() <= price.input() && price.cache_read() > Dollars::ZERO, "{model}");
            let write = price.cache_write(Lifetime::Short).expect("all have one");
            assert!(write >= price.input(), "{model}");
            assert!(price.cache_write(Lifetime::Long).is_none_or(|long| long > write), "{model}");
            if let Some((tokens, longer)) = price.long_request() {
                assert!((99_999..1_000_000).contains(&tokens), "{model}");
                assert!(longer.input() > price.input() && longer.output() > price.output(), "{model}");
                assert!(longer.cache_read() > price.cache_read(), "{model}");
                assert!(longer.cache_write(Lifetime::Short) > Some(write), "{model}");
            }
            assert!(price.source().starts_with("https://"), "{model}");
            let date: Vec<u32> = price.seen().split('-').map(|part| part.parse().expect(model)).collect();
            assert!(date[0] >= 2026 && (1..=12).contains(&date[1]) && (1..=31).contains(&date[2]), "{model}");
            assert_eq!(price.seen().len(), 10, "{model}");
        }
    }

    /// What a cache saves stands in two tables, since without a price there still is a factor.
    #[test]
    fn the_rules_of_caches_say_the_same() {
        let mut more_careful = BTreeSet::new();
        for (model, price) in all().filter(|(_, price)| price.input() > Dollars::ZERO) {
            let rule = CachePolicy::of(model);
            if rule.source.is_empty() {
                continue;
            }
            let input = number(price.input());
            let is_factor = |amount: Dollars, factor: f64| (number(amount) / input - factor).abs() < 0.001;
            if !is_factor(price.cache_read(), rule.read) {
                assert!(
                    number(price.cache_read()) < input * rule.read,
                    "{model}: less is saved than promised"
                );
                more_careful.insert(model);
            }
            let write = price.cache_write(Lifetime::Short).expect("all have one");
            assert!(is_factor(write, rule.short.factor), "{model}");
            let long = price.cache_write(Lifetime::Long);
            assert_eq!(long.is_some(), rule.long.is_some(), "{model}");
            assert!(rule.long.zip(long).is_none_or(|(rule, long)| is_factor(long, rule.factor)), "{model}");
            let longer = price.long_request().map(|(_, longer)| longer.input());
            let has = |expected: f64| {
                [Some(price.input()), longer]
                    .into_iter()
                    .flatten()
                    .any(|input| input == Dollars::new(expected))
            };
            assert!(rule.price.is_none_or(has), "{model}");
        }
        // Read since these came out, at half of what the rules say.
        let expected =
            ["gemini/gemini-4-argon", "gemini/gemini-4-carbon", "openai/gpt-6.2-astra", "openai/gpt-6.2-sol"];
        assert_eq!(more_careful, BTreeSet::from(expected));
    }
}
