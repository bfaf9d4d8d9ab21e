//! The models of other providers, and models that run on the user's machine.

use super::super::{Boundary, CachePolicy, ContextWindow, EndDate, Family, MaxTokens, Price, Rebate};
use super::words::{HOUR, LISTED, Names, usd, write};

/// The cache rules of a provider that finds prefixes without marks, with free writes, and promises no time. Five
/// minutes are the shortest time that another provider promises.
const AUTOMATIC: CachePolicy = CachePolicy::UNKNOWN.read(0.1).minimum(1024);

/// The cache of `deepseek`, which keeps prefixes on disk for hours at least. A prefix counts as a whole, up to the end
/// of a user message. Only the announcement mentions a minimum: <https://api-docs.deepseek.com/news/news0802>.
const DEEPSEEK: CachePolicy = CachePolicy { short: write(1.0, HOUR), ..AUTOMATIC.minimum(64) }
    .seen("https://api-docs.deepseek.com/guides/kv_cache", "2026-09-13");

/// The cache on the user's own machine. A cached token costs nothing, as long as the model stays loaded. Models whose
/// layers keep a state or a window find a prefix again only where a request ended.
const OLLAMA: CachePolicy = AUTOMATIC.read(0.0).minimum(1).seen("https://docs.ollama.com/faq", "2026-08-21");

/// The cache of xAI. The guide names neither a minimum nor a time. Blocks of 128 tokens were measured:
/// <https://docs.apiyi.com/en/api-capabilities/grok/prompt-caching.md>.
const XAI: CachePolicy = AUTOMATIC
    .read(0.25)
    .minimum(128)
    .seen("https://docs.x.ai/developers/advanced-api-usage/prompt-caching", "2026-08-19");

/// The guide names neither a minimum nor a time.
const MISTRAL: CachePolicy =
    AUTOMATIC.seen("https://docs.mistral.ai/inference/conversations/advanced/prompt-caching", LISTED);

/// The cache of Kimi, as measured: blocks of 256 tokens, which are found again after 5 minutes and not after 30.
const KIMI: CachePolicy = CachePolicy { boundary: Boundary::Token, ..AUTOMATIC.minimum(256) }
    .seen("https://github.com/Leechael/pi-provider-kimi-code/blob/main/docs/caching.md", "2026-08-31");

/// The cache of M3 and M3.1 alone. Earlier models take marks instead.
const MINIMAX: CachePolicy =
    AUTOMATIC.minimum(512).seen("https://platform.minimax.io/docs/api-reference/text-prompt-caching", LISTED);

const DEEPSEEK_PRICES: &str = "https://api-docs.deepseek.com/quick_start/pricing";
const XAI_MODELS: &str = "https://docs.x.ai/developers/models";
const MISTRAL_MODELS: &str = "https://docs.mistral.ai/getting-started/models";
const GROQ_MODELS: &str = "https://console.groq.com/docs/models";
const COHERE_MODELS: &str = "https://docs.cohere.com/docs/models";
const KIMI_MODELS: &str = "https://platform.kimi.ai/docs/models";
const ZAI_PRICES: &str = "https://docs.z.ai/guides/overview/pricing";
const MINIMAX_PRICES: &str = "https://platform.minimax.io/docs/pricing/overview";
const QWEN_MODELS: &str = "https://www.alibabacloud.com/help/en/model-studio/models";
const FIREWORKS_MODELS: &str = "https://docs.fireworks.ai/serverless/pricing";
const TOGETHER_PRICES: &str = "https://www.together.ai/pricing";
const NEBIUS_MODELS: &str = "https://tokenfactory.nebius.com/api/public/models_info";

const DEEPSEEK_REPLY: MaxTokens = MaxTokens::thinking(384_000, DEEPSEEK_PRICES, "2026-10-27");

/// The replies of xAI, without a maximum. <https://docs.x.ai/developers/model-capabilities/text/best-practices> has a
/// default of 128,000.
const XAI_REPLY: MaxTokens = MaxTokens::unlimited(XAI_MODELS, LISTED);

const MISTRAL_REPLY: MaxTokens = MaxTokens::thinking(256_000, MISTRAL_MODELS, "2026-07-02");
const GROQ_REPLY: MaxTokens = MaxTokens::thinking(40_960, GROQ_MODELS, "2026-07-02");
const COHERE_REPLY: MaxTokens = MaxTokens::plain(4000, COHERE_MODELS, "2026-07-02");
const KIMI_REPLY: MaxTokens =
    MaxTokens::thinking(262_144, "https://platform.kimi.ai/docs/api/chat", "2026-10-03");

/// The replies of local models. Some of these models think, and a long reply costs time alone.
const OLLAMA_REPLY: MaxTokens = MaxTokens::unlimited("https://ollama.com/blog/thinking", "2025-05-30");

const XAI_WINDOW: ContextWindow = ContextWindow::new(500_000, XAI_MODELS, LISTED);
const MISTRAL_WINDOW: ContextWindow = ContextWindow::new(262_144, MISTRAL_MODELS, LISTED);
const COHERE_WINDOW: ContextWindow = ContextWindow::new(128_000, COHERE_MODELS, LISTED);

/// The window of models of the third generation. Models of the second generation have a quarter.
const KIMI_WINDOW: ContextWindow = ContextWindow::new(1_048_576, KIMI_MODELS, LISTED);

const MISTRAL_ENDS: EndDate = EndDate::listed(MISTRAL_MODELS, LISTED);

const HALF: Rebate = Rebate::all(50);

/// A model of `deepseek`, at the price of the busy hours, which is twice the other price.
const fn deepseek(names: Names, price: Price) -> Family {
    let family = Family::priced(names, price).seen(DEEPSEEK_PRICES, "2026-10-27");
    family.cached(DEEPSEEK).window(ContextWindow::new(1_000_000, DEEPSEEK_PRICES, LISTED))
}

/// A model of xAI. A request of 200,000 tokens and more costs twice as much, and so does the reply.
const fn xai(names: Names, price: Price) -> Family {
    let family = Family::priced(names, price).seen(XAI_MODELS, LISTED);
    // The limit itself costs more here, and `beyond` excludes its limit.
    family.beyond(199_999, 200, 200).cached(XAI).window(XAI_WINDOW)
}

/// A model of xAI whose batches cost a fifth less.
const fn xai_batched(names: Names, price: Price) -> Family {
    xai(names, price).batch(Rebate::all(80))
}

/// A model of Mistral. A name that ends in `latest` moves from model to model here, and so does the price: such a name
/// has no price.
const fn mistral(names: Names, price: Price) -> Family {
    let family = Family::priced(names, price).seen("https://mistral.ai/pricing", LISTED);
    family.cached(MISTRAL).batch(HALF).window(MISTRAL_WINDOW)
}

const fn groq(names: Names, price: Price) -> Family {
    let family = Family::priced(names, price);
    family.seen("https://groq.com/pricing", "2026-07-02").window(ContextWindow::new(
        131_072,
        GROQ_MODELS,
        LISTED,
    ))
}

const fn cohere(names: Names, input: f64, output: f64) -> Family {
    // No discount for cached tokens is known, so cached tokens cost as much as others.
    let family =
        Family::priced(names, Price::new(input, output)).seen("https://cohere.com/pricing", "2026-07-02");
    family.window(COHERE_WINDOW)
}

/// A model of Kimi, on the international platform. The Chinese platform, `moonshot`, has prices in yuan.
const fn kimi(names: Names, price: Price) -> Family {
    let page = "https://platform.kimi.ai/docs/pricing/chat";
    Family::priced(names, price).seen(page, LISTED).cached(KIMI)
}

/// A model on a host whose cache rules are not known.
const fn hosted(source: &'static str, names: Names, price: Price, window: usize) -> Family {
    let family = Family::priced(names, price).seen(source, LISTED);
    family.window(ContextWindow::new(window, source, LISTED))
}

pub(super) const LOCAL: &[Family] = &[
    // Local models are free. The client asks for a window.
    Family::priced("offline", usd(0.0, 0.0, 0.0)),
    Family::priced("ollama/", usd(0.0, 0.0, 0.0)).cached(OLLAMA).replies(OLLAMA_REPLY),
];

/// The providers of models that they made.
pub(super) const MAKERS: &[Family] = &[
    // DeepSeek. V4 Flash is an older name of Flash.
    Family::unpriced("deepseek/", DEEPSEEK).replies(DEEPSEEK_REPLY),
    deepseek("deepseek/deepseek-flash deepseek/deepseek-v4-flash", usd(0.3, 1.2, 0.006)),
    deepseek("deepseek/deepseek-v4-pro", usd(1.32, 3.96, 0.044)),
    // Kimi.
    Family::unpriced("kimi/kimi-k moonshot/kimi-k", KIMI).replies(KIMI_REPLY),
    Family::prefixed("kimi/kimi-k2 moonshot/kimi-k2").window(KIMI_WINDOW.holding(262_144)),
    Family::prefixed("kimi/kimi-k3 moonshot/kimi-k3").window(KIMI_WINDOW),
    kimi("kimi/kimi-k3.1-pro", usd(2.0, 10.0, 0.2)),
    kimi("kimi/kimi-k3.1-pro-highspeed", usd(4.0, 20.0, 0.2)),
    kimi("kimi/kimi-k3", usd(3.0, 15.0, 0.3)),
    kimi("kimi/kimi-k2.7-code", usd(0.95, 4.0, 0.19)),
    kimi("kimi/kimi-k2.6", usd(0.95, 4.0, 0.16)),
    // xAI.
    Family::unpriced("xai/grok-", XAI).replies(XAI_REPLY),
    xai_batched("xai/grok-4.7", usd(2.0, 6.0, 0.5)),
    xai("xai/grok-4.6", usd(2.0, 6.0, 0.5)),
    xai("xai/grok-4.5", usd(2.0, 6.0, 0.3)),
    xai("xai/grok-build-0.1", usd(1.0, 2.0, 0.2)).window(XAI_WINDOW.holding(256_000)),
    xai_batched(
        "xai/grok-4.3 xai/grok-4.20 xai/grok-4.20-reasoning xai/grok-4.20-0309-reasoning \
            xai/grok-4.20-non-reasoning xai/grok-4.20-0309-non-reasoning",
        usd(1.25, 2.5, 0.2),
    )
    .window(XAI_WINDOW.holding(1_000_000)),
    // Mistral.
    Family::prefixed("mistral/magistral-").replies(MISTRAL_REPLY.most(16_384)),
    Family::prefixed("mistral/mistral-medium-3-5 mistral/mistral-medium-26 mistral/mistral-small-26")
        .replies(MISTRAL_REPLY),
    // The price of October, for nine days, was twice as high.
    mistral("mistral/mistral-large-4 mistral/mistral-large-4-0", usd(0.7, 2.1, 0.07))
        .window(MISTRAL_WINDOW.holding(1_048_576)),
    mistral("mistral/mistral-large-2512", usd(0.5, 1.5, 0.05)).ends(MISTRAL_ENDS.on("2027-04-30")),
    mistral("mistral/mistral-medium-3-5 mistral/mistral-medium-2604", usd(1.5, 7.5, 0.15))
        .ends(MISTRAL_ENDS.on("2027-04-30")),
    mistral("mistral/mistral-medium-2508 mistral/mistral-medium-2505", usd(0.4, 2.0, 0.04))
        .unbatched()
        .window(MISTRAL_WINDOW.holding(128_000)),
    mistral("mistral/mistral-small-2603", usd(0.15, 0.6, 0.015)),
    mistral("mistral/codestral-2508", usd(0.3, 0.9, 0.03)).window(MISTRAL_WINDOW.holding(128_000)),
    mistral("mistral/devstral-2512", usd(0.4, 2.0, 0.04)).unbatched().window(MISTRAL_WINDOW.holding(256_000)),
    // Cohere.
    Family::prefixed("cohere/command-").replies(COHERE_REPLY).window(COHERE_WINDOW),
    Family::prefixed("cohere/command-a-reasoning").replies(MaxTokens::thinking(
        32_000,
        COHERE_MODELS,
        "2026-07-02",
    )),
    cohere("cohere/command-a-03-2025", 2.5, 10.0).window(COHERE_WINDOW.holding(256_000)),
    cohere("cohere/command-r-plus-08-2024", 2.5, 10.0),
    cohere("cohere/command-r-08-2024", 0.15, 0.6).on("2026-11-11"),
    cohere("cohere/command-r7b-12-2024", 0.0375, 0.15),
    // Z.ai.
    hosted(ZAI_PRICES, "zai/glm-5.3 zai/glm-5.2", usd(1.4, 4.4, 0.26), 1_000_000),
    hosted(ZAI_PRICES, "zai/glm-5.3-flash", usd(0.15, 0.5, 0.03), 1_000_000),
    hosted(ZAI_PRICES, "zai/glm-5.1", usd(1.4, 4.4, 0.26), 200_000),
    hosted(ZAI_PRICES, "zai/glm-5", usd(1.0, 3.2, 0.2), 200_000),
    hosted(ZAI_PRICES, "zai/glm-4.7", usd(0.6, 2.2, 0.11), 200_000),
    // MiniMax.
    hosted(MINIMAX_PRICES, "minimax/MiniMax-M3", usd(0.3, 1.2, 0.06), 1_000_000)
        .beyond(512_000, 200, 200)
        .cached(MINIMAX),
    hosted(MINIMAX_PRICES, "minimax/MiniMax-M3.1-Flash", usd(0.15, 0.6, 0.015), 1_000_000).cached(MINIMAX),
    // Qwen, outside of China: `aliyun` has prices in yuan. Models with three prices by length are left out.
    hosted(QWEN_MODELS, "qwen_cloud/qwen3.8-max", usd(2.0, 6.0, 0.25), 991_808),
    hosted(QWEN_MODELS, "qwen_cloud/qwen3.8-flash", usd(0.15, 0.47, 0.016), 991_808),
    hosted(QWEN_MODELS, "qwen_cloud/qwen3.7-max", usd(2.5, 7.5, 0.5), 991_808),
    hosted(QWEN_MODELS, "qwen_cloud/qwen3.7-plus", usd(0.4, 1.6, 0.08), 991_808).beyond(256_000, 300, 300),
];

/// The hosts of open models.
pub(super) const HOSTS: &[Family] = &[
    Family::prefixed("groq/openai/gpt-oss- groq/qwen/").replies(GROQ_REPLY),
    groq("groq/llama-3.3-70b-versatile", usd(0.59, 0.79, 0.59)),
    groq("groq/llama-3.1-8b-instant", usd(0.05, 0.08, 0.05)),
    groq("groq/openai/gpt-oss-120b", usd(0.15, 0.6, 0.075)).batch(HALF.cached(100)),
    groq("groq/openai/gpt-oss-20b", usd(0.075, 0.3, 0.0375)).batch(HALF.cached(100)),
    // Fireworks. The client adds the folder of these names.
    hosted(FIREWORKS_MODELS, "fireworks/deepseek-v4p1-flash", usd(0.3, 1.2, 0.006), 1_048_576),
    hosted(FIREWORKS_MODELS, "fireworks/glm-5p3", usd(1.4, 4.4, 0.26), 1_048_576),
    hosted(FIREWORKS_MODELS, "fireworks/glm-5p3-flash", usd(0.15, 0.5, 0.03), 1_048_576),
    hosted(FIREWORKS_MODELS, "fireworks/kimi-k3p1-pro", usd(2.0, 10.0, 0.2), 1_048_576),
    hosted(FIREWORKS_MODELS, "fireworks/minimax-m3", usd(0.3, 1.2, 0.06), 512_000),
    hosted(FIREWORKS_MODELS, "fireworks/qwen3p8-max", usd(2.0, 6.0, 0.25), 262_144),
    // Together. Where no price of cached tokens is known, cached tokens cost as much as others.
    hosted(TOGETHER_PRICES, "together/deepseek-ai/DeepSeek-V4.1-Flash", usd(0.3, 1.2, 0.006), 1_000_000),
    hosted(TOGETHER_PRICES, "together/MiniMaxAI/MiniMax-M3.1-Flash", usd(0.15, 0.6, 0.015), 1_048_576),
    hosted(TOGETHER_PRICES, "together/moonshotai/Kimi-K3.1-Pro", usd(2.0, 10.0, 0.2), 1_048_576),
    hosted(TOGETHER_PRICES, "together/openai/gpt-oss-120b", usd(0.15, 0.6, 0.15), 131_072),
    hosted(TOGETHER_PRICES, "together/Qwen/Qwen3.8-Flash", usd(0.15, 0.47, 0.15), 1_000_000),
    hosted(TOGETHER_PRICES, "together/zai-org/GLM-5.3", usd(1.4, 4.4, 0.26), 1_048_575),
    // Nebius.
    hosted(NEBIUS_MODELS, "nebius/deepseek-ai/DeepSeek-V4.1-Flash", usd(0.3, 1.2, 0.01), 1_048_576),
    hosted(NEBIUS_MODELS, "nebius/MiniMaxAI/MiniMax-M3", usd(0.3, 1.2, 0.06), 1_048_576),
    hosted(NEBIUS_MODELS, "nebius/moonshotai/Kimi-K3", usd(3.0, 15.0, 0.3), 1_048_576),
    hosted(NEBIUS_MODELS, "nebius/openai/gpt-oss-120b", usd(0.15, 0.6, 0.1), 131_072),
    hosted(NEBIUS_MODELS, "nebius/Qwen/Qwen3.8-27B", usd(0.45, 3.0, 0.1), 262_144),
    hosted(NEBIUS_MODELS, "nebius/zai-org/GLM-5.3", usd(1.4, 4.4, 0.26), 1_048_576),
];
