//! The forms: arrays of strings, Anthropic's Messages, OpenAI's chat completions, and the AI SDK from version 7 on.

use serde_json::{Value as Json, json};

use super::blocks::SEPARATOR;
use super::{PartForm, Rendering, message};
use crate::context::Role;
use crate::history::MediaRules;
use crate::model::cache::Lifetime;
use crate::model::usage::object;

/// The forms in which each message is one string have no marks.
impl Rendering<'_> {
    /// The array `[{"role": "...", "content": "..."}]`: the instruction as a system message, unless empty, then the
    /// messages as in [`Messages::to_json`](crate::Messages::to_json).
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::rendering::Rendering;
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = prompt("Be brief.");
    /// };
    /// chat.user.push("Hello!").await?;
    /// let messages = chat.answer.messages(0)?;
    /// assert_eq!(Rendering::new("Be brief.", &messages).merged(), json!([
    ///     { "role": "system", "content": "Be brief." },
    ///     { "role": "user", "content": "<user>\nHello!\n</user>" },
    /// ]));
    /// # Ok(()) }
    /// ```
    pub fn merged(&self) -> Json {
        let mut merged: Vec<(Role, String)> = Vec::new();
        for part in self.messages.parts() {
            let media = part.words(part.attachments());
            match merged.last_mut().filter(|_| part.joins()) {
                Some((_, content)) => content.extend([&*part.text(), &media]),
                None => merged.push((part.role(), part.text().into_owned() + &media)),
            }
        }
        for (role, text) in self.follow_up {
            match merged.last_mut().filter(|(last, _)| last == role) {
                Some((_, content)) => content.extend([SEPARATOR, text]),
                None => merged.push((*role, String::from(&**text))),
            }
        }
        // Blank texts stay in this form, so only an empty instruction is left out.
        let system = (!self.system.is_empty()).then(|| message("system", self.system));
        system
            .into_iter()
            .chain(merged.iter().map(|(role, content)| message(role.as_str(), content)))
            .collect()
    }

    /// The messages for templates without a system role that require alternating user and assistant messages, such as
    /// the templates of Gemma and Mistral: the instruction is put in front of the first message. The first and the
    /// last message are the user's, unless a follow-up ends with the assistant.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::rendering::Rendering;
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = prompt("Be brief.");
    /// };
    /// chat.user.push("Hello!").await?;
    /// let messages = chat.answer.messages(0)?;
    /// assert_eq!(Rendering::new("Be brief.", &messages).alternating(), json!([
    ///     { "role": "user", "content": "Be brief.\n\n<user>\nHello!\n</user>" },
    /// ]));
    /// # Ok(()) }
    /// ```
    pub fn alternating(&self) -> Json {
        let mut messages = Self { media: &MediaRules::WORDS, ..self.clone() }.joined();
        if let (Some((system, _)), Some(first)) = (self.system(), messages.first_mut()) {
            first.text.insert_str(0, SEPARATOR);
            first.text.insert_str(0, system);
        }
        messages.iter().map(|block| message(block.role.as_str(), &block.text)).collect()
    }

    /// The body of a request to Anthropic's Messages API, without the model and the settings.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::rendering::Rendering;
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = prompt("Be brief.");
    /// };
    /// chat.user.push("Hello!").await?;
    /// let messages = chat.answer.messages(0)?;
    /// let mut body = Rendering::new("Be brief.", &messages).anthropic();
    /// body["model"] = json!("claude-sonnet-5-5");
    /// body["max_tokens"] = json!(1024);
    /// assert_eq!(body, json!({
    ///     "model": "claude-sonnet-5-5",
    ///     "max_tokens": 1024,
    ///     "system": [{ "type": "text", "text": "Be brief." }],
    ///     "messages": [
    ///         { "role": "user", "content": [{ "type": "text", "text": "<user>\nHello!\n</user>" }] },
    ///     ],
    /// }));
    /// # Ok(()) }
    /// ```
    pub fn anthropic(&self) -> Json {
        let messages = self.parts(PartForm::Anthropic, |mark| ("cache_control", cache_control(mark)));
        // A list of one block, because a string has no place for a mark.
        let system = self.system().map(|(system, mark)| json!([controlled(system, mark)]));
        object([("messages", Some(messages.into())), ("system", system)])
    }

    /// The body of a request for chat completions, without the model and the settings.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::rendering::Rendering;
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = prompt("Be brief.");
    /// };
    /// chat.user.push("Hello!").await?;
    /// let messages = chat.answer.messages(0)?;
    /// let mut body = Rendering::new("Be brief.", &messages).openai();
    /// body["model"] = json!("gpt-5.4-mini");
    /// assert_eq!(body, json!({
    ///     "model": "gpt-5.4-mini",
    ///     "messages": [
    ///         { "role": "system", "content": "Be brief." },
    ///         { "role": "user", "content": "<user>\nHello!\n</user>" },
    ///     ],
    /// }));
    /// # Ok(()) }
    /// ```
    ///
    /// With marks, the content of a message is a list of parts.
    pub fn openai(&self) -> Json {
        let system = self.system().map(|(system, mark)| {
            if self.is_marked() {
                json!({ "role": "system", "content": [with_breakpoint(system, mark)] })
            } else {
                message("system", system)
            }
        });
        let messages = if self.is_marked() {
            self.parts(PartForm::ChatCompletions, |mark| ("prompt_cache_breakpoint", breakpoint(mark)))
        } else {
            let joined = self.joined();
            let messages = joined.chunk_by(|one, other| one.role == other.role);
            messages.filter_map(|blocks| PartForm::ChatCompletions.message(blocks)).collect()
        };
        let messages: Vec<Json> = system.into_iter().chain(messages).collect();
        object([("messages", Some(messages.into())), ("prompt_cache_options", self.prompt_cache_options())])
    }

    /// The options of the cache. By default OpenAI also caches the end of each request, and bills this write, also for
    /// a prefix that is never repeated.
    pub(crate) fn prompt_cache_options(&self) -> Option<Json> {
        let lifetime = self.is_marked().then(|| json!("30m"));
        (self.is_openai || self.is_marked())
            .then(|| object([("mode", Some(json!("explicit"))), ("ttl", lifetime)]))
    }

    /// The options of `generateText` and `streamText` of the AI SDK, without the model and the settings: `messages` is
    /// a `ModelMessage[]`, `instructions` a `SystemModelMessage`.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::rendering::Rendering;
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = prompt("Be brief.");
    /// };
    /// chat.user.push("Hello!").await?;
    /// let messages = chat.answer.messages(0)?;
    /// // generateText({ model, ...options })
    /// let options = Rendering::new("Be brief.", &messages).ai_sdk();
    /// assert_eq!(options, json!({
    ///     "instructions": { "role": "system", "content": "Be brief." },
    ///     "messages": [
    ///         { "role": "user", "content": [{ "type": "text", "text": "<user>\nHello!\n</user>" }] },
    ///     ],
    /// }));
    /// # Ok(()) }
    /// ```
    ///
    /// As one array, the request is `[instructions, ...messages]`, with `allowSystemInMessages: true`.
    pub fn ai_sdk(&self) -> Json {
        let messages = self.parts(PartForm::AiSdk, |mark| ("providerOptions", self.options(mark)));
        // By default the SDK refuses a system message among the messages, since a user's text could be one.
        let instructions = self.system().map(|(system, mark)| {
            with(message("system", system), "providerOptions", mark.map(|mark| self.options(mark)))
        });
        // Marks of any provider make these options, but only OpenAI's package of the SDK reads them.
        let cache = self.prompt_cache_options().filter(|_| self.is_openai);
        let cache = cache.map(|cache| json!({ "openai": { "promptCacheOptions": cache } }));
        object([
            ("messages", Some(messages.into())),
            ("instructions", instructions),
            ("providerOptions", cache),
        ])
    }

    /// One message for all adjacent blocks of equal role, with their parts. The mark of a block is at its last part.
    fn parts(&self, form: PartForm, mark: impl Fn(Lifetime) -> (&'static str, Json)) -> Vec<Json> {
        let blocks = self.blocks();
        let messages = blocks.chunk_by(|one, other| one.role == other.role).filter_map(|blocks| {
            let content = blocks.iter().flat_map(|block| form.parts(block, block.mark.map(&mark)));
            Some(json!({ "role": blocks.first()?.role.as_str(), "content": content.collect::<Vec<_>>() }))
        });
        messages.collect()
    }

    /// A mark in the form that the provider's package of the SDK reads.
    fn options(&self, mark: Lifetime) -> Json {
        if self.is_openai {
            json!({ "openai": { "promptCacheBreakpoint": breakpoint(mark) } })
        } else {
            json!({ "anthropic": { "cacheControl": cache_control(mark) } })
        }
    }
}

/// The mark in a block. The short lifetime is the default.
pub(crate) fn cache_control(lifetime: Lifetime) -> Json {
    match lifetime {
        Lifetime::Short => json!({ "type": "ephemeral" }),
        Lifetime::Long => json!({ "type": "ephemeral", "ttl": "1h" }),
    }
}

/// The mark after a part. There is one lifetime, which is set for the whole request.
fn breakpoint(_: Lifetime) -> Json {
    json!({ "mode": "explicit" })
}

/// A text part with a mark of Anthropic.
fn controlled(content: &str, mark: Option<Lifetime>) -> Json {
    with(text(content), "cache_control", mark.map(cache_control))
}

/// A text part with a mark of OpenAI.
fn with_breakpoint(content: &str, mark: Option<Lifetime>) -> Json {
    with(text(content), "prompt_cache_breakpoint", mark.map(breakpoint))
}

/// A text part of a message.
fn text(text: &str) -> Json {
    json!({ "type": "text", "text": text })
}

/// Adds a member to an object, if there is a value.
fn with(mut object: Json, key: &str, value: Option<Json>) -> Json {
    if let (Json::Object(members), Some(value)) = (&mut object, value) {
        members.insert(String::from(key), value);
    }
    object
}
