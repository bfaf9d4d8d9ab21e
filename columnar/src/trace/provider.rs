//! Who answers, by the name of a model.

/// Providers that the conventions spell in another way than the name of a model does.
const SPELLED: &[(&str, &str)] = &[
    ("gemini", "gcp.gemini"),
    ("kimi", "moonshot_ai"),
    ("mistral", "mistral_ai"),
    ("moonshot", "moonshot_ai"),
    ("openai_resp", "openai"),
    ("xai", "x_ai"),
];

/// The provider and its model, of a name such as `openai/gpt-4o-mini`. A name without a provider, as
/// models have that a program brings along, stands for both.
pub(super) fn of(name: &str) -> (&str, &str) {
    let (provider, model) = name.split_once('/').unwrap_or((name, name));
    let spelled = SPELLED.iter().find(|(ours, _)| *ours == provider);
    (spelled.map_or(provider, |(_, theirs)| theirs), model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_provider_and_its_model() {
        assert_eq!(of("openai/gpt-4o-mini"), ("openai", "gpt-4o-mini"));
        assert_eq!(of("open_router/qwen/qwen3-32b"), ("open_router", "qwen/qwen3-32b"));
        assert_eq!(of("gemini/gemini-2.5-flash"), ("gcp.gemini", "gemini-2.5-flash"));
        assert_eq!(of("offline"), ("offline", "offline"));
    }
}
