//! The AI SDK, from its version 7 on.

use serde_json::{Value as Json, json};

use super::anthropic::cache_control;
use super::blocks::listed;
use super::openai::breakpoint;
use super::{Block, Rendering};
use crate::cache::Lifetime;

impl Rendering<'_> {
    /// What `generateText` and `streamText` of the AI SDK are given, without the model and its settings: `messages` is
    /// a `ModelMessage[]`, `instructions` a `SystemModelMessage`.
    ///
    /// ```
    /// # use columnar::prelude::*;
    /// # use columnar::rendering::Rendering;
    /// # use serde_json::json;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let chat = flow! {
    /// #     source user;
    /// #     column answer(user, self) = prompt("Be brief.");
    /// # };
    /// # chat.user.push("Hello!").await?;
    /// # let messages = chat.answer.messages(0)?;
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
    pub fn ai_sdk(&self) -> Json {
        let part = |block: &Block| self.kept(json!({ "type": "text", "text": block.text }), block.mark);
        let mut options = json!({ "messages": listed(&self.blocks(), part) });
        // Among the messages it would be refused, unless told otherwise, lest a user's text be taken for one.
        if let Some((system, mark)) = self.system() {
            options["instructions"] = self.kept(json!({ "role": "system", "content": system }), mark);
        }
        if let Some(cache) = self.prompt_cache_options().filter(|_| self.is_openai) {
            options["providerOptions"] = json!({ "openai": { "promptCacheOptions": cache } });
        }
        options
    }

    /// A message or a part of one, with its mark as the provider's package of the SDK reads it.
    fn kept(&self, mut part: Json, mark: Option<Lifetime>) -> Json {
        if let Some(lifetime) = mark {
            part["providerOptions"] = match self.is_openai {
                true => json!({ "openai": { "promptCacheBreakpoint": breakpoint() } }),
                false => json!({ "anthropic": { "cacheControl": cache_control(lifetime) } }),
            };
        }
        part
    }
}
