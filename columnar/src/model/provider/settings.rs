//! The settings of a request: which a model takes, and which the client applies itself.

use serde_json::Value as Json;

use super::error::ProviderError;
use crate::model::Refused;
use crate::model::registry::{self, Accepts, Api, Effort, EffortForm, ProviderFacts, Sampling};
use crate::model::rendering::ReplySettings;

/// The settings that are sent.
#[derive(Debug, Default)]
pub(super) struct SentSettings<'r> {
    pub(super) effort: Option<Effort>,
    /// The form of the effort.
    pub(super) form: Option<EffortForm>,
    pub(super) temperature: Option<f64>,
    pub(super) top_p: Option<f64>,
    pub(super) seed: Option<u64>,
    pub(super) cache_key: Option<&'r str>,
    pub(super) stop: Vec<&'r str>,
    /// The stop sequences that the provider does not take.
    pub(super) own_stop: Vec<&'r str>,
}

/// The longest key of a cache that OpenAI takes, in characters.
const LONGEST_KEY: usize = 64;

/// A model that takes settings.
struct Taker<'n> {
    /// The name of the model, with the provider.
    name: &'n str,
    accepts: &'static Accepts,
    is_lenient: bool,
}

impl Taker<'_> {
    /// The value of a setting, unless there is a reason for which it is refused.
    fn take<T>(
        &self,
        setting: &'static str,
        value: Option<T>,
        refused: Option<String>,
    ) -> Result<Option<T>, ProviderError> {
        let Some(mut reason) = refused else { return Ok(value) };
        if self.is_lenient || value.is_none() {
            return Ok(None);
        }
        let Accepts { source, date, .. } = self.accepts;
        if !source.is_empty() {
            reason = format!("{reason}, by {source} of {date}");
        }
        Err(ProviderError::Setting { model: self.name.to_owned(), setting, reason, source: Refused })
    }
}

/// The most stop sequences of a request, by the API references.
fn most_stops(api: Api) -> usize {
    match api {
        Api::ChatCompletions => 4,
        Api::Cohere | Api::Gemini => 5,
        Api::Anthropic | Api::Ollama => usize::MAX,
        Api::Responses => 0,
    }
}

impl<'r> SentSettings<'r> {
    /// The settings that are sent to a model. If the settings are lenient, those that the model does not take are left
    /// out.
    pub(super) fn of(
        provider: &'static ProviderFacts,
        name: &str,
        wanted: &'r ReplySettings,
        max_tokens: u32,
    ) -> Result<Self, ProviderError> {
        let accepts = registry::accepts(name);
        let taker = Taker { name, accepts, is_lenient: wanted.lenient };
        let refused = wanted.effort.and_then(|effort| refused_effort(provider, accepts, effort, max_tokens));
        let effort = taker.take("effort", wanted.effort, refused)?;
        let sampling = (!accepts.sampling.allows(effort)).then(|| sampling_reason(accepts, effort));
        // Left out at the default of these models, which some refuse as well.
        let temperature =
            wanted.temperature.filter(|number| sampling.is_none() || (number - 1.0).abs() > f32::EPSILON);
        let temperature = taker.take("temperature", temperature, sampling.clone())?;
        let is_one = provider.api == Api::Anthropic && accepts.sampling == Sampling::WithoutEffort;
        let both = (is_one && temperature.is_some()).then(|| "it takes no temperature beside it".to_owned());
        let top_p = taker.take("top_p", wanted.top_p, sampling.or(both))?;
        let has_no_seed = matches!(provider.api, Api::Anthropic | Api::Responses) || provider.seed.is_empty();
        let no_seed = has_no_seed.then(|| "its interface has none".to_owned());
        let seed = taker.take("seed", wanted.seed, no_seed)?;
        let key = wanted.cache_key.as_deref();
        let cache_key = taker.take("cache_key", key, key.and_then(|key| refused_key(provider, key)))?;
        let most = if accepts.stop { most_stops(provider.api) } else { 0 };
        let stops = wanted.stop.iter().map(String::as_str).filter(|stop| !stop.is_empty());
        // Anthropic refuses white space.
        let (mut stop, mut own_stop): (Vec<_>, Vec<_>) =
            stops.partition(|stop| provider.api != Api::Anthropic || !stop.trim().is_empty());
        own_stop.extend(stop.split_off(most.min(stop.len())));
        Ok(Self {
            effort,
            form: effort.map(|_| accepts.effort_form),
            temperature: temperature.map(round),
            top_p: top_p.map(round),
            seed,
            cache_key,
            stop,
            own_stop,
        })
    }

    /// The stop sequences that are sent.
    pub(super) fn stop(&self) -> Option<Json> {
        (!self.stop.is_empty()).then(|| self.stop.as_slice().into())
    }

    /// The effort as a word.
    pub(super) fn effort_word(&self) -> Option<Json> {
        self.effort.map(|effort| effort.as_str().into())
    }
}

fn refused_effort(
    provider: &ProviderFacts,
    accepts: &Accepts,
    effort: Effort,
    max_tokens: u32,
) -> Option<String> {
    if accepts.efforts.is_empty() {
        return Some("it has no efforts".to_owned());
    }
    // OpenAI has this effort in the newer interface alone.
    let is_too_high = provider.name == "openai" && effort == Effort::Max && accepts.has_completion_tokens;
    if !accepts.efforts.contains(&effort) || is_too_high {
        let known = accepts.efforts.iter().filter(|effort| !is_too_high || **effort != Effort::Max);
        let known: Vec<_> = known.map(|effort| format!("`{effort}`")).collect();
        return Some(format!("its efforts are {}", known.join(", ")));
    }
    let budget = accepts.effort_form.budget(effort).unwrap_or_default();
    // Anthropic refuses a budget for thoughts that is not below `max_tokens`.
    (budget >= max_tokens && provider.api == Api::Anthropic).then(|| {
        format!("its thoughts may have {budget} tokens, and the whole reply {max_tokens}: raise `max_tokens`")
    })
}

fn refused_key(provider: &ProviderFacts, key: &str) -> Option<String> {
    if !provider.has_cache_key {
        return Some("its provider has no keys for caches".to_owned());
    }
    let length = key.chars().count();
    (length > LONGEST_KEY)
        .then(|| format!("the key has {length} characters, and at most {LONGEST_KEY} are taken"))
}

fn sampling_reason(accepts: &Accepts, effort: Option<Effort>) -> String {
    let reason = match effort {
        None | Some(Effort::None) if !accepts.sampling.allows(Some(Effort::None)) => "it takes none",
        None => "it takes one with `.effort(Effort::None)` alone",
        Some(_) => "it takes none with an effort",
    };
    reason.to_owned()
}

/// The number with the digits that the user wrote: 0.7, not `0.699_999_988`.
fn round(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_else(|_| number.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_sent_as_it_was_written() {
        for (number, sent) in [(0.0, 0.0), (0.7, 0.7), (1.0, 1.0), (0.1, 0.1), (f32::MAX, 3.402_823_5e38)] {
            assert!((round(number) - sent).abs() < f64::EPSILON, "{number}");
        }
    }

    /// The settings that are sent, or the setting that is refused.
    fn settings<'r>(model: &str, wanted: &'r ReplySettings) -> Result<SentSettings<'r>, &'static str> {
        let provider = model.split('/').next().and_then(registry::provider).expect("a provider");
        SentSettings::of(provider, model, wanted, 4096).map_err(|error| match error {
            ProviderError::Setting { setting, .. } => setting,
            error => panic!("{error}"),
        })
    }

    /// Settings that a model does not take were sent, and each call was refused with a status of 400.
    #[test]
    fn what_a_model_does_not_take_is_an_error_or_left_out() {
        let wanted = |effort, temperature| ReplySettings { effort, temperature, ..ReplySettings::default() };
        for (model, effort, temperature, refused) in [
            ("openai/gpt-4o-mini", None, Some(0.2), None),
            ("openai/gpt-4o-mini", Some(Effort::Low), None, Some("effort")),
            ("openai/gpt-5-mini", None, Some(0.2), Some("temperature")),
            ("openai/gpt-5-mini", None, Some(1.0), None),
            ("openai/gpt-5-mini", Some(Effort::XHigh), None, Some("effort")),
            ("openai/gpt-5.6", Some(Effort::None), Some(0.2), None),
            ("openai/gpt-5.6", Some(Effort::High), Some(0.2), Some("temperature")),
            ("openai/gpt-6-sol", Some(Effort::Max), None, Some("effort")),
            ("openai_resp/gpt-6-sol", Some(Effort::Max), None, None),
            ("anthropic/claude-sonnet-4-5", Some(Effort::Low), None, None),
            ("anthropic/claude-sonnet-4-5", Some(Effort::High), None, Some("effort")),
            ("anthropic/claude-opus-5", Some(Effort::High), None, None),
            ("anthropic/claude-opus-5", None, Some(0.0), Some("temperature")),
            ("aliyun/qwen3-max", Some(Effort::High), Some(0.0), None),
        ] {
            let wanted = wanted(effort, temperature);
            let found = settings(model, &wanted);
            assert_eq!(found.as_ref().err().copied(), refused, "{model} {wanted:?}");
            let lenient = ReplySettings { lenient: true, ..wanted.clone() };
            let sent = settings(model, &lenient).expect("lenient");
            assert_eq!(sent.effort, effort.filter(|_| refused != Some("effort")), "{model}");
        }
        let seed = ReplySettings { seed: Some(7), ..ReplySettings::default() };
        assert_eq!(settings("anthropic/claude-opus-5", &seed).err(), Some("seed"));
        assert_eq!(settings("mistral/x", &seed).expect("it has one").seed, Some(7));
    }

    #[test]
    fn a_key_of_a_cache_is_refused_where_there_is_none_or_if_it_is_too_long() {
        let wanted = |key: &str| ReplySettings { cache_key: Some(key.into()), ..ReplySettings::default() };
        let [short, long] = [wanted("chat-17"), wanted(&"é".repeat(65))];
        for model in ["openai/gpt-4o", "openai_resp/gpt-5.6", "mistral/x", "xai/grok-4"] {
            assert_eq!(settings(model, &short).expect(model).cache_key, Some("chat-17"));
            assert_eq!(settings(model, &long).err(), Some("cache_key"), "{model}");
        }
        for model in ["anthropic/claude-opus-5", "groq/x", "gemini/x", "ollama/x"] {
            assert_eq!(settings(model, &short).err(), Some("cache_key"), "{model}");
            let lenient = ReplySettings { lenient: true, ..short.clone() };
            assert_eq!(settings(model, &lenient).expect(model).cache_key, None);
        }
    }

    /// `stop(["\n"])` was refused by Anthropic, by OpenAI's Responses and by models that reason.
    #[test]
    fn stop_sequences_that_are_not_taken_are_applied_here() {
        let wanted = ReplySettings {
            stop: ["\n", "a", "b", "", "c", "d"].map(str::to_owned).into(),
            ..ReplySettings::default()
        };
        for (model, sent, own) in [
            ("openai/gpt-4o-mini", &["\n", "a", "b", "c"][..], &["d"][..]),
            ("openai/gpt-5-mini", &[], &["\n", "a", "b", "c", "d"]),
            ("openai_resp/gpt-4o-mini", &[], &["\n", "a", "b", "c", "d"]),
            ("anthropic/claude-haiku-5-5", &["a", "b", "c", "d"], &["\n"]),
            ("ollama/x", &["\n", "a", "b", "c", "d"], &[]),
        ] {
            let settings = settings(model, &wanted).expect("stops are always taken");
            assert_eq!((&settings.stop[..], &settings.own_stop[..]), (sent, own), "{model}");
        }
    }
}
