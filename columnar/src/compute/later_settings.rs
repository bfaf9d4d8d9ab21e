//! The settings of prompts after a policy, so that both may come in any order.
//!
//! A policy keeps the step inside of it, so a later setting is a prompt of its own in the settings of the step. The outermost
//! step passes that prompt down with the context.

use std::sync::Arc;

use super::{Prompt, Step};
use crate::model::cache::Pace;
use crate::model::{Choice, Effort};

impl Step<'_> {
    /// The step with another setting of its prompt. In a step without one, the setting is a mistake of the column.
    fn ask(self, setting: &'static str, change: impl FnOnce(Prompt) -> Prompt) -> Self {
        self.set(|settings| {
            let prompt = settings.prompt.take().and_then(|prompt| prompt.downcast::<Prompt>().ok());
            match prompt {
                Some(prompt) => settings.call(Arc::new(change(Arc::unwrap_or_clone(prompt)))),
                None => settings.misplaced = Some(setting),
            }
        })
    }
}

/// The settings of prompts after a policy, which makes a [`Step`] of the prompt.
macro_rules! settings_of_prompts {
    ($($name:ident($($value:ident: $Type:ty)?);)*) => {
        impl Step<'_> {$(
            #[doc = concat!("The setting [`Prompt::", stringify!($name), "`] after a policy. In a step without a prompt,")]
            /// the setting is an error before any cell is computed.
            #[must_use]
            pub fn $name(self $(, $value: $Type)?) -> Self {
                self.ask(stringify!($name), |prompt| prompt.$name($($value)?))
            }
        )*}
    };
}

settings_of_prompts! {
    model(model: impl Into<Choice>);
    or_model(model: impl Into<Choice>);
    max_tokens(max_tokens: u32);
    allow_truncated();
    allow_empty();
    effort(effort: Effort);
    temperature(temperature: f32);
    top_p(share: f32);
    seed(seed: u64);
    stop(texts: impl IntoIterator<Item = impl Into<String>>);
    cache_key(key: impl AsRef<str>);
    lenient();
    strip_thoughts();
    keep_thoughts();
    pace(pace: Pace);
    after();
}
