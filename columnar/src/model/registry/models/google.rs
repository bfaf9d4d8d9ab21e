//! The models of Google.

use super::super::{Boundary, CachePolicy, ContextWindow, EndDate, Family, MaxTokens, Price, Rebate};
use super::words::{LISTED, MINUTE, Names, usd, write};

/// The cache rules. Prefixes are found without a mark, without a guarantee and for an unknown time. Writes are free: a
/// cache that is written by hand costs by the hour, and is not used.
const CACHE: CachePolicy = CachePolicy {
    read: 0.1,
    short: write(1.0, 5 * MINUTE),
    boundary: Boundary::Token,
    source: "https://ai.google.dev/gemini-api/docs/caching",
    date: "2026-10-13",
    ..CachePolicy::UNKNOWN
};

const MODELS: &str = "https://ai.google.dev/gemini-api/docs/models";

/// The length of a streamed reply of all models that think, since Gemini 2.5.
const REPLY: MaxTokens = MaxTokens::thinking(65_536, MODELS, "2026-07-02");

/// The most tokens of a request. No page says that the tokens of the reply are apart, so these count as well.
const WINDOW: ContextWindow = ContextWindow::new(1_048_576, MODELS, LISTED);

const ENDS: EndDate = EndDate::listed("https://ai.google.dev/gemini-api/docs/deprecations", LISTED);

/// Half the price of all tokens but those that are read from the cache.
const HALF: Rebate = Rebate::all(50).cached(100);

/// Half the price of all tokens, since Gemini 3.6 and in 3.1 Flash Lite.
const HALF_CACHED: Rebate = Rebate::all(50);

const fn gemini_uncached(names: Names, price: Price) -> Family {
    let page = "https://ai.google.dev/gemini-api/docs/pricing";
    Family::priced(names, price).seen(page, "2026-07-02").window(WINDOW)
}

const fn older(names: Names, price: Price) -> Family {
    gemini_uncached(names, price).cached(CACHE).batch(HALF).flex(HALF)
}

const fn gemini(names: Names, price: Price) -> Family {
    older(names, price).batch(HALF_CACHED).flex(HALF_CACHED)
}

/// A model of Gemini 2.5, whose minimum is smaller.
const fn gemini_2_5(names: Names, price: Price) -> Family {
    older(names, price).cached(CACHE.minimum(2048))
}

pub(super) const FAMILIES: &[Family] = &[
    Family::unpriced("gemini/gemini-3 gemini/gemini-4", CACHE).replies(REPLY.on("2026-11-11")).window(WINDOW),
    Family::unpriced("gemini/gemini-2.5-", CACHE.minimum(2048)).replies(REPLY).window(WINDOW),
    gemini("gemini/gemini-4-neon", usd(3.0, 15.0, 0.15)).on(LISTED),
    // These two models cost half of this until 2026-11-30.
    gemini("gemini/gemini-4-carbon", usd(4.0, 20.0, 0.2)).on("2026-11-11"),
    gemini("gemini/gemini-4-argon", usd(4.0, 20.0, 0.2)).on("2026-10-20"),
    gemini("gemini/gemini-4-hydrogen", usd(1.5, 7.5, 0.075)).on(LISTED),
    // These three models cost half of this until 2026-12-31.
    gemini("gemini/gemini-3.8-flash", usd(1.5, 7.5, 0.15)).on("2026-10-07"),
    gemini("gemini/gemini-3.7-flash gemini/gemini-3.6-flash", usd(1.5, 7.5, 0.15)).on("2026-08-13"),
    older("gemini/gemini-3.5-flash", usd(1.5, 9.0, 0.15)),
    // The page rounds the price of cached tokens up.
    older("gemini/gemini-3.5-flash-lite", usd(0.3, 2.5, 0.03))
        .on("2026-07-22")
        .batch(HALF.cached(67))
        .flex(HALF.cached(67)),
    older("gemini/gemini-3.1-pro gemini/gemini-3-pro", usd(2.0, 12.0, 0.2)).beyond(200_000, 200, 150),
    gemini("gemini/gemini-3.1-flash-lite", usd(0.25, 1.5, 0.025)).ends(ENDS.on("2027-05-07")),
    older("gemini/gemini-3-flash", usd(0.5, 3.0, 0.05)),
    gemini_2_5("gemini/gemini-2.5-pro", usd(1.25, 10.0, 0.125))
        .beyond(200_000, 200, 150)
        .ends(ENDS.on("2026-12-01")),
    gemini_2_5("gemini/gemini-2.5-flash", usd(0.3, 2.5, 0.03)).ends(ENDS.on("2026-12-01")),
    gemini_2_5("gemini/gemini-2.5-flash-lite", usd(0.1, 0.4, 0.01)),
    gemini_uncached("gemini/gemini-2.0-flash", usd(0.1, 0.4, 0.025)).replies(REPLY.without_thoughts(8192)),
];
