//! The rows of [`CachePolicy`]. Where sources contradict each other, or say nothing, the row says what costs the
//! user least if it is wrong: the larger minimum, the higher price, the shorter time, no discount.

use std::time::Duration;

use super::provider::{Boundary, CachePolicy, Write};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

const fn write(factor: f64, seconds: u64) -> Write {
    Write { factor, lifetime: Duration::from_secs(seconds) }
}

/// What is true of all models of Anthropic. Its guide has the prices, too.
const ANTHROPIC: CachePolicy = CachePolicy {
    models: &[],
    price: None,
    read: 0.1,
    short: write(1.25, 5 * MINUTE),
    long: Some(write(2.0, HOUR)),
    minimum: 4096,
    most_marks: 4,
    look_back: 20,
    boundary: Boundary::Block,
    source: "https://platform.claude.com/docs/en/build-with-claude/prompt-caching",
    date: "2026-10-01",
};

/// OpenAI where it takes marks. An entry is found where the request itself has a mark: one of the first 2 and the
/// last 50, says the guide; one of the last 80, says the reference of the interface.
/// Prices are on <https://developers.openai.com/api/docs/pricing>.
const OPENAI_MARKED: CachePolicy = CachePolicy {
    models: &[],
    price: None,
    read: 0.1,
    short: write(1.25, 30 * MINUTE),
    long: None,
    minimum: 1024,
    most_marks: 4,
    look_back: 1,
    boundary: Boundary::Block,
    source: "https://developers.openai.com/api/docs/guides/prompt-caching",
    date: "2026-10-04",
};

/// OpenAI before that: it finds prefixes by itself, writing is free, and 5 minutes are the least that is said.
/// The minimum, once 1,024 in the guide, varies with the settings of a request.
const OPENAI: CachePolicy = CachePolicy {
    short: write(1.0, 5 * MINUTE),
    minimum: 2048,
    most_marks: 0,
    boundary: Boundary::Token,
    ..OPENAI_MARKED
};

/// Found by itself and not guaranteed, for a time that is not told. Reading costs a tenth at most, by the prices
/// on <https://ai.google.dev/gemini-api/docs/pricing>.
const GEMINI: CachePolicy = CachePolicy {
    models: &[],
    price: None,
    read: 0.1,
    short: write(1.0, 5 * MINUTE),
    long: None,
    minimum: 4096,
    most_marks: 0,
    look_back: 1,
    boundary: Boundary::Token,
    source: "https://ai.google.dev/gemini-api/docs/caching",
    date: "2026-10-13",
};

/// Kept on disk for hours at least. A prefix counts as a whole, up to the end of what the user said. Of a minimum
/// only the announcement speaks, <https://api-docs.deepseek.com/news/news0802>.
/// Prices are on <https://api-docs.deepseek.com/quick_start/pricing>.
const DEEPSEEK: CachePolicy = CachePolicy {
    models: &[],
    price: None,
    read: 0.1,
    short: write(1.0, HOUR),
    long: None,
    minimum: 64,
    most_marks: 0,
    look_back: 1,
    boundary: Boundary::Message,
    source: "https://api-docs.deepseek.com/guides/kv_cache",
    date: "2026-09-13",
};

/// What nobody knows anything about.
pub(super) const UNKNOWN: CachePolicy = CachePolicy {
    models: &[],
    price: None,
    read: 1.0,
    short: write(1.0, 5 * MINUTE),
    long: None,
    minimum: 4096,
    most_marks: 0,
    look_back: 1,
    boundary: Boundary::Message,
    source: "",
    date: "",
};

// The two interfaces of OpenAI, which share their models, go by two names.
pub(super) const ROWS: &[CachePolicy] = &[
    // A model that is not in the list yet: the rules are the same, and the minimum is the largest.
    CachePolicy { models: &["anthropic/claude-"], ..ANTHROPIC },
    CachePolicy {
        models: &["anthropic/claude-opus-4-0", "anthropic/claude-opus-4-1", "anthropic/claude-opus-4-2025"],
        price: Some(15.0),
        minimum: 1024,
        ..ANTHROPIC
    },
    // 4.7 has 2,048 in the guide, and 4.8 has 1,024; both have 4,096 in Anthropic's skill `claude-api`.
    CachePolicy {
        models: &[
            "anthropic/claude-opus-4-5",
            "anthropic/claude-opus-4-6",
            "anthropic/claude-opus-4-7",
            "anthropic/claude-opus-4-8",
        ],
        price: Some(5.0),
        ..ANTHROPIC
    },
    CachePolicy { models: &["anthropic/claude-opus-5"], price: Some(5.0), minimum: 512, ..ANTHROPIC },
    CachePolicy {
        models: &["anthropic/claude-opus-5-5"],
        price: Some(4.0),
        read: 0.05,
        minimum: 512,
        ..ANTHROPIC
    },
    // 512 in the guide, 2,048 in Anthropic's skill `claude-api`.
    CachePolicy {
        models: &["anthropic/claude-fable-5", "anthropic/claude-mythos-5"],
        price: Some(10.0),
        minimum: 2048,
        ..ANTHROPIC
    },
    CachePolicy {
        models: &["anthropic/claude-fable-5-1", "anthropic/claude-mythos-5-1"],
        price: Some(10.0),
        read: 0.025,
        minimum: 512,
        ..ANTHROPIC
    },
    // No copy of the guide is known that names them.
    CachePolicy {
        models: &["anthropic/claude-fable-5-2", "anthropic/claude-mythos-5-2"],
        price: Some(8.0),
        read: 0.025,
        source: "https://platform.claude.com/docs/en/about-claude/pricing",
        date: "2026-11-10",
        ..ANTHROPIC
    },
    CachePolicy {
        models: &[
            "anthropic/claude-sonnet-4-0",
            "anthropic/claude-sonnet-4-2025",
            "anthropic/claude-sonnet-4-5",
        ],
        price: Some(3.0),
        minimum: 1024,
        ..ANTHROPIC
    },
    // 1,024 in the guide, 2,048 in Anthropic's skill `claude-api`.
    CachePolicy { models: &["anthropic/claude-sonnet-4-6"], price: Some(3.0), minimum: 2048, ..ANTHROPIC },
    CachePolicy { models: &["anthropic/claude-sonnet-5"], price: Some(2.0), minimum: 1024, ..ANTHROPIC },
    CachePolicy {
        models: &["anthropic/claude-sonnet-5-5"],
        price: Some(2.0),
        read: 0.05,
        minimum: 512,
        date: "2026-10-08",
        ..ANTHROPIC
    },
    CachePolicy { models: &["anthropic/claude-3-5-haiku"], price: Some(0.8), minimum: 2048, ..ANTHROPIC },
    CachePolicy { models: &["anthropic/claude-haiku-4-5"], price: Some(1.0), ..ANTHROPIC },
    // Up to 100,000 tokens it is a fifth of this.
    CachePolicy {
        models: &["anthropic/claude-haiku-5-5"],
        price: Some(0.5),
        minimum: 512,
        date: "2026-10-08",
        ..ANTHROPIC
    },
    CachePolicy { models: &["openai/gpt-4o", "openai_resp/gpt-4o"], price: Some(2.5), read: 0.5, ..OPENAI },
    CachePolicy {
        models: &["openai/gpt-4o-mini", "openai_resp/gpt-4o-mini"],
        price: Some(0.15),
        read: 0.5,
        ..OPENAI
    },
    CachePolicy {
        models: &["openai/gpt-4.1", "openai_resp/gpt-4.1"],
        price: Some(2.0),
        read: 0.25,
        ..OPENAI
    },
    CachePolicy {
        models: &["openai/gpt-4.1-mini", "openai_resp/gpt-4.1-mini"],
        price: Some(0.4),
        read: 0.25,
        ..OPENAI
    },
    CachePolicy {
        models: &["openai/gpt-4.1-nano", "openai_resp/gpt-4.1-nano"],
        price: Some(0.1),
        read: 0.25,
        ..OPENAI
    },
    CachePolicy { models: &["openai/gpt-5", "openai_resp/gpt-5"], ..OPENAI },
    // Its prefixes end every 2,048 tokens, so that from the minimum on it may take as many more.
    CachePolicy { models: &["openai/gpt-5.5", "openai_resp/gpt-5.5"], minimum: 4096, ..OPENAI },
    // For what these read from a cache there is no price.
    CachePolicy {
        models: &[
            "openai/gpt-4o-2024-05-13",
            "openai/gpt-4o-audio",
            "openai/gpt-4o-mini-audio",
            "openai/gpt-4o-mini-search",
            "openai/gpt-4o-search",
            "openai/gpt-5-pro",
            "openai/gpt-5.2-pro",
            "openai/gpt-5.4-pro",
            "openai/gpt-5.5-pro",
            "openai_resp/gpt-4o-2024-05-13",
            "openai_resp/gpt-5-pro",
            "openai_resp/gpt-5.2-pro",
            "openai_resp/gpt-5.4-pro",
            "openai_resp/gpt-5.5-pro",
        ],
        read: 1.0,
        ..OPENAI
    },
    CachePolicy {
        models: &[
            "openai/gpt-5.6",
            "openai/gpt-5.7",
            "openai/gpt-5.8",
            "openai/gpt-5.9",
            "openai/gpt-6",
            "openai_resp/gpt-5.6",
            "openai_resp/gpt-5.7",
            "openai_resp/gpt-5.8",
            "openai_resp/gpt-5.9",
            "openai_resp/gpt-6",
        ],
        ..OPENAI_MARKED
    },
    CachePolicy { models: &["openai/gpt-6.1-sol", "openai_resp/gpt-6.1-sol"], read: 0.05, ..OPENAI_MARKED },
    CachePolicy { models: &["gemini/gemini-3", "gemini/gemini-4"], ..GEMINI },
    CachePolicy { models: &["gemini/gemini-2.5-"], minimum: 2048, ..GEMINI },
    CachePolicy { models: &["deepseek/"], ..DEEPSEEK },
    // The price is that of the busy hours, twice the other. V4 Flash is an older name of what is now Flash.
    CachePolicy {
        models: &["deepseek/deepseek-flash", "deepseek/deepseek-v4-flash"],
        price: Some(0.3),
        read: 0.02,
        ..DEEPSEEK
    },
    CachePolicy { models: &["deepseek/deepseek-v4-pro"], price: Some(1.32), read: 0.034, ..DEEPSEEK },
    // On a machine of one's own a token that is known costs nothing, as long as the model stays loaded. Models
    // with layers that keep a state or a window are found again only where a request ended.
    CachePolicy {
        models: &["ollama/"],
        price: None,
        read: 0.0,
        short: write(1.0, 5 * MINUTE),
        long: None,
        minimum: 1,
        most_marks: 0,
        look_back: 1,
        boundary: Boundary::Message,
        source: "https://docs.ollama.com/faq",
        date: "2026-08-21",
    },
];
