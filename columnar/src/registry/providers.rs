//! The providers that the client of the feature `genai` knows, one row each.

/// A provider of models. The names of its models begin with its name.
#[derive(Debug)]
#[cfg_attr(
    not(all(feature = "genai", feature = "tracing")),
    allow(dead_code, reason = "the client and the spans read some of the fields alone")
)]
pub(crate) struct Provider {
    /// The part of a model's name before the slash.
    pub(crate) name: &'static str,
    /// The provider whose models these are: one may have several interfaces.
    pub(crate) models_of: &'static str,
    /// `gen_ai.provider.name` in the conventions of OpenTelemetry.
    pub(crate) telemetry_name: &'static str,
    /// The environment variable with the key; `None` if it takes none.
    pub(crate) key_variable: Option<&'static str>,
    /// The JSON Schemas that it enforces. `None` if it refuses a schema for any of its models, or if the client sends none:
    /// then a reply is checked, and the model is asked again.
    pub(crate) schema: Option<SchemaDialect>,
    /// Whether each event of a stream has a name, as with Anthropic. The client ignores events without one.
    pub(crate) has_named_events: bool,
}

/// The subset of JSON Schema that a provider accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "genai"), allow(dead_code, reason = "the client reads it alone"))]
pub(crate) enum SchemaDialect {
    /// Like OpenAI's, without limits on numbers and lengths.
    Anthropic,
    /// All of JSON Schema.
    Full,
    /// Objects without additional properties. The client also makes all properties required.
    OpenAi,
}

impl Provider {
    const fn new(name: &'static str, key_variable: &'static str) -> Self {
        Self {
            name,
            models_of: name,
            telemetry_name: name,
            key_variable: Some(key_variable),
            schema: None,
            has_named_events: false,
        }
    }

    const fn schema(self, dialect: SchemaDialect) -> Self {
        Self { schema: Some(dialect), ..self }
    }

    const fn telemetry(self, telemetry_name: &'static str) -> Self {
        Self { telemetry_name, ..self }
    }
}

/// In order of their names. Providers that need more than a key, such as the name of a cloud project, are left out.
pub(crate) const PROVIDERS: &[Provider] = &[
    Provider::new("aliyun", "ALIYUN_API_KEY"),
    Provider {
        has_named_events: true,
        ..Provider::new("anthropic", "ANTHROPIC_API_KEY").schema(SchemaDialect::Anthropic)
    },
    Provider::new("cohere", "COHERE_API_KEY"),
    Provider::new("deepseek", "DEEPSEEK_API_KEY"),
    Provider::new("fireworks", "FIREWORKS_API_KEY").schema(SchemaDialect::OpenAi),
    Provider::new("gemini", "GEMINI_API_KEY").schema(SchemaDialect::Full).telemetry("gcp.gemini"),
    Provider::new("groq", "GROQ_API_KEY"),
    Provider::new("kimi", "KIMI_API_KEY").telemetry("moonshot_ai"),
    Provider { has_named_events: true, ..Provider::new("minimax", "MINIMAX_API_KEY") },
    Provider::new("mistral", "MISTRAL_API_KEY").schema(SchemaDialect::OpenAi).telemetry("mistral_ai"),
    Provider::new("moonshot", "MOONSHOT_API_KEY").telemetry("moonshot_ai"),
    Provider::new("nebius", "NEBIUS_API_KEY").schema(SchemaDialect::OpenAi),
    // It runs on the machine of the user.
    Provider { key_variable: None, ..Provider::new("ollama", "") },
    Provider::new("ollama_cloud", "OLLAMA_API_KEY"),
    Provider::new("open_router", "OPEN_ROUTER_API_KEY").schema(SchemaDialect::OpenAi),
    Provider::new("openai", "OPENAI_API_KEY").schema(SchemaDialect::OpenAi),
    // A second interface to the same models, so their rows are found by either name.
    Provider {
        models_of: "openai",
        ..Provider::new("openai_resp", "OPENAI_API_KEY").schema(SchemaDialect::OpenAi).telemetry("openai")
    },
    Provider::new("qwen_cloud", "QWEN_CLOUD_API_KEY"),
    Provider::new("together", "TOGETHER_API_KEY").schema(SchemaDialect::OpenAi),
    Provider::new("xai", "XAI_API_KEY").schema(SchemaDialect::OpenAi).telemetry("x_ai"),
    Provider::new("zai", "ZAI_API_KEY"),
];
