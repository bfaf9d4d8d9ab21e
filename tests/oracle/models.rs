//! The models whose requests are compared: for each format those whose requests are special, and one of each provider.

/// The models of a format, and the path of their address.
pub(crate) struct Format {
    /// Its name in the scripts.
    pub(crate) name: &'static str,
    /// The version in the address.
    pub(crate) path: &'static str,
    pub(crate) models: &'static [&'static str],
}

pub(crate) const FORMATS: [Format; 7] = [
    Format {
        name: "anthropic",
        path: "/v1",
        models: &[
            "anthropic/claude-haiku-4-5",
            "anthropic/claude-haiku-5-5",
            "anthropic/claude-opus-4-6",
            "anthropic/claude-opus-4-5",
            "anthropic/claude-opus-4-8",
            "anthropic/claude-opus-5-5",
            "anthropic/claude-sonnet-4-5",
            "anthropic/claude-sonnet-5-5",
            "minimax/MiniMax-M2",
        ],
    },
    Format {
        name: "chat",
        path: "/v1",
        models: &[
            "aliyun/qwen-max",
            "deepseek/deepseek-chat",
            "fireworks/some-model",
            "groq/openai/gpt-oss-20b",
            "kimi/kimi-k2",
            "moonshot/kimi-k2",
            "nebius/some/model",
            "open_router/qwen/qwen3-max",
            "openai/gpt-4o-mini",
            "openai/gpt-5",
            "openai/gpt-5-mini",
            "openai/gpt-5.4-mini",
            "openai/gpt-5.6",
            "openai/gpt-6-sol",
            "openai/o4-mini",
            "qwen_cloud/qwen3.5-max",
            "together/openai/gpt-oss-20b",
            "xai/grok-4",
            "zai/glm-4.6",
        ],
    },
    Format {
        name: "responses",
        path: "/v1",
        models: &[
            "openai_resp/gpt-4o-mini",
            "openai_resp/gpt-5.1-codex-max",
            "openai_resp/gpt-5.4-mini",
            "openai_resp/gpt-5.6",
            "openai_resp/gpt-6-sol",
        ],
    },
    Format {
        name: "gemini",
        path: "/v1beta",
        models: &[
            "gemini/gemini-2.5-flash",
            "gemini/gemini-3.5-flash-lite",
            "gemini/gemini-3.8-flash",
            "gemini/gemini-4-argon",
        ],
    },
    Format {
        name: "cohere",
        path: "/v2",
        models: &[
            "cohere/command-a-03-2025",
            "cohere/command-a-reasoning-08-2025",
            "cohere/command-a-vision-07-2025",
        ],
    },
    Format {
        name: "ollama",
        path: "",
        models: &["ollama/llama3.2", "ollama/llama3.2-vision", "ollama/qwen3", "ollama_cloud/gpt-oss:20b"],
    },
    Format {
        name: "mistral",
        path: "/v1",
        models: &["mistral/mistral-large-latest", "mistral/mistral-medium", "mistral/magistral-small-latest"],
    },
];
