//! The models whose prices, cache rules or longest replies are known, one row per family.
//!
//! Prices are US dollars for a million tokens of the request, of the reply, and read from a cache. Where sources
//! contradict each other, or are incomplete, a row has the value that costs the user least if it is wrong: the
//! higher price, the larger minimum, the shorter time, no discount, the shorter reply. Where a price is lower for a while, the row has the
//! one that is announced for afterwards. The date is that of the provider's page, or of a list made from it.

use std::time::Duration;

use super::row::{Boundary, CacheRules, Family, LongRequest, Rates, ReplyLimit, Write};

type Names = &'static [&'static str];

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

const fn write(factor: f64, seconds: u64) -> Write {
    Write { factor, lifetime: Duration::from_secs(seconds) }
}

/// All models of Anthropic.
const ANTHROPIC: CacheRules = CacheRules {
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

/// OpenAI where it takes marks. A request finds an entry only where it has a mark itself: among the first 2 and the
/// last 50 blocks by the guide, among the last 80 by the API reference.
const OPENAI_MARKED: CacheRules = CacheRules {
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

/// OpenAI before that: it finds prefixes by itself, writes are free, and the guide promises 5 minutes at least.
/// The minimum, once 1,024 in the guide, varies with the settings of a request.
const OPENAI: CacheRules = CacheRules {
    short: write(1.0, 5 * MINUTE),
    minimum: 2048,
    most_marks: 0,
    boundary: Boundary::Token,
    ..OPENAI_MARKED
};

/// Gemini finds prefixes by itself, without a guarantee and for an unknown time. Writes are free: a cache that is
/// written by hand costs by the hour, and is not used.
const GEMINI: CacheRules = CacheRules {
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

/// Kept on disk for hours at least. A prefix counts as a whole, up to the end of a user message. Only the announcement
/// mentions a minimum: <https://api-docs.deepseek.com/news/news0802>.
const DEEPSEEK: CacheRules = CacheRules {
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

/// On the user's own machine a cached token costs nothing, as long as the model stays loaded. Models whose layers keep
/// a state or a window find a prefix again only where a request ended.
const OLLAMA: CacheRules = CacheRules {
    read: 0.0,
    short: write(1.0, 5 * MINUTE),
    long: None,
    minimum: 1,
    most_marks: 0,
    look_back: 1,
    boundary: Boundary::Message,
    source: "https://docs.ollama.com/faq",
    date: "2026-08-21",
};

/// All models of Anthropic since 4.6. Those since 3.7 think.
const ANTHROPIC_REPLY: ReplyLimit =
    ReplyLimit::thinking(128_000, "https://platform.claude.com/docs/en/models", "2026-10-08");

/// All models of OpenAI that reason, since GPT-5.
const OPENAI_REPLY: ReplyLimit =
    ReplyLimit::thinking(128_000, "https://developers.openai.com/api/docs/models", "2026-07-02");

/// All models of Google that think, since Gemini 2.5: the length of a streamed reply.
const GEMINI_REPLY: ReplyLimit =
    ReplyLimit::thinking(65_536, "https://ai.google.dev/gemini-api/docs/models", "2026-07-02");

const DEEPSEEK_REPLY: ReplyLimit =
    ReplyLimit::thinking(384_000, "https://api-docs.deepseek.com/quick_start/pricing", "2026-10-27");

/// The API reference has no maximum, and counts thoughts separately.
const XAI_REPLY: ReplyLimit =
    ReplyLimit::thinking(30_000, "https://docs.x.ai/developers/models", "2026-07-02");

const MISTRAL_REPLY: ReplyLimit =
    ReplyLimit::thinking(256_000, "https://docs.mistral.ai/getting-started/models", "2026-07-02");

const GROQ_REPLY: ReplyLimit =
    ReplyLimit::thinking(40_960, "https://console.groq.com/docs/models", "2026-07-02");

const COHERE_REPLY: ReplyLimit = ReplyLimit::plain(4000, "https://docs.cohere.com/docs/models", "2026-07-02");

const KIMI_REPLY: ReplyLimit =
    ReplyLimit::thinking(262_144, "https://platform.kimi.ai/docs/api/chat", "2026-10-03");

/// Some of these models think, and a long reply costs time alone.
const OLLAMA_REPLY: ReplyLimit =
    ReplyLimit { most: None, ..ReplyLimit::thinking(0, "https://ollama.com/blog/thinking", "2025-05-30") };

impl ReplyLimit {
    const fn plain(most: u32, source: &'static str, date: &'static str) -> Self {
        Self { most: Some(most), thinks: false, source, date }
    }

    const fn thinking(most: u32, source: &'static str, date: &'static str) -> Self {
        Self { thinks: true, ..Self::plain(most, source, date) }
    }

    /// The limit of another model of the provider.
    const fn most(self, tokens: u32) -> Self {
        Self { most: Some(tokens), ..self }
    }

    /// The limit of a model of the provider that does not think.
    const fn without_thoughts(self, tokens: u32) -> Self {
        Self { most: Some(tokens), thinks: false, ..self }
    }

    const fn on(self, date: &'static str) -> Self {
        Self { date, ..self }
    }
}

impl CacheRules {
    const fn minimum(self, tokens: usize) -> Self {
        Self { minimum: tokens, ..self }
    }

    const fn read(self, factor: f64) -> Self {
        Self { read: factor, ..self }
    }

    const fn seen(self, source: &'static str, date: &'static str) -> Self {
        Self { source, date, ..self }
    }
}

impl Family {
    /// A price without cache rules.
    const fn priced(names: Names, input: f64, output: f64, cache_read: f64) -> Self {
        let price = Rates { input, output, cache_read, long_request: None, source: "", date: "" };
        Self { names, prefixes: &[], price: Some(price), cache: None, reply: None }
    }

    /// Models that have no row of their own, by the prefixes of their names.
    const fn prefixed(prefixes: Names) -> Self {
        Self { names: &[], prefixes, price: None, cache: None, reply: None }
    }

    /// Cache rules for models that have no row of their own.
    const fn unpriced(prefixes: Names, rules: CacheRules) -> Self {
        Self::prefixed(prefixes).cached(rules)
    }

    /// The most tokens of a reply.
    const fn replies(self, limit: ReplyLimit) -> Self {
        Self { reply: Some(limit), ..self }
    }

    const fn cached(self, rules: CacheRules) -> Self {
        Self { cache: Some(rules), ..self }
    }

    const fn seen(self, source: &'static str, date: &'static str) -> Self {
        match self.price {
            Some(price) => Self { price: Some(Rates { source, date, ..price }), ..self },
            None => self,
        }
    }

    /// The price was seen on another date than the others of the provider.
    const fn on(self, date: &'static str) -> Self {
        match self.price {
            Some(price) => self.seen(price.source, date),
            None => self,
        }
    }

    /// Another price for requests of more than `above` tokens.
    const fn beyond(self, above: u64, request_percent: u64, reply_percent: u64) -> Self {
        match self.price {
            Some(price) => {
                let long_request = Some(LongRequest { above, request_percent, reply_percent });
                Self { price: Some(Rates { long_request, ..price }), ..self }
            }
            None => self,
        }
    }
}

const ANTHROPIC_PRICES: &str = "https://platform.claude.com/docs/en/about-claude/pricing";

const fn anthropic(names: Names, input: f64, output: f64, cache_read: f64, minimum: usize) -> Family {
    let family = Family::priced(names, input, output, cache_read).seen(ANTHROPIC_PRICES, "2026-10-24");
    family.cached(ANTHROPIC.minimum(minimum)).replies(ANTHROPIC_REPLY)
}

/// A model without cache rules.
const fn openai_uncached(names: Names, input: f64, output: f64, cache_read: f64) -> Family {
    let page = "https://developers.openai.com/api/docs/pricing";
    Family::priced(names, input, output, cache_read).seen(page, "2026-07-02")
}

const fn openai(names: Names, input: f64, output: f64, cache_read: f64) -> Family {
    openai_uncached(names, input, output, cache_read).cached(OPENAI)
}

/// A long request costs twice as much, and its reply half as much again.
const fn openai_long(names: Names, input: f64, output: f64, cache_read: f64) -> Family {
    openai(names, input, output, cache_read).beyond(272_000, 200, 150)
}

/// Takes marks, as all since GPT-5.6 do.
const fn openai_marked(names: Names, input: f64, output: f64, cache_read: f64) -> Family {
    openai_long(names, input, output, cache_read).cached(OPENAI_MARKED)
}

const fn gemini_uncached(names: Names, input: f64, output: f64, cache_read: f64) -> Family {
    let page = "https://ai.google.dev/gemini-api/docs/pricing";
    Family::priced(names, input, output, cache_read).seen(page, "2026-07-02")
}

const fn gemini(names: Names, input: f64, output: f64, cache_read: f64) -> Family {
    gemini_uncached(names, input, output, cache_read).cached(GEMINI)
}

/// Gemini 2.5 has a smaller minimum.
const fn gemini_2_5(names: Names, input: f64, output: f64, cache_read: f64) -> Family {
    gemini(names, input, output, cache_read).cached(GEMINI.minimum(2048))
}

/// The price is that of the busy hours, twice the other.
const fn deepseek(names: Names, input: f64, output: f64, cache_read: f64) -> Family {
    let page = "https://api-docs.deepseek.com/quick_start/pricing";
    Family::priced(names, input, output, cache_read).seen(page, "2026-10-27").cached(DEEPSEEK)
}

/// A request of 200,000 tokens and more costs twice as much, and so does its reply.
const fn xai(names: Names, input: f64, output: f64, cache_read: f64) -> Family {
    let family = Family::priced(names, input, output, cache_read);
    // The limit itself costs more here, and `beyond` excludes its limit.
    family.seen("https://docs.x.ai/developers/models", "2026-07-13").beyond(199_999, 200, 200)
}

/// Names that end in `latest` move from model to model here, and their prices with them: they have none.
const fn mistral(names: Names, input: f64, output: f64, cache_read: f64) -> Family {
    Family::priced(names, input, output, cache_read).seen("https://mistral.ai/pricing", "2026-06-09")
}

const fn groq(names: Names, input: f64, output: f64, cache_read: f64) -> Family {
    Family::priced(names, input, output, cache_read).seen("https://groq.com/pricing", "2026-07-02")
}

const fn cohere(names: Names, input: f64, output: f64) -> Family {
    // No discount for cached tokens is known, so they cost as much as others.
    Family::priced(names, input, output, input).seen("https://cohere.com/pricing", "2026-07-02")
}

pub(crate) const FAMILIES: &[Family] = &[
    // Local models are free.
    Family::priced(&["offline"], 0.0, 0.0, 0.0),
    Family::priced(&["ollama/"], 0.0, 0.0, 0.0).cached(OLLAMA).replies(OLLAMA_REPLY),
    // Anthropic. A model that has no row yet follows the same rules, with the largest minimum and the shorter reply.
    Family::unpriced(&["anthropic/claude-"], ANTHROPIC).replies(ANTHROPIC_REPLY.most(64_000)),
    Family::prefixed(&["anthropic/claude-3-"]).replies(ANTHROPIC_REPLY.without_thoughts(4096)),
    // No known copy of the caching guide names them.
    anthropic(&["anthropic/claude-fable-5-2", "anthropic/claude-mythos-5-2"], 8.0, 40.0, 0.2, 4096)
        .on("2026-11-10")
        .cached(ANTHROPIC.seen(ANTHROPIC_PRICES, "2026-11-10"))
        .replies(ANTHROPIC_REPLY.on("2026-11-10")),
    anthropic(&["anthropic/claude-fable-5-1", "anthropic/claude-mythos-5-1"], 10.0, 50.0, 0.25, 512),
    // The minimum is 512 in the guide, 2,048 in Anthropic's skill `claude-api`.
    anthropic(&["anthropic/claude-fable-5", "anthropic/claude-mythos-5"], 10.0, 50.0, 1.0, 2048),
    anthropic(&["anthropic/claude-opus-5-5"], 4.0, 20.0, 0.2, 512),
    anthropic(&["anthropic/claude-opus-5"], 5.0, 25.0, 0.5, 512),
    // The minimum of 4.7 is 2,048 in the guide, and that of 4.8 is 1,024; both are 4,096 in Anthropic's skill `claude-api`.
    anthropic(&["anthropic/claude-opus-4-8", "anthropic/claude-opus-4-7"], 5.0, 25.0, 0.5, 4096),
    anthropic(&["anthropic/claude-opus-4-6", "anthropic/claude-opus-4-5"], 5.0, 25.0, 0.5, 4096)
        .replies(ANTHROPIC_REPLY.most(64_000)),
    anthropic(
        &["anthropic/claude-opus-4-1", "anthropic/claude-opus-4-0", "anthropic/claude-opus-4"],
        15.0,
        75.0,
        1.5,
        1024,
    )
    .replies(ANTHROPIC_REPLY.most(32_000)),
    anthropic(&["anthropic/claude-sonnet-5-5"], 2.0, 10.0, 0.1, 512)
        .cached(ANTHROPIC.minimum(512).seen(ANTHROPIC.source, "2026-10-08")),
    anthropic(&["anthropic/claude-sonnet-5"], 2.0, 10.0, 0.2, 1024),
    // The minimum is 1,024 in the guide, 2,048 in Anthropic's skill `claude-api`.
    anthropic(&["anthropic/claude-sonnet-4-6"], 3.0, 15.0, 0.3, 2048),
    anthropic(
        &["anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-0", "anthropic/claude-sonnet-4"],
        3.0,
        15.0,
        0.3,
        1024,
    )
    .beyond(200_000, 200, 150)
    .replies(ANTHROPIC_REPLY.most(64_000)),
    anthropic(&["anthropic/claude-3-7-sonnet", "anthropic/claude-3-5-sonnet"], 3.0, 15.0, 0.3, 4096)
        .on("2026-07-29")
        .replies(ANTHROPIC_REPLY.most(8192)),
    anthropic(&["anthropic/claude-haiku-5-5"], 0.1, 0.5, 0.01, 512)
        .beyond(100_000, 500, 500)
        .cached(ANTHROPIC.minimum(512).seen(ANTHROPIC.source, "2026-10-08")),
    anthropic(&["anthropic/claude-haiku-4-5"], 1.0, 5.0, 0.1, 4096).replies(ANTHROPIC_REPLY.most(64_000)),
    anthropic(&["anthropic/claude-3-5-haiku"], 0.8, 4.0, 0.08, 2048)
        .replies(ANTHROPIC_REPLY.without_thoughts(8192)),
    // OpenAI. Models that have no row yet follow the rules of their generation.
    Family::unpriced(
        &["openai/gpt-5.6", "openai/gpt-5.7", "openai/gpt-5.8", "openai/gpt-5.9", "openai/gpt-6"],
        OPENAI_MARKED,
    )
    .replies(OPENAI_REPLY.on("2026-11-18")),
    Family::unpriced(&["openai/gpt-5.5"], OPENAI.minimum(4096)).replies(OPENAI_REPLY),
    Family::unpriced(&["openai/gpt-5"], OPENAI).replies(OPENAI_REPLY),
    Family::prefixed(&[
        "openai/gpt-5-chat",
        "openai/gpt-5.1-chat",
        "openai/gpt-5.2-chat",
        "openai/gpt-5.3-chat",
    ])
    .replies(OPENAI_REPLY.most(16_384)),
    Family::prefixed(&["openai/o1", "openai/o3", "openai/o4"]).replies(OPENAI_REPLY.most(100_000)),
    Family::prefixed(&["openai/o1-mini", "openai/o1-preview"]).replies(OPENAI_REPLY.most(32_768)),
    Family::unpriced(&["openai/gpt-4o", "openai/gpt-4o-mini"], OPENAI.read(0.5))
        .replies(OPENAI_REPLY.without_thoughts(16_384)),
    Family::unpriced(&["openai/gpt-4.1"], OPENAI.read(0.25)).replies(OPENAI_REPLY.without_thoughts(32_768)),
    // Cached tokens have no price of their own.
    Family::unpriced(
        &[
            "openai/gpt-4o-2024-05-13",
            "openai/gpt-4o-audio",
            "openai/gpt-4o-mini-audio",
            "openai/gpt-4o-mini-search",
            "openai/gpt-4o-search",
            "openai/gpt-5-pro",
            "openai/gpt-5.2-pro",
            "openai/gpt-5.4-pro",
            "openai/gpt-5.5-pro",
        ],
        OPENAI.read(1.0),
    ),
    openai_marked(&["openai/gpt-6.2-astra"], 8.0, 40.0, 0.4).on("2026-11-18"),
    openai_marked(&["openai/gpt-6.2-sol"], 2.0, 10.0, 0.1).on("2026-11-18"),
    openai_marked(&["openai/gpt-6.1-sol"], 2.0, 10.0, 0.1).on("2026-10-13"),
    openai_marked(&["openai/gpt-6-astra"], 10.0, 50.0, 1.0).on("2026-09-24"),
    openai_marked(&["openai/gpt-6-sol"], 2.0, 10.0, 0.2).on("2026-09-24"),
    openai_marked(&["openai/gpt-6-luna"], 0.1, 0.5, 0.01).on("2026-09-24"),
    openai_marked(&["openai/gpt-5.6-sol", "openai/gpt-5.6"], 4.0, 20.0, 0.4).on("2026-09-22"),
    openai_marked(&["openai/gpt-5.6-terra"], 2.0, 12.0, 0.2).on("2026-09-22"),
    openai_marked(&["openai/gpt-5.6-luna"], 0.2, 1.2, 0.02).on("2026-09-22"),
    // Prefixes end every 2,048 tokens, so beyond the minimum it may take as many more.
    openai_long(&["openai/gpt-5.5"], 5.0, 30.0, 0.5).cached(OPENAI.minimum(4096)),
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
    openai(&["openai/gpt-4o-2024-05-13"], 5.0, 15.0, 5.0).replies(OPENAI_REPLY.without_thoughts(4096)),
    openai(&["openai/gpt-4o-mini"], 0.15, 0.6, 0.075),
    openai_uncached(&["openai/o3"], 2.0, 8.0, 0.5),
    openai_uncached(&["openai/o4-mini"], 1.1, 4.4, 0.275),
    // Gemini. The price of 4 Carbon is half of this until 2026-11-30.
    Family::unpriced(&["gemini/gemini-3", "gemini/gemini-4"], GEMINI).replies(GEMINI_REPLY.on("2026-11-11")),
    Family::unpriced(&["gemini/gemini-2.5-"], GEMINI.minimum(2048)).replies(GEMINI_REPLY),
    gemini(&["gemini/gemini-4-carbon"], 4.0, 20.0, 0.2).on("2026-11-11"),
    gemini(&["gemini/gemini-4-argon"], 4.0, 20.0, 0.2).on("2026-10-20"),
    // The price is half of this until 2026-12-31.
    gemini(&["gemini/gemini-3.8-flash"], 1.5, 7.5, 0.15).on("2026-10-07"),
    gemini(&["gemini/gemini-3.7-flash", "gemini/gemini-3.6-flash"], 1.5, 7.5, 0.15).on("2026-08-13"),
    gemini(&["gemini/gemini-3.5-flash"], 1.5, 9.0, 0.15),
    gemini(&["gemini/gemini-3.5-flash-lite"], 0.3, 2.5, 0.03).on("2026-07-22"),
    gemini(&["gemini/gemini-3.1-pro", "gemini/gemini-3-pro"], 2.0, 12.0, 0.2).beyond(200_000, 200, 150),
    gemini(&["gemini/gemini-3.1-flash-lite"], 0.25, 1.5, 0.025),
    gemini(&["gemini/gemini-3-flash"], 0.5, 3.0, 0.05),
    gemini_2_5(&["gemini/gemini-2.5-pro"], 1.25, 10.0, 0.125).beyond(200_000, 200, 150),
    gemini_2_5(&["gemini/gemini-2.5-flash"], 0.3, 2.5, 0.03),
    gemini_2_5(&["gemini/gemini-2.5-flash-lite"], 0.1, 0.4, 0.01),
    gemini_uncached(&["gemini/gemini-2.0-flash"], 0.1, 0.4, 0.025)
        .replies(GEMINI_REPLY.without_thoughts(8192)),
    // DeepSeek. V4 Flash is an older name of Flash.
    Family::unpriced(&["deepseek/"], DEEPSEEK).replies(DEEPSEEK_REPLY),
    deepseek(&["deepseek/deepseek-flash", "deepseek/deepseek-v4-flash"], 0.3, 1.2, 0.006),
    deepseek(&["deepseek/deepseek-v4-pro"], 1.32, 3.96, 0.044),
    // No cache rules are known for the others.
    Family::prefixed(&["kimi/kimi-k", "moonshot/kimi-k"]).replies(KIMI_REPLY),
    Family::prefixed(&["xai/grok-"]).replies(XAI_REPLY),
    xai(&["xai/grok-4.7", "xai/grok-4.6"], 2.0, 6.0, 0.5).on("2026-09-29"),
    xai(&["xai/grok-4.5"], 2.0, 6.0, 0.5),
    xai(&["xai/grok-4.3", "xai/grok-4.20"], 1.25, 2.5, 0.2),
    xai(&["xai/grok-4.20-reasoning", "xai/grok-4.20-0309-reasoning"], 1.25, 2.5, 0.2),
    xai(&["xai/grok-4.20-non-reasoning", "xai/grok-4.20-0309-non-reasoning"], 1.25, 2.5, 0.2),
    Family::prefixed(&["mistral/magistral-"]).replies(MISTRAL_REPLY.most(16_384)),
    Family::prefixed(&[
        "mistral/mistral-medium-3-5",
        "mistral/mistral-medium-26",
        "mistral/mistral-small-26",
    ])
    .replies(MISTRAL_REPLY),
    mistral(&["mistral/mistral-large-2512"], 0.5, 1.5, 0.05).on("2026-09-05"),
    mistral(&["mistral/mistral-medium-3-5", "mistral/mistral-medium-2604"], 1.5, 7.5, 1.5).on("2026-06-17"),
    mistral(&["mistral/mistral-medium-2508", "mistral/mistral-medium-2505"], 0.4, 2.0, 0.4).on("2026-07-02"),
    mistral(&["mistral/mistral-small-2603"], 0.15, 0.6, 0.015),
    mistral(&["mistral/codestral-2508"], 0.3, 0.9, 0.03),
    mistral(&["mistral/devstral-2512"], 0.4, 2.0, 0.04),
    Family::prefixed(&["groq/openai/gpt-oss-", "groq/qwen/"]).replies(GROQ_REPLY),
    groq(&["groq/llama-3.3-70b-versatile"], 0.59, 0.79, 0.59),
    groq(&["groq/llama-3.1-8b-instant"], 0.05, 0.08, 0.05),
    groq(&["groq/openai/gpt-oss-120b"], 0.15, 0.6, 0.075),
    groq(&["groq/openai/gpt-oss-20b"], 0.075, 0.3, 0.0375),
    Family::prefixed(&["cohere/command-"]).replies(COHERE_REPLY),
    Family::prefixed(&["cohere/command-a-reasoning"])
        .replies(ReplyLimit { thinks: true, ..COHERE_REPLY.most(32_000) }),
    cohere(&["cohere/command-a-03-2025", "cohere/command-r-plus-08-2024"], 2.5, 10.0),
    cohere(&["cohere/command-r-08-2024"], 0.15, 0.6).on("2026-11-11"),
    cohere(&["cohere/command-r7b-12-2024"], 0.0375, 0.15),
];
