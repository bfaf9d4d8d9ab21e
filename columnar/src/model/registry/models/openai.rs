//! The models of OpenAI. The models of `openai_resp` are found by these names.

use super::super::{Boundary, CachePolicy, ContextWindow, EndDate, Family, MaxTokens, Price, Rebate};
use super::words::{HOUR, LISTED, MINUTE, Names, usd, write};

/// The cache rules of models that take marks. A request finds an entry only at a mark of its own: among the first 2
/// and the last 50 blocks by the guide, among the last 80 by the API reference. The long lifetime exists in Responses
/// alone.
const MARKED: CachePolicy = CachePolicy {
    read: 0.1,
    short: write(1.25, 30 * MINUTE),
    long: Some(write(2.5, 12 * HOUR)),
    minimum: 1024,
    most_marks: 4,
    boundary: Boundary::Block,
    source: "https://developers.openai.com/api/docs/guides/prompt-caching",
    date: "2026-11-03",
    ..CachePolicy::UNKNOWN
};

/// The cache rules of earlier models: prefixes are found without marks, writes are free, and the guide promises 5
/// minutes at least. The minimum, once 1,024 in the guide, varies with the settings of a request.
const CACHE: CachePolicy = CachePolicy {
    short: write(1.0, 5 * MINUTE),
    long: None,
    minimum: 2048,
    most_marks: 0,
    boundary: Boundary::Token,
    date: "2026-10-04",
    ..MARKED
};

const PRICES: &str = "https://developers.openai.com/api/docs/pricing";
const MODELS: &str = "https://developers.openai.com/api/docs/models";

/// The replies of all models that reason, since GPT-5.
const REPLY: MaxTokens = MaxTokens::thinking(128_000, MODELS, "2026-07-02");

/// The window of large models since GPT-5.4. The longest reply is kept free, for any limit of a request.
const WINDOW: ContextWindow = ContextWindow::new(1_050_000, MODELS, LISTED).reserving(128_000);

/// The window of the other models since GPT-5.
const SMALL_WINDOW: ContextWindow = WINDOW.holding(400_000);

/// The window of models for chats, and of models before GPT-5.
const CHAT_WINDOW: ContextWindow = ContextWindow::new(128_000, MODELS, LISTED);

const ENDS: EndDate = EndDate::listed("https://developers.openai.com/api/docs/deprecations", LISTED);

const HALF: Rebate = Rebate::all(50);

/// Half the price of all tokens but those that are read from the cache.
const HALF_UNCACHED: Rebate = HALF.cached(100);

/// A model without cache rules, and without other rates.
const fn plain(names: Names, price: Price) -> Family {
    Family::priced(names, price).seen(PRICES, "2026-07-02")
}

/// A model with an end, and without other rates.
const fn ending(names: Names, price: Price, day: &'static str) -> Family {
    plain(names, price).cached(CACHE).window(SMALL_WINDOW).ends(ENDS.on(day))
}

const fn openai(names: Names, price: Price) -> Family {
    plain(names, price).cached(CACHE).window(SMALL_WINDOW).batch(HALF).flex(HALF)
}

/// A model for chats.
const fn chat(names: Names, price: Price, day: &'static str) -> Family {
    ending(names, price, day).replies(REPLY.most(16_384)).window(CHAT_WINDOW)
}

/// A model that does not reason.
const fn older(names: Names, price: Price, day: &'static str) -> Family {
    ending(names, price, day).window(CHAT_WINDOW).batch(HALF_UNCACHED)
}

/// A model whose long requests cost twice as much, and their replies half as much again.
const fn long(names: Names, price: Price) -> Family {
    openai(names, price).beyond(272_000, 200, 150).window(WINDOW)
}

/// A model that takes marks, as all since GPT-5.6 do.
const fn marked(names: Names, price: Price) -> Family {
    long(names, price).cached(MARKED)
}

// Models without a row follow the rules of their generation, with the smaller window.
pub(super) const FAMILIES: &[Family] = &[
    Family::unpriced("openai/gpt-5.6 openai/gpt-5.7 openai/gpt-5.8 openai/gpt-5.9 openai/gpt-6", MARKED)
        .replies(REPLY.on("2026-11-18"))
        .window(SMALL_WINDOW),
    Family::unpriced("openai/gpt-5.5", CACHE.minimum(4096)).replies(REPLY).window(SMALL_WINDOW),
    Family::unpriced("openai/gpt-5", CACHE).replies(REPLY).window(SMALL_WINDOW),
    Family::prefixed("openai/gpt-5-chat openai/gpt-5.1-chat openai/gpt-5.2-chat openai/gpt-5.3-chat")
        .replies(REPLY.most(16_384))
        .window(CHAT_WINDOW),
    Family::prefixed("openai/o1 openai/o3 openai/o4")
        .replies(REPLY.most(100_000))
        .window(CHAT_WINDOW.holding(200_000)),
    Family::prefixed("openai/o1-mini openai/o1-preview").replies(REPLY.most(32_768)).window(CHAT_WINDOW),
    Family::unpriced("openai/gpt-4o openai/gpt-4o-mini", CACHE.read(0.5))
        .replies(REPLY.without_thoughts(16_384))
        .window(CHAT_WINDOW),
    Family::unpriced("openai/gpt-4.1", CACHE.read(0.25))
        .replies(REPLY.without_thoughts(32_768))
        .window(CHAT_WINDOW.holding(1_047_576)),
    // Cached tokens have no special price.
    Family::unpriced(
        "openai/gpt-4o-2024-05-13 openai/gpt-4o-audio openai/gpt-4o-mini-audio \
            openai/gpt-4o-mini-search openai/gpt-4o-search openai/gpt-5-pro openai/gpt-5.2-pro \
            openai/gpt-5.4-pro openai/gpt-5.5-pro",
        CACHE.read(1.0),
    ),
    marked("openai/gpt-6.2-astra", usd(8.0, 40.0, 0.4)).on("2026-11-18"),
    marked("openai/gpt-6.2-sol", usd(2.0, 10.0, 0.1)).on("2026-11-18"),
    marked("openai/gpt-6.1-terra", usd(1.0, 5.0, 0.05)).on("2026-10-26"),
    marked("openai/gpt-6.1-sol", usd(2.0, 10.0, 0.1)).on("2026-10-13"),
    marked("openai/gpt-6-astra", usd(10.0, 50.0, 1.0)).on("2026-09-24"),
    marked("openai/gpt-6-sol", usd(2.0, 10.0, 0.2)).on("2026-09-24"),
    marked("openai/gpt-6-luna", usd(0.1, 0.5, 0.01)).on("2026-09-24"),
    marked("openai/gpt-5.6-sol openai/gpt-5.6", usd(4.0, 20.0, 0.4)).on("2026-09-22"),
    marked("openai/gpt-5.6-terra", usd(2.0, 12.0, 0.2)).on("2026-09-22"),
    marked("openai/gpt-5.6-luna", usd(0.2, 1.2, 0.02)).on("2026-09-22"),
    // Prefixes end every 2,048 tokens, so a prefix may need as many tokens beyond the minimum.
    long("openai/gpt-5.5", usd(5.0, 30.0, 0.5)).cached(CACHE.minimum(4096)),
    long("openai/gpt-5.5-pro openai/gpt-5.4-pro", usd(30.0, 180.0, 30.0)),
    // The page rounds the price of cached tokens up.
    long("openai/gpt-5.4", usd(2.5, 15.0, 0.25)).batch(HALF.cached(52)).flex(HALF.cached(52)),
    openai("openai/gpt-5.4-mini", usd(0.75, 4.5, 0.075)),
    openai("openai/gpt-5.4-nano", usd(0.2, 1.25, 0.02)).ends(ENDS.on("2027-04-01")),
    plain("openai/gpt-5.3", usd(1.75, 14.0, 0.175))
        .cached(CACHE)
        .replies(REPLY.most(16_384))
        .window(CHAT_WINDOW),
    ending("openai/gpt-5.3-codex", usd(1.75, 14.0, 0.175), "2027-04-01"),
    openai("openai/gpt-5.2", usd(1.75, 14.0, 0.175)),
    chat("openai/gpt-5.3-chat openai/gpt-5.2-chat", usd(1.75, 14.0, 0.175), "2026-08-10"),
    ending("openai/gpt-5.2-codex", usd(1.75, 14.0, 0.175), "2026-07-23"),
    openai("openai/gpt-5.2-pro", usd(21.0, 168.0, 21.0)).without_flex(),
    openai("openai/gpt-5.1", usd(1.25, 10.0, 0.125)).ends(ENDS.on("2027-04-01")),
    openai("openai/gpt-5", usd(1.25, 10.0, 0.125)).ends(ENDS.on("2026-12-11")),
    chat("openai/gpt-5.1-chat openai/gpt-5-chat", usd(1.25, 10.0, 0.125), "2026-07-23"),
    ending("openai/gpt-5.1-codex openai/gpt-5-codex", usd(1.25, 10.0, 0.125), "2026-07-23"),
    openai("openai/gpt-5-mini", usd(0.25, 2.0, 0.025)).ends(ENDS.on("2026-12-11")),
    ending("openai/gpt-5.1-codex-mini", usd(0.25, 2.0, 0.025), "2026-07-23"),
    openai("openai/gpt-5-nano", usd(0.05, 0.4, 0.005)).ends(ENDS.on("2026-12-11")),
    openai("openai/gpt-5-pro", usd(15.0, 120.0, 15.0)).without_flex().ends(ENDS.on("2026-12-11")),
    older("openai/gpt-4.1", usd(2.0, 8.0, 0.5), "2027-01-14").window(CHAT_WINDOW.holding(1_047_576)),
    older("openai/gpt-4.1-mini", usd(0.4, 1.6, 0.1), "2027-01-14").window(CHAT_WINDOW.holding(1_047_576)),
    older("openai/gpt-4.1-nano", usd(0.1, 0.4, 0.025), "2026-10-23").window(CHAT_WINDOW.holding(1_047_576)),
    older("openai/gpt-4o", usd(2.5, 10.0, 1.25), "2027-01-14"),
    older("openai/gpt-4o-2024-05-13", usd(5.0, 15.0, 5.0), "2026-10-23")
        .replies(REPLY.without_thoughts(4096))
        .batch(HALF),
    older("openai/gpt-4o-mini", usd(0.15, 0.6, 0.075), "2027-01-14"),
    plain("openai/o3", usd(2.0, 8.0, 0.5)).batch(HALF_UNCACHED).flex(HALF).ends(ENDS.on("2026-12-11")),
    plain("openai/o4-mini", usd(1.1, 4.4, 0.275))
        .batch(HALF_UNCACHED)
        .flex(HALF.cached(51))
        .ends(ENDS.on("2026-10-23")),
];
