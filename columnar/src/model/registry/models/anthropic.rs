//! The models of Anthropic.

use super::super::{Boundary, CachePolicy, ContextWindow, EndDate, Family, MaxTokens, Price, Rebate};
use super::words::{HOUR, LISTED, MINUTE, Names, usd, write};

/// The cache rules of all models of Anthropic.
const CACHE: CachePolicy = CachePolicy {
    read: 0.1,
    short: write(1.25, 5 * MINUTE),
    long: Some(write(2.0, HOUR)),
    most_marks: 4,
    look_back: 20,
    boundary: Boundary::Block,
    source: "https://platform.claude.com/docs/en/build-with-claude/prompt-caching",
    date: "2026-10-01",
    ..CachePolicy::UNKNOWN
};

const PRICES: &str = "https://platform.claude.com/docs/en/about-claude/pricing";
const MODELS: &str = "https://platform.claude.com/docs/en/models";

/// The replies of all models since 4.6. All models since 3.7 think.
const REPLY: MaxTokens = MaxTokens::thinking(128_000, MODELS, "2026-10-08");

/// The window of all models since 4.6, without the header of a beta.
const WINDOW: ContextWindow = ContextWindow::new(1_000_000, MODELS, LISTED);

/// The window of all models before 4.6.
const SMALL_WINDOW: ContextWindow = WINDOW.holding(200_000);

const ENDS: EndDate =
    EndDate::listed("https://platform.claude.com/docs/en/about-claude/model-deprecations", LISTED);

/// Half the price of all tokens, cached tokens included.
const BATCH: Rebate = Rebate::all(50);

const fn anthropic(names: Names, price: Price, minimum: usize) -> Family {
    let family = Family::priced(names, price).seen(PRICES, "2026-10-24").batch(BATCH);
    family.cached(CACHE.minimum(minimum)).replies(REPLY).window(WINDOW)
}

/// A model before 4.6, with the most tokens of a reply.
const fn older(names: Names, price: Price, minimum: usize, reply: u32) -> Family {
    anthropic(names, price, minimum).replies(REPLY.most(reply)).window(SMALL_WINDOW)
}

// A model without a row follows the same rules, with the largest minimum, the shorter reply and the smaller window.
pub(super) const FAMILIES: &[Family] = &[
    Family::unpriced("anthropic/claude-", CACHE).replies(REPLY.most(64_000)).window(SMALL_WINDOW),
    Family::prefixed("anthropic/claude-3-").replies(REPLY.without_thoughts(4096)).window(SMALL_WINDOW),
    // No known copy of the caching guide names these models.
    anthropic("anthropic/claude-fable-5-2 anthropic/claude-mythos-5-2", usd(8.0, 40.0, 0.2), 4096)
        .on("2026-11-10")
        .cached(CACHE.seen(PRICES, "2026-11-10"))
        .replies(REPLY.on("2026-11-10")),
    anthropic("anthropic/claude-fable-5-1 anthropic/claude-mythos-5-1", usd(10.0, 50.0, 0.25), 512),
    anthropic("anthropic/claude-fable-5 anthropic/claude-mythos-5", usd(10.0, 50.0, 1.0), 512),
    anthropic("anthropic/claude-opus-5-5", usd(4.0, 20.0, 0.2), 512),
    anthropic("anthropic/claude-opus-5", usd(5.0, 25.0, 0.5), 512),
    anthropic("anthropic/claude-opus-4-8", usd(5.0, 25.0, 0.5), 1024),
    anthropic("anthropic/claude-opus-4-7", usd(5.0, 25.0, 0.5), 2048),
    anthropic("anthropic/claude-opus-4-6", usd(5.0, 25.0, 0.5), 4096),
    older("anthropic/claude-opus-4-5", usd(5.0, 25.0, 0.5), 4096, 64_000).ends(ENDS.on("2027-01-22")),
    older("anthropic/claude-opus-4-1", usd(15.0, 75.0, 1.5), 1024, 32_000).unbatched(),
    older("anthropic/claude-opus-4-0 anthropic/claude-opus-4", usd(15.0, 75.0, 1.5), 1024, 32_000)
        .unbatched()
        .ends(ENDS.on("2026-06-15")),
    anthropic("anthropic/claude-sonnet-5-5", usd(2.0, 10.0, 0.1), 512)
        .cached(CACHE.minimum(512).seen(CACHE.source, "2026-10-08")),
    anthropic("anthropic/claude-sonnet-5", usd(2.0, 10.0, 0.2), 1024),
    anthropic("anthropic/claude-sonnet-4-6", usd(3.0, 15.0, 0.3), 1024),
    // With the header of a beta, the window is larger, and so is the price.
    older("anthropic/claude-sonnet-4-5", usd(3.0, 15.0, 0.3), 1024, 64_000)
        .beyond(200_000, 200, 150)
        .ends(ENDS.on("2026-11-30")),
    older("anthropic/claude-sonnet-4-0 anthropic/claude-sonnet-4", usd(3.0, 15.0, 0.3), 1024, 64_000)
        .unbatched()
        .ends(ENDS.on("2026-06-15")),
    older("anthropic/claude-3-7-sonnet anthropic/claude-3-5-sonnet", usd(3.0, 15.0, 0.3), 4096, 8192)
        .on("2026-07-29")
        .unbatched(),
    anthropic("anthropic/claude-haiku-5-5", usd(0.1, 0.5, 0.01), 512)
        .beyond(100_000, 500, 500)
        .cached(CACHE.minimum(512).seen(CACHE.source, "2026-10-08")),
    older("anthropic/claude-haiku-4-5", usd(1.0, 5.0, 0.1), 4096, 64_000),
    older("anthropic/claude-3-5-haiku", usd(0.8, 4.0, 0.08), 2048, 8192)
        .replies(REPLY.without_thoughts(8192))
        .unbatched(),
];
