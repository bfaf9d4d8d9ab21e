//! The providers that the client of the feature `providers` knows, one row each.
//!
//! A new one also has its name in `PROVIDERS` of the macro's `keywords.rs`, a word in the table of the README, and a model
//! in `tests/oracle/models.rs`.

/// A provider of models, whose name begins the names of the models.
#[derive(Debug)]
#[cfg_attr(
    not(all(feature = "providers", feature = "tracing")),
    allow(dead_code, reason = "the client and the spans read some of the fields alone")
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct ProviderFacts {
    /// The part of a model's name before the slash.
    pub(crate) name: &'static str,
    /// The provider whose models these are: a provider may have several interfaces.
    pub(crate) models_of: &'static str,
    /// `gen_ai.provider.name` in the conventions of OpenTelemetry.
    pub(crate) telemetry_name: &'static str,
    /// The environment variables with the key, the provider's own first; empty if the provider takes no key.
    pub(crate) key_variables: &'static [&'static str],
    /// The JSON Schemas that the provider enforces. `None` if it refuses a schema for any model, or if the client
    /// sends none: then a reply is checked, and the model is asked again.
    pub(crate) schema: Option<SchemaDialect>,
    /// The format of the provider's requests and replies.
    pub(crate) api: Api,
    /// The address of the interface, with a slash at the end.
    pub(crate) base_url: &'static str,
    /// The folder of models whose names have no folder.
    pub(crate) model_folder: &'static str,
    /// Whether a request with an effort also has to enable thinking.
    pub(crate) has_thinking_switch: bool,
    /// Whether the usage of a stream must be asked for. Mistral refuses the question, and reports the usage anyway.
    pub(crate) has_stream_options: bool,
    /// The name of the seed in chat completions; empty if there is none.
    pub(crate) seed: &'static str,
    /// Whether chat completions take a key that leads requests with a common prefix to one cache.
    pub(crate) has_cache_key: bool,
    /// Whether the tokens of a reply are reported without its thoughts.
    pub(crate) counts_thoughts_apart: bool,
    /// Whether a request may ask for the long lifetime of the cache, where the models have one.
    pub(crate) takes_long_writes: bool,
    /// The interface for requests that may wait for a day; `None` if the client knows none.
    pub(crate) batches: Option<BatchApi>,
}

/// The interface for batches of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "providers"), allow(dead_code, reason = "the client reads it alone"))]
pub(crate) enum BatchApi {
    /// Anthropic's Message Batches.
    Anthropic,
    /// OpenAI's files and batches.
    OpenAi,
}

/// The format of requests and replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "providers"), allow(dead_code, reason = "the client reads it alone"))]
pub(crate) enum Api {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's chat completions, which most providers have.
    ChatCompletions,
    /// Cohere's Chat, in its second version.
    Cohere,
    /// Google's `streamGenerateContent`.
    Gemini,
    /// Ollama's own format.
    Ollama,
    /// OpenAI's Responses.
    Responses,
}

/// The subset of JSON Schema that a provider accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "providers"), allow(dead_code, reason = "the client reads it alone"))]
pub(crate) enum SchemaDialect {
    /// OpenAI's subset, without limits on numbers and lengths.
    Anthropic,
    /// Objects with at least one required property, without alternatives and limits.
    Cohere,
    /// All of JSON Schema.
    Full,
    /// Objects without additional properties. The client also makes all properties required.
    OpenAi,
}

/// A provider with OpenAI's chat completions.
const fn row(
    name: &'static str,
    key_variables: &'static [&'static str],
    base_url: &'static str,
) -> ProviderFacts {
    ProviderFacts {
        name,
        models_of: name,
        telemetry_name: name,
        key_variables,
        schema: None,
        api: Api::ChatCompletions,
        base_url,
        model_folder: "",
        has_thinking_switch: false,
        has_stream_options: true,
        seed: "seed",
        has_cache_key: false,
        counts_thoughts_apart: false,
        takes_long_writes: true,
        batches: None,
    }
}

impl ProviderFacts {
    const fn api(self, api: Api) -> Self {
        Self { api, ..self }
    }

    const fn schema(self, dialect: SchemaDialect) -> Self {
        Self { schema: Some(dialect), ..self }
    }

    const fn telemetry(self, telemetry_name: &'static str) -> Self {
        Self { telemetry_name, ..self }
    }
}

/// The rows of all providers, in order of names. Providers that need more than a key, such as the name of a cloud
/// project, are left out.
pub(crate) const PROVIDERS: &[ProviderFacts] = &[
    row(
        "aliyun",
        &["DASHSCOPE_API_KEY", "ALIYUN_API_KEY"],
        "https://dashscope.aliyuncs.com/compatible-mode/v1/",
    ),
    ProviderFacts {
        batches: Some(BatchApi::Anthropic),
        ..row("anthropic", &["ANTHROPIC_API_KEY"], "https://api.anthropic.com/v1/")
            .api(Api::Anthropic)
            .schema(SchemaDialect::Anthropic)
    },
    row("cohere", &["CO_API_KEY", "COHERE_API_KEY"], "https://api.cohere.com/v2/")
        .api(Api::Cohere)
        .schema(SchemaDialect::Cohere),
    ProviderFacts {
        has_thinking_switch: true,
        ..row("deepseek", &["DEEPSEEK_API_KEY"], "https://api.deepseek.com/v1/")
    },
    ProviderFacts {
        model_folder: "accounts/fireworks/models/",
        ..row("fireworks", &["FIREWORKS_API_KEY"], "https://api.fireworks.ai/inference/v1/")
            .schema(SchemaDialect::OpenAi)
    },
    row("gemini", &["GEMINI_API_KEY", "GOOGLE_API_KEY"], "https://generativelanguage.googleapis.com/v1beta/")
        .api(Api::Gemini)
        .schema(SchemaDialect::Full)
        .telemetry("gcp.gemini"),
    row("groq", &["GROQ_API_KEY"], "https://api.groq.com/openai/v1/").schema(SchemaDialect::OpenAi),
    row("kimi", &["MOONSHOT_API_KEY", "KIMI_API_KEY"], "https://api.moonshot.ai/v1/")
        .telemetry("moonshot_ai"),
    row("minimax", &["MINIMAX_API_KEY"], "https://api.minimax.io/anthropic/v1/").api(Api::Anthropic),
    ProviderFacts {
        has_stream_options: false,
        seed: "random_seed",
        has_cache_key: true,
        ..row("mistral", &["MISTRAL_API_KEY"], "https://api.mistral.ai/v1/")
            .schema(SchemaDialect::OpenAi)
            .telemetry("mistral_ai")
    },
    row("moonshot", &["MOONSHOT_API_KEY"], "https://api.moonshot.cn/v1/").telemetry("moonshot_ai"),
    row("nebius", &["NEBIUS_API_KEY"], "https://api.studio.nebius.ai/v1/").schema(SchemaDialect::OpenAi),
    // Ollama runs on the machine of the user.
    row("ollama", &[], "http://localhost:11434/").api(Api::Ollama).schema(SchemaDialect::Full),
    row("ollama_cloud", &["OLLAMA_API_KEY"], "https://ollama.com/")
        .api(Api::Ollama)
        .schema(SchemaDialect::Full),
    row("open_router", &["OPENROUTER_API_KEY", "OPEN_ROUTER_API_KEY"], "https://openrouter.ai/api/v1/")
        .schema(SchemaDialect::OpenAi),
    // The long lifetime exists in Responses alone: <https://developers.openai.com/api/docs/guides/prompt-caching>.
    ProviderFacts {
        takes_long_writes: false,
        has_cache_key: true,
        batches: Some(BatchApi::OpenAi),
        ..row("openai", &["OPENAI_API_KEY"], "https://api.openai.com/v1/").schema(SchemaDialect::OpenAi)
    },
    // A second interface to the same models, so a row of a model is found by either name.
    ProviderFacts {
        models_of: "openai",
        has_cache_key: true,
        batches: Some(BatchApi::OpenAi),
        ..row("openai_resp", &["OPENAI_API_KEY"], "https://api.openai.com/v1/")
            .api(Api::Responses)
            .schema(SchemaDialect::OpenAi)
            .telemetry("openai")
    },
    row(
        "qwen_cloud",
        &["DASHSCOPE_API_KEY", "QWEN_CLOUD_API_KEY"],
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/",
    ),
    row("together", &["TOGETHER_API_KEY"], "https://api.together.xyz/v1/").schema(SchemaDialect::OpenAi),
    ProviderFacts {
        counts_thoughts_apart: true,
        has_cache_key: true,
        ..row("xai", &["XAI_API_KEY"], "https://api.x.ai/v1/").schema(SchemaDialect::OpenAi).telemetry("x_ai")
    },
    ProviderFacts {
        has_thinking_switch: true,
        seed: "",
        ..row("zai", &["ZAI_API_KEY", "ZHIPUAI_API_KEY"], "https://api.z.ai/api/paas/v4/")
    },
];
