//! The compute step that sends the messages of the column to a model.

use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

use super::call::{ModelCall, ReplyRules};
use super::context::AnyPrompt;
use super::{Compute, Context, IntoText, Reply, StepSettings};
use crate::declare::error::BoxError;
use crate::model::cache::{MarkedRequest, Pace};
use crate::model::rendering::Request;
use crate::model::usage::object;
use crate::model::{Choice, Effort, MaxTokens, MediaRules, Model, ModelError, ReplySettings};

/// A compute step that sends an instruction and the messages of the column to a model, and streams the reply.
///
/// The model is the one set by [`model`](Prompt::model); otherwise the model of the
/// [flow](crate::flow::LiveFlow::set_model); otherwise the one that the environment variable `COLUMNAR_MODEL` names;
/// otherwise [`Offline`](crate::model::Offline), which needs no key.
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column topics(user.latest) = prompt("Extract the main topics as a comma-separated list.");
/// };
/// chat.user.push("We should rewrite the backend in Rust.").await?;
/// chat.run().await?;
/// # Ok(()) }
/// ```
pub fn prompt<Form>(system: impl IntoText<Form>) -> Prompt {
    Prompt {
        system: system.into_text(),
        is_after: false,
        model: Choice::Inherited,
        max_tokens: None,
        settings: ReplySettings::default(),
        pace: None,
        rules: ReplyRules::default(),
    }
}

/// A compute step that calls a model. Made by [`prompt`].
#[derive(Clone)]
pub struct Prompt {
    system: Arc<str>,
    /// Whether the instruction stands behind the messages.
    is_after: bool,
    model: Choice,
    /// `None` for the default of the model.
    max_tokens: Option<u32>,
    settings: ReplySettings,
    pace: Option<Pace>,
    rules: ReplyRules,
}

impl Prompt {
    /// Calls this model: a [`Model`](crate::model::Model), or a name as for [`by_name`](crate::model::by_name). All
    /// columns with the same name share one model, with one limit on concurrent calls. An unknown name or a missing key
    /// is an error of the run before any cell is computed; an unknown name that is a literal in `flow!` is a compile
    /// error.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// flow! {
    ///     pub struct Chat {
    ///         source user;
    ///         column topics(user.latest)   = prompt("List the topics.").model("openai/gpt-5.4-mini");
    ///         column assistant(user, self) = prompt("You are a helpful assistant.");
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn model(self, model: impl Into<Choice>) -> Self {
        Self { model: model.into(), ..self }
    }

    /// Calls this model if the one before is overloaded, refuses the request or the answer, or cannot be reached. A
    /// model with a backup does not wait until it is less busy. The [receipt](crate::usage::Receipt::model) of the
    /// value names the model that answered, and each change of the model is an [`Event::Retry`](crate::Event::Retry).
    ///
    /// Cache marks, the length of replies and prices follow the model that is called.
    ///
    /// ```
    /// use columnar::prompt;
    ///
    /// let step = prompt("Be brief.").model("openai/gpt-5.4-mini").or_model("anthropic/claude-sonnet-5-5");
    /// ```
    #[must_use]
    pub fn or_model(self, model: impl Into<Choice>) -> Self {
        Self { model: self.model.or(model.into()), ..self }
    }

    /// Sends the instruction at the end of the last message, and not as the system text. So all columns with an instruction
    /// after the same views, with the same tags and the same model, send requests with one beginning: a provider's cache
    /// is written by one of them, and read by the others.
    ///
    /// The [text of the flow](crate::flow::LiveFlow::set_system) stays the system text. The notes on the inputs follow the
    /// instruction.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column topics(user) = prompt("List the topics.").after();
    ///     column mood(user)   = prompt("Name the mood.").after();
    /// };
    /// chat.user.push("Hello!").await?;
    /// assert_eq!(chat.topics.messages(0)?.last_text(), "<user>\nHello!\n</user>\n\nList the topics.");
    /// assert_eq!(chat.mood.messages(0)?.last_text(), "<user>\nHello!\n</user>\n\nName the mood.");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn after(self) -> Self {
        Self { is_after: true, ..self }
    }

    /// Sets the most tokens that the reply may have, thoughts included. A model can go on for ever, so there always is
    /// a limit. The default is the limit of the [model](crate::model::MaxTokens): 4,096, or 25,000 for a model that may
    /// think, and never more than the model can write.
    ///
    /// A reply that reaches the limit is an [error](crate::model::Truncated) of the cell, unless the prompt
    /// [allows](Self::allow_truncated) such replies.
    #[must_use]
    pub fn max_tokens(self, max_tokens: u32) -> Self {
        Self { max_tokens: Some(max_tokens), ..self }
    }

    /// Stores a reply that was cut off as a value, where the beginning of a reply is enough. By default such a reply is
    /// an [error](crate::model::Truncated) of the cell. A reply that was cut off before the first text needs
    /// [`allow_empty`](Self::allow_empty) as well. [`Receipt::finish`](crate::usage::Receipt::finish) of the value
    /// tells a cut reply from others.
    ///
    /// ```
    /// use columnar::prompt;
    ///
    /// let step = prompt("Begin a story.").max_tokens(200).allow_truncated();
    /// ```
    #[must_use]
    pub fn allow_truncated(mut self) -> Self {
        self.rules.allows_truncated = true;
        self
    }

    /// Stores a reply without text, or with white space alone, as a value. By default such a reply is an error of the
    /// cell, which [`retry`](crate::compute::Policy::retry) tries again. In a [typed](crate::guide::typed) column,
    /// where no such reply is valid, the model is asked again.
    ///
    /// ```
    /// use columnar::prompt;
    ///
    /// let step = prompt("List the names in the message, and nothing if there are none.").allow_empty();
    /// ```
    #[must_use]
    pub fn allow_empty(mut self) -> Self {
        self.rules.allows_empty = true;
        self
    }

    /// Sets how long the model may think before the reply. The default is the effort of the model. An effort that the
    /// model does not have is an error of the run before any cell is computed; see [`lenient`](Self::lenient).
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// let step = prompt("Find the mistake.").model("openai/gpt-5.4-mini").effort(Effort::High);
    /// ```
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.settings.effort = Some(effort);
        self
    }

    /// Sets the sampling temperature, from 0 up to 1 or 2, depending on the provider. The default is the temperature of
    /// the model. Many models that think take none, which is an error of the run before any cell is computed; see
    /// [`lenient`](Self::lenient).
    #[must_use]
    pub fn temperature(mut self, temperature: f32) -> Self {
        self.settings.temperature = Some(temperature);
        self
    }

    /// Sets the share of probability from which words are sampled: with 0.1, only the likeliest words that together
    /// have 10 %. The default is the share of the model.
    #[must_use]
    pub fn top_p(mut self, share: f32) -> Self {
        self.settings.top_p = Some(share);
        self
    }

    /// Sets the seed of the sampling, for replies that differ as little as the provider can make them differ. The
    /// default is random.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = Some(seed);
        self
    }

    /// Sets the stop sequences: the reply ends before the first of these texts. Where a provider takes no stop
    /// sequences, the rest of the reply is left out on arrival, but paid for.
    ///
    /// ```
    /// use columnar::prompt;
    ///
    /// let step = prompt("Name the topic.").stop(["\n"]);
    /// ```
    #[must_use]
    pub fn stop<T: Into<String>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        self.settings.stop = texts.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the key by which a provider leads requests with a common prefix to one cache (`prompt_cache_key`), such as the
    /// name of a conversation. By default the key is a number that depends on the model and the instruction, for
    /// providers with keys. OpenAI recommends a key for about 15 requests a minute. A provider without keys, or a key of more
    /// than 64 characters, is an error of the run before any cell is computed; see [`lenient`](Self::lenient).
    ///
    /// ```
    /// use columnar::prompt;
    ///
    /// let step = prompt("You are a helpful assistant.").model("openai/gpt-5.4-mini").cache_key("chat-17");
    /// ```
    #[must_use]
    pub fn cache_key(mut self, key: impl AsRef<str>) -> Self {
        self.settings.cache_key = Some(key.as_ref().into());
        self
    }

    /// Leaves out settings that the model does not take, and sends the alternative texts of attachments that it does not
    /// take. By default such a setting is an error of the run before any cell is computed, and such an attachment an error
    /// of the cell before anything is sent. The error names the column, the setting or the attachment, and the model.
    ///
    /// ```
    /// use columnar::prompt;
    ///
    /// // The same step for models with a temperature and without one.
    /// let step = prompt("Name the topic.").temperature(0.0).lenient();
    /// ```
    #[must_use]
    pub fn lenient(mut self) -> Self {
        self.settings.lenient = true;
        self
    }

    /// Leaves out thoughts in front of the text of a reply, between `<think>` and `</think>`, which some servers do not
    /// separate. Thoughts in a separate field are never part of a value.
    ///
    /// ```
    /// use columnar::prompt;
    ///
    /// let step = prompt("Be brief.").model("ollama/deepseek-r1").strip_thoughts();
    /// ```
    #[must_use]
    pub fn strip_thoughts(mut self) -> Self {
        self.rules.thoughts.are_stripped = true;
        self
    }

    /// Keeps the thoughts of a reply in the [receipt](crate::usage::Receipt::thoughts), as far as the provider shows
    /// them, also the thoughts that [`strip_thoughts`](Self::strip_thoughts) leaves out. Thoughts are never part of a
    /// later request.
    #[must_use]
    pub fn keep_thoughts(mut self) -> Self {
        self.rules.thoughts.are_kept = true;
        self
    }

    /// States the usual time between two requests of the column, if it differs from the pace of the
    /// [flow](crate::flow::LiveFlow::set_pace). The pace decides how long a provider shall cache the prefix that a
    /// request shares with the next one. By default the time is [learnt](Pace::learnt).
    ///
    /// ```
    /// use columnar::cache::Pace;
    /// use columnar::compute::secs;
    /// use columnar::prompt;
    ///
    /// let step = prompt("You are a helpful assistant.").pace(Pace::think(secs(75)));
    /// ```
    #[must_use]
    pub fn pace(self, pace: Pace) -> Self {
        Self { pace: Some(pace), ..self }
    }

    fn call(&self, cx: &Context) -> Result<ModelCall, BoxError> {
        let defaults = &cx.defaults;
        let models = self.model.resolve_all(&defaults.model).map_err(ModelError::into_source)?;
        // The type of the column decides about an empty reply, and asks again with the reason.
        let allows_empty = self.rules.allows_empty || cx.schema().is_some();
        let system = cx.instruct(&self.system);
        let stated = self.pace.unwrap_or(defaults.pace);
        let marked = models.first().and_then(|model| {
            MarkedRequest::new(model.name(), &system, cx.messages(), (*cx.past).clone(), stated)
        });
        let request = Request {
            system,
            messages: cx.messages().clone(),
            follow_up: cx.follow_up().to_vec(),
            // The call sets the limit and the media of each model.
            max_tokens: 0,
            settings: self.settings.clone(),
            schema: cx.schema().cloned(),
            pace: marked.as_ref().map_or(stated, |marked| marked.pace),
            media: &MediaRules::ANY,
            may_wait: true,
        };
        let rules = ReplyRules { allows_empty, ..self.rules };
        Ok(ModelCall::new(models, request, marked, self.max_tokens, defaults.limit.clone(), rules))
    }
}

impl StepSettings {
    /// The effort of the column, if the prompt has one.
    pub(crate) fn effort(&self) -> Option<Effort> {
        self.prompt.as_ref()?.downcast_ref::<Prompt>()?.settings.effort
    }
}

impl Compute for Prompt {
    fn compute(&self, cx: Context) -> Reply<'static> {
        let later = cx.prompt.clone().and_then(|prompt| prompt.downcast::<Self>().ok());
        match later.as_deref().unwrap_or(self).call(&cx) {
            Ok(call) => Reply::of(call),
            Err(error) => Reply::whole(async { Err(error) }),
        }
    }

    fn instruction(&self) -> Option<&str> {
        Some(&self.system)
    }

    fn is_after(&self) -> bool {
        self.is_after
    }

    fn model(&self) -> Option<Choice> {
        Some(self.model.clone())
    }

    fn check(&self, model: &dyn Model) -> Result<(), BoxError> {
        model.ready()?;
        model.accepts(
            &self.settings,
            self.max_tokens.unwrap_or_else(|| MaxTokens::by_model(model.name()).default),
        )
    }

    fn reply_settings(&self) -> Option<String> {
        let Self { max_tokens, settings, rules, is_after, .. } = self;
        let ReplySettings { effort, temperature, top_p, seed, stop, cache_key: _, lenient: _ } = settings;
        // Without settings that change no reply, such as the pace and the key of the cache, and without the ones that leave
        // all to the model. A later
        // setting gets a member of its own, so that prompts without it keep their text.
        let members = object([
            ("max_tokens", max_tokens.map(Json::from)),
            ("effort", effort.map(|effort| effort.to_string().into())),
            ("temperature", temperature.map(Json::from)),
            ("top_p", top_p.map(Json::from)),
            ("seed", seed.map(Json::from)),
            ("stop", (!stop.is_empty()).then(|| Json::from(&**stop))),
            ("truncated", rules.allows_truncated.then(|| true.into())),
            ("empty", rules.allows_empty.then(|| true.into())),
            ("stripped", rules.thoughts.are_stripped.then(|| true.into())),
            ("after", is_after.then(|| true.into())),
        ]);
        Some(members.to_string())
    }

    fn reply_limit(&self) -> Option<u32> {
        self.max_tokens
    }

    fn __prompt(&self) -> Option<AnyPrompt> {
        Some(Arc::new(self.clone()))
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt")
            .field("model", &self.model)
            .field("max_tokens", &self.max_tokens)
            .finish_non_exhaustive()
    }
}
