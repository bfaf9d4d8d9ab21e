use std::collections::BTreeSet;

use super::providers::SchemaDialect;
use super::*;

fn priced() -> impl Iterator<Item = (&'static str, &'static Family, Price)> {
    families().flat_map(|family| {
        family.names.split_ascii_whitespace().map(move |name| (name, family, family.price))
    })
}

fn is_date(date: &str) -> bool {
    let parts: Vec<u32> = date.split('-').map(|part| part.parse().expect(date)).collect();
    date.len() == 10 && parts[0] >= 2025 && (1..=12).contains(&parts[1]) && (1..=31).contains(&parts[2])
}

#[test]
fn every_row_is_found_by_its_names_alone() {
    let mut seen = BTreeSet::new();
    for (position, row) in families().enumerate() {
        let facts =
            row.price().is_some() || row.cache.is_some() || row.reply.is_some() || row.window.is_some();
        assert!(facts, "{row:?}");
        assert_ne!(row.names.is_empty(), row.prefixes.is_empty(), "{row:?}");
        for name in row.names.split_ascii_whitespace() {
            assert!(seen.insert(name), "{name}");
            if !name.ends_with('/') {
                assert_eq!(family(name), Some(position), "{name}");
            }
        }
        for prefix in row.prefixes.split_ascii_whitespace() {
            assert!(seen.insert(format!("{prefix}…").leak()), "{prefix}");
            assert!(prefix.contains('/'), "{prefix}");
        }
    }
}

#[test]
fn every_name_begins_with_a_provider() {
    let names = families().flat_map(|family| [family.names, family.prefixes]);
    for name in names.flat_map(str::split_ascii_whitespace) {
        let (provider_name, _) = name.split_once('/').unwrap_or((name, ""));
        assert!(name == "offline" || provider(provider_name).is_some(), "{name}");
    }
    assert!(PROVIDERS.iter().map(|provider| provider.name).is_sorted());
    for row in PROVIDERS {
        let models_of = provider(row.models_of).expect("it is a provider, too");
        assert_eq!(models_of.models_of, models_of.name, "{row:?}");
        assert_ne!(row.telemetry_name, "", "{row:?}");
    }
}

#[test]
fn every_price_is_plausible() {
    for (name, family, price) in priced().filter(|(_, _, price)| price.rates.input > 0) {
        let UnitRates { input, output, read, .. } = price.rates;
        assert!((0.01..100.0).contains(&dollars(input)), "{name}");
        assert!((input..10 * input).contains(&output), "{name}");
        assert!((1..=input).contains(&read), "{name}");
        let (short, long) = family.write_factors();
        assert!(short >= 1.0 && long.is_none_or(|long| long > short), "{name}");
        if let Some((above, rates)) = price.beyond {
            assert!((99_999..1_000_000).contains(&above), "{name}");
            assert!(rates.input > input && rates.output > output, "{name}");
        }
        assert!(price.source.starts_with("https://"), "{name}");
        assert!(is_date(price.date) && *price.date >= *"2026", "{name}");
    }
}

#[test]
fn every_rebate_is_plausible() {
    for (name, _, price) in priced() {
        for rebate in [price.batch, price.flex].into_iter().flatten() {
            assert!((10..100).contains(&rebate.percent), "{name}");
            assert!((rebate.percent..=100).contains(&rebate.cached_percent), "{name}");
            assert!(price.rates.input > 0, "{name}");
        }
    }
    for row in families().filter(|row| row.price().is_none()) {
        let nothing = Price::new(0.0, 0.0);
        assert!(row.price == nothing && row.end.is_none(), "{row:?}");
    }
}

#[test]
fn every_window_holds_a_request_and_the_longest_reply() {
    for row in families() {
        let Some(window) = row.window else { continue };
        assert!((32_000..4_000_000).contains(&window.tokens), "{row:?}");
        assert!((1..=window.tokens).contains(&window.most_input), "{row:?}");
        assert!(window.source.starts_with("https://") && is_date(window.date), "{row:?}");
        let most = row
            .names
            .split_ascii_whitespace()
            .next()
            .and_then(|name| MaxTokens::by_model(name).most)
            .unwrap_or(0);
        assert!(usize::try_from(most).expect("it is small") < window.tokens, "{row:?}");
    }
}

#[test]
fn every_end_is_a_day() {
    for row in families() {
        if let Some(end) = row.end {
            assert!(is_date(end.day) && is_date(end.date) && end.source.starts_with("https://"), "{row:?}");
        }
    }
}

#[test]
fn a_model_has_the_window_of_its_row_or_of_the_longest_prefix() {
    for (model, tokens) in [
        ("anthropic/claude-sonnet-5-5", Some(1_000_000)),
        ("anthropic/claude-opus-9", Some(200_000)),
        ("anthropic/claude-3-haiku-20240307", Some(200_000)),
        ("openai_resp/gpt-6-sol", Some(1_050_000)),
        ("openai/gpt-5.4-mini-2026-03-17", Some(400_000)),
        ("openai/gpt-7", None),
        ("openai/o3", Some(200_000)),
        ("gemini/gemini-3.8-flash-lite", Some(1_048_576)),
        ("moonshot/kimi-k2.9", Some(262_144)),
        ("ollama/qwen3", None),
        ("offline", None),
        ("", None),
    ] {
        assert_eq!(ContextWindow::by_model(model).map(|window| window.tokens), tokens, "{model}");
    }
}

#[test]
fn an_end_is_not_guessed() {
    let day = |model| EndDate::by_model(model).map(|end| end.day);
    assert_eq!(day("openai_resp/gpt-4o-mini-2024-07-18"), Some("2027-01-14"));
    assert_eq!(day("openai/gpt-4o-mini-audio-preview"), None);
    assert_eq!(day("openai/gpt-6-luna"), None);
}

#[test]
fn an_effort_is_part_of_another_name() {
    for (model, other) in [
        ("openai/gpt-5-high", "openai/gpt-5"),
        ("openai/gpt-5.1-codex-max", "openai/gpt-5.1-codex"),
        ("qwen_cloud/qwen3.8-max", "qwen_cloud/qwen3.8"),
        ("anthropic/claude-opus-5-5-none", "anthropic/claude-opus-5-5"),
        ("mistral/mistral-medium", "mistral/mistral"),
    ] {
        assert!(family(model) != family(other) || family(model).is_none(), "{model}");
    }
}

#[test]
fn every_limit_of_replies_is_plausible() {
    let limits = families().filter_map(|family| Some((family, family.reply?)));
    for (family, limit) in limits {
        assert!(limit.most.is_none_or(|most| (4000..1_000_000).contains(&most)), "{family:?}");
        assert!(limit.source.starts_with("https://") && is_date(limit.date), "{family:?}");
    }
}

#[test]
fn a_model_has_the_limit_of_its_row_or_of_the_longest_prefix() {
    for (model, most, thinks) in [
        ("anthropic/claude-opus-5-20270101", Some(128_000), true),
        ("anthropic/claude-opus-4-1-20250805", Some(32_000), true),
        ("anthropic/claude-opus-9", Some(64_000), true),
        ("anthropic/claude-3-haiku-20240307", Some(4096), false),
        ("anthropic/claude-3-5-haiku-20241022", Some(8192), false),
        ("openai/gpt-4o-mini-2024-07-18", Some(16_384), false),
        ("openai/gpt-4o-2024-05-13", Some(4096), false),
        ("openai/gpt-5-mini-2025-08-07", Some(128_000), true),
        ("openai/gpt-5.1-chat-latest", Some(16_384), true),
        ("openai_resp/gpt-6-sol", Some(128_000), true),
        ("openai/o3", Some(100_000), true),
        ("gemini/gemini-2.0-flash", Some(8192), false),
        ("gemini/gemini-3.1-pro", Some(65_536), true),
        ("cohere/command-r-08-2024", Some(4000), false),
        ("cohere/command-a-reasoning-08-2025", Some(32_000), true),
        ("ollama/qwen3", None, true),
    ] {
        let limit = MaxTokens::by_model(model);
        assert_ne!(limit.source, "", "{model}");
        assert_eq!((limit.most, limit.thinks), (most, thinks), "{model}");
    }
    for model in ["offline", "scripted", "openai/smollm2", "open_router/openai/gpt-5", ""] {
        assert_eq!(MaxTokens::by_model(model).source, "", "{model}");
    }
}

#[test]
fn the_row_of_a_model_comes_before_that_of_a_prefix() {
    let names = |model| caching(model).and_then(at).map(|family| (family.names, family.prefixes));
    assert_eq!(names("anthropic/claude-opus-5-20270101"), Some(("anthropic/claude-opus-5", "")));
    assert_eq!(names("anthropic/claude-opus-5-6"), Some(("", "anthropic/claude-")));
    let (_, prefixes) = names("openai_resp/gpt-5.6-mini").expect("a prefix is known");
    assert!(prefixes.starts_with("openai/gpt-5.6 "), "{prefixes}");
    assert_eq!(names("openai/o3"), None, "a price alone is no cache");
    assert_eq!(family("openai/gpt-5.6-mini"), None, "and no price is guessed");
}

/// The chapter of the guide says for each provider which part of a schema is enforced.
#[test]
fn the_guide_has_each_provider_in_the_row_of_its_dialect() {
    let chapter = include_str!("../../guide/typed.rs");
    let rows = [
        ("limits of numbers", Some(SchemaDialect::OpenAi)),
        ("24 optional properties", Some(SchemaDialect::Anthropic)),
        ("four formats", Some(SchemaDialect::Cohere)),
        ("the whole schema is sent", Some(SchemaDialect::Full)),
        ("| nothing |", None),
    ];
    for (words, dialect) in rows {
        let row = chapter.lines().find(|line| line.contains(words)).expect(words);
        for provider in PROVIDERS {
            let is_named = row.contains(&format!("`{}`", provider.name));
            assert_eq!(is_named, provider.schema == dialect, "{}: {row}", provider.name);
        }
    }
}
