//! OpenAI's chat completions, also for all servers with the same API.

use serde_json::{Value as Json, json};

use super::Rendering;
use super::json::{message, messages, text, with};
use crate::model::cache::Lifetime;

impl Rendering<'_> {
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
        let body = json!({ "messages": if self.is_marked() { self.in_parts() } else { self.in_strings() } });
        with(body, "prompt_cache_options", self.prompt_cache_options())
    }

    fn in_parts(&self) -> Vec<Json> {
        let part = |content: &str, mark: Option<Lifetime>| {
            with(text(content), "prompt_cache_breakpoint", mark.map(breakpoint))
        };
        let message = |(system, mark)| json!({ "role": "system", "content": [part(system, mark)] });
        let system = self.system().map(message).into_iter();
        system.chain(messages(&self.blocks(), |block| part(&block.text, block.mark))).collect()
    }

    fn in_strings(&self) -> Vec<Json> {
        let system = self.system().map(|(system, _)| message("system", system)).into_iter();
        system.chain(self.joined().iter().map(|block| message(block.role.as_str(), &block.text))).collect()
    }

    /// The options of the cache. By default OpenAI also caches the end of each request, and bills this write, also for
    /// a prefix that is never repeated.
    pub(crate) fn prompt_cache_options(&self) -> Option<Json> {
        let explicit = (self.is_openai || self.is_marked()).then(|| json!({ "mode": "explicit" }))?;
        Some(with(explicit, "ttl", self.is_marked().then(|| json!("30m"))))
    }
}

/// The mark after a part. There is one lifetime, which is set for the whole request.
pub(super) fn breakpoint(_: Lifetime) -> Json {
    json!({ "mode": "explicit" })
}
