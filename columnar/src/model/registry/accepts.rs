//! The settings that models take, one row per family: what a provider refuses, ignores or names differently.
//!
//! A model without a row takes everything: a server of the user may know any settings. Sources are the parameter types
//! of the providers' own clients, and their guides.

use self::EffortForm::{Adaptive, Budget, Switch, Word};
use self::Sampling::{Always, Never, WithEffortNone, WithoutEffort};
use super::Effort::{High, Low, Max, Medium, Minimal, None as NoThoughts, XHigh};
use super::{Effort, by_prefix, canonical};

/// The settings that a family of models takes.
#[derive(Debug)]
pub(crate) struct Accepts {
    /// Prefixes of the names of models, with the provider, between spaces.
    prefixes: &'static str,
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
    prefixes: "",
    sampling: Always,
    efforts: Effort::ALL,
    effort_form: Word,
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
const CLAUDE_BUDGETS: EffortForm = Budget([1024, 8000, 24_000]);

/// The tokens for thoughts of other models.
const BUDGETS: EffortForm = Budget([1000, 8000, 24_000]);

type Efforts = &'static [Effort];

const TO_HIGH: Efforts = &[Low, Medium, High];
const NONE_TO_HIGH: Efforts = &[NoThoughts, Low, Medium, High];
const NONE_TO_XHIGH: Efforts = &[NoThoughts, Low, Medium, High, XHigh];
const TO_MAX: Efforts = &[Low, Medium, High, XHigh, Max];
const NONE_TO_MAX: Efforts = &[NoThoughts, Low, Medium, High, XHigh, Max];

/// A row of models that take everything.
const fn row(prefixes: &'static str, source: &'static str, date: &'static str) -> Accepts {
    Accepts { prefixes, source, date, ..ALL }
}

impl Accepts {
    const fn sampled(self, sampling: Sampling) -> Self {
        Self { sampling, ..self }
    }

    const fn efforts(self, efforts: Efforts) -> Self {
        Self { efforts, ..self }
    }

    const fn form(self, effort_form: EffortForm) -> Self {
        Self { effort_form, ..self }
    }

    const fn without_stop(self) -> Self {
        Self { stop: false, ..self }
    }

    const fn without_schema(self) -> Self {
        Self { has_schema: false, ..self }
    }
}

const fn openai(prefixes: &'static str) -> Accepts {
    row(prefixes, OPENAI, "2026-11-13").efforts(&[])
}

/// A row of models of OpenAI that reason, which take no stop sequences.
const fn reasons(prefixes: &'static str, sampling: Sampling, efforts: Efforts) -> Accepts {
    let row = openai(prefixes).sampled(sampling).efforts(efforts).without_stop();
    Accepts { has_completion_tokens: true, ..row }
}

const fn claude(prefixes: &'static str, sampling: Sampling, efforts: Efforts, form: EffortForm) -> Accepts {
    row(prefixes, ANTHROPIC, "2026-11-20").sampled(sampling).efforts(efforts).form(form)
}

const fn gemini(prefixes: &'static str, efforts: Efforts) -> Accepts {
    row(prefixes, GEMINI, "2026-11-11").efforts(efforts)
}

const fn xai(prefixes: &'static str, efforts: Efforts) -> Accepts {
    row(prefixes, XAI, "2026-09-29").efforts(efforts).without_stop()
}

static ROWS: &[Accepts] = &[
    // OpenAI. A version without a row is like the newest earlier version with a row.
    openai("openai/gpt-4o openai/gpt-4.1 openai/gpt-4.5 openai/gpt-5-chat"),
    openai("openai/gpt-3.5 openai/gpt-4 openai/gpt-4o-2024-05-13").without_schema(),
    reasons("openai/o1 openai/o3 openai/o4", Never, TO_HIGH),
    reasons("openai/gpt-5", Never, &[Minimal, Low, Medium, High]),
    reasons("openai/gpt-5.1", WithoutEffort, NONE_TO_HIGH),
    reasons("openai/gpt-5.1-codex-max", Never, NONE_TO_XHIGH),
    reasons("openai/gpt-5.2 openai/gpt-5.3 openai/gpt-5.4", WithoutEffort, NONE_TO_XHIGH),
    reasons(
        "openai/gpt-5.5 openai/gpt-5.6 openai/gpt-5.7 openai/gpt-5.8 openai/gpt-5.9",
        WithEffortNone,
        NONE_TO_XHIGH,
    ),
    reasons("openai/gpt-5.2-pro openai/gpt-5.4-pro openai/gpt-5.5-pro", Never, &[Medium, High, XHigh]),
    reasons("openai/gpt-5-pro", Never, &[High]),
    // These models have one effort each, which is no setting.
    reasons("openai/gpt-5.1-chat openai/gpt-5.2-chat openai/gpt-5.3-chat openai/gpt-5-search", Never, &[]),
    // Chat completions refuse `max`, which the client checks.
    reasons("openai/gpt-6", WithEffortNone, NONE_TO_MAX),
    reasons("openai/gpt-6-astra openai/gpt-6.1-sol openai/gpt-6.2 openai/gpt-6-cyber", Never, TO_MAX),
    // Anthropic. A model takes no temperature while it thinks, and since Opus 4.7 none at all.
    claude("anthropic/claude-3-", Always, &[], CLAUDE_BUDGETS).without_schema(),
    claude(
        "anthropic/claude-3-7 anthropic/claude-opus-4 anthropic/claude-sonnet-4",
        WithoutEffort,
        NONE_TO_HIGH,
        CLAUDE_BUDGETS,
    )
    .without_schema(),
    claude(
        "anthropic/claude-opus-4-1 anthropic/claude-sonnet-4-5 anthropic/claude-haiku-4",
        WithoutEffort,
        NONE_TO_HIGH,
        CLAUDE_BUDGETS,
    ),
    claude("anthropic/claude-opus-4-5", WithoutEffort, NONE_TO_HIGH, Word),
    claude(
        "anthropic/claude-opus-4-6 anthropic/claude-sonnet-4-6",
        WithoutEffort,
        &[NoThoughts, Low, Medium, High, Max],
        Adaptive,
    ),
    claude(
        // The first prefix is also for future models.
        "anthropic/claude- anthropic/claude-opus-4-7 anthropic/claude-opus-4-8",
        Never,
        NONE_TO_MAX,
        Adaptive,
    ),
    // These models always think.
    claude(
        "anthropic/claude-opus-5-5 anthropic/claude-fable anthropic/claude-mythos",
        Never,
        TO_MAX,
        Adaptive,
    ),
    // MiniMax has Anthropic's interface, with the form of Anthropic's earlier models.
    row("minimax/", MINIMAX, "2026-07-02").form(CLAUDE_BUDGETS),
    // Gemini. The least number of 2.5 Pro is 128, so thoughts of 2.5 Pro cannot be switched off.
    gemini("gemini/gemini-1 gemini/gemini-2.0", &[]),
    gemini("gemini/gemini-2.5", NONE_TO_HIGH).form(BUDGETS),
    gemini("gemini/gemini-2.5-pro", TO_HIGH).form(BUDGETS),
    gemini("gemini/gemini-3 gemini/gemini-3.5-flash gemini/gemini-4 gemini/gemma-4", TO_HIGH),
    gemini("gemini/gemini-3-flash", &[Minimal, Low, Medium, High]),
    gemini("gemini/gemini-4-hydrogen", &[Low, Medium, High, XHigh]),
    gemini("gemini/gemini-3.5-flash-lite gemini/gemini-3.6 gemini/gemini-3.7 gemini/gemini-3.8", TO_HIGH)
        .sampled(Never),
    xai("xai/grok-4 xai/grok-code xai/grok-build", &[]),
    xai("xai/grok-3-mini", &[Low, High]),
    xai("xai/grok-4.", NONE_TO_HIGH),
    row("kimi/ moonshot/", KIMI, "2026-10-03").efforts(&[]),
    row("kimi/kimi-k3 moonshot/kimi-k3", KIMI, "2026-10-03").efforts(&[Low, High, Max]),
    // Most models of Z.ai think or do not.
    row("zai/", ZAI, "2026-10-03").form(Switch),
    row("zai/glm-5", ZAI, "2026-10-03").efforts(&[Low, High, Max]),
    row("mistral/", MISTRAL, "2026-10-29").efforts(&[NoThoughts, High]),
    row(
        "mistral/magistral- mistral/codestral- mistral/ministral- mistral/open- mistral/pixtral-",
        MISTRAL,
        "2026-10-29",
    )
    .efforts(&[]),
    row("cohere/", COHERE, "2026-10-20").efforts(NONE_TO_HIGH).form(BUDGETS),
    // Some models take a schema, and the others refuse it.
    row("groq/", GROQ, "2026-07-02").without_schema(),
    row("groq/openai/gpt-oss groq/meta-llama/llama-4 groq/moonshotai/", GROQ, "2026-07-02"),
    // Most models on the user's machine think or do not; one family has words.
    row("ollama/ ollama_cloud/", OLLAMA, "2026-09-12").form(Switch),
    row("ollama/gpt-oss ollama_cloud/gpt-oss", OLLAMA, "2026-09-12").efforts(TO_HIGH),
];

/// The settings that a model takes, by the longest prefix of its name.
pub(crate) fn accepts(model: &str) -> &'static Accepts {
    let (provider, rest) = canonical(model);
    // A fine-tuned model takes what the base model takes.
    let base = rest.strip_prefix("/ft:").map(|base| format!("/{base}"));
    let name = base.as_deref().unwrap_or(rest);
    by_prefix(ROWS, [provider, name], |row| row.prefixes).unwrap_or(&ALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_source_and_is_found_by_its_prefixes() {
        for row in ROWS {
            assert!(row.source.starts_with("https://") && row.date.len() == 10, "{row:?}");
            for prefix in row.prefixes.split(' ') {
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
        assert_eq!(accepts("ollama/qwen3").effort_form, Switch);
    }
}
