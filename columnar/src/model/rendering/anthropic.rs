//! The Messages API of Anthropic.

use serde_json::{Value as Json, json};

use super::Rendering;
use super::json::{messages, text, with};
use crate::model::cache::Lifetime;

impl Rendering<'_> {
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
        let block = |content: &str, mark: Option<Lifetime>| {
            with(text(content), "cache_control", mark.map(cache_control))
        };
        let body = json!({ "messages": messages(&self.blocks(), |it| block(&it.text, it.mark)) });
        // A list of one block, because a string has no place for a mark.
        with(body, "system", self.system().map(|(system, mark)| json!([block(system, mark)])))
    }
}

/// The mark in a block. The short lifetime is the default.
pub(super) fn cache_control(lifetime: Lifetime) -> Json {
    match lifetime {
        Lifetime::Short => json!({ "type": "ephemeral" }),
        Lifetime::Long => json!({ "type": "ephemeral", "ttl": "1h" }),
    }
}
