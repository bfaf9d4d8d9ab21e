//! The AI SDK, version 7 and later.

use serde_json::{Value as Json, json};

use super::anthropic::cache_control;
use super::json::{message, messages, text, with};
use super::openai::breakpoint;
use super::{Block, Rendering};
use crate::model::cache::Lifetime;

impl Rendering<'_> {
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
        let part = |block: &Block| self.with_mark(text(&block.text), block.mark);
        let options = json!({ "messages": messages(&self.blocks(), part) });
        // By default the SDK refuses a system message among the messages, since a user's text could be one.
        let instructions =
            self.system().map(|(system, mark)| self.with_mark(message("system", system), mark));
        // Marks of any provider make these options, but only OpenAI's package of the SDK reads them.
        let cache = self.prompt_cache_options().filter(|_| self.is_openai);
        let cache = cache.map(|cache| json!({ "openai": { "promptCacheOptions": cache } }));
        with(with(options, "instructions", instructions), "providerOptions", cache)
    }

    /// Adds a mark to a message or a part, in the form that the provider's package of the SDK reads.
    fn with_mark(&self, part: Json, mark: Option<Lifetime>) -> Json {
        let options = |lifetime| {
            if self.is_openai {
                json!({ "openai": { "promptCacheBreakpoint": breakpoint(lifetime) } })
            } else {
                json!({ "anthropic": { "cacheControl": cache_control(lifetime) } })
            }
        };
        with(part, "providerOptions", mark.map(options))
    }
}
