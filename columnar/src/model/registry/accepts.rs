//! The settings that models take, one row per family: what a provider refuses, ignores or names differently.
//!
//! A model without a row takes everything: a server of the user may know any settings. Sources are the parameter types
//! of the providers' own clients, and their guides.

use super::Effort::{High, Low, Max, Medium, Minimal, None as NoThoughts, XHigh};
use super::{Effort, canonical, strip};

/// The settings that a family of models takes.
#[derive(Debug)]
pub(crate) struct Accepts {
    /// Prefixes of the names of models, with the provider.
    prefixes: &'static [&'static str],
    pub(crate) sampling: Sampling,
    /// The efforts of the family; empty if the family has no such setting.
    pub(crate) efforts: &'static [Effort],
    pub(crate) effort_form: EffortForm,
    /// Whether the provider takes stop sequences. Otherwise the client applies the sequences.
    pub(crate) stop: bool,
    /// Whether the provider enforces a schema for these models, and does not refuse schemas.
    pub(crate) has_schema: bool,
    /// Whether chat completions call the limit of a reply `max_completion_tokens`.
    pub(crate) has_completion_tokens: bool,
    /// The page with the settings; empty for models without a row.
    pub(crate) source: &'static str,
    pub(crate) date: &'static str,
}

/// Whether a model takes a temperature and a limit of probability (`top_p`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampling {
    Always,
    Never,
    /// Only if no effort is set, or the effort is `none`. Claude takes one of both.
    WithoutEffort,
    /// Only with the effort `none`.
    WithEffortNone,
}

/// The form of an effort in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EffortForm {
    /// A word of the provider.
    Word,
    /// The tokens for thoughts: of a low, a medium and a high effort.
    Budget([u32; 3]),
    /// A word, and thoughts of an open length, for Anthropic.
    Adaptive,
    /// A switch, which says whether the model thinks.
    Switch,
}

impl Sampling {
    /// Whether a request with this effort may have a temperature.
    pub(crate) fn allows(self, effort: Option<Effort>) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::WithoutEffort => effort.is_none_or(|effort| effort == NoThoughts),
            Self::WithEffortNone => effort == Some(NoThoughts),
        }
    }
}

impl EffortForm {
    /// The number of tokens for thoughts, if the form is a number.
    pub(crate) fn budget(self, effort: Effort) -> Option<u32> {
        let Self::Budget([low, medium, high]) = self else { return None };
        Some(match effort {
            NoThoughts => 0,
            Minimal | Low => low,
            Medium => medium,
            High | XHigh | Max => high,
        })
    }
}

/// The settings of a model that no row names: all are taken.
const ALL: Accepts = Accepts {
    prefixes: &[],
    sampling: Sampling::Always,
    efforts: Effort::ALL,
    effort_form: EffortForm::Word,
    stop: true,
    has_schema: true,
    has_completion_tokens: false,
    source: "",
    date: "",
};

const OPENAI: &str = "https://developers.openai.com/api/docs/guides/reasoning";
const ANTHROPIC: &str = "https://platform.claude.com/docs/en/build-with-claude/effort";
const MISTRAL: &str = "https://docs.mistral.ai/capabilities/reasoning";
const MINIMAX: &str = "https://platform.minimax.io/docs/api-reference/text-anthropic-api";
const COHERE: &str = "https://docs.cohere.com/docs/reasoning";
const XAI: &str = "https://docs.x.ai/developers/model-capabilities/text/reasoning";
const KIMI: &str = "https://platform.kimi.ai/docs/api/chat";
const ZAI: &str = "https://docs.z.ai/api-reference/llm/chat-completion";
const OLLAMA: &str = "https://docs.ollama.com/capabilities/thinking";
const GROQ: &str = "https://console.groq.com/docs/structured-outputs";
const GEMINI: &str = "https://ai.google.dev/gemini-api/docs/thinking";

/// The tokens for thoughts of Claude before efforts had words, from the least number that the API takes.
const CLAUDE_BUDGETS: EffortForm = EffortForm::Budget([1024, 8000, 24_000]);

type Names = &'static [&'static str];
type Efforts = &'static [Effort];

const fn other(prefixes: Names, source: &'static str, date: &'static str) -> Accepts {
    Accepts { prefixes, source, date, ..ALL }
}

const fn plain(prefixes: Names, source: &'static str, date: &'static str) -> Accepts {
    Accepts { efforts: &[], ..other(prefixes, source, date) }
}

/// A row of models of OpenAI that reason, which take no stop sequences.
const fn reasons(prefixes: Names, sampling: Sampling, efforts: Efforts) -> Accepts {
    let row = other(prefixes, OPENAI, "2026-11-13");
    Accepts { sampling, efforts, stop: false, has_completion_tokens: true, ..row }
}

const fn claude(prefixes: Names, sampling: Sampling, efforts: Efforts, effort_form: EffortForm) -> Accepts {
    Accepts { sampling, efforts, effort_form, ..other(prefixes, ANTHROPIC, "2026-11-20") }
}

const fn gemini(prefixes: Names, efforts: Efforts, effort_form: EffortForm) -> Accepts {
    Accepts { efforts, effort_form, ..other(prefixes, GEMINI, "2026-11-11") }
}

static ROWS: &[Accepts] = &[
    // OpenAI. A version without a row is like the newest earlier version with a row.
    plain(&["openai/gpt-4o", "openai/gpt-4.1", "openai/gpt-4.5", "openai/gpt-5-chat"], OPENAI, "2026-11-13"),
    Accepts {
        has_schema: false,
        ..plain(&["openai/gpt-3.5", "openai/gpt-4", "openai/gpt-4o-2024-05-13"], OPENAI, "2026-11-13")
    },
    reasons(&["openai/o1", "openai/o3", "openai/o4"], Sampling::Never, &[Low, Medium, High]),
    reasons(&["openai/gpt-5"], Sampling::Never, &[Minimal, Low, Medium, High]),
    reasons(&["openai/gpt-5.1"], Sampling::WithoutEffort, &[NoThoughts, Low, Medium, High]),
    reasons(&["openai/gpt-5.1-codex-max"], Sampling::Never, &[NoThoughts, Low, Medium, High, XHigh]),
    reasons(
        &["openai/gpt-5.2", "openai/gpt-5.3", "openai/gpt-5.4"],
        Sampling::WithoutEffort,
        &[NoThoughts, Low, Medium, High, XHigh],
    ),
    reasons(
        &["openai/gpt-5.5", "openai/gpt-5.6", "openai/gpt-5.7", "openai/gpt-5.8", "openai/gpt-5.9"],
        Sampling::WithEffortNone,
        &[NoThoughts, Low, Medium, High, XHigh],
    ),
    reasons(
        &["openai/gpt-5.2-pro", "openai/gpt-5.4-pro", "openai/gpt-5.5-pro"],
        Sampling::Never,
        &[Medium, High, XHigh],
    ),
    reasons(&["openai/gpt-5-pro"], Sampling::Never, &[High]),
    // These models have one effort each, which is no setting.
    reasons(
        &["openai/gpt-5.1-chat", "openai/gpt-5.2-chat", "openai/gpt-5.3-chat", "openai/gpt-5-search"],
        Sampling::Never,
        &[],
    ),
    // Chat completions refuse `max`, which the client checks.
    reasons(&["openai/gpt-6"], Sampling::WithEffortNone, &[NoThoughts, Low, Medium, High, XHigh, Max]),
    reasons(
        &["openai/gpt-6-astra", "openai/gpt-6.1-sol", "openai/gpt-6.2", "openai/gpt-6-cyber"],
        Sampling::Never,
        &[Low, Medium, High, XHigh, Max],
    ),
    // Anthropic. A model takes no temperature while it thinks, and since Opus 4.7 none at all.
    Accepts { has_schema: false, ..claude(&["anthropic/claude-3-"], Sampling::Always, &[], CLAUDE_BUDGETS) },
    Accepts {
        has_schema: false,
        ..claude(
            &["anthropic/claude-3-7", "anthropic/claude-opus-4", "anthropic/claude-sonnet-4"],
            Sampling::WithoutEffort,
            &[NoThoughts, Low, Medium, High],
            CLAUDE_BUDGETS,
        )
    },
    claude(
        &["anthropic/claude-opus-4-1", "anthropic/claude-sonnet-4-5", "anthropic/claude-haiku-4"],
        Sampling::WithoutEffort,
        &[NoThoughts, Low, Medium, High],
        CLAUDE_BUDGETS,
    ),
    claude(
        &["anthropic/claude-opus-4-5"],
        Sampling::WithoutEffort,
        &[NoThoughts, Low, Medium, High],
        EffortForm::Word,
    ),
    claude(
        &["anthropic/claude-opus-4-6", "anthropic/claude-sonnet-4-6"],
        Sampling::WithoutEffort,
        &[NoThoughts, Low, Medium, High, Max],
        EffortForm::Adaptive,
    ),
    claude(
        // The first prefix is also for future models.
        &["anthropic/claude-", "anthropic/claude-opus-4-7", "anthropic/claude-opus-4-8"],
        Sampling::Never,
        &[NoThoughts, Low, Medium, High, XHigh, Max],
        EffortForm::Adaptive,
    ),
    // These models always think.
    claude(
        &["anthropic/claude-opus-5-5", "anthropic/claude-fable", "anthropic/claude-mythos"],
        Sampling::Never,
        &[Low, Medium, High, XHigh, Max],
        EffortForm::Adaptive,
    ),
    // MiniMax has Anthropic's interface, with the form of Anthropic's earlier models.
    Accepts { effort_form: CLAUDE_BUDGETS, ..other(&["minimax/"], MINIMAX, "2026-07-02") },
    // Gemini. The least number of 2.5 Pro is 128, so thoughts of 2.5 Pro cannot be switched off.
    gemini(&["gemini/gemini-1", "gemini/gemini-2.0"], &[], EffortForm::Word),
    gemini(
        &["gemini/gemini-2.5"],
        &[NoThoughts, Low, Medium, High],
        EffortForm::Budget([1000, 8000, 24_000]),
    ),
    gemini(&["gemini/gemini-2.5-pro"], &[Low, Medium, High], EffortForm::Budget([1000, 8000, 24_000])),
    gemini(
        &["gemini/gemini-3", "gemini/gemini-3.5-flash", "gemini/gemini-4", "gemini/gemma-4"],
        &[Low, Medium, High],
        EffortForm::Word,
    ),
    gemini(&["gemini/gemini-3-flash"], &[Minimal, Low, Medium, High], EffortForm::Word),
    gemini(&["gemini/gemini-4-hydrogen"], &[Low, Medium, High, XHigh], EffortForm::Word),
    Accepts {
        sampling: Sampling::Never,
        ..gemini(
            &["gemini/gemini-3.5-flash-lite", "gemini/gemini-3.6", "gemini/gemini-3.7", "gemini/gemini-3.8"],
            &[Low, Medium, High],
            EffortForm::Word,
        )
    },
    Accepts {
        stop: false,
        efforts: &[],
        ..other(&["xai/grok-4", "xai/grok-code", "xai/grok-build"], XAI, "2026-09-29")
    },
    Accepts { stop: false, efforts: &[Low, High], ..other(&["xai/grok-3-mini"], XAI, "2026-09-29") },
    Accepts {
        stop: false,
        efforts: &[NoThoughts, Low, Medium, High],
        ..other(&["xai/grok-4."], XAI, "2026-09-29")
    },
    Accepts { efforts: &[], ..other(&["kimi/", "moonshot/"], KIMI, "2026-10-03") },
    Accepts {
        efforts: &[Low, High, Max],
        ..other(&["kimi/kimi-k3", "moonshot/kimi-k3"], KIMI, "2026-10-03")
    },
    // Most models of Z.ai think or do not.
    Accepts { effort_form: EffortForm::Switch, ..other(&["zai/"], ZAI, "2026-10-03") },
    Accepts { efforts: &[Low, High, Max], ..other(&["zai/glm-5"], ZAI, "2026-10-03") },
    Accepts { efforts: &[NoThoughts, High], ..other(&["mistral/"], MISTRAL, "2026-10-29") },
    plain(
        &[
            "mistral/magistral-",
            "mistral/codestral-",
            "mistral/ministral-",
            "mistral/open-",
            "mistral/pixtral-",
        ],
        MISTRAL,
        "2026-10-29",
    ),
    Accepts {
        efforts: &[NoThoughts, Low, Medium, High],
        effort_form: EffortForm::Budget([1000, 8000, 24_000]),
        ..other(&["cohere/"], COHERE, "2026-10-20")
    },
    // Some models take a schema, and the others refuse it.
    Accepts { has_schema: false, ..other(&["groq/"], GROQ, "2026-07-02") },
    other(&["groq/openai/gpt-oss", "groq/meta-llama/llama-4", "groq/moonshotai/"], GROQ, "2026-07-02"),
    // Most models on the user's machine think or do not; one family has words.
    Accepts { effort_form: EffortForm::Switch, ..other(&["ollama/", "ollama_cloud/"], OLLAMA, "2026-09-12") },
    Accepts {
        efforts: &[Low, Medium, High],
        ..other(&["ollama/gpt-oss", "ollama_cloud/gpt-oss"], OLLAMA, "2026-09-12")
    },
];

/// The settings that a model takes, by the longest prefix of its name.
pub(crate) fn accepts(model: &str) -> &'static Accepts {
    let (provider, rest) = canonical(model);
    // A fine-tuned model takes what the base model takes.
    let base = rest.strip_prefix("/ft:").map(|base| format!("/{base}"));
    let name = base.as_deref().unwrap_or(rest);
    let longest = |row: &Accepts| {
        let found = row.prefixes.iter().filter(|prefix| strip(provider, name, prefix).is_some());
        found.map(|prefix| prefix.len()).max()
    };
    let rows = ROWS.iter().filter_map(|row| Some((longest(row)?, row)));
    rows.max_by_key(|(length, _)| *length).map_or(&ALL, |(_, row)| row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_source_and_is_found_by_its_prefixes() {
        for row in ROWS {
            assert!(row.source.starts_with("https://") && row.date.len() == 10, "{row:?}");
            for prefix in row.prefixes {
                assert!(std::ptr::eq(accepts(prefix), row), "{prefix}");
            }
        }
    }

    /// `temperature` was sent to every Claude since Opus 4.7 and to models of OpenAI that reason, which refuse it.
    #[test]
    fn the_name_of_a_model_decides_its_settings() {
        for (model, without_effort, with_none, stop) in [
            ("openai/gpt-4o-mini", true, true, true),
            ("openai/smollm2", true, true, true),
            ("openai/gpt-5-mini", false, false, false),
            ("openai_resp/gpt-5.1", true, true, false),
            ("openai/gpt-5.6-sol", false, true, false),
            ("openai/gpt-6.1-sol", false, false, false),
            ("openai/ft:o4-mini:me::7", false, false, false),
            ("openai/ft:gpt-4.1:me::7", true, true, true),
            ("anthropic/claude-sonnet-4-5", true, true, true),
            ("anthropic/claude-opus-4-7", false, false, true),
            ("anthropic/claude-haiku-5-5", false, false, true),
            ("gemini/gemini-4-carbon", true, true, true),
            ("xai/grok-4.7", true, true, false),
            ("aliyun/qwen3-max", true, true, true),
        ] {
            let row = accepts(model);
            let allowed = [None, Some(NoThoughts)].map(|effort| row.sampling.allows(effort));
            assert_eq!((allowed, row.stop), ([without_effort, with_none], stop), "{model}");
        }
        assert_eq!(accepts("anthropic/claude-sonnet-4-5").effort_form.budget(Low), Some(1024));
        assert_eq!(accepts("ollama/qwen3").effort_form, EffortForm::Switch);
    }
}
