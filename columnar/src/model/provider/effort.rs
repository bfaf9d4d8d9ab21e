//! The effort that the ending of a model's name requests.

/// How long a model may think before it replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    ExtraHigh,
    Max,
}

/// The endings, in the words of OpenAI.
const ENDINGS: &[(&str, Effort)] = &[
    ("none", Effort::None),
    ("zero", Effort::None),
    ("minimal", Effort::Minimal),
    ("low", Effort::Low),
    ("medium", Effort::Medium),
    ("high", Effort::High),
    ("xhigh", Effort::ExtraHigh),
    ("max", Effort::Max),
];

/// Models whose own names have such an ending, without their folders.
const NAMES: &[&str] = &["deepseek-r1-zero", "qwen3.8-max", "qwen3p8-max"];

impl Effort {
    /// The name of the model without its ending, and the effort that this requests.
    pub(super) fn split(model: &str) -> (&str, Option<Self>) {
        let own = model.rsplit('/').next().unwrap_or(model);
        let Some((name, ending)) = model.rsplit_once('-').filter(|_| !NAMES.contains(&own)) else {
            return (model, None);
        };
        match ENDINGS.iter().find(|(word, _)| *word == ending) {
            Some((_, effort)) => (name, Some(*effort)),
            None => (model, None),
        }
    }

    /// The word for it in the APIs of OpenAI.
    pub(super) fn keyword(self) -> &'static str {
        let found = ENDINGS.iter().find(|(_, effort)| *effort == self);
        found.map_or("none", |(word, _)| word)
    }

    /// The number of tokens for thoughts, where a provider knows no words: that of a low, a medium and a high effort.
    pub(super) fn budget(self, [low, medium, high]: [u32; 3]) -> u32 {
        match self {
            Self::None => 0,
            Self::Minimal | Self::Low => low,
            Self::Medium => medium,
            Self::High | Self::ExtraHigh | Self::Max => high,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_is_an_effort_and_not_sent() {
        for (model, expected) in [
            ("gpt-5-low", ("gpt-5", Some(Effort::Low))),
            ("gpt-5-xhigh", ("gpt-5", Some(Effort::ExtraHigh))),
            ("o3-zero", ("o3", Some(Effort::None))),
            ("gpt-5", ("gpt-5", None)),
            ("low", ("low", None)),
            ("deepseek-r1-zero", ("deepseek-r1-zero", None)),
            ("deepseek/deepseek-r1-zero", ("deepseek/deepseek-r1-zero", None)),
            ("deepseek-r1-zero-high", ("deepseek-r1-zero", Some(Effort::High))),
        ] {
            assert_eq!(Effort::split(model), expected, "{model}");
        }
        assert_eq!(Effort::None.keyword(), "none");
        assert_eq!(Effort::ExtraHigh.keyword(), "xhigh");
    }
}
